import re
from dataclasses import replace
from datetime import date
from typing import Final

import pytest

from chains.cancel import CancelToken
from chains.citations.check import check_citations
from chains.extractive.model import (
    DOUBTFUL,
    FOUND,
    LIST_SOURCE,
    NO_SENTENCE,
    NOTHING_ANSWERS,
    OF_PERIOD,
    ExtractiveModel,
)
from chains.extractive.words import list_content_words
from chains.llm.port import ModelEnded, ModelText
from chains.models import ModelInfo
from chains.request.chain import Chain
from chains.request.draft import draft_turn, prepare_turn
from chains.request.request import TurnContext
from chains.request.session import SessionView
from context.layers import Layer
from context.tokens import ByteEstimator
from vault.quotes.sections import Support

SERVER = """## Power
The server draws 31 watts when it idles. A full backup raises that to 58 watts.

```
watts = 99
```

| what | watts |
| --- | --- |
| fan | 4 |"""
GARDEN = "Beans need warm soil, at least 10 °C. Water them in the morning:\n- peas are hardier"
JAPANESE = "ベランダには六つの鉢があります。水は朝にやります。"


MOST_QUOTED = 3


def read_quotations(text):
    """Return the lines that an answer quotes."""
    return [line for line in text.split("\n") if line.startswith("> ")]


@pytest.fixture
def answer(ask):
    """Ask without a model, over given sources; return the answer's text."""

    def run(question, *sources, has_searched=True, support=None, **known):
        chain, info = Chain("vault_qa", lambda _: None), ModelInfo("extractive", None)
        request, view = ask(question, model="extractive"), SessionView("chat1")
        context = TurnContext(chain, request, view, info, ByteEstimator())
        drafted = draft_turn(context, sources if has_searched else None)
        turn = prepare_turn(context, drafted, "preview")
        if isinstance(support, float):
            support = Support(support, dict.fromkeys(list_content_words(question), 0.5))
        model = ExtractiveModel(question, has_searched=has_searched, support=support, **known)
        *pieces, ended = model.stream(turn.request, CancelToken())
        assert ended == ModelEnded("complete", "stop")
        assert all(isinstance(piece, ModelText) for piece in pieces)
        return "".join(piece.text for piece in pieces)

    return run


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


def test_quotations_below_the_same_headings_stand_together(answer, source):
    long = "Fans and cables are listed on another page of this folder. " * 7
    backup = f"## Backup\nThe backup ends at six. {long}\n\nThe backup of photos ends later."
    disks = f"## Disks\nThe backup ends when both disks are full. {long}"
    nearness = {"The backup ends at six": 0.9, "when both disks": 0.9, "photos": 0.6}

    def compare(_question, texts):
        return [
            max((nearness[key] for key in nearness if key in text), default=0) for text in texts
        ]

    sources = source(1, backup), source(2, disks)
    text = answer("When does the backup end?", *sources, compare=compare)
    assert [line for line in text.split("\n") if line.startswith(("*", ">"))] == [
        "*Note 1 › Backup*",
        "> The backup ends at six. [1]",
        "> The backup of photos ends later. [1]",
        "*Note 2 › Disks*",
        "> The backup ends when both disks are full. [2]",
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

    sources = source(1, GARDEN), source(2, SERVER, title=title)
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
        assert citation.quote[:12] in lines[citation.lines[0] - first].replace("- ", "")


def test_it_quotes_three_long_parts_at_most(answer, source):
    more = "where the soil is warm and the wall keeps off the wind of the long winter nights" * 2
    sources = [source(n, f"Beans number {n} grow {more}.") for n in range(1, 9)]
    assert 0 < len(read_quotations(answer("beans", *sources))) <= MOST_QUOTED


def test_short_quotations_may_be_five(answer, source):
    lines = [
        f"The kettle of the {room} boils daily."
        for room in ["study", "attic", "cellar", "hut", "barn"]
    ]
    short = answer("Which kettle boils?", *(source(n, line) for n, line in enumerate(lines, 1)))
    assert len(read_quotations(short)) == 5
    more = " It does so with a low hum that one hears through every wall of this old stone house."
    long = answer(
        "Which kettle boils?",
        *(source(n, f"{line[:-1]}, and{more.lower()}") for n, line in enumerate(lines, 1)),
    )
    assert 3 <= len(read_quotations(long)) < 5


def test_two_sentences_of_a_long_paragraph_can_be_quoted_in_their_order(answer, source):
    rain = "It rained all day. " * 12
    text = f"The kettle is made of copper. {rain}The kettle boils at noon."
    quoted = answer("What is known of the kettle?", source(1, text))
    assert read_quotations(quoted) == [
        "> The kettle is made of copper. [1]",
        "> The kettle boils at noon. [1]",
    ]


def test_a_short_paragraph_is_quoted_whole(answer, source):
    text = "We take the roofer. He is the only one who comes in March." + LONG
    quoted = read_quotations(answer("Which roofer do we take?", source(1, text)))
    assert quoted == ["> We take the roofer. He is the only one who comes in March. [1]"]


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


# Short sections are quoted whole.
LONG: Final = "\n\n" + "Much is said of the weather here. " * 12


def test_what_begins_with_the_asked_thing_defines_it(answer, source):
    text = (
        "The growth of a bean pole can be seen by anyone.\n\n"
        "See bean pole supports.\n\n"
        "See also: https://example.org/bean-pole and the pages that it links to for a bean pole.\n"
        "\n"
        "- Trellis: a lattice for climbers\n"
        "- **Bean pole**: a stick of two metres that carries the plant\n" + LONG
    )
    quoted = "\n".join(read_quotations(answer("What is a bean pole?", source(1, text))))
    assert "stick of two metres" in quoted
    assert "Trellis" not in quoted
    assert "supports" not in quoted
    assert "See also" not in quoted


def test_the_sentence_that_introduces_a_list_is_not_quoted_without_the_list(answer, source):
    text = "The team of the greenhouse are\n\n- Ada\n- Grace\n" + LONG
    quoted = read_quotations(answer("Who is in the team of the greenhouse?", source(1, text)))
    assert quoted == ["> The team of the greenhouse are", "> - Ada", "> - Grace [1]"]


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
    quoted = read_quotations(
        answer("How long does the full backup of the server take?", source(1, text))
    )
    assert "40 minutes" in quoted[0]


def test_a_question_for_notes_quotes_each_note_once(answer, source):
    sources = [source(n, f"Take out the trash on day {n}. The trash is out.") for n in (1, 2, 3)]
    quoted = read_quotations(answer("Where do I have notes about the trash?", *sources))
    assert sorted(line[-2] for line in quoted) == ["1", "2", "3"]


def test_code_and_headings_are_not_quoted_alone(answer, source):
    quoted = "\n".join(read_quotations(answer("watts power", source(1, SERVER))))
    assert "99" not in quoted
    assert "Power" not in quoted


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


def test_passages_without_a_sentence_are_named(answer, source):
    text = answer("watts", source(1, "```\nwatts = 99\n```"))
    assert "hold no sentence" in text
    assert "- Note 1 [1]" in text


def test_nothing_found_is_one_honest_sentence(answer):
    assert "nothing in your notes fits" in answer("unicorns")


@pytest.mark.parametrize(
    "question",
    ["How do I bake sourdough bread?", "Who won the 1998 world cup?", "How tall is Mount Everest?"],
)
def test_a_question_that_the_notes_do_not_answer_is_refused(answer, source, question):
    text = answer(question, source(1, SERVER), source(2, GARDEN))
    assert "nothing in your notes answers this question" in text
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


def test_a_short_section_on_how_to_do_something_comes_with_its_code(answer, source):
    section = "## Restoring one file\n\n```sh\nrestic snapshots\n```\n\nThe restore took 3 hours."
    text = answer("How do I restore a file?", source(1, section))
    assert read_quotations(text) == [
        "> ```sh",
        "> restic snapshots",
        "> ```",
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

## Open points

- [ ] Restore one file from the rented machine
- [ ] Put a file elsewhere"""


def test_instructions_end_with_their_last_step(answer, source):
    text = answer("How do I restore a single file?", source(1, RESTORING))
    assert read_quotations(text) == [
        "> ```sh",
        "> restic restore latest --include Inbox.md",
        "> ```",
        "> [1]",
    ]


def test_what_happened_and_what_is_to_be_done_are_quoted_where_they_are_asked_for(answer, source):
    assert "first restore of a file" in answer("When was a file restored?", source(1, RESTORING))
    text = answer("Which file has to be restored from the machine?", source(1, RESTORING))
    assert "Restore one file from the rented machine" in text


TREES: Final = ("oak", "ash", "elm", "fir", "yew")
RARE: Final = "It was built long ago by people of whom nothing is known any more today."


def compare_single(telling, shown):
    """Return a comparison by meaning: items with one word, but not another, are a bit nearer."""
    return lambda _, texts: [0.6 if telling in t and shown not in t else 0.3 for t in texts]


def test_of_a_long_list_only_the_items_that_answer_are_quoted(answer, source):
    items = [f"- The {name} valve stands open. {RARE}" for name in TREES]
    items[2] = f"- The elm valve and its valves below freeze in winter. {RARE}"
    question, compare = "Which valves freeze in winter?", compare_single("freeze", "oak")
    short = read_quotations(answer(question, source(1, "\n".join(items)), compare=compare))
    assert "freeze" in short[0]
    many = "\n".join([*items, *items[:1] * 6])
    long = read_quotations(answer(question, source(1, many), compare=compare))
    assert "freeze" in long[0]
    assert len(long) < 5


def test_a_collection_of_commands_is_a_list_only_of_what_its_note_is_about(answer, source):
    question, compare = "Which stashes are listed?", compare_single("List", "Delete")
    named = replace(source(1, COMMANDS), title="stashes")
    assert "git stash clear" in answer(question, named)
    other = answer(question, source(1, COMMANDS), compare=compare)
    assert "git stash list" in other
    assert "git stash clear" not in other


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
    assert "LIMIT" not in text
    assert [each.verified for each in check_citations(text, sources).citations] == [True]


def test_a_command_comes_with_what_it_does_and_without_the_others(answer, source):
    text = answer("How do I delete all stashes?", source(1, COMMANDS))
    assert read_quotations(text) == ["> - Delete all stashes:", "> `git stash clear` [1]"]


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
    assert not any(line.rstrip(".") in quoted for quoted in read_quotations(text))


def test_front_matter_is_no_answer(answer, source):
    note = "---\nauthor: Jane Beans\ncreated: 2020-01-01\n---\n\nThe author of it is unknown."
    assert "Jane" not in answer("Who wrote it?", source(1, note, first=1))


def test_a_property_is_quoted_if_the_question_names_it(answer, source):
    note = "---\nbirthday: 1984-03-14\ntags: friend\n---\n\nAnna likes gin."
    sources = [replace(source(1, note, first=1), title="Anna")]
    text = answer("When is Anna's birthday?", *sources)
    assert read_quotations(text)[0] == "> birthday: 1984-03-14 [1]"
    assert [each.verified for each in check_citations(text, sources).citations] == [True]
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


@pytest.mark.parametrize(("support", "refused"), [(0.3, True), (1.2, False)])
def test_what_the_search_found_too_weakly_is_refused(answer, source, support, refused):
    text = answer("What do beans cost in Paris?", source(1, GARDEN), support=support)
    assert ("nothing in your notes answers" in text) is refused


@pytest.mark.parametrize(("support", "refused"), [(0.2, True), (0.35, False)])
def test_most_of_the_words_are_enough_where_the_support_is_fair(answer, source, support, refused):
    section = "## Restoring\n\nA restore of one file of the server takes a minute."
    text = answer("How do I restore a lost server file?", source(1, section), support=support)
    assert ("nothing in your notes answers" in text) is refused


@pytest.mark.parametrize(
    ("weights", "refused"),
    [
        ({"saffron": 0.9, "warm": 0.3, "soil": 0.3}, True),
        ({"saffron": 0.2, "warm": 0.4, "soil": 0.4}, False),
        ({}, False),
    ],
)
def test_a_question_whose_rarest_word_is_in_no_quotation_is_refused(
    answer, source, weights, refused
):
    support = Support(0.65, weights)
    text = answer("Does saffron need warm soil?", source(1, GARDEN), support=support)
    assert ("nothing in your notes answers" in text) is refused
    known = answer("Do beans need warm soil?", source(1, GARDEN), support=support)
    assert "> Beans need warm soil" in known


def test_the_rarest_word_may_be_quoted_in_another_form_or_for_one_of_several_things(answer, source):
    support = Support(0.65, {"saffron": 0.9, "warm": 0.3, "soil": 0.3, "beans": 0.3})
    other = source(1, "Saffrons need warm soil.")
    text = answer("Does saffron need warm soil?", other, support=support)
    assert "> Saffrons need warm soil. [1]" in text
    both = source(1, GARDEN), source(2, "Saffron likes dry summers.")
    text = answer("What do beans and saffron need?", *both, support=support)
    assert "> Saffron likes dry summers. [2]" in text


MOVING = (
    "The gate is closed by hand in the evening. "
    "A motor of the gate was once considered. "
    "At dusk a hook keeps it shut."
)


class Nearness:
    """Compares by meaning: texts with one of some words are near every question."""

    def __init__(self, *words):
        self.words = words
        self.asked = []

    def __call__(self, question, texts):
        self.asked.append((question, list(texts)))
        return [0.8 if any(word in text for word in self.words) else 0.1 for text in texts]


def test_what_is_near_in_meaning_comes_before_what_shares_a_word(answer, source):
    question, text = "What fastens the gate?", MOVING + " It rained all day." * 10 + LONG
    assert "hook" not in read_quotations(answer(question, source(1, text)))[0]
    near = Nearness("hook")
    assert "hook" in read_quotations(answer(question, source(1, text), compare=near))[0]
    assert near.asked[0][0] == question


def test_only_the_beginnings_of_the_best_parts_are_compared(answer, source):
    near = Nearness()
    texts = [f"Bean {n} likes soil {'and sun ' * 60}." + LONG for n in range(20)]
    answer("Which soil do beans like?", *map(source, range(1, 21), texts), compare=near)
    ((_, compared),) = near.asked
    assert len(compared) <= 32
    assert max(len(text.split()) for text in compared) < 30


def test_without_vectors_the_words_alone_decide(answer, source):
    question, text = "What fastens the gate?", MOVING + " It rained all day." * 10 + LONG
    assert answer(question, source(1, text), compare=lambda *_: ()) == answer(
        question, source(1, text)
    )


def test_each_of_two_things_is_compared_without_the_other(answer, source):
    near = Nearness()
    sources = source(1, SERVER), source(2, GARDEN)
    answer("What do beans and the server need?", *sources, compare=near)
    assert [question for question, _ in near.asked] == [
        "What do beans and the",
        "What do and the server need?",
    ]


@pytest.mark.parametrize("near", [0.3, 0.8])
def test_a_near_part_answers_though_the_support_is_only_fair(answer, source, near):
    text = answer(
        "What do legumes cost in a market?",
        source(1, GARDEN),
        support=0.6,
        compare=lambda _, texts: [near] * len(texts),
    )
    assert ("nothing in your notes answers" in text) is (near < 0.5)


@pytest.mark.parametrize(("support", "doubts"), [(0.1, True), (0.4, False)])
def test_quotations_that_may_not_answer_are_shown_with_a_doubt(answer, source, support, doubts):
    text = answer("Do beans need warm soil?", source(1, GARDEN), support=support)
    assert (DOUBTFUL in text) is doubts
    assert read_quotations(text)


@pytest.mark.parametrize("name", ["Paris", "paris"])
def test_a_name_that_no_quotation_has_counts_as_missing(answer, source, name):
    text = answer(f"Do beans need warm soil in {name}?", source(1, GARDEN), support=0.6)
    assert (NOTHING_ANSWERS in text) is (name == "Paris")


def test_a_text_without_a_key_answers_no_question_for_a_shortcut(answer, source):
    question = "What is the keyboard shortcut for the graph?"
    opened = "The graph has a keyboard shortcut of its own, and a button in the ribbon."
    assert NOTHING_ANSWERS in answer(question, source(1, opened))
    keys = "To open the graph, press the keyboard shortcut `Ctrl+G`."
    assert "Ctrl+G" in answer(question, source(1, opened), source(2, keys))


def test_instructions_are_the_directions_and_not_the_ingredients(answer, source):
    text = """## Ingredients
- 100 g of sugar for the kvass
- 3 slices of bread to brew with

## Directions
1. Burn the bread.
2. Let it stand for a week."""
    quoted = read_quotations(answer("How do I brew kvass?", source(1, text, title="Kvass")))
    assert quoted[0] == "> 1. Burn the bread."


def test_a_list_that_is_too_long_is_quoted_by_the_beginnings_of_its_outer_items(answer, source):
    more = "\n  - It is told at length what grows on it, and how it is cut. " * 12
    trees = "\n\n".join(f"- **{name}** is a tree. It is old.{more}" for name in ("Ash", "Elm"))
    sources = [source(1, f"There are these kinds of trees:\n\n{trees}")]
    text = answer("What kinds of trees are there?", *sources)
    assert read_quotations(text)[:3] == [
        "> There are these kinds of trees:",
        "> - Ash is a tree. …",
        "> - Elm is a tree. … [1]",
    ]
    assert all(each.verified for each in check_citations(text, sources).citations)


TAGS = """# Searching for tags

## Exact tag

```
show notes with tag = x
```

## Start of a tag

```
show notes with tag ^ x
```"""


def test_two_ways_that_are_compared_are_quoted_with_their_code(answer, source):
    text = answer("How do an exact tag and the start of a tag differ?", source(1, TAGS))
    assert "tag = x" in text
    assert "tag ^ x" in text


def test_a_difference_is_answered_by_what_each_thing_is(answer, source):
    differences = source(1, "Show the difference between two files, line by line." + LONG)
    things = (
        source(2, "# tac\n\nEstimate the space that files use." + LONG),
        source(3, "# tee\n\nDisplay the free space of a disk." + LONG),
    )
    text = answer("What is the difference between tac and tee?", differences, *things)
    assert "Estimate the space that files use" in text
    assert "Display the free space of a disk" in text


def test_parts_are_compared_together_with_their_headings(answer, source):
    near = Nearness()
    answer("How many watts does a backup draw?", source(2, SERVER), compare=near)
    ((_, compared),) = near.asked
    assert "Note 2. Power. A full backup raises that to 58 watts." in compared


def test_a_number_of_something_else_is_no_count(answer, source):
    text = "The soup serves guests well. Let it simmer for 20 minutes on a low heat, and stir."
    question = "How many guests does the soup serve?"
    assert NOTHING_ANSWERS in answer(question, source(1, text), support=0.7)
    counted = text.replace("guests", "4 guests")
    assert NOTHING_ANSWERS not in answer(question, source(1, counted), support=0.7)


def test_a_price_that_is_told_before_a_question_is_not_asked_for(answer, source):
    text = "The large plan of the garden has room for ten beds."
    question = "The garden costs me a lot. Which plan of the garden has room for ten beds?"
    assert NOTHING_ANSWERS not in answer(question, source(1, text), support=1.2)


FRIDAY: Final = date(2026, 3, 6)


@pytest.fixture
def diary(source):
    """Days of a diary, the last one first, dated by a name, a heading or a property."""
    return (
        source(1, "The roof is finished.", title="2026-03-05", source="Diary/2026-03-05.md"),
        source(2, "Met Ines in the garden. She brought seeds.", source="Diary/2026-03-03.md"),
        source(3, "Sowed peas.\n\nWatered them.", title="Log", heading=("Monday, 2 March 2026",)),
        source(4, "Beans are sown in May.", title="Beans"),
        source(5, "Bought the seeds.", title="Shopping"),
    )


def find_shopping_day(_paths):
    return {"Notes/Note 5.md": ["2026-03-04"]}


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What did I do this week?", [3, 2, 2, 5, 1]),
        ("What did I write yesterday?", [1]),
        ("What happened on 3 March?", [2, 2]),
        ("What happened on Wednesday?", [5]),
    ],
)
def test_everything_at_a_time_is_quoted_in_the_order_of_the_days(answer, diary, question, numbers):
    text = answer(question, *diary, support=0.1, find_days=find_shopping_day, today=FRIDAY)
    assert text.startswith(OF_PERIOD)
    assert [int(number) for number in re.findall(r"\[(\d)\]$", text, re.MULTILINE)] == numbers


def test_of_a_long_time_each_note_is_quoted_by_its_beginning(answer, source):
    text = "\n\n".join(f"In row {number} grows another kind of bean." for number in range(7))
    days = [source(n, text, source=f"2026-02-{n:02}.md", title=f"Day {n}") for n in range(1, 13)]
    said = answer("What did I do last month?", *days, support=0.1, today=FRIDAY)
    assert len(list(re.finditer(r"^> In row 0 grows", said, re.MULTILINE))) == 12
    assert len(" ".join(read_quotations(said)).split()) < 600


def test_a_question_about_a_time_is_answered_by_its_notes_and_never_refused(answer, diary):
    text = answer("What did Ines carry this week?", *diary, support=0.1, today=FRIDAY)
    assert text.startswith(DOUBTFUL)
    assert read_quotations(text)[0] == "> Met Ines in the garden. She brought seeds. [2]"
    assert "Beans are sown" not in text


def test_a_note_of_another_year_may_not_answer(answer, source):
    beans = source(1, "Beans were sown in May 2026 below the wall.", source="Log.md", title="Log")
    sure = answer("When were the beans sown in May 2026?", beans, support=0.9, today=FRIDAY)
    other = answer("When were the beans sown in 2024?", beans, support=0.9, today=FRIDAY)
    assert sure.startswith(FOUND)
    assert other.startswith((DOUBTFUL, NOTHING_ANSWERS))


def test_a_note_of_a_season_is_not_of_each_day_in_it(answer, source, diary):
    calls = source(9, "Rough notes of all calls.", source="Calls.md", title="Calls, March 2026")
    text = answer("What did I do yesterday?", *diary, calls, support=0.1, today=FRIDAY)
    assert text.startswith(OF_PERIOD)
    assert "Rough notes" not in text


def test_of_a_log_only_the_sections_of_that_time_are_quoted(answer, source):
    text = "## 2026-03-03\n\nDug the bed.\n\n## 2026-03-05\n\nSowed peas below the wall."
    log = source(1, text, source="Log.md", title="Log")
    said = answer("What did I do on 5 March 2026?", log, support=0.1, today=FRIDAY)
    assert said.startswith(OF_PERIOD)
    assert read_quotations(said) == ["> Sowed peas below the wall. [1]"]


def test_properties_are_not_quoted_for_a_period(answer, source):
    note = "---\nweather: cold and wet\n---\n\nSowed peas below the wall."
    day = source(1, note, first=1, source="2026-03-05.md", title="2026-03-05")
    said = answer("What did I do yesterday?", day, support=0.1, today=FRIDAY)
    assert read_quotations(said) == ["> Sowed peas below the wall. [1]"]


def test_a_day_without_a_sentence_to_quote_is_named(answer, source):
    day = source(1, "Rain.", source="2026-03-05.md", title="Thursday")
    said = answer("What did I do yesterday?", day, support=0.1, today=FRIDAY)
    assert said.startswith(NO_SENTENCE)
    assert "- Thursday [1]" in said


def test_tasks_are_listed_below_their_notes(answer, source):
    head = replace(source(0, "3 open tasks match.", source=LIST_SOURCE), number=None)
    tasks = [
        source(1, "- [ ] Call the roofer", source="Todo.md", title="Todo"),
        source(2, "- [ ] Paint the shed", source="Todo.md", title="Todo"),
        source(3, "- [ ] Dig", source="2026-03-05.md", title="Thursday"),
    ]
    assert answer("What are my open tasks?", head, *tasks) == (
        "3 open tasks match.\n\n*Todo*\n\n- Call the roofer [1]\n- Paint the shed [2]"
        "\n\n*Thursday · 2026-03-05*\n\n- Dig [3]"
    )


def test_a_quotation_of_a_diary_is_below_its_date(answer, source):
    day = source(1, "Saw a kingfisher.", source="Diary/2026-03-05.md", title="Thursday")
    assert "*Thursday* · 2026-03-05\n" in answer("Where is the kingfisher?", day)


@pytest.mark.parametrize("question", ["What did I do in 2019?", "What happened last Monday?"])
def test_a_time_without_notes_is_refused(answer, source, question):
    days = source(1, "The roof is finished.", title="2026-03-05", source="Diary/2026-03-05.md")
    assert answer(question, days, support=0.1, today=FRIDAY).startswith(NOTHING_ANSWERS)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did I last water the peas?", "> Watered the peas behind the house. [3]"),
        ("When did I first water the peas?", "> Watered the peas by the wall. [1]"),
    ],
)
def test_the_last_or_first_time_is_the_one_in_the_note_of_that_day(answer, source, question, first):
    days = (
        source(1, "Watered the peas by the wall.", source="2026-01-05.md", title="2026-01-05"),
        source(2, "Peas are watered in the morning.", title="Peas"),
        source(3, "Watered the peas behind the house.", source="2026-03-02.md", title="Monday"),
        source(4, "Dug the bed.", source="2026-03-04.md", title="2026-03-04"),
    )
    text = answer(question, *days, support=0.8, today=FRIDAY)
    assert read_quotations(text)[0] == first


def test_the_word_for_the_last_time_is_not_missing_in_the_notes(answer, source):
    day = source(1, "Called the bank about the loan.", source="2026-03-02.md", title="2026-03-02")
    weights = {"bank": 0.4, "called": 0.4, "last": 1.3}
    text = answer("When was the bank last called?", day, support=Support(0.5, weights))
    assert read_quotations(text) == ["> Called the bank about the loan. [1]"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What did I do last week?", "Say that last week you did me a favour."),
        ("What happened on 20 February?", "What happened in February stays there."),
    ],
)
def test_words_of_a_time_are_not_the_time_that_is_asked_about(answer, source, question, text):
    said = answer(question, source(1, text), support=1.0, today=FRIDAY)
    assert said.startswith(NOTHING_ANSWERS)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What happened on 20 February?", "We moved on 20 February."),
        ("What happened on 20 February?", "2026-02-20, what happened: We moved."),
        ("What happened in February?", "We moved in February."),
    ],
)
def test_a_note_without_a_date_may_name_the_time_that_is_asked_about(
    answer, source, question, text
):
    said = answer(question, source(1, text), support=2.0, today=FRIDAY)
    assert "We moved" in "".join(read_quotations(said))
