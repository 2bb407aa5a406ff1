"""`strata sessions search`, `rename`, `pin`, `archive`, `delete`, and the bin; `strata compact`."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from context.exam import SummaryExam
from tests.support.models.model_server import ModelServer
from tests.support.sessions.binned import let_pass
from tests.support.sessions.summaries import script_lossy_chat
from tests.support.sessions.turns import ask, result_of

Sessions = Callable[..., tuple[int, str, str]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def sessions(capsys: pytest.CaptureFixture[str]) -> Sessions:
    """Run `strata sessions` in this process: exit code, standard output, standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        return (run(["sessions", *argv], lambda _: 1), *capsys.readouterr())

    return call


@pytest.fixture
def chat(assistant: Assistant, server: ModelServer) -> str:
    session = result_of(ask(assistant, "Where is the barrel?", mode="chat")).session
    assert session is not None
    return session


def document(sessions: Sessions, *argv: str) -> Any:
    return json.loads(sessions(*argv, "--json")[1])


def test_a_search_prints_hits_or_that_there_are_none(sessions: Sessions, chat: str) -> None:
    (hit,) = document(sessions, "search", "BARREL where")["hits"]
    assert (hit["session"], hit["role"], hit["text"]) == (chat, "user", "Where is the barrel?")
    code, out, _ = sessions("search", "barrel")
    assert (code, out.startswith(chat), out.endswith("Where is the barrel?\n")) == (0, True, True)
    assert sessions("search", "snow")[:2] == (0, "No chat contains this.\n")
    code, out, _ = sessions("search", " ", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "bad_request")


def test_a_new_title_is_listed_shown_and_exported(
    sessions: Sessions, chat: str, assistant: Assistant
) -> None:
    assert sessions("rename", chat, "Water\n in summer")[1] == f"{chat}  Water in summer\n"
    assert document(sessions, "rename", chat, "Water in winter") == {"session": chat}
    (listed,) = document(sessions, "list")["sessions"]
    assert (listed["title"], listed["turns"]) == ("Water in winter", 1)
    assert sessions("show", chat)[1].startswith("Water in winter\n")
    assert sessions("export", chat)[1].startswith("# Water in winter\n")
    result = result_of(ask(assistant, "And the hose?", session=chat, mode="chat"))
    assert (result.session, assistant.sessions.info(chat).title) == (chat, "Water in winter")


def test_a_chat_is_pinned_archived_and_back(sessions: Sessions, chat: str) -> None:
    before = document(sessions, "list")["sessions"][0]["updated"]
    assert sessions("pin", chat)[1].endswith("Where is the barrel?  (pinned)\n")
    assert document(sessions, "archive", chat)["archived"] is True
    assert sessions("list")[1] == "No chats yet. strata ask begins one.\n"
    (listed,) = document(sessions, "list", "--archived")["sessions"]
    assert (listed["pinned"], listed["updated"]) == (True, before)
    assert sessions("search", "barrel")[1].startswith(chat)
    sessions("restore", chat)
    sessions("unpin", chat)
    (listed,) = document(sessions, "list")["sessions"]
    assert (listed["pinned"], listed["archived"]) == (False, False)
    assert sessions("list", "--archived")[1] == "No chat is archived.\n"


def test_a_question_puts_an_archived_chat_back(
    sessions: Sessions, chat: str, assistant: Assistant
) -> None:
    sessions("archive", chat)
    ask(assistant, "And now?", mode="chat", session=chat)
    (listed,) = document(sessions, "list")["sessions"]
    assert (listed["session"], listed["archived"]) == (chat, False)


def test_a_copy_of_a_chat_has_no_marks(sessions: Sessions, chat: str) -> None:
    sessions("pin", chat)
    sessions("archive", chat)
    copy = document(sessions, "fork", chat)["session"]
    (listed,) = document(sessions, "list")["sessions"]
    assert (listed["session"], listed["pinned"]) == (copy, False)


@pytest.mark.parametrize(
    "argv",
    [["rename", "nowhere", "x"], ["delete", "nowhere", "--yes"], ["archive", "nowhere"]],
)
def test_an_unknown_chat_is_an_error(sessions: Sessions, argv: list[str]) -> None:
    code, out, _ = sessions(*argv, "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "session_missing")


def test_a_deleted_chat_is_in_the_bin_and_can_be_restored(sessions: Sessions, chat: str) -> None:
    (before,) = document(sessions, "list")["sessions"]
    assert sessions("list", "--bin")[1] == "The bin is empty.\n"
    code, out, _ = sessions("delete", chat)
    assert (code, f"`strata sessions restore {chat}` brings it back." in out) == (0, True)
    assert document(sessions, "list") == {"sessions": []}
    assert document(sessions, "search", "barrel") == {"hits": []}
    (binned,) = document(sessions, "list", "--bin")["sessions"]
    assert {**binned, **before} == binned
    assert f"is in the bin until {binned['until'][:10]}." in out
    listed = f"{chat}  until {binned['until'][:10]}     1 turn  Where is the barrel?\n"
    assert sessions("list", "--bin")[1] == listed
    assert document(sessions, "restore", chat) == before
    assert document(sessions, "list", "--bin") == {"sessions": []}
    assert document(sessions, "list")["sessions"] == [before]


@pytest.mark.parametrize("verb", [("show",), ("export",), ("delete",), ("fork",), ("pin",)])
def test_a_chat_in_the_bin_is_not_used(
    sessions: Sessions, chat: str, verb: tuple[str, ...]
) -> None:
    sessions("delete", chat)
    error = document(sessions, *verb, chat)["error"]
    assert error["code"] == "session_missing"
    assert error["message"] == f"The chat {chat} is in the bin."
    assert error["hint"] == f"`strata sessions restore {chat}` brings it back."


@pytest.mark.parametrize("options", [["--json"], []])
@pytest.mark.parametrize("is_binned", [True, False])
def test_a_chat_is_deleted_for_good_without_a_question_if_nobody_can_be_asked(
    sessions: Sessions, chat: str, options: list[str], is_binned: bool
) -> None:
    if is_binned:
        sessions("delete", chat)
    code, out, _ = sessions("delete", chat, "--now", *options)
    assert (code, chat in out) == (0, True)
    for which in ((), ("--bin",)):
        assert document(sessions, "list", *which) == {"sessions": []}


def test_a_busy_chat_is_not_deleted(sessions: Sessions, chat: str, assistant: Assistant) -> None:
    for options in ([], ["--now"]):
        with assistant.sessions.open(chat):
            code, out, _ = sessions("delete", chat, "--json", *options)
        assert (code, json.loads(out)["error"]["code"]) == (1, "busy")
    assert assistant.sessions.info(chat).turns == 1


@pytest.mark.parametrize(
    ("typed", "options", "is_deleted"),
    [("n\n", [], False), ("", [], False), ("Y\n", [], True), ("", ["--yes"], True)],
)
@pytest.mark.parametrize("act", ["delete", "empty-bin"])
def test_in_a_terminal_the_user_is_asked_before_anything_is_deleted_for_good(
    sessions: Sessions,
    chat: str,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    options: list[str],
    is_deleted: bool,
    act: str,
) -> None:
    screen = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", Terminal(typed))
        patched.setattr(sys, "stderr", screen)
        sessions("delete", chat)  # this can be undone, so nothing is asked
        assert screen.getvalue() == ""
        argv = ("delete", chat, "--now") if act == "delete" else ("empty-bin",)
        assert sessions(*argv, *options)[0] == (0 if is_deleted else 1)
    what = "the chat “Where is the barrel?”" if act == "delete" else "1 chat in the bin"
    asked = f"Delete {what} for good? [y/N] " in screen.getvalue()
    assert asked == (not options)
    assert (document(sessions, "list", "--bin") == {"sessions": []}) == is_deleted


def test_the_bin_is_emptied(sessions: Sessions, chat: str) -> None:
    assert document(sessions, "empty-bin") == {"sessions": []}
    sessions("delete", chat)
    assert document(sessions, "empty-bin") == {"sessions": [chat]}
    assert sessions("empty-bin")[1] == "The bin is empty.\n"
    assert document(sessions, "restore", chat)["error"]["code"] == "session_missing"


@pytest.mark.parametrize(
    ("argv", "is_removed"),
    [
        (["ask", "And?", "--mode", "chat"], True),
        (["ask", "And?", "--mode", "chat", "--dry-run"], False),
        (["sessions", "list", "--bin"], False),
    ],
)
def test_what_has_been_in_the_bin_for_thirty_days_goes_when_a_verb_writes(
    chat: str, assistant: Assistant, argv: list[str], is_removed: bool
) -> None:
    assistant.sessions.delete(chat)
    let_pass(assistant.sessions, chat, days=31)
    assert run(argv, lambda _: 1) == 0
    assert assistant.sessions.bin.holds(chat) != is_removed


def test_a_summary_is_mended_by_a_verb_and_told_by_others(
    strata: Sessions, assistant: Assistant, server: ModelServer, tmp_path: Path
) -> None:
    chats: list[str] = []

    def turn(question: str) -> None:
        session = chats[0] if chats else None
        done = result_of(ask(assistant, question, session=session, mode="chat"))
        chats.append(str(done.session))

    script_lossy_chat(server, turn)
    compact = "compact", "--session", (chat := chats[0])
    made = json.loads(strata(*compact, "--json")[1])
    exam = SummaryExam.read(made["exam"])
    assert exam is not None
    for verb in ("show", "export"):
        assert "\n".join(exam.list_lines()[1:4]) in strata("sessions", verb, chat)[1]
        assert exam.describe() in strata("sessions", verb, chat)[1]
    line = exam.gone[0].line
    code, out, _ = strata(*compact, "--keep", line)
    figures = f"{exam.in_request + 1} in the request, 0 within reach, {exam.gone_count - 1} gone"
    assert (code, out.splitlines()[0]) == (0, "Added to the summary.")
    assert out.splitlines()[1].startswith(figures)
    assert out.splitlines()[-1] == f"Undo with: strata compact --session {chat} --undo"
    assert f"- Gone: {line}" not in strata("sessions", "show", chat)[1]
    file = tmp_path / "summary.txt"
    file.write_text("Nothing matters.", "utf-8")
    assert json.loads(strata(*compact, "--edit", str(file), "--json")[1])["exam"] is None
    shown = strata("sessions", "show", chat)[1]
    assert "Nothing matters." in shown
    assert "in the request" not in shown
    error = json.loads(strata(*compact, "--keep", line, "--json")[1])["error"]
    assert error["message"].startswith("What this summary lost or changed is not known")
    assert strata(*compact, "--undo")[1].splitlines()[1].startswith(figures)
    assert (
        "31 kg" not in json.loads(strata(*compact, "--take-out", "31 kg", "--json")[1])["summary"]
    )
    assert strata(*compact, "--edit", str(tmp_path / "none.txt"))[0] == 1
    assert strata(*compact, "--keep", "x", "--undo")[0] == 2
