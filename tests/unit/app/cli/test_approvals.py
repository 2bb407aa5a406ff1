"""Approvals on the command line: the levels, and a person at a terminal."""

import json
import os
import pty
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.approvals import TerminalApprovals
from app.cli.parser import run
from app.sessions.agent import AgentBuilder
from chains.cancel import CancelToken
from chains.tool import ApprovalRequest, KeptHunks, Proposal
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.asking_tools import Diary

Ask = Callable[..., tuple[str, str]]
Type = Callable[[bytes], None]
FETCH = ApprovalRequest(
    "a1",
    "c1",
    "fetch_url",
    {},
    Proposal("fetch", "Fetch it.", lambda: "", session_scope="example.org"),
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    call = ("c1", "write_diary", json.dumps({"text": "\x1b[31mdear"}))
    with ModelServer(Answer("", calls=(call,)), Answer("Done.")) as server:
        yield server


@pytest.fixture
def ask(server: ModelServer, small_vault: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask an agent; return the status of its call, and standard error."""

    def call(*argv: str) -> tuple[str, str]:
        model = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        named = ("--vault", str(small_vault), "--mode", "agent", "--no-index", "--json")
        assert run(["ask", "Write.", *model, *named, *argv], lambda _: 1) == 0
        out, err = capsys.readouterr()
        (tool,) = json.loads(out)["tools"]
        return tool["status"], err

    return call


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> Diary:
    diary = Diary()
    monkeypatch.setattr(AgentBuilder, "_build_extra_tools", lambda *_: (diary.tool,))
    return diary


@pytest.mark.parametrize(
    ("options", "fields", "status"),
    [
        ((), {}, "denied"),
        (("--approve", "never"), {"session_scope": "example.org"}, "denied"),
        (("--approve", "reads"), {}, "denied"),
        (("--approve", "reads"), {"session_scope": "example.org"}, "ok"),
        (("--approve", "reads"), {"session_scope": "example.org", "kind": "fetch"}, "denied"),
        (("--approve", "all"), {}, "ok"),
        (("--approve", "all"), {"warnings": ("More than ten notes.",)}, "denied"),
    ],
)
def test_without_a_terminal_only_the_option_approves(
    ask: Ask, diary: Diary, options: tuple[str, ...], fields: dict[str, Any], status: str
) -> None:
    diary.fields |= fields
    assert ask(*options)[0] == status
    assert bool(diary.text) is (status == "ok")


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Type]:
    """Put a person at the terminal who types this; standard error is a terminal too."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r", encoding="utf-8") as screen:

        def typed(text: bytes) -> None:
            # pytest sets its own streams between the setup of a test and its call.
            monkeypatch.setattr(sys, "stdin", screen)
            monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
            os.write(ours, text)

        yield typed
    os.close(ours)


@pytest.mark.parametrize(
    ("typed", "status"), [(b"y\n", "ok"), (b"\n", "denied"), (b"s\n", "denied")]
)
def test_at_a_terminal_the_diff_is_shown_and_the_default_is_no(
    ask: Ask, diary: Diary, typing: Type, typed: bytes, status: str
) -> None:
    typing(typed)
    found, shown = ask()
    assert found == status
    assert "Write the diary." in shown
    assert "\x1b[32m+" in shown  # the color of an added line
    assert "\x1b[31m" not in shown  # a text cannot color the terminal
    assert shown.count("Allow this? [y/N]") == 1


def test_never_asks_nobody_at_a_terminal(ask: Ask, diary: Diary, typing: Type) -> None:
    typing(b"y\n")
    status, shown = ask("--approve", "never")
    assert (status, "Allow this?" in shown, diary.text) == ("denied", False, "")


def test_a_brake_is_asked_about_even_if_all_is_approved(
    ask: Ask, diary: Diary, typing: Type
) -> None:
    diary.fields["warnings"] = ("More than ten notes.",)
    typing(b"y\n")
    status, shown = ask("--approve", "all")
    assert (status, "Careful: More than ten notes." in shown) == ("ok", True)


def test_a_stop_ends_the_question(typing: Type) -> None:
    token = CancelToken()
    token.cancel()
    typing(b"")
    assert TerminalApprovals().decide(FETCH, token) == "reject"


def test_a_terminal_can_approve_a_host_for_the_chat(
    typing: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    typing(b"s\n")
    assert TerminalApprovals().decide(FETCH, CancelToken()) == "session"
    assert "[s] yes to example.org in this chat" in capsys.readouterr().err


EDIT = ApprovalRequest(
    "a2",
    "c2",
    "edit_note",
    {},
    Proposal(
        "write", "Edit a.md.", lambda: "", hunks=("@@\n-a\n+b\n", "@@\n-c\n+d\n", "@@\n-e\n+f\n")
    ),
)


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        (b"y\n", "once"),
        (b"n\n", "reject"),
        (b"c\ny\nn\ny\n", KeptHunks(frozenset({0, 2}))),
        (b"c\ny\ny\ny\n", "once"),
        (b"c\nn\nn\nn\n", "reject"),
        (b"c\nn\na\n", KeptHunks(frozenset({1, 2}))),
        (b"choose\nY\nd\n", KeptHunks(frozenset({0}))),
        (b"c\ny\n\x04", KeptHunks(frozenset({0}))),  # the input ends
        (b"c\n\nwhat\nn\ny\nd\n", KeptHunks(frozenset({1}))),
    ],
)
def test_a_change_is_approved_hunk_by_hunk(
    typing: Type, capsys: pytest.CaptureFixture[str], typed: bytes, verdict: object
) -> None:
    typing(typed)
    assert TerminalApprovals().decide(EDIT, CancelToken()) == verdict
    shown = capsys.readouterr().err
    assert "Allow this? [y]es, [c]hoose among 3 changes, [N]o" in shown
    if typed.startswith(b"c"):
        assert "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n" in shown
        assert "Make change 1 of 3? [y,n,a,d]" in shown
    assert ("y: make this change;" in shown) is (b"what" in typed)


def test_only_the_chosen_hunks_reach_the_note(
    server: ModelServer, small_vault: Path, typing: Type, capsys: pytest.CaptureFixture[str]
) -> None:
    note = small_vault / "Plan.md"
    lines = [f"line {number}\n" for number in range(20)]
    note.write_text("".join(lines), "utf-8")
    changed = ["first\n", *lines[1:19], "last\n"]
    arguments = {"path": "Plan.md", "old": "".join(lines), "new": "".join(changed)}
    call = ("c1", "edit_note", json.dumps(arguments))
    server.script(Answer("", calls=(call,), finish="tool_calls"), Answer("Done."))
    typing(b"c\nn\ny\n")
    model = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
    named = ("--vault", str(small_vault), "--mode", "agent", "--no-index", "--json")
    assert run(["ask", "Write.", *model, *named], lambda _: 1) == 0
    assert note.read_text("utf-8") == "".join([*lines[:19], "last\n"])
    assert "Make change 2 of 2?" in capsys.readouterr().err
