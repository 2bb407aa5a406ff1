"""An automatic rehearsal finds which source carries which sentence, of models whose way is known.

A scripted model answers from the sources that it is given: each fact that is in one of them is a
sentence. So it is known what must fall.
"""

from collections.abc import Callable
from itertools import count

import pytest

from chains.rehearsal.plan import MOST_CALLS, RehearsalPlan, count_most_calls
from chains.rehearsal.table import RehearsalTable, make_table
from context.requests.layout import BodyPlace, LayerText
from context.requests.parts import RequestPart

FACTS = {
    "barrel": "The barrel behind the shed holds 210 litres.",
    "beans": "The runner beans grow in the north bed.",
    "gate": "The code of the garden gate is 4711.",
    "saw": "The pruning saw hangs beside the workbench.",
}
Model = Callable[[frozenset[str]], str]


def make_source(number: int, path: str, *facts: str) -> RequestPart:
    body = " ".join(FACTS.get(fact, fact) for fact in facts)
    place = BodyPlace("messages", 0, 0, (number, number + 1))
    found = LayerText("L3", "source", body, place, path, "", number)
    key = str(number)
    return RequestPart(key, "source", "L3", f"[{key}] {path}", (found,), (place,))


def answer_from(sources: list[RequestPart], *, cites: bool = False) -> Model:
    """Return a model that says every fact of the sources that it is given."""

    def say(left_out: frozenset[str]) -> str:
        given = [source for source in sources if source.key not in left_out]
        said = []
        for fact in FACTS.values():
            having = [source for source in given if fact in source.text]
            if having:
                said.append(fact[:-1] + f" [{having[0].key}]." * cites + "." * (not cites))
        return " ".join(said) or "Your notes do not say anything about this."

    return say


def rehearse(sources: list[RequestPart], model: Model) -> tuple[RehearsalTable, list[set[str]]]:
    """Ask until the plan ends, and return the table and what was left out."""
    unchanged: list[str] = []
    changed: dict[frozenset[str], str] = {}
    asked: list[set[str]] = []
    while True:
        plan = RehearsalPlan(sources, "What is in the garden?", tuple(unchanged), dict(changed))
        if (keys := plan.choose_next()) is None:
            return make_table(plan), asked
        asked.append(set(keys))
        if keys:
            changed[keys] = model(keys)
        else:
            unchanged.append(model(keys))


@pytest.mark.parametrize("cites", [False, True])
def test_each_sentence_is_carried_by_its_source(cites: bool) -> None:
    sources = [
        make_source(1, "Barrel.md", "barrel", "gate"),
        make_source(2, "Beds.md", "beans"),
        make_source(3, "Weather.md", "Much rain fell in the spring of last year."),
    ]
    table, asked = rehearse(sources, answer_from(sources, cites=cites))
    assert asked == [set(), set(), {"1"}, {"2"}, {"3"}]
    assert (table.noise, table.is_complete, table.untested) == (0, True, ())
    assert [(one.names, len(one.fallen)) for one in table.ranking] == [
        (("Barrel.md",), 2),
        (("Beds.md",), 1),
    ]
    assert [one.carriers for one in table.sentences] == [(("1",),), (("2",),), (("1",),)]


def test_two_notes_with_the_same_fact_are_left_out_together_first() -> None:
    sources = [
        make_source(1, "Barrel.md", "barrel"),
        make_source(2, "Beds.md", "beans"),
        make_source(3, "Copy.md", "barrel"),
    ]
    table, asked = rehearse(sources, answer_from(sources))
    assert asked == [set(), set(), {"1", "3"}, {"2"}, {"1"}, {"3"}]
    (both,) = [one for one in table.ranking if len(one.names) == 2]
    assert (both.names, both.fallen, both.is_apart) == (
        ("Barrel.md", "Copy.md"),
        (FACTS["barrel"],),
        True,
    )
    assert table.sentences[0].carriers == (("1", "3"),)


def test_passages_are_left_out_only_of_notes_that_mattered() -> None:
    sources = [
        make_source(1, "Barrel.md", "barrel"),
        make_source(2, "Barrel.md", "saw"),
        make_source(3, "Weather.md", "Much rain fell in the spring of last year."),
        make_source(4, "Weather.md", "It was dry in the autumn of that year."),
    ]
    table, asked = rehearse(sources, answer_from(sources))
    assert asked == [set(), set(), {"1", "2"}, {"3", "4"}, {"1"}, {"2"}]
    assert [one.carriers for one in table.sentences] == [(("1",),), (("2",),)]
    assert [one.keys for one in table.ranking] == [("1", "2")]


def test_a_source_that_no_word_tells_is_found_by_halves() -> None:
    facts = [
        make_source(at, f"Note {at}.md", f"Nothing of use stands here, {at}.") for at in range(1, 5)
    ]
    table, asked = rehearse(
        facts,
        lambda out: "Trees prosper." if "3" not in out else "No note speaks about any trees.",
    )
    assert asked == [set(), set(), {"1", "2", "3", "4"}, {"1", "2"}, {"3", "4"}, {"3"}, {"4"}]
    assert [one.names for one in table.ranking] == [("Note 3.md",)]
    assert table.untested == ()


def test_what_varies_by_itself_is_noise() -> None:
    sources = [make_source(1, "Barrel.md", "barrel", "gate"), make_source(2, "Beds.md", "beans")]
    steady, number = answer_from(sources), count(1)

    def vary(left_out: frozenset[str]) -> str:
        return f"Attempt {next(number)} was made here. {steady(left_out)}"

    table, _asked = rehearse(sources, vary)
    assert table.noise == 1
    assert table.sentences[0].varies
    assert [one.names for one in table.ranking] == [("Barrel.md",)]  # one sentence is not enough


def test_a_model_without_a_steady_sentence_ends_after_two_calls() -> None:
    sources, number = [make_source(1, "Barrel.md", "barrel")], count(1)
    table, asked = rehearse(sources, lambda _out: f"Attempt {next(number)}.")
    assert asked == [set(), set()]
    assert (table.ranking, table.is_complete) == ((), True)
    assert table.note


def test_no_more_than_twelve_calls_are_made_and_what_is_left_is_named() -> None:
    sources = [make_source(at, f"Note {at}.md", "barrel") for at in range(1, 16)]
    table, asked = rehearse(sources, answer_from(sources))
    assert len(asked) == MOST_CALLS
    assert len(table.untested) == 15 - 9
    assert not table.ranking[0].is_apart
    assert count_most_calls(sources) == MOST_CALLS
    assert count_most_calls(sources[:1]) == 3


def test_a_changed_figure_name_or_negation_is_another_sentence() -> None:
    sources = [make_source(1, "Gate.md", "gate"), make_source(2, "Beds.md", "beans")]
    for other in ("is 4712", "is not 4711", "of Anna is 4711"):
        said = FACTS["gate"].replace("is 4711", other)
        table, _ = rehearse(
            sources,
            lambda out, said=said: f"{said if '1' in out else FACTS['gate']} {FACTS['beans']}",
        )
        assert [one.names for one in table.ranking] == [("Gate.md",)]


def test_what_falls_within_the_noise_is_said() -> None:
    sources = [make_source(1, "Barrel.md", "barrel"), make_source(2, "Beds.md", "beans")]
    steady, number = answer_from(sources), count(1)
    table, _ = rehearse(sources, lambda out: f"{steady(out)} Attempt {next(number)} ends here.")
    assert table.noise == 1
    assert table.ranking == ()
    assert [one.name_carriers() for one in table.sentences] == [
        "fell without 1, within the noise",
        "fell without 2, within the noise",
        "varies",
    ]
    assert "No sentence fell" not in table.describe_no_ranking()


def test_each_is_enough_only_for_two_without_either_of_which_the_sentences_stay() -> None:
    copies = [make_source(1, "Barrel.md", "barrel"), make_source(2, "Copy.md", "barrel")]
    other = make_source(3, "Barn.md", "The barrel in the barn holds 90 litres.")

    def cite(sources: list[RequestPart]) -> Model:
        numbers = "".join(f"[{one.key}]" for one in sources)
        say = answer_from(sources)
        return lambda out: say(out).replace("litres.", f"litres {numbers}.")

    table, _ = rehearse(copies, cite(copies))
    assert table.ranking[0].name() == "Barrel.md or Copy.md, each is enough"
    assert table.sentences[0].name_carriers() == "1 or 2"
    table, _ = rehearse([*copies, other], cite([*copies, other]))
    assert table.ranking[0].name() == "one or more of Barrel.md, Copy.md, Barn.md"
    assert table.sentences[0].name_carriers() == "one or more of 1, 2, 3"


def test_one_fact_in_each_of_two_notes_is_not_enough_each_within_the_noise() -> None:
    sources = [make_source(1, "Barrel.md", "barrel"), make_source(2, "Beds.md", "beans")]
    steady, number = answer_from(sources), count(1)

    def say(out: frozenset[str]) -> str:
        both = steady(out).replace("litres.", "litres [1][2].").replace("bed.", "bed [1][2].")
        return f"{both} Attempt {next(number)} ends here."

    table, _ = rehearse(sources, say)
    assert [one.name() for one in table.ranking] == ["one or more of Barrel.md, Beds.md"]
    assert [one.name_carriers() for one in table.sentences][:2] == ["one or more of 1, 2"] * 2


def test_a_note_counts_only_as_the_plan_left_it_out() -> None:
    sources = [make_source(1, "Barrel.md", "barrel"), make_source(2, "Beds.md", "beans")]
    say = answer_from(sources)
    by_hand = {frozenset([key]): say(frozenset("12")) for key in ("L3", "L4")}
    plan = RehearsalPlan(sources, "", (say(frozenset()),) * 2, by_hand)
    assert (make_table(plan).ranking, plan.calls, plan.count_left()) == ((), 2, 3)
    both = RehearsalPlan(sources, "", plan.unchanged, {frozenset(["1"]): say(frozenset("1"))})
    assert (both.calls, both.count_left()) == (3, 2)
    early = RehearsalPlan(sources, "", plan.unchanged[:1], both.changed)
    assert (early.calls, early.count_left()) == (1, 4)


def test_what_was_never_left_out_is_not_said_to_have_no_source() -> None:
    sources = [make_source(at, f"Note {at}.md", f"Fact number {at} stands.") for at in range(1, 15)]
    table, _ = rehearse(
        sources,
        lambda out: " ".join(
            f"Fact number {one.number} stands [{one.number}]."
            for one in sources
            if one.key not in out
        ),
    )
    named = [one.name_carriers() for one in table.sentences]
    assert named[:10] == [str(at) for at in range(1, 11)]
    assert named[10:] == ["not tested"] * 4


def test_a_sentence_with_another_word_is_worded_differently() -> None:
    sources = [make_source(1, "Barrel.md", "barrel"), make_source(2, "Beds.md", "beans")]
    said = "The barrel behind the shed holds twenty litres of rain [1]."
    table, _ = rehearse(
        sources, lambda out: said.replace("twenty", "thirty") if "1" in out else said
    )
    assert table.sentences[0].name_carriers() == "worded differently without 1"
    assert "worded differently" in table.describe_no_ranking()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("", "Asked twice unchanged, the answer had no sentence."),
        ("Yes.", "Asked twice unchanged, the one sentence was the same."),
        ("Yes. It is.", "Asked twice unchanged, all 2 sentences were the same."),
    ],
)
def test_the_noise_is_told_for_any_number_of_sentences(said: str, sentence: str) -> None:
    plan = RehearsalPlan([make_source(1, "Barrel.md", "barrel")], "", (said, said), {})
    assert make_table(plan).describe_noise() == sentence
