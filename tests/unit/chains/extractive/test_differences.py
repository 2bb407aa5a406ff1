"""Sections of two notes that say different figures or days of one thing."""

import pytest

from chains.citations.sections import ShownSection
from chains.extractive.differences import describe_difference
from context.layers import Layer, Segment


def section(path: str, text: str, number: int = 1) -> ShownSection:
    title = path.rpartition("/")[2].removesuffix(".md")
    last = text.count("\n") + 1
    named = {"source": path, "title": title, "number": number}
    source = Segment.build(
        id=f"s{number}", layer=Layer.L3, kind="passage", text=text, lines=(1, last), **named
    )
    return ShownSection(source, (1, last), ((1, last),), is_open=True)


@pytest.mark.parametrize(
    ("question", "one", "other", "told"),
    [
        (
            "At what temperature does the frost guard switch on?",
            ("Frost.md", "The frost guard of the conservatory switches on at 4 °C."),
            ("Conservatory.md", "The frost guard switches on at 7 °C, and draws 900 watts."),
            "4 °C in *Frost*, 7 °C in *Conservatory*",
        ),
        (
            "How much is the offer of Hartmann for the windows?",
            ("Windows.md", "Offer of Hartmann for the two windows: 2,480 €, in eight weeks."),
            ("North side.md", "Offer of Hartmann for two windows:\n1,900 €."),
            "2,480 € in *Windows*, 1,900 € in *North side*",
        ),
        (
            "When is the go-live of Lighthouse?",
            ("Lighthouse kick-off.md", "Go-live is planned for 15 February 2027."),
            ("Lighthouse weekly.md", "Go-live was moved to 15 March 2027."),
            "15 February 2027 in *Lighthouse kick-off*, 15 March 2027 in *Lighthouse weekly*",
        ),
        (
            "Wie viel Öl braucht der Rasenmäher?",
            ("Mäher.md", "Der Rasenmäher braucht 0,6 Liter Öl."),
            ("Werkstatt.md", "Öl: der Rasenmäher braucht 0,8 Liter."),
            "0,6 Liter in *Mäher*, 0,8 Liter in *Werkstatt*",
        ),
        (
            "How deep are beans sown?",
            ("Beans.md", "Beans are sown 5 cm deep."),
            ("Garden.md", "- Beans are sown 3 cm deep"),
            "5 cm in *Beans*, 3 cm in *Garden*",
        ),
        (
            "Wie lange müssen Eier kochen?",
            ("Eier.md", "Eier kochen 6 Minuten lang."),
            ("Eier weich.md", "Eier kochen 4 Minuten lang."),
            "6 Minuten in *Eier*, 4 Minuten in *Eier weich*",
        ),
        (
            "How often does the backup of the server run?",
            ("Backup [1] plan.md", "The backup of the server runs every 3 hours."),
            ("Backup *old*.md", "The backup of the server runs every 6 hours."),
            r"3 hours in *Backup \[1] plan*, 6 hours in *Backup \*old\**",
        ),
        (
            "When is the deadline of the tax return?",
            ("Tax.md", "The deadline of the tax return is 2027-07-31, says my adviser."),
            ("Letter.md", "The deadline of the tax return is 31 August 2027."),
            "31 July 2027 in *Tax*, 31 August 2027 in *Letter*",
        ),
    ],
)
def test_two_notes_that_differ_are_told(
    question: str, one: tuple[str, str], other: tuple[str, str], told: str
) -> None:
    sections = [section(*one), section(*other, 2)]
    assert describe_difference(question, sections) == f"Your notes differ: {told}."


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "How long does the plum cake bake?",
            ("Plum cake.md", "Bake the plum cake for 45 minutes."),
            ("Flatbread.md", "Bake for 4 minutes in a dry pan."),
        ),
        (
            "How much does the boiler draw?",
            ("Boiler.md", "The boiler draws 900 watts."),
            ("Cellar.md", "The boiler draws 900 watts."),
        ),
        (
            "How much oil does the boiler need?",
            ("Boiler.md", "The boiler needs 30 litres of oil."),
            ("Cellar.md", "The old boiler needed 50 litres of oil."),
        ),
        (
            "How far did I run with Tom?",
            ("2026-10-01.md", "Ran 5 km with Tom."),
            ("2026-10-08.md", "Ran 7 km with Tom."),
        ),
        (
            "How high is the apple tree?",
            ("Trees.md", "The apple tree is 4 m high.\nThe apple tree is 3 m high in winter."),
            ("Trees.md", "The apple tree is 5 m high."),
        ),
        (
            "How much does the pump draw?",
            ("Pump.md", "The pump draws 35 watts and weighs 4 kg."),
            ("Pond.md", "The pump draws little and lasts 9 years."),
        ),
        (
            "How much is the sand for the sandbox?",
            ("Sandbox.md", "| sand | sandbox | 30 € |"),
            ("Shopping.md", "| sand | sandbox | 40 € |"),
        ),
        (
            "When is the dentist appointment?",
            ("Teeth.md", "The dentist appointment is in May 2024."),
            ("Calendar.md", "The dentist appointment is on 14 May 2024."),
        ),
        (
            "When is the roof budget meeting?",
            ("Meetings/2024-05-01.md", "The roof budget meeting is on 1 May 2024."),
            ("Meetings/2024-06-01.md", "The roof budget meeting is on 1 June 2024."),
        ),
        (
            "When did we visit the castle in Kassel?",
            ("Castle.md", "The castle in Kassel, visited on 3 May 2023."),
            ("Summer.md", "The castle in Kassel, visited on 7 June 2024."),
        ),
        (
            "When is the castle in Kassel worth a visit?",
            ("Castle.md", "We visited the castle in Kassel on 3 May 2023."),
            ("Summer.md", "We visited the castle in Kassel on 7 June 2024."),
        ),
        (
            "How far is the park run?",
            ("Run A.md", "The park run took 5 km."),
            ("Run B.md", "The park run took 10 km."),
        ),
        (
            "How far is the park run?",
            ("Morning.md", "I ran 5 km in the park run."),
            ("Evening.md", "I ran 10 km in the park run."),
        ),
        (
            "Wie weit bin ich beim Parklauf gelaufen?",
            ("Morgen.md", "Parklauf gelaufen: 5 km."),
            ("Abend.md", "Parklauf gelaufen: 10 km."),
        ),
        (
            "How high is the rent of the flat?",
            ("Rent.md", "The rent of the flat is 900 € a month."),
            ("Letter.md", "The rent of the flat was raised by 50 € in spring."),
        ),
        (
            "How high is the rent of the flat?",
            ("Rent.md", "The rent of the flat is 900 €."),
            ("Old rent.md", "The rent of the flat in Kiel is 700 €."),
        ),
        (
            "At what temperature do I bake the bread?",
            ("Oven.md", "Bake the bread at 220 °C."),
            ("Grill.md", "Bake the flat bread at 300 °C on the stone."),
        ),
        (
            "What is the temperature of the fridge?",
            ("Fridge.md", "The temperature of the fridge is 4 °C."),
            ("Manual.md", "The temperature of the fridge is 39.2 °F."),
        ),
    ],
)
def test_notes_that_do_not_differ_are_not_told(
    question: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert describe_difference(question, [section(*one), section(*other, 2)]) == ""


@pytest.mark.parametrize(
    ("question", "one", "other", "told"),
    [
        (
            "When does the frost guard switch on?",
            ("Frost guard.md", "The frost guard switches on at 4 °C."),
            ("Conservatory.md", "The frost guard switches on at 7 °C."),
            "4 °C in *Frost guard*, 7 °C in *Conservatory*",
        ),
        (
            "At what temperature does the frost guard switch on?",
            ("Frost guard.md", "## Settings\nThe frost guard switches on at 4 °C."),
            ("Winter.md", "- The frost guard switches on at 7 °C"),
            "4 °C in *Frost guard*, 7 °C in *Winter*",
        ),
        (
            "Wann schaltet der Frostwächter ein?",
            ("Frostwächter.md", "Der Frostwächter schaltet bei 4 °C ein."),
            ("Wintergarten.md", "Der Frostwächter schaltet bei 7 °C ein."),
            "4 °C in *Frostwächter*, 7 °C in *Wintergarten*",
        ),
        (
            "How long does the battery of the drone last?",
            ("Drone.md", "The battery of the drone lasts 20 minutes."),
            ("Flying.md", "The battery of the drone lasts 35 minutes."),
            "20 minutes in *Drone*, 35 minutes in *Flying*",
        ),
        (
            "What does the annual ticket cost?",
            ("Annual ticket.md", "The annual ticket costs 365 €."),
            ("Commute.md", "The annual ticket costs 415 €."),
            "365 € in *Annual ticket*, 415 € in *Commute*",
        ),
        (
            "Was kostet das Jahresticket der Bahn?",
            ("Bahn.md", "Das Jahresticket der Bahn kostet 365 €."),
            ("Pendeln.md", "Das Jahresticket der Bahn kostet 415 €."),
            "365 € in *Bahn*, 415 € in *Pendeln*",
        ),
        (
            "How much pressure do the tyres of the bicycle need?",
            ("Bicycle.md", "The tyres of the bicycle need a pressure of 4 bar."),
            ("Cellar.md", "The tyres of the bicycle need a pressure of 6 bar."),
            "4 bar in *Bicycle*, 6 bar in *Cellar*",
        ),
        (
            "When is the deadline of the grant?",
            ("Grant.md", "The deadline of the grant is 31 March 2027."),
            ("Letters.md", "The deadline of the grant is 30 April 2027."),
            "31 March 2027 in *Grant*, 30 April 2027 in *Letters*",
        ),
        (
            "Wie lange ruht der Teig der Brezeln?",
            ("Brezeln.md", "Der Teig der Brezeln ruht 30 Minuten."),
            ("Backen.md", "Der Teig der Brezeln ruht 45 Minuten."),
            "30 Minuten in *Brezeln*, 45 Minuten in *Backen*",
        ),
        (
            "When is the go-live of Lighthouse?",
            ("Lighthouse plan.md", "The go-live of Lighthouse is 15 February 2027."),
            ("Lighthouse meeting.md", "The go-live of Lighthouse is 15 March 2027."),
            "15 February 2027 in *Lighthouse plan*, 15 March 2027 in *Lighthouse meeting*",
        ),
    ],
)
def test_two_notes_that_differ_are_told_in_a_doubtful_answer_too(
    question: str, one: tuple[str, str], other: tuple[str, str], told: str
) -> None:
    sections = [section(*one), section(*other, 2)]
    assert describe_difference(question, sections, is_doubtful=True) == (
        f"Your notes differ: {told}."
    )


@pytest.mark.parametrize(
    "question",
    [
        "How heavy is the frost guard?",
        "How long does the frost guard run?",
        "Who has repaired the frost guard that switches on?",
        "How high is the frost guard above the floor?",
    ],
)
def test_a_doubtful_answer_does_not_tell_what_was_not_asked(question: str) -> None:
    sections = [
        section("Frost guard.md", "The frost guard switches on at 4 °C."),
        section("Conservatory.md", "The frost guard switches on at 7 °C.", 2),
    ]
    assert describe_difference(question, sections, is_doubtful=True) == ""


@pytest.mark.parametrize("is_doubtful", [False, True])
@pytest.mark.parametrize(
    ("question", "titles", "said", "values"),
    [
        (
            "How much is the rent of the flat?",
            ("Flat Mozartstraße", "Flat Goethestraße"),
            "The rent is {}.",
            ("900 €", "1,100 €"),
        ),
        (
            "How much is the rent of the flat?",
            ("Flat Mozartstraße", "Flat Goethestraße"),
            "The rent of the flat is {}.",
            ("900 €", "1,100 €"),
        ),
        (
            "Wie viel Miete kostet die Wohnung?",
            ("Wohnung Mozartstraße", "Wohnung Goethestraße"),
            "Die Miete kostet {}.",
            ("900 €", "1.100 €"),
        ),
        ("What is the shoe size?", ("Anna", "Bert"), "The shoe size is {}.", ("38 EU", "43 EU")),
        (
            "When is the birthday party?",
            ("Anna", "Bert"),
            "The birthday party is on {}.",
            ("3 May 2027", "7 June 2027"),
        ),
        (
            "Wie groß ist die Schuhgröße der Kinder?",
            ("Kinder/Anna", "Kinder/Bert"),
            "Die Schuhgröße der Kinder ist {}.",
            ("38 EU", "43 EU"),
        ),
        (
            "How much does the washing machine draw?",
            ("Washing machine cellar", "Washing machine attic"),
            "The washing machine draws {}.",
            ("900 watts", "1200 watts"),
        ),
        (
            "How long does the programme of the machine take?",
            ("Machine Bosch", "Machine Miele"),
            "The programme takes {}.",
            ("90 minutes", "60 minutes"),
        ),
        (
            "How much oil does the engine need?",
            ("Golf", "Transporter"),
            "The engine needs {} of oil.",
            ("4 litres", "6 litres"),
        ),
        (
            "When does the frost guard switch on?",
            ("Greenhouse", "Conservatory"),
            "The frost guard switches on at {}.",
            ("4 °C", "7 °C"),
        ),
        (
            "How much is the rent of the flat?",
            ("Flat", "Flat Goethestraße"),
            "The rent is {}.",
            ("900 €", "1,100 €"),
        ),
    ],
)
def test_notes_on_two_things_of_a_kind_do_not_differ(
    question: str, titles: tuple[str, str], said: str, values: tuple[str, str], is_doubtful: bool
) -> None:
    sections = [
        section(f"{title}.md", said.format(value), n)
        for n, (title, value) in enumerate(zip(titles, values, strict=True), start=1)
    ]
    assert describe_difference(question, sections, is_doubtful=is_doubtful) == ""


def test_headings_that_name_two_things_are_told_apart() -> None:
    sections = [
        section("Contracts.md", "## Flat Mozartstraße\nThe rent of the flat is 900 €."),
        section("Costs.md", "## Flat Goethestraße\nThe rent of the flat is 1,100 €.", 2),
    ]
    assert describe_difference("How much is the rent of the flat?", sections) == ""
