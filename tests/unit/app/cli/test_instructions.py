import io
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.parser import run
from tests.support.models.model_server import ModelServer
from tests.support.processes.command_line import document

Strata = Callable[..., tuple[int, str, str]]
TEXT = "Be brief.\x1b[2J\u202eand\u200b\U000e0041 so on\n"
SHOWN = r"Be brief.\u{1b}[2J\u{202e}and\u{200b}\u{e0041} so on"


@pytest.fixture
def strata(capsys: pytest.CaptureFixture[str], small_vault: Path) -> Strata:
    """Run the command line in this process over notes with an AGENTS.md."""
    (small_vault / "AGENTS.md").write_text(TEXT, "utf-8")

    def call(*argv: str) -> tuple[int, str, str]:
        code = run(["--vault", str(small_vault), *argv], lambda _: 1)
        return (code, *capsys.readouterr())

    return call


def state(strata: Strata) -> str:
    code, out, _ = strata("instructions", "show", "--json")
    assert code == 0
    return str(document(out)["state"])


def test_instructions_are_shown_with_every_sign_that_cannot_be_seen(strata: Strata) -> None:
    code, out, _ = strata("instructions", "show")
    assert code == 0
    assert out.startswith("AGENTS.md of these notes, not used until")
    assert SHOWN in out


def test_instructions_are_taken_on_and_refused(strata: Strata) -> None:
    assert state(strata) == "undecided"
    code, out, _ = strata("instructions", "accept", "--json")
    assert (code, document(out)["state"], "text" in document(out)) == (0, "accepted", False)
    assert strata("instructions", "refuse")[1] == "AGENTS.md is refused and not used.\n"
    assert state(strata) == "refused"


def test_the_document_holds_the_text_as_it_is(strata: Strata) -> None:
    found = document(strata("instructions", "show", "--json")[1])
    assert (found["path"], found["text"]) == ("AGENTS.md", TEXT)
    assert len(found["digest"]) == 64


def test_notes_without_instructions_say_so(strata: Strata, small_vault: Path) -> None:
    (small_vault / "AGENTS.md").write_text("---\nprivate: true\n---\nBe brief.\n")
    for action in ("show", "accept", "refuse"):
        code, out, _ = strata("instructions", action, "--json")
        assert (code, document(out)["error"]["code"]) == (1, "not_found")


def test_without_notes_there_is_nothing_to_decide_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["instructions", "show", "--json"], lambda _: 1) == 1
    assert document(capsys.readouterr().out)["error"]["code"] == "vault_missing"


def test_without_a_terminal_nobody_is_asked(strata: Strata) -> None:
    code, _, err = strata("ask", "Hello?", "--mode", "chat")
    assert code == 0
    assert "strata instructions accept" in err
    assert "[y/N]" not in err
    assert state(strata) == "undecided"


def at_a_terminal(small_vault: Path, typed: bytes, *argv: str) -> tuple[int, str, str]:
    """Run the program with standard input and standard error on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "app", "--vault", str(small_vault), *argv]
    child = subprocess.Popen(
        command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, typed)
    said = b""
    try:
        while piece := os.read(ours, 4_096):
            said += piece
    except OSError:
        pass  # the other end of the terminal is closed
    out, _ = child.communicate(timeout=60)
    os.close(ours)
    return child.returncode, out.decode(), said.decode().replace("\r\n", "\n")


def test_at_a_terminal_they_are_shown_and_asked_about(strata: Strata, small_vault: Path) -> None:
    code, out, said = at_a_terminal(small_vault, b"y\n", "ask", "Hello?", "--mode", "chat")
    assert (code, "Sources" in out) == (0, False)
    assert SHOWN in said
    assert said.count("[y/N]") == 1
    assert state(strata) == "accepted"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typing(strata: Strata, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Ask with a person at the terminal who types this; return what that person saw."""

    def typed(text: str, *options: str) -> str:
        screen = Terminal()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", Terminal(text))
            patched.setattr(sys, "stderr", screen)
            assert strata("ask", "Hello?", "--mode", "chat", *options)[0] == 0
        return screen.getvalue()

    return typed


@pytest.mark.parametrize(
    ("text", "decided"), [("yes\n", "accepted"), ("n\n", "refused"), ("\n", "refused")]
)
def test_what_was_answered_holds_and_is_not_asked_again(
    strata: Strata, typing: Callable[..., str], text: str, decided: str
) -> None:
    assert "[y/N]" in typing(text)
    assert state(strata) == decided
    assert "[y/N]" not in typing(text)


def test_whoever_leaves_without_an_answer_is_asked_again(
    strata: Strata, typing: Callable[..., str]
) -> None:
    assert "[y/N]" in typing("")
    assert state(strata) == "undecided"
    assert "[y/N]" in typing("")


@pytest.mark.parametrize("option", ["--json", "--dry-run"])
def test_a_program_and_a_dry_run_are_not_asked(
    strata: Strata, typing: Callable[..., str], option: str
) -> None:
    assert "[y/N]" not in typing("y\n", option)
    assert state(strata) == "undecided"


def test_a_vault_that_is_named_counts_in_a_chat_without_notes_too(
    strata: Strata, assistant: object
) -> None:
    strata("instructions", "accept")
    with ModelServer() as server:
        argv = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        assert strata("ask", "Hello?", "--mode", "chat", *argv)[0] == 0
        assert "<vault_instructions>" in server.bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize("place", ["garden", "outside"])
def test_the_agents_file_of_a_project_is_decided_about_where_it_is_announced(
    strata: Strata, small_vault: Path, tmp_path: Path, place: str
) -> None:
    folder = small_vault / "garden" if place == "garden" else tmp_path / "my outside"
    folder.mkdir(exist_ok=True)
    (folder / "Beans.md").write_text("# Beans\n\nBeans are sown in May.\n")
    (folder / "AGENTS.md").write_text("Name the bed.\n")
    named = str(folder) if place == "outside" else "garden"
    asked = ("ask", "When are beans sown?", "--project", named, "--json")
    warnings = document(strata(*asked)[1])["warnings"]
    commands = [
        shlex.split(command)[1:]
        for warning in warnings
        for command in re.findall(r"`([^`]+)`", warning)
        if "project" in command
    ]
    assert [command[1] for command in commands] == ["show", "accept"]
    show, accept = commands
    shown = document(strata(*show, "--json")[1])
    assert (shown["text"], shown["state"]) == ("Name the bed.\n", "undecided")
    assert document(strata(*accept, "--json")[1])["state"] == "accepted"
    assert not any("Name the bed" in one for one in warnings)
    assert not any("garden" in one or "outside" in one for one in _warn_again(strata, asked))
    assert document(strata(*show, "--json")[1])["state"] == "accepted"
    refused = ("instructions", "refuse", "--project", named, "--json")
    assert document(strata(*refused)[1])["state"] == "refused"
    assert state(strata) == "undecided"


def _warn_again(strata: Strata, asked: tuple[str, ...]) -> list[str]:
    found: list[str] = document(strata(*asked)[1])["warnings"]
    return found


def test_a_project_without_an_agents_file_says_so(strata: Strata) -> None:
    code, out, _ = strata("instructions", "accept", "--project", "garden", "--json")
    error = document(out)["error"]
    assert (code, error["code"], "garden" in error["message"]) == (1, "not_found", True)


def test_a_project_that_is_not_there_has_no_instructions(strata: Strata) -> None:
    code, out, _ = strata("instructions", "show", "--project", "Nowhere", "--json")
    assert (code, document(out)["error"]["code"]) == (1, "not_found")
