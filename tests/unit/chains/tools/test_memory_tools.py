"""The memory of a chat, as the tools of an agent change it, and the tool for long-term memories."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.llm.port import RequestedCall
from chains.tool import Proposal
from chains.tools.memory_tools import (
    MOST_MEMORY_CHARS,
    SessionMemory,
    build_memory_tools,
    build_remember_tool,
)
from chains.tools.registry import ToolOutcome, ToolRegistry
from context.compaction import HEAD
from context.history.memory import Memory, Progress, read_memory
from context.log.entries import MemoryUpdateEntry
from tests.support.sessions.memory_session import MemorySession


@pytest.fixture
def memory(session: MemorySession) -> SessionMemory:
    return SessionMemory(session)


def call(memory: SessionMemory, name: str, **arguments: Any) -> ToolOutcome:
    registry = ToolRegistry(build_memory_tools(memory))
    return registry.run(RequestedCall("c1", name, json.dumps(arguments)))


def kept(session: MemorySession) -> Memory:
    return read_memory(session.path())


def test_what_is_noted_is_in_the_log_once_it_is_stored(memory, session) -> None:
    outcome = call(memory, "update_memory", scratchpad="Beans: May", facts_add=["Soil is acid."])
    assert outcome.content == "Noted. Scratchpad: 10 of 8,000 characters. Facts: 1."
    assert session.entries == []
    memory.store()
    assert kept(session) == Memory("Beans: May", facts=("Soil is acid.",))
    memory.store()
    assert len(session.entries) == 1


def test_an_entry_has_only_what_changed(memory, session) -> None:
    call(memory, "update_memory", scratchpad="One")
    memory.store()
    call(memory, "update_progress", currentObjective="Sow")
    memory.store()
    first, second = session.entries
    assert isinstance(first, MemoryUpdateEntry)
    assert (first.scratchpad, first.progress, first.facts) == ("One", None, None)
    assert isinstance(second, MemoryUpdateEntry)
    assert (second.scratchpad, second.facts) == (None, None)
    assert second.parent_id == first.id


def test_the_scratchpad_is_replaced_or_added_to(memory, session) -> None:
    call(memory, "update_memory", scratchpad="One")
    call(memory, "update_memory", scratchpad="Two", mode="append")
    memory.store()
    assert kept(session).scratchpad == "One\nTwo"
    call(memory, "update_memory", scratchpad="Three", mode="replace")
    memory.store()
    assert kept(session).scratchpad == "Three"


def test_a_fact_is_kept_once_and_removed_by_its_words(memory, session) -> None:
    call(memory, "update_memory", facts_add=["A", "B", "A", " B "])
    call(memory, "update_memory", facts_remove=["A"], facts_add=["C"])
    memory.store()
    assert kept(session).facts == ("B", "C")
    refused = call(memory, "update_memory", facts_remove=["A"], facts_add=["D"])
    assert refused.is_error
    assert "There is no fact “A”" in refused.content
    memory.store()
    assert kept(session).facts == ("B", "C")


def test_progress_that_is_not_given_stays(memory, session) -> None:
    call(memory, "update_progress", currentObjective="Sow", pendingSteps=["dig", "sow"])
    done = call(memory, "update_progress", completedSteps=["dig"], pendingSteps=["sow"])
    assert done.content == "Noted. Steps done: 1. Still to do: 1."
    memory.store()
    assert kept(session).progress == Progress("Sow", ("dig",), ("sow",))


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("update_memory", {}, "Give one of: facts_add, facts_remove, mode, scratchpad"),
        ("update_progress", {}, "Give one of: completedSteps, currentObjective"),
        ("update_memory", {"scratchpad": "x", "mode": "merge"}, "replace or append"),
        ("update_memory", {"facts_add": [1]}, "a list of strings"),
        ("update_memory", {"facts_add": "x"}, "of the type array"),
        ("update_progress", {"completedSteps": [None]}, "a list of strings"),
        ("update_memory", {"notes": "x"}, "There is no argument notes"),
    ],
)
def test_arguments_that_do_not_fit_change_nothing(memory, session, name, arguments, said) -> None:
    outcome = call(memory, name, **arguments)
    assert outcome.is_error
    assert said in outcome.content
    memory.store()
    assert session.entries == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("update_memory", {"scratchpad": "x" * (MOST_MEMORY_CHARS + 1)}),
        ("update_memory", {"facts_add": ["x" * MOST_MEMORY_CHARS, "y"]}),
        ("update_progress", {"pendingSteps": ["x" * (MOST_MEMORY_CHARS + 1)]}),
    ],
)
def test_a_memory_over_its_limit_is_an_error_that_changes_nothing(
    memory, session, name, arguments
) -> None:
    outcome = call(memory, name, **arguments)
    assert outcome.is_error
    assert "8,001 characters; 8,000 are allowed" in outcome.content
    memory.store()
    assert session.entries == []
    assert not call(memory, "update_memory", scratchpad="x" * MOST_MEMORY_CHARS).is_error


_TEXTS = st.lists(st.text("ab \n", max_size=4), max_size=3)


@given(
    st.lists(
        st.one_of(
            st.fixed_dictionaries(
                {},
                optional={
                    "scratchpad": st.text("xy\n", max_size=5),
                    "mode": st.sampled_from(["replace", "append"]),
                    "facts_add": _TEXTS,
                    "facts_remove": _TEXTS,
                },
            ).map(lambda given: ("update_memory", given)),
            st.fixed_dictionaries({}, optional={"completedSteps": _TEXTS}).map(
                lambda given: ("update_progress", given)
            ),
        ),
        max_size=6,
    ),
    st.sets(st.integers(0, 5)),
)
def test_the_log_has_the_memory_whenever_it_is_stored(calls, stores) -> None:
    session = MemorySession()
    memory = SessionMemory(session)
    for at, (name, arguments) in enumerate(calls):
        call(memory, name, **arguments)
        if at in stores:
            memory.store()
    memory.store()
    assert kept(session) == memory.change(lambda known: known)
    assert SessionMemory(session).change(lambda known: known) == kept(session)


def test_a_memory_that_is_too_long_already_can_be_shortened(session) -> None:
    long = Memory(scratchpad="x" * (MOST_MEMORY_CHARS + 5))
    session.append([MemoryUpdateEntry("1", None, "", long.scratchpad)])
    memory = SessionMemory(session)
    assert memory.change(lambda known: replace(known, facts=("A",))).facts == ("A",)
    assert not call(memory, "update_memory", scratchpad="short").is_error


def test_remember_refuses_a_mark_of_left_out_text() -> None:
    registry = ToolRegistry([build_remember_tool(lambda _text: pytest.fail("was proposed"))])
    written = json.dumps({"text": f"{HEAD} The beans are in."})
    found = registry.propose(RequestedCall("c1", "remember", written))
    assert isinstance(found, ToolOutcome)
    assert "left out" in found.content


def test_remember_only_proposes() -> None:
    asked: list[str] = []

    def propose(text: str) -> Proposal:
        asked.append(text)
        return Proposal("memory", text, lambda: "Remembered.")

    registry = ToolRegistry([build_remember_tool(propose)])
    found = registry.propose(RequestedCall("c1", "remember", '{"text": "Answer in German."}'))
    assert isinstance(found, Proposal)
    assert asked == ["Answer in German."]
    assert registry.asks_first("remember")


def test_facts_of_a_summary_stay_beside_those_of_the_same_turn(memory, session) -> None:
    call(memory, "update_memory", facts_add=["Soil is acid.", "Sow in May."])
    memory.store()
    call(memory, "update_memory", facts_add=["Rain fell."], facts_remove=["Sow in May."])
    place = session.new_id(), session.path()[-1].id, session.now()
    facts = ("Soil is acid.", "Sow in May.", "The roof is red.")
    session.append([MemoryUpdateEntry(*place, facts=facts)])  # as a compaction stores them
    memory.store()
    assert kept(session).facts == ("Soil is acid.", "The roof is red.", "Rain fell.")
    call(memory, "update_memory", scratchpad="Next", facts_add=["It hums."])
    memory.store()
    assert kept(session).facts == (
        *("Soil is acid.", "The roof is red.", "Rain fell."),
        "It hums.",
    )


def test_a_memory_that_a_person_edits_during_the_turn_stays(memory, session) -> None:
    call(memory, "update_memory", scratchpad="One")
    memory.store()
    place = session.new_id(), session.path()[-1].id, session.now()
    session.append([MemoryUpdateEntry(*place, "Two", facts=("By hand.",))])
    call(memory, "update_memory", facts_add=["By the model."])
    memory.store()
    assert kept(session) == Memory("Two", facts=("By hand.", "By the model."))
