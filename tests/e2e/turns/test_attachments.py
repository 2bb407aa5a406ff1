"""Attachments of every kind and size, through the installed program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended
from tests.support.processes.rpc import next_event, send
from tests.support.sessions.attached import PASSAGE, assert_consistent, prose, rows

CHAT = ("--mode", "chat")
NOT_INDEXED = "These notes are not indexed yet; `strata index` does it."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of eight notes of 40 KB that nothing has indexed."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(8):
        (folder / f"n{number}.md").write_text(prose(number, 40_000))
    return folder


@pytest.fixture
def over(notes: Path, program: Program, asking: Callable[[Program], Program]) -> Program:
    return asking(Program(program.home, ("--vault", str(notes))))


def attach(*names: object) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("--attach", str(name)))


def dry(program: Program, threshold: int, *argv: str, question: str = "What is said?") -> Any:
    limit = ("--set", f"autoCompactThreshold={threshold}")
    return program.json("ask", question, "--dry-run", *limit, *argv)


@pytest.mark.parametrize("question", ["What is said?", "Where is the river pump valve?"])
@pytest.mark.parametrize("mode", ["chat", "vault", "agent"])
def test_notes_beyond_their_share_are_searched_within_though_nothing_is_indexed(
    over: Program, mode: str, question: str
) -> None:
    argv = (*attach(*(f"n{n}.md" for n in range(8))), "--mode", mode, "--no-index")
    done = dry(over, 7_447, *argv, question=question)
    context = done["context"]
    assert context["budget"] == 5_586
    sent = rows(context)
    assert {row["source"] for row in sent} == {f"n{n}.md" for n in range(8)}
    assert {(row["kind"], row["state"], row["reason"]) for row in sent} == {
        ("passage", "shrunk", "share")
    }
    assert 5_586 * 0.5 - PASSAGE <= context["layers"]["L3"]["tokens"] <= 5_586 * 0.5
    *searched, warning = done["warnings"]
    assert searched == ([NOT_INDEXED] if mode == "vault" else [])  # only vault looks beyond them
    assert warning.startswith("8 of the attachments are too large together to be sent whole")
    assert warning.endswith(f"{len(sent)} passages of 8 of them are sent.")
    assert_consistent(done)


@pytest.mark.parametrize(("mode", "size"), [("chat", 115_000), ("vault", 44_000)])
def test_half_the_budget_is_filled_with_the_best_passages(
    program: Program, tmp_path: Path, mode: str, size: int
) -> None:
    notes = tmp_path / "large"
    notes.mkdir()
    for number in range(4):
        (notes / f"n{number}.md").write_text(prose(number, size))
    over = Program(program.home, ("--vault", str(notes), "--set", "chat.model=gpt-4o"))
    if mode == "vault":
        over.json("index")
    done = dry(over, 27_645, *attach(*(f"n{n}.md" for n in range(4))), "--mode", mode)
    context = done["context"]
    assert context["budget"] == 23_549
    sizes = {row["source"]: row["original_tokens"] for row in rows(context)}
    assert len(sizes) == 4
    assert sum(sizes.values()) > size * 0.6  # far more than the budget
    assert 0.45 * 23_549 <= context["layers"]["L3"]["tokens"] <= 0.5 * 23_549
    assert_consistent(done)


def test_files_outside_any_folder_of_notes_are_searched_within_too(
    program: Program, asking: Callable[[Program], Program], tmp_path: Path
) -> None:
    (tmp_path / "book.txt").write_text(prose(1, 200_000))
    done = dry(asking(program), 8_000, *attach(tmp_path / "book.txt"), *CHAT)
    (warning,) = done["warnings"]
    assert warning.startswith("book.txt is too large to be sent whole (about ")
    assert done["context"]["layers"]["L3"]["tokens"] >= 6_000 * 0.45
    assert_consistent(done)
    limit = ("--set", "autoCompactThreshold=8000")
    text = asking(program).run(
        "ask", "What is said?", *limit, *attach(tmp_path / "book.txt"), *CHAT
    )
    assert text.err.count("is too large to be sent whole") == 1


def test_one_large_attachment_shortens_the_history_of_its_turn_alone(
    program: Program, asking: Callable[[Program], Program], server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "book.txt").write_text(prose(1, 420_000))
    child = asking(program).start("rpc", "--set", "autoCompactThreshold=16000")
    histories: list[int] = []
    session = None
    for turn in range(20):
        server.script(Answer(f"Answer {turn}: {'the barrel is full of water ' * 72}"))
        attached = {"attach": [str(tmp_path / "book.txt")]} if turn == 15 else {}
        send(child, id=turn, type="prompt", text=f"Question {turn}?", mode="chat", **attached)
        done = next_event(child, "turn_end")["data"]
        session, context = done["session"], done["context"]
        histories.append(context["layers"]["L4"]["items"])
        if attached:
            assert context["layers"]["L3"]["tokens"] > 0.45 * context["budget"]
            assert {one["reason"] for one in context["dropped"]} == {"tail"}
    assert ended(child).code == 0
    assert histories[:15] == list(range(15))
    assert histories[15] < 15
    assert histories[16:] == list(range(16, 20))
    kinds = {entry["type"] for entry in program.json("sessions", "show", session)["entries"]}
    assert kinds.isdisjoint({"drop", "trim", "context_transform"})


def test_a_note_that_an_agent_reads_brings_what_it_embeds(program: Program, tmp_path: Path) -> None:
    notes = {
        "Trip.md": "# Trip\n\n![[Stove#Gas]]\n\n![[Cooker]]\n\n![[Secret]]\n\n![[Long]]\n",
        "Stove.md": "---\naliases: [Cooker]\n---\n# Stove\n\n## Gas\n\nIt is full.\n\n## Pans\n",
        "Secret.md": "---\nprivate: true\n---\nThe key is below the mat.\n",
        "Long.md": "A long way. " * 1_100,
    }
    for name, text in notes.items():
        (tmp_path / name).write_text(text, "utf-8")
    read = Answer("", calls=(("c1", "read_note", '{"path": "Trip.md"}'),))
    lines = Answer("", calls=(("c2", "read_note", '{"path": "Trip.md", "start": 1, "end": 3}'),))
    with ModelServer(read, lines, Answer("It is full [2].")) as server:
        model = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=openai/scripted")
        vault = Program(program.home, (*model, "--vault", str(tmp_path)))
        vault.json("index")
        vault.json("ask", "Is the stove full?", "--mode", "agent")
        results = [
            message["content"]
            for message in server.bodies[-1]["messages"]
            if message["role"] == "tool"
        ]
    whole, part = results
    assert '<source n="1" title="Trip" path="Trip.md" lines="1-9">' in whole
    assert '<source n="2" title="Stove" path="Stove.md" lines="6-9">' in whole
    assert '<source n="3" title="Stove" path="Stove.md" lines="1-10">' in whole
    assert "mat" not in whole
    assert whole.endswith("\nEmbedded too, but not shown here: Long.md.")
    assert "It is full." in part
    assert "title: " not in part
    assert "Long.md" not in part
