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
    ],
)
def test_notes_that_do_not_differ_are_not_told(
    question: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert describe_difference(question, [section(*one), section(*other, 2)]) == ""
