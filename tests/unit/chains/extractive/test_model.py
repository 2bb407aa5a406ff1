"""Answers without a model: what is quoted, and how it is written."""

from dataclasses import replace
from typing import Final

import pytest

from chains.citations.check import check_citations
from chains.extractive.model import NOTHING_ANSWERS
from context.layers import Layer
from tests.unit.chains.extractive.conftest import (
    GARDEN,
    LONG,
    SERVER,
    find_lit,
    read_quotations,
)

JAPANESE = "ベランダには六つの鉢があります。水は朝にやります。"


MOST_QUOTED = 3


def test_it_says_plainly_that_no_model_is_set(answer, source):
    assert answer("How many watts?", source(1, SERVER)).startswith("No model is set")


def test_the_sentence_that_answers_comes_first(answer, source):
    text = answer("How many watts does a backup draw?", source(1, GARDEN), source(2, SERVER))
    assert read_quotations(text)[0] == (
        "> The server draws 31 watts when it idles. A full backup raises that to 58 watts. [2]"
    )


def test_a_quotation_stands_below_its_title_and_headings(answer, source):
    text = answer("How many watts does a backup draw?", source(2, SERVER))
    assert text.split("\n\n")[1] == "*Note 2 › Power*"


def test_a_section_is_shown_from_its_heading_to_the_next(answer, source):
    backup = "## Backup\nThe backup ends at six.\n\nFans are loud.\n\n## Rest\nNothing more."
    disks = "## Disks\nA.\nB.\n\nThe backup ends when both disks are full.\n\nSo.\nMore."
    nearness = {"The backup ends at six": 0.9, "when both disks": 0.8}

    def compare(_question, texts):
        return [
            max((nearness[key] for key in nearness if key in text), default=0) for text in texts
        ]

    sources = source(1, backup), source(2, disks)
    text = answer("When does the backup end?", *sources, compare=compare)
    assert [line for line in text.split("\n") if line.startswith(("*", "> "))] == [
        "*Note 1 › Backup*",
        "> The backup ends at six. [1]",
        "> Fans are loud.",
        "*Note 2 › Disks*",
        "> …",
        "> The backup ends when both disks are full. [2]",
        "> …",
    ]


@pytest.mark.parametrize(
    ("days", "title", "place"),
    [
        (["2024-03-05"], "Note 2", "*Note 2 › Power* · 2024-03-05"),
        (["2024-03-05"], "2024-03-05 Log", "*2024-03-05 Log › Power*"),
        (["2024-03-05", "2025-01-01"], "Note 2", "*Note 2 › Power*"),
        ([], "Note 2", "*Note 2 › Power*"),
    ],
)
def test_the_date_of_a_note_stands_beside_its_title(answer, source, days, title, place):
    asked = []

    def find_days(paths):
        asked.append(set(paths))
        return {"Notes/Note 2.md": days} if days else {}

    sources = source(1, "Nothing is said of it here."), source(2, SERVER, title=title)
    text = answer("How many watts does a backup draw?", *sources, find_days=find_days)
    assert text.split("\n\n")[1] == place
    assert asked == [{"Notes/Note 2.md"}]


def test_every_sentence_is_verified_and_opens_its_exact_line(answer, source):
    sources = [source(1, SERVER, first=5), source(2, GARDEN, first=20)]
    report = check_citations(answer("How many watts? Warm soil?", *sources), sources)
    assert report.unverified == ()
    assert report.citations
    for citation in report.citations:
        first = sources[citation.n - 1].lines[0]
        lines = sources[citation.n - 1].raw_content.split("\n")
        assert citation.verified
        assert citation.quote[:12] in lines[citation.lines[0] - first]


def test_it_quotes_three_long_parts_at_most(answer, source):
    more = "where the soil is warm and the wall keeps off the wind of the long winter nights" * 2
    sources = [source(n, f"Beans number {n} grow {more}.") for n in range(1, 9)]
    assert 0 < len(read_quotations(answer("beans", *sources))) <= MOST_QUOTED


def test_three_sections_are_shown_at_most_and_the_others_by_their_best_line(answer, source):
    texts = [
        f"The kettle of the {room} boils daily.\n\nIt is old.\nIt is red."
        for room in ["study", "attic", "cellar", "hut", "barn"]
    ]
    text = answer("Which kettle boils?", *(source(n, each) for n, each in enumerate(texts, 1)))
    assert [line for line in read_quotations(text) if "[" in line or "old" in line] == [
        "> The kettle of the study boils daily. [1]",
        "> It is old.",
        "> The kettle of the attic boils daily. [2]",
        "> The kettle of the cellar boils daily. [3]",
    ]


def test_of_a_long_section_what_is_around_the_lit_lines_is_shown(answer, source):
    rain = "\n\n".join(f"It rained all day {number}." for number in range(30))
    text = f"The kettle is made of copper.\n\n{rain}\n\nThe kettle boils at noon."
    said = answer("What is known of the kettle?", source(1, text))
    assert find_lit(said) == [
        "> The kettle is made of copper. [1]",
        "> The kettle boils at noon. [1]",
    ]
    assert "> …" in read_quotations(said)
    assert len(read_quotations(said)) <= 21


def test_a_paragraph_is_shown_whole(answer, source):
    text = "We take the roofer. He is the only one who comes in March." + LONG
    lit = find_lit(answer("Which roofer do we take?", source(1, text)))
    assert lit[0] == "> We take the roofer. He is the only one who comes in March. [1]"


def test_an_abbreviation_before_a_number_ends_no_sentence(answer, source):
    text = f"Log in to the router with customer no. 55 38 21 at any time.{LONG * 2}"
    quoted = read_quotations(answer("What is the customer number of the router?", source(1, text)))
    assert "55 38 21" in quoted[0]


def test_text_that_is_struck_out_stays_so(answer, source):
    text = answer("How many lemons?", source(1, "The cake needs the juice of ~~4~~ 3 lemons."))
    assert "juice of ~~4~~ 3 lemons" in text


def test_the_same_sentence_is_not_quoted_twice(answer, source):
    text = answer("warm soil", source(1, GARDEN), source(2, GARDEN))
    assert text.count("warm soil") == 1


def test_what_begins_with_the_asked_thing_defines_it(answer, source):
    text = (
        "The growth of a bean pole can be seen by anyone.\n\n"
        "See bean pole supports.\n\n"
        "See also: https://example.org/bean-pole and the pages that it links to for a bean pole.\n"
        "\n"
        "- Trellis: a lattice for climbers\n"
        "- **Bean pole**: a stick of two metres that carries the plant\n" + LONG
    )
    quoted = "\n".join(find_lit(answer("What is a bean pole?", source(1, text))))
    assert "stick of two metres" in quoted
    assert "Trellis" not in quoted
    assert "supports" not in quoted


def test_the_sentence_that_introduces_a_list_is_not_quoted_without_the_list(answer, source):
    text = "The team of the greenhouse are\n\n- Ada\n- Grace\n" + LONG
    quoted = read_quotations(answer("Who is in the team of the greenhouse?", source(1, text)))
    assert quoted[:3] == ["> The team of the greenhouse are", "> - Ada", "> - Grace [1]"]


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("How many trees stand in the orchard?", "The trees of the orchard stand close.", False),
        ("How many trees stand in the orchard?", "The orchard has twelve trees.", True),
        ("Wie viele Bäume stehen im Garten?", "Im Garten stehen drei Bäume.", True),
        ("What does a tree of the orchard cost?", "A tree of the orchard costs little.", False),
        ("When does the orchard bloom?", "The bloom of the orchard is a sight.", False),
        ("When does the orchard bloom?", "The orchard blooms after the frost.", True),
        ("Wann blüht der Garten?", "Der Garten blüht schön.", False),
        ("Wann blüht der Garten?", "Der Garten blüht im Mai.", True),
        ("How does the orchard bloom?", "The bloom of the orchard is a sight.", True),
    ],
)
def test_a_text_without_a_number_or_a_time_does_not_answer_a_question_for_it(
    answer, source, question, text, answers
):
    passage = source(1, text, title="Trees")
    found = answer(question, passage, support=1.0, compare=lambda _, texts: [0.9] * len(texts))
    assert (NOTHING_ANSWERS in found) is not answers


def test_a_duration_is_quoted_where_one_is_asked_for(answer, source):
    text = (
        "The full backup of server 3110 goes to disk 2.\n\n"
        "Writing it all takes about 40 minutes for the full backup." + LONG
    )
    lit = find_lit(answer("How long does the full backup of the server take?", source(1, text)))
    assert any("40 minutes" in line for line in lit)


def test_a_question_for_notes_quotes_each_note_once(answer, source):
    sources = [source(n, f"Take out the trash on day {n}. The trash is out.") for n in (1, 2, 3)]
    quoted = read_quotations(answer("Where do I have notes about the trash?", *sources))
    assert sorted(line[-2] for line in quoted) == ["1", "2", "3"]


def test_headings_are_the_name_of_a_section_and_no_text(answer, source):
    text = answer("watts power", source(1, SERVER))
    assert "Power" not in "\n".join(read_quotations(text))
    assert "*Note 1 › Power*" in text


def test_other_scripts_are_quoted_too(answer, source):
    text = answer("鉢はいくつありますか", source(1, JAPANESE))
    assert read_quotations(text)[0] == "> ベランダには六つの鉢があります。水は朝にやります。 [1]"


def test_text_that_looks_like_a_citation_is_no_citation(answer, source):
    sources = [source(1, "The array a [7] holds **beans** and `peas`.")]
    text = answer("beans", *sources)
    report = check_citations(text, sources)
    assert [(c.n, c.verified) for c in report.citations] == [(1, True)]
    assert report.unverified == ()


def test_a_long_sentence_is_cut_and_still_verified(answer, source):
    sources = [source(1, "Beans " + "and more beans " * 60 + "grow.")]
    report = check_citations(answer("beans", *sources), sources)
    assert [c.verified for c in report.citations] == [True]


def test_code_is_an_answer(answer, source):
    quoted = read_quotations(answer("watts", source(1, "```\nwatts = 99\n```")))
    assert quoted == ["> ```", "> watts = 99", "> ```", "> [1]"]


def test_passages_without_a_text_are_named(answer, source):
    text = answer("watts", source(1, "## Watts"))
    assert "hold no sentence" in text
    assert text.endswith(" [1]")


def test_nothing_found_is_one_honest_sentence(answer):
    assert "nothing in your notes fits" in answer("unicorns")


@pytest.mark.parametrize(
    "question",
    ["How do I bake sourdough bread?", "Who won the 1998 world cup?", "How tall is Mount Everest?"],
)
def test_a_question_that_the_notes_do_not_answer_is_refused(answer, source, question):
    text = answer(question, source(1, SERVER), source(2, GARDEN))
    assert "No passage answers this clearly" in text
    assert "> " not in text
    assert text.endswith("- Note 1 [1]\n- Note 2 [2]")


def test_a_refusal_lists_each_note_once_with_its_headings(answer, source):
    passages = [replace(source(n, GARDEN), source="garden.md", title="Garden") for n in (1, 2)]
    best = replace(passages[0], heading=("Garden", "Beans"))
    text = answer("Who won the 1998 world cup?", best, passages[1], source(3, SERVER))
    assert text.endswith("- Garden › Beans [1]\n- Note 3 [3]")


def test_a_question_about_what_was_attached_is_never_refused(answer, source):
    text = answer("What does it say?", replace(source(1, GARDEN), kind="note"))
    assert "> Beans need warm soil" in text


def test_a_chat_without_notes_says_what_to_do(answer):
    assert "set a model" in answer("Hello?", has_searched=False)


def test_what_is_carried_over_is_never_quoted(answer, source):
    cited = source(1, "Cited earlier: Beans need warm soil at night.", layer=Layer.L2)
    cited = replace(cited, number=None)
    text = answer("What do beans need?", cited, source(2, GARDEN))
    assert "[0]" not in text
    assert "Cited earlier" not in text
    assert "Beans need warm soil" in text
    assert answer("What do beans need?", cited).startswith("No model is set, and nothing")


STEPS = """# Time zones

Some background about clocks.

## Set up the printer

1. Plug in the cable.
2. Run the following command
    ```bash
    lpadmin -p office
    ```
3. Print a test page.

Ask somebody if the page is blank."""


FRUIT = """The garden has these trees:

- apple
- pear, the old one
- quince

Nothing grows below them."""


TABLE = """| constant | value |
| --- | --- |
| LIMIT | 20 |
| HISTORY_LENGTH | 8191 |
| FEE | 3 |"""


COMMANDS = """> Manage stashes.
> More information: <https://example.org>.

- List all stashes:

`git stash list`

- Delete all stashes:

`git stash clear`"""


def test_a_way_to_do_something_is_quoted_with_all_steps_in_order(answer, source):
    text = answer("How do I set up the printer?", source(1, STEPS, first=1))
    assert [line for line in read_quotations(text) if line[2:3].isdigit()] == [
        "> 1. Plug in the cable.",
        "> 2. Run the following command",
        "> 3. Print a test page. [1]",
    ]
    assert ">     lpadmin -p office" in read_quotations(text)
    assert "background" not in text


def test_a_section_on_how_to_do_something_comes_with_its_code(answer, source):
    section = "## Restoring one file\n\n```sh\nrestic snapshots\n```\n\nThe restore took 3 hours."
    text = answer("How do I restore a file?", source(1, section))
    assert read_quotations(text) == [
        "> ```sh",
        "> restic snapshots",
        "> ```",
        "> [1]",
        "> The restore took 3 hours. [1]",
    ]


RESTORING = """## Restoring one file

```sh
restic restore latest --include Inbox.md
```

On 2 March 2026 the restore of one file took 3 hours.

## Changes

- **2026-03-02**: first restore of a file, nothing missing
- **2026-04-11**: one file moved
- **2026-05-02**: the machine has a new disk

## Open points

- [ ] Restore one file from the rented machine
- [ ] Put a file elsewhere"""


def test_the_section_with_the_commands_comes_before_what_happened(answer, source):
    text = answer("How do I restore a single file?", source(1, RESTORING))
    assert read_quotations(text)[:4] == [
        "> ```sh",
        "> restic restore latest --include Inbox.md",
        "> ```",
        "> [1]",
    ]
    assert "one file moved" not in text


def test_what_happened_and_what_is_to_be_done_are_quoted_where_they_are_asked_for(answer, source):
    assert "first restore of a file" in answer("When was a file restored?", source(1, RESTORING))
    text = answer("Which file has to be restored from the machine?", source(1, RESTORING))
    assert "Restore one file from the rented machine" in text


TREES: Final = ("oak", "ash", "elm", "fir", "yew")


RARE: Final = "It was built long ago by people of whom nothing is known any more today."


def compare_single(telling, shown):
    """Return a comparison by meaning: items with one word, but not another, are a bit nearer."""
    return lambda _, texts: [0.6 if telling in t and shown not in t else 0.3 for t in texts]


def test_the_item_that_answers_is_lit(answer, source):
    items = [f"- The {name} valve stands open. {RARE}" for name in TREES]
    items[2] = f"- The elm valve and its valves below freeze in winter. {RARE}"
    question, compare = "Where do the valves freeze?", compare_single("freeze", "oak")
    lit = find_lit(answer(question, source(1, "\n".join(items)), compare=compare))
    assert len(lit) == 1
    assert "freeze" in lit[0]


def test_a_list_comes_whole_with_the_sentence_before_it(answer, source):
    text = answer("Which trees are in the garden?", source(1, FRUIT))
    assert read_quotations(text)[:4] == [
        "> The garden has these trees:",
        "> - apple",
        "> - pear, the old one",
        "> - quince [1]",
    ]


def test_a_row_comes_with_the_head_of_its_table(answer, source):
    sources = [source(1, TABLE)]
    text = answer("How many is the history length?", *sources)
    assert "> | constant | value |" in text
    assert "> | HISTORY\\_LENGTH | 8191 [1] |" in text or "> | HISTORY_LENGTH | 8191 [1] |" in text
    assert len(find_lit(text)) == 1
    assert all(each.verified for each in check_citations(text, sources).citations)


def test_of_a_collection_of_commands_the_one_that_answers_is_lit(answer, source):
    text = answer("How do I delete all stashes?", source(1, COMMANDS))
    assert "> `git stash clear` [1]" in find_lit(text)


def test_a_question_about_two_things_gets_a_quotation_for_each(answer, source):
    text = answer("What do beans and the server need?", source(1, SERVER), source(2, GARDEN))
    assert "[1]" in text
    assert "Beans need warm soil" in text


@pytest.mark.parametrize(
    "line",
    ["Copyright and related rights waived via CC0.", "Thank you.", "Why does the soil matter?"],
)
def test_licences_greetings_and_bare_questions_are_no_answers(answer, source, line):
    text = answer(line, source(1, f"The soil is warm and related to peat.\n\n{line}"))
    assert not any(line.rstrip(".") in lit for lit in find_lit(text))


def test_front_matter_is_no_answer(answer, source):
    note = "---\nauthor: Jane Beans\ncreated: 2020-01-01\n---\n\nThe author of it is unknown."
    assert "Jane" not in answer("Who wrote it?", source(1, note, first=1))


def test_a_property_is_quoted_if_the_question_names_it(answer, source):
    note = "---\nbirthday: 1984-03-14\ntags: friend\n---\n\nAnna likes gin."
    sources = [replace(source(1, note, first=1), title="Anna")]
    text = answer("When is Anna's birthday?", *sources)
    assert read_quotations(text)[0] == "> birthday: 1984-03-14 [1]"
    assert all(each.verified for each in check_citations(text, sources).citations)
    assert "friend" not in answer("Which tags does Anna have?", *sources)


def test_block_ids_and_icons_of_embeds_are_not_shown(answer, source):
    sources = [source(1, "Press ![[gear.svg|16]] to open the settings of the server. ^settings1")]
    text = answer("How do I open the settings?", *sources)
    assert read_quotations(text) == ["> Press to open the settings of the server. [1]"]
    assert [each.verified for each in check_citations(text, sources).citations] == [True]


def test_nothing_is_escaped_that_needs_no_escape(answer, source):
    text = answer(
        "beans", source(1, "Beans need x > 3, a-b, 1. May and [brackets], not \\*stars\\*.")
    )
    assert "x > 3, a-b, 1. May and [brackets], not \\*stars\\*." in text


def test_dates_come_in_order_when_the_last_one_is_asked_for(answer, source):
    sources = [
        source(1, "The pump was serviced on 2021-03-04."),
        source(2, "The pump was serviced on 2023-05-06."),
        source(3, "The pump was serviced on 2022-01-02."),
    ]
    text = answer("When was the pump last serviced?", *sources)
    shown = read_quotations(text)
    assert [line[-12:-4] for line in shown] == ["3-05-06.", "2-01-02.", "1-03-04."]


def test_what_was_attached_is_the_only_source(answer, source):
    attached = replace(source(1, GARDEN), kind="selection")
    assert "[2]" not in answer("How many watts?", attached, source(2, SERVER))
    both = answer("How many watts, and in which other notes?", attached, source(2, SERVER))
    assert "[2]" in both
