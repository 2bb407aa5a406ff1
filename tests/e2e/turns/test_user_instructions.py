"""The user's own instructions, `<config>/instructions.md`, through the installed program."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import ModelServer
from tests.support.processes.program import Program

CHAT = ("--mode", "chat")
TEXT = "Answer in Dutch. </user_instructions> & {x} %s\n"
ESCAPED = "Answer in Dutch. &lt;/user_instructions&gt; &amp; {x} %s"


@pytest.fixture
def own(program: Program, asking: Callable[[Program], Program]) -> Program:
    """The program with a scripted server and an empty folder for its settings."""
    (program.home / "config").mkdir(parents=True)
    return asking(program)


def file_of(program: Program) -> Path:
    return program.home / "config" / "instructions.md"


def system(server: ModelServer) -> str:
    return str(server.bodies[-1]["messages"][0]["content"])


def test_user_instructions_stand_escaped_between_the_prompt_and_those_of_the_notes(
    own: Program, server: ModelServer, tmp_path: Path
) -> None:
    file_of(own).write_text(TEXT)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "AGENTS.md").write_text("Be brief.")
    over = Program(own.home, ("--vault", str(notes), *own.options))
    over.json("instructions", "accept")
    done = over.json("ask", "Hello?", *CHAT)
    section = f"\n\n<user_instructions>\n{ESCAPED}\n</user_instructions>\n\n<vault_instructions>"
    assert section in system(server)
    assert done["warnings"] == []
    parts = [part["name"] for part in done["context"]["system_parts"]]
    assert parts == ["chat", "user_instructions", "vault_instructions"]
    row = done["context"]["segments"][0]
    assert (row["layer"], row["source"], row["state"]) == ("L1", str(file_of(own)), "full")
    assert row["version"]
    assert row["tokens"] > 0


def test_a_change_of_user_instructions_is_a_reason_for_a_new_prefix(
    own: Program, server: ModelServer
) -> None:
    file_of(own).write_text(TEXT)
    first = own.json("ask", "Hello?", *CHAT)
    same = own.json("ask", "And?", *CHAT, "--session", first["session"])
    assert same["context"]["prefix"]["changed"] is False
    file_of(own).write_text("Answer in Latin.\n")
    changed = own.json("ask", "So?", *CHAT, "--session", first["session"])
    assert "Latin" in system(server)
    assert changed["context"]["prefix"]["reasons"] == ["the instructions changed"]


def test_user_instructions_are_shown_without_notes_and_in_a_dry_run(own: Program) -> None:
    file_of(own).write_text(TEXT)
    shown = own.json("instructions", "show")
    assert shown["user"] == {"path": str(file_of(own)), "text": TEXT, "problem": None}
    assert (shown["path"], shown["state"]) == (None, None)
    assert "Answer in Dutch." in own.run("instructions", "show").out
    dry = own.json("ask", "Hello?", *CHAT, "--dry-run")
    assert dry["context"]["segments"][0]["source"] == str(file_of(own))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Answer in Dutch. \xff\xfe\x00\x81", "cannot be read"),
        (b"Answer in Dutch.\n" * 2_000, "longer than 16,000 characters"),
    ],
)
def test_user_instructions_that_cannot_be_used_are_a_warning_and_the_answer_comes(
    own: Program, server: ModelServer, content: bytes, said: str
) -> None:
    file_of(own).write_bytes(content)
    done = own.json("ask", "Hello?", *CHAT)
    (warning,) = done["warnings"]
    assert said in warning
    assert str(file_of(own)) in warning
    assert "user_instructions" not in system(server)
    assert own.json("instructions", "show")["user"]["problem"] == warning


@pytest.mark.parametrize(
    ("kind", "said"), [("folder", "Is a directory"), ("fifo", "it is not a file")]
)
def test_what_is_no_file_is_a_warning_and_holds_nothing_up(
    own: Program, server: ModelServer, kind: str, said: str
) -> None:
    make = {"folder": Path.mkdir, "fifo": os.mkfifo}[kind]
    make(file_of(own))
    (warning,) = own.json("ask", "Hello?", *CHAT)["warnings"]
    assert said in warning


def test_a_link_to_instructions_elsewhere_is_followed_and_an_empty_file_is_none(
    own: Program, server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "dotfiles.md").write_text("Answer in Dutch.")
    file_of(own).symlink_to(tmp_path / "dotfiles.md")
    own.json("ask", "Hello?", *CHAT)
    assert "Answer in Dutch." in system(server)
    (tmp_path / "dotfiles.md").write_text(" \n")
    done = own.json("ask", "Hello?", *CHAT)
    assert "user_instructions" not in system(server)
    assert (done["warnings"], done["context"]["segments"]) == ([], [])
