"""What a message that begins with a slash does, and what stays text."""

import re

import pytest

from app.assistant import Assistant
from app.commands import COMMANDS, CommandResult, Situation, parse, run
from app.errors import InvalidRequest, NotFound
from chains.cancel import CancelToken
from chains.request.ask import Ask


def given(assistant: Assistant, text: str, session: str | None = None) -> CommandResult:
    parsed = parse(text)
    assert parsed is not None
    return run(assistant, Situation(session, "chat"), *parsed)


@pytest.mark.parametrize(
    "text",
    [
        "/home/me/notes is full",
        "/etc/hosts",
        "// a comment",
        "//context",
        "/",
        "/ new",
        " /new",
        "1/new",
        "/7",
        "What does /new do?",
        "",
    ],
)
def test_text_that_only_looks_like_a_command_is_text(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/new", "new", ""),
        ("/New  ", "new", ""),
        ("/context last full", "context", "last full"),
        ("/context\nlast", "context", "last"),
    ],
)
def test_a_command_is_known_by_its_first_word(text: str, name: str, argument: str) -> None:
    parsed = parse(text)
    assert parsed is not None
    assert (parsed[0].name, parsed[1]) == (name, argument)


def test_a_command_that_does_not_exist_is_said_to() -> None:
    with pytest.raises(NotFound, match=r"There is no command /home\."):
        parse("/home")


def test_each_row_of_help_has_two_cells(assistant: Assistant) -> None:
    assistant.paths.commands.mkdir(parents=True)
    (assistant.paths.commands / "sum.md").write_text("Sum up | or list.\n")
    _head, _line, *rows = given(assistant, "/help").markdown.strip().split("\n")
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3] * len(rows)
    assert any(row.startswith(r"| `/export [md\|json]` |") for row in rows)


def test_help_lists_every_command(assistant: Assistant) -> None:
    shown = given(assistant, "/help").markdown
    for command in COMMANDS:
        assert f"`/{command.name}" in shown
        assert command.help in shown


def test_new_begins_a_chat(assistant: Assistant) -> None:
    assert given(assistant, "/new") == CommandResult(begins_chat=True)


def test_compact_carries_what_the_summary_should_keep(assistant: Assistant) -> None:
    assert given(assistant, "/compact the dates") == CommandResult(compacts="the dates")
    assert given(assistant, "/compact") == CommandResult(compacts="")


def test_context_shows_the_next_request(assistant: Assistant) -> None:
    shown = given(assistant, "/context").markdown
    assert shown.startswith("# Context Usage\n\n[")
    assert "- L1 system and project: " in shown


def test_context_full_shows_the_request_itself(assistant: Assistant) -> None:
    assert "# Context Envelope" in given(assistant, "/context full").markdown


def test_context_last_shows_what_was_sent(assistant: Assistant) -> None:
    list(assistant.ask(Ask("What is a memex?", "chat"), CancelToken()))
    session = assistant.sessions.newest()
    shown = given(assistant, "/context last full", session).markdown
    assert "What is a memex?" in shown


def test_before_the_first_question_there_is_no_last_request(assistant: Assistant) -> None:
    with pytest.raises(InvalidRequest, match="Nothing has been asked in this chat yet"):
        given(assistant, "/context last")


@pytest.mark.parametrize("text", ["/context everything", "/new chat", "/help me"])
def test_an_argument_that_is_not_taken_is_refused(assistant: Assistant, text: str) -> None:
    with pytest.raises(InvalidRequest):
        given(assistant, text)


def test_a_command_stores_nothing(assistant: Assistant) -> None:
    for command in COMMANDS:
        given(assistant, f"/{command.name}")
    assert assistant.list_sessions() == []
