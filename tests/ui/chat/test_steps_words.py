"""The words for the steps of an agent that writes, asks and notes."""

from typing import Any

import pytest

from chains.turn_answer import ToolStep
from ui.chat.message.step_words import StepWords, summary


def step(name: str, status: str = "ok", **arguments: Any) -> ToolStep:
    return ToolStep(f"{name}{sorted(arguments.items())}", name, arguments, status)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (step("edit_note", path="A.md"), "Changed A.md"),
        (step("edit_note", "running", path="A.md"), "Changing A.md"),
        (step("edit_note", "denied", path="A.md"), "Change A.md"),
        (step("append_to_note", "error", path="A.md"), "Add to A.md"),
        (step("search_notes", "error", query="rain"), "Search “rain”"),
        (step("move_note", path="A.md", to="B/A.md"), "Moved A.md → B/A.md"),
        (step("fetch_url", url="https://example.org"), "Opened https://example.org"),
        (step("remember", text="Be brief."), "Remembered “Be brief.”"),
        (step("update_memory", scratchpad="x"), "Noted what is needed later"),
        (step("grep_notes", pattern="#beet"), "Searched for “#beet”"),
        (step("list_folder"), "Listed all notes"),
    ],
)
def test_a_step_names_what_was_done_or_was_to_be_done(shown: ToolStep, words: str) -> None:
    said = StepWords(shown)
    assert f"{said.verb} {said.argument}" == words


def test_the_summary_counts_what_asks_first_once_it_is_done() -> None:
    steps = [
        step("read_note", path="A.md"),
        step("edit_note", path="A.md"),
        step("append_to_note", path="A.md"),
        step("create_note", "running", path="B.md"),
        step("create_note", "denied", path="C.md"),
        step("create_note", "error", path="D.md"),
        step("update_memory"),
        step("update_progress"),
    ]
    said = "Read 1 note, changed 1 note, noted 2 things, 1 failed, 1 not allowed"
    assert summary(steps) == said
    assert summary([step("create_note", "running", path="B.md")]) == "1 step"


def test_the_summary_does_not_count_what_failed() -> None:
    failed = step("read_note", "error", path="nowhere.md")
    assert summary([failed]) == "1 failed"
    assert summary([step("read_note", "running", path="A.md"), failed]) == "Read 1 note, 1 failed"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("running", "1 step"),
        ("error", "1 failed"),
        ("ok", "Used files__grep"),
        ("denied", "1 not allowed"),
    ],
)
def test_a_tool_of_a_server_counts_as_used_once_it_is_done(status: str, said: str) -> None:
    assert summary([step("files__grep", status)]) == said
