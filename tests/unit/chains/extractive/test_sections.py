"""The sections that an answer shows: which, how long, and what of them is lit or folded."""

from dataclasses import replace
from itertools import pairwise

import pytest

from chains.extractive.answerability import judge
from chains.extractive.excerpts import MOST_SHOWN, fold_to_best_line
from chains.extractive.question import read_question
from chains.extractive.sections import find_sections
from chains.extractive.spans import MARGIN_OF_OTHERS, MOST_LINES
from context.layers import Layer, Segment
from vault.quotes.sections import Support


def passage(text, number=1, source="Note.md", lines=(1, 999)):
    place = {"source": source, "title": source.removesuffix(".md"), "number": number}
    return Segment.build(
        id=f"p{number}", layer=Layer.L3, kind="passage", text=text, lines=lines, **place
    )


def find(question, *sources, compare=None):
    return find_sections(read_question(question), sources, compare).sections


def compare_by(nearness):
    """Return a comparison by meaning that knows the nearness of texts with some words."""

    def compare(_question, texts):
        return [max((n for word, n in nearness.items() if word in t), default=0.0) for t in texts]

    return compare


def test_a_section_includes_the_sections_below_it():
    text = "# Garden\nOld.\n## Beds\nThe beds face south.\n### Soil\nLoam.\n## Tools\nA spade."
    (section,) = find("Where do the beds face?", passage(text))
    assert (section.lines, section.lit) == ((3, 6), ((4, 4),))


def test_a_long_section_ends_at_the_next_heading_of_any_level():
    rain = "\n".join("It rained all day." for _ in range(MOST_LINES))
    text = f"## Beds\nThe beds face south.\n### Weather\n{rain}"
    section, *_ = find("Where do the beds face?", passage(text))
    assert section.lines == (1, 2)


def test_a_text_that_two_notes_have_is_shown_once():
    text = "## Beds\nThe beds face south."
    first, other = passage(text), passage(text, 2, "Copy.md")
    assert len(find("Where do the beds face?", first, other)) == 1


def test_no_lines_are_shown_twice_though_a_section_contains_another():
    text = "# Backups\nSaved with borg.\n## Keeping\n```sh\nborg prune /mnt\n```\n## Night\nQuiet."
    shown = [section.lines for section in find("How do I prune with borg?", passage(text))]
    ends = [first > last for (_, last), (first, _) in pairwise(sorted(shown))]
    assert shown[0] == (3, 6)
    assert all(ends)


def test_a_section_that_scores_far_below_the_best_is_left_out():
    best = passage("The beds face south.")
    near = {"south": 0.9, "north": 0.9 - MARGIN_OF_OTHERS / 6 + 0.2, "east": 0.0}
    texts = {"north": "The sheds face north.", "east": "A wall is in the east of the beds."}
    others = [passage(text, at, f"{key}.md") for at, (key, text) in enumerate(texts.items(), 2)]
    found = find("Where do the beds face?", best, *others, compare=compare_by(near))
    assert "east.md" not in {section.path for section in found}
    assert found[0].path == "Note.md"


def test_a_section_of_the_first_search_result_is_shown_though_three_others_score_higher():
    leading = passage("# Valve\nIn the cellar, turn the wheel.", source="Valve.md")
    others = [
        passage(f"# Tap {n}\nThe tap in the cellar opens by hand.", n, f"Tap {n}.md")
        for n in range(2, 6)
    ]
    shown = [
        section.n for section in find("How does the tap in the cellar open?", leading, *others)
    ]
    assert len(shown) == 3
    assert shown[0] != 1
    assert 1 in shown


def test_a_section_without_a_word_of_the_question_must_be_near_in_meaning():
    sources = passage("The beds face south."), passage("A spade is rusty.", 2, "Tools.md")
    near = compare_by({"beds": 0.1, "spade": 0.6})
    far = compare_by({"beds": -0.4, "spade": 0.1})
    assert len(find("What do the beds grow?", *sources, compare=near)) == 2
    assert len(find("What do the beds grow?", *sources, compare=far)) == 1


@pytest.mark.parametrize(
    "question",
    ["Anna Berg", "[[Anna Berg]]", "anna berg?", "[[Anna Berg#Work]]", "Anna Berg work", "Work"],
)
def test_the_name_of_a_note_or_section_shows_that_first(question):
    day = passage("Lunch with Anna Berg, who spoke of the work at Anna Berg's shop.", 1, "Day.md")
    note = passage("# Anna Berg\nLives in Kiel.\n## Work\nShe repairs clocks.", 2, "Anna Berg.md")
    first, *_ = find(question, day, note)
    assert first.path == "Anna Berg.md"
    assert ("Work" in first.heading[-1]) == ("work" in question.lower())


def test_a_property_is_shown_alone():
    text = "---\nrating: 9\nauthor: Herbert\n---\nA planet of sand."
    section, *_ = find("What rating did I give Dune?", passage(text, source="Dune.md"))
    assert (section.lines, section.lit) == ((2, 2), ((2, 2),))


def test_all_steps_are_lit_but_not_all_items():
    steps = "## Pump\n1. Close the tap.\n2. Lift the pump.\n3. Empty the pump."
    (section,) = find("How do I empty the pump?", passage(steps))
    assert section.lit == ((2, 4),)
    items = steps.replace("1.", "-").replace("2.", "-").replace("3.", "-")
    (section,) = find("When is the pump empty?", passage(items.replace("Close", "At noon close")))
    assert section.lit != ((2, 4),)


def test_a_section_of_twenty_lines_is_shown_whole_and_a_longer_one_is_folded():
    def show(lines):
        rain = [f"It rained on day {day}." for day in range(lines - 1)]
        text = "\n\n".join(["The kettle boils at noon.", *rain])
        (section,) = find("When does the kettle boil?", passage(text))
        return section.folded

    assert show(MOST_SHOWN) == ()
    assert len(show(MOST_SHOWN + 5)) == 1


def test_below_the_first_section_only_the_best_line_is_shown():
    rain = "It rained.\n\nIt snowed.\n\nIt froze."
    first = passage("The kettle boils at noon.")
    below = passage(f"{rain}\n\nThe kettle of the hut boils at noon.\n\n{rain}", 2, "Hut.md")
    _, section = find("When does the kettle boil?", first, below)
    assert (section.lit, section.folded) == (((7, 7),), ((1, 6), (8, 13)))
    assert not section.is_open


def test_a_single_line_is_not_folded_below_the_first_section():
    first = passage("The kettle boils at noon.")
    below = passage("The kettle of the hut boils at noon.\n\nIt is old.", 2, "Hut.md")
    _, section = find("When does the kettle boil?", first, below)
    assert section.folded == ()


def test_all_but_the_lit_lines_can_be_folded():
    (section,) = find("Where do the beds face?", passage("Old.\n\nThe beds face south.\n\nNew."))
    assert fold_to_best_line(section).folded == ((1, 2), (4, 5))


@pytest.mark.parametrize(
    ("question", "first"),
    [("When was the pump last cleaned?", 5), ("When was the pump first cleaned?", 3)],
)
def test_dated_lines_are_in_the_order_that_a_question_asks_for(question, first):
    text = "- 2024-04-01: the pump was cleaned with soap\n- 2023-02-01: the pump was cleaned\n"
    source = passage(f"# Pump\n\n{text.splitlines()[1]}\n\n{text.splitlines()[0]}")
    section, *_ = find(question, source)
    assert (first, first) in section.lit


def test_a_dated_line_about_something_else_is_not_moved_to_the_front():
    lines = ["- 2023-02-01: the pump was cleaned", "- 2025-05-05: the boat was painted"]
    found = find_sections(
        read_question("When was the pump last cleaned?"), [passage("\n".join(lines))]
    )
    assert found.parts[0].first == 0


BACKUPS = """# Backups

## Nightly run

```sh
borg create /mnt/store
```

## Keeping order

Old archives go once a week:

```sh
borg prune --keep-daily 7 /mnt/store
```

## Prices

| Disk | Size | Price |
|---|---|---|
| WD | 4 TB | 99 € |
| Seagate | 8 TB | 149 € |"""


@pytest.mark.parametrize(
    ("question", "lit"),
    [
        ("How do I prune the borg archive?", (13, 15)),
        ("How do I create the borg archive?", (5, 7)),
        ("What is the price of the Seagate disk?", (22, 22)),
        ("What size is the WD disk?", (21, 21)),
    ],
)
def test_code_and_rows_answer_with_what_introduces_them(question, lit):
    section, *_ = find(question, passage(BACKUPS))
    assert lit in section.lit


TOMATOES = """# Tomatoes

| variety | plants | harvest kg |
|---|---|---|
| Sungold | 4 | 9.2 |
| Black Krim | 3 | 5.1 |
| Roma | 6 | 11.4 |
"""
POLICIES = """# Versicherungen

| Art | Beitrag |
|---|---|
| Haftpflicht | 58 € |
| Hausrat | 96 € |
| Auto | 431 € |
"""


@pytest.mark.parametrize(
    ("question", "text", "rows"),
    [
        ("Compare Sungold and Roma", TOMATOES, {5, 7}),
        ("Compare Sungold with Roma", TOMATOES, {5, 7}),
        ("What is the difference between Sungold and Black Krim?", TOMATOES, {5, 6}),
        ("Vergleiche Haftpflicht mit Auto", POLICIES, {5, 7}),
        ("Unterschied zwischen Haftpflicht und Hausrat", POLICIES, {5, 6}),
        ("How much harvest of Sungold and others in all?", TOMATOES, {5, 6, 7}),
        ("Wie hoch ist der Beitrag insgesamt?", POLICIES, {5, 6, 7}),
        ("How many plants of Sungold?", TOMATOES, {5}),
    ],
)
def test_a_table_gets_the_rows_that_are_asked_for(question, text, rows):
    (section,) = find(question, passage(text, source="Table.md", lines=(1, 9)))
    assert {line for first, last in section.lit for line in range(first, last + 1)} == rows


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("Compare Sungold and Roma", "answers"),
        ("Compare Sungold and Marzano", "unrelated"),
    ],
)
def test_a_comparison_is_answered_by_the_rows_of_both(question, verdict):
    source = passage(TOMATOES, source="Tomatoes.md", lines=(1, 9))
    found = find_sections(read_question(question), [source])
    weak = Support(0.0, {"sungold": 0.5, "roma": 0.5, "marzano": 0.9})
    retrieved = replace(source, is_retrieved=True) if not source.is_retrieved else source
    assert judge(read_question(question), [retrieved], weak, found) == verdict


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("Compare Anna with Tom", True),
        ("What is the difference between Anna and Tom?", True),
        ("Compare the hobby of Anna with Tom", True),
        ("Compare the salary of Anna with Tom", False),
        ("What is the difference in salary between Anna and Tom?", False),
        ("Compare the football of Anna with Tom", False),
        ("Vergleiche das Gehalt von Anna mit Tom", False),
        ("Compare Anna and Tom in 2019", False),
    ],
)
def test_a_comparison_is_answered_by_what_it_asks_of_both(question, is_answered):
    texts = {"Anna": "The hobby of Anna is chess.", "Tom": "The hobby of Tom is football."}
    sources = [
        replace(passage(text, number, f"{name}.md"), title=name)
        for number, (name, text) in enumerate(texts.items(), start=1)
    ]
    found = find_sections(read_question(question), sources)
    weak = Support(0.0, {"anna": 0.5, "tom": 0.5, "salary": 0.9})
    assert (judge(read_question(question), sources, weak, found) == "answers") is is_answered
