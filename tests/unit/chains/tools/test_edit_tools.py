import json
from pathlib import Path

import pytest

from chains.errors import ProposalOutdated
from chains.llm.port import RequestedCall
from chains.tool import Proposal
from chains.tools.edit_tools import build_edit_tools
from chains.tools.registry import ToolOutcome, ToolRegistry
from context.cleaner import clean_tool_output
from context.compaction import HEAD
from context.messages import Message, ToolResultPart
from context.offload import offload_stub
from context.trimming import TRIMMED
from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun

LONG = "".join(f"Sentence number {n} of the note.\n" for n in range(40))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(LONG)
    return folder


@pytest.fixture
def registry(root: Path, tmp_path: Path) -> ToolRegistry:
    editor = NoteEditor(root, EditJournal(tmp_path / "edits"), lambda: ("drafts/",))
    return ToolRegistry(build_edit_tools(editor, EditRun("run", "chat")))


def call(name: str, **arguments: str) -> RequestedCall:
    return RequestedCall("c1", name, json.dumps(arguments))


def propose(registry: ToolRegistry, name: str, **arguments: str) -> Proposal:
    found = registry.propose(call(name, **arguments))
    assert isinstance(found, Proposal), found
    return found


def refuse(registry: ToolRegistry, name: str, **arguments: str) -> str:
    found = registry.propose(call(name, **arguments))
    assert isinstance(found, ToolOutcome)
    assert found.is_error
    return found.content


def test_each_tool_proposes_its_change_and_writes_when_it_is_applied(
    registry: ToolRegistry, root: Path
) -> None:
    calls = [
        ("create_note", {"path": "new/b.md", "text": "See [[a]].\n"}, "Create the note new/b.md."),
        ("edit_note", {"path": "new/b.md", "old": "See", "new": "Read"}, "Edit new/b.md, line 1."),
        ("append_to_note", {"path": "a.md", "text": "End."}, "Append to a.md."),
        ("move_note", {"path": "a.md", "to": "c.md"}, "and change links in 1 note."),
    ]
    for name, arguments, summary in calls:
        before = {path: path.read_bytes() for path in root.rglob("*.md")}
        proposal = propose(registry, name, **arguments)
        assert proposal.kind == "write"
        assert proposal.summary.endswith(summary)
        assert proposal.diff
        assert (proposal.warnings, proposal.session_scope) == ((), "")
        assert {path: path.read_bytes() for path in root.rglob("*.md")} == before
        assert proposal.apply() == f"Done: {proposal.summary}"
    assert (root / "new/b.md").read_text() == "Read [[c]].\n"
    assert (root / "c.md").read_text() == f"{LONG}\nEnd.\n"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("one\ntwo\n", "1\n2\n3\n", ", lines 1–2"),
        ("five", "five\nand more", ", line 6"),
        ("four\n", "", ", line 4"),
    ],
)
def test_the_summary_of_an_edit_names_the_lines_that_change(
    registry: ToolRegistry, root: Path, old: str, new: str, lines: str
) -> None:
    (root / "n.md").write_text("one\ntwo\nthree\nfour\nfive\nsix\n", "utf-8")
    proposal = propose(registry, "edit_note", path="n.md", old=old, new=new)
    assert proposal.summary == f"Edit n.md{lines}."


def test_a_proposal_of_an_older_text_is_outdated(registry: ToolRegistry, root: Path) -> None:
    proposal = propose(registry, "append_to_note", path="a.md", text="mine")
    (root / "a.md").write_text("theirs")
    with pytest.raises(ProposalOutdated):
        proposal.apply()
    assert (root / "a.md").read_text() == "theirs"


def test_a_text_with_a_marker_of_left_out_text_is_not_written(
    registry: ToolRegistry, root: Path
) -> None:
    [part] = clean_tool_output(Message("tool", (ToolResultPart("c1", "a\nb"),))).content
    assert isinstance(part, ToolResultPart)
    stub = offload_stub("read_note", "text", "ref")
    for marker in (TRIMMED, part.content, stub, HEAD, HEAD.lower()):
        text = f"Before {marker} behind"
        assert "left out" in refuse(registry, "create_note", path="b.md", text=text)
        assert "left out" in refuse(registry, "append_to_note", path="a.md", text=text)
        assert "left out" in refuse(registry, "edit_note", path="a.md", old="r 1 of", new=text)
    (root / "a.md").write_text("About [trimmed] texts.\n")
    propose(registry, "edit_note", path="a.md", old="[trimmed] texts", new="[trimmed] notes")


def test_removing_more_than_a_tenth_asks_separately_also_in_small_steps(
    registry: ToolRegistry,
) -> None:
    small = LONG[:100]
    assert propose(registry, "edit_note", path="a.md", old=small, new="").warnings == ()
    propose(registry, "edit_note", path="a.md", old=small, new="").apply()
    rest = LONG[100:200]
    [warning] = propose(registry, "edit_note", path="a.md", old=rest, new="").warnings
    assert "% of the text of a.md is removed" in warning


def test_the_eleventh_note_of_a_run_asks_separately(registry: ToolRegistry) -> None:
    for number in range(10):
        proposal = propose(registry, "create_note", path=f"{number}.md", text="x")
        assert proposal.warnings == ()
        proposal.apply()
    assert propose(registry, "append_to_note", path="3.md", text="more").warnings == ()
    [warning] = propose(registry, "create_note", path="10.md", text="x").warnings
    assert "11 notes" in warning


def test_a_move_out_of_reach_asks_separately(registry: ToolRegistry) -> None:
    [warning] = propose(registry, "move_note", path="a.md", to="drafts/a.md").warnings
    assert "The new place is excluded" in warning


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("create_note", {"path": "../x.md", "text": "x"}, "not a path inside"),
        ("create_note", {"path": ".obsidian/x.md", "text": "x"}, "begins with a dot"),
        ("create_note", {"path": "drafts/x.md", "text": "x"}, "drafts/"),
        ("create_note", {"path": "a.md", "text": "x"}, "already a note"),
        ("create_note", {"path": "run.sh", "text": "x"}, "not the name of a note"),
        ("edit_note", {"path": "a.md", "old": "absent", "new": "x"}, "not in a.md"),
        ("edit_note", {"path": "a.md", "old": "Sentence", "new": "x"}, "40 times"),
        ("append_to_note", {"path": "gone.md", "text": "x"}, "does not exist"),
        ("move_note", {"path": "a.md", "to": "/tmp/a.md"}, "not a path inside"),
        ("move_note", {"path": "a.md", "to": "./"}, "there already"),
        ("move_note", {"path": "a.md", "to": "a"}, "there already"),
    ],
)
def test_what_is_not_allowed_is_refused_with_a_reason(
    registry: ToolRegistry, name: str, arguments: dict[str, str], reason: str
) -> None:
    assert reason in refuse(registry, name, **arguments)


def test_an_argument_of_a_megabyte_is_written_whole(registry: ToolRegistry, root: Path) -> None:
    text = "long ä line\n" * 90_000
    propose(registry, "create_note", path="big.md", text=text).apply()
    assert (root / "big.md").read_text("utf-8") == text
    propose(registry, "edit_note", path="big.md", old=text, new="short\n")
