"""A finding is fixed by an edit that is shown before, recorded, and undone as a whole."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.library.finding_fixes import FindingFix
from app.library.review import ReviewResult
from chains.cancel import CancelToken
from tests.support.vaults.reviewed import make_catalog
from vault.errors import EditOutdated
from vault.review.findings import Finding, FindingKind

LONG = "\n".join(f"Line {n} of the plan says word{n} and thing{n}." for n in range(20))


def write(assistant: Assistant, root: Path, notes: Mapping[str, str]) -> None:
    """Write notes, open their folder as the vault, and fill its index without embedding."""
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8", newline="")
    assistant.open_vault(root, remember=False)
    assert assistant.library is not None
    make_catalog(assistant.library.vault.index_dir, notes, {})


def find(assistant: Assistant, kind: FindingKind) -> tuple[Finding, tuple[FindingFix, ...]]:
    *_, result = assistant.review.find(CancelToken())
    assert isinstance(result, ReviewResult)
    (finding,) = [each for each in result.findings if each.kind == kind]
    return finding, assistant.build_fixes().list_fixes(finding)


@pytest.mark.parametrize(
    ("line", "label", "fixed"),
    [
        ("See [[Celler|jam]].", "Link to House/Cellar.md", "See [[Cellar|jam]]."),
        ("See [[Celler#Shelves]].", "Link to House/Cellar.md", "See [[Cellar#Shelves]]."),
        ('See [j](../Hause/Celler.md "t").', "Link to House/Cellar.md", 'See [j](Cellar.md "t").'),
        (
            "See [j](<Celler.md#shelves>).",
            "Link to House/Cellar.md",
            "See [j](<Cellar.md#shelves>).",
        ),
        ("See [[Cellar#Shelfs|x]].", "Link to #Shelves", "See [[Cellar#Shelves|x]]."),
        ("See [x](Cellar.md#shelfs).", "Link to #Shelves", "See [x](Cellar.md#shelves)."),
        ("![[Cellar#^jams]]", "Link to #^jam", "![[Cellar#^jam]]"),
        ("![[plam.png|300]]", "Link to img/plan.png", "![[plan.png|300]]"),
        (
            "| [[Celler\\|jam]] |\n| --- |",
            "Link to House/Cellar.md",
            "| [[Cellar\\|jam]] |\n| --- |",
        ),
    ],
)
def test_a_broken_link_gets_the_nearest_target(
    assistant: Assistant, tmp_path: Path, line: str, label: str, fixed: str
) -> None:
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "plan.png").write_bytes(b"")
    notes = {
        "House/Cellar.md": "## Shelves\n\nJam. ^jam\n",
        "House/List.md": f"# List\r\n\r\n{line}\r\n",
    }
    write(assistant, tmp_path, notes)
    finding, fixes = find(assistant, "broken_embed" if line[0] == "!" else "broken_link")
    assert fixes[0].label == label
    applied = assistant.build_fixes().apply(finding, fixes[0].id)
    note = tmp_path / "House/List.md"
    assert note.read_bytes().decode() == f"# List\r\n\r\n{fixed}\r\n"
    assistant.edits.undo(run=applied.run)
    assert note.read_bytes().decode() == notes["House/List.md"]


def test_a_name_that_several_notes_have_is_written_with_its_folder(
    assistant: Assistant, tmp_path: Path
) -> None:
    notes = {"A/Cellar.md": "x\n", "B/Cellar.md": "y\n", "List.md": "[[Celler]] and [[Celler]]\n"}
    write(assistant, tmp_path, notes)
    finding, fixes = find(assistant, "broken_link")
    assert [fix.label for fix in fixes] == ["Link to A/Cellar.md", "Link to B/Cellar.md"]
    assistant.build_fixes().apply(finding, fixes[1].id)
    assert (tmp_path / "List.md").read_text() == "[[B/Cellar]] and [[B/Cellar]]\n"


def test_one_value_of_a_contradiction_is_kept(assistant: Assistant, tmp_path: Path) -> None:
    notes = {
        "Frost.md": "# Frost\n\nThe **frost guard** is set to 4 °C.\n",
        "Winter.md": "# Winter\n\nThe frost guard is set to 7 °C.\n",
    }
    write(assistant, tmp_path, notes)
    finding, fixes = find(assistant, "contradiction")
    labels = [fix.label for fix in fixes]
    assert labels == ["Keep 4 °C, change Winter.md", "Keep 7 °C, change Frost.md"]
    assert "-The frost guard is set to 7 °C." in fixes[0].to_dict()["diff"]
    assistant.build_fixes().apply(finding, fixes[0].id)
    assert "4 °C" in (tmp_path / "Winter.md").read_text()


def test_a_copy_is_merged_and_goes_to_the_trash(assistant: Assistant, tmp_path: Path) -> None:
    notes = {
        "Plan.md": f"# Plan\n\n{LONG}\n",
        "Old/Copied plan.md": f"---\nx: 1\n---\n# Copied plan\n\n{LONG}\n\nOnly here: ask Anna.\n",
        "List.md": "See [[Copied plan]] and [p](Old/Copied%20plan.md) and [[Plan]].\n",
    }
    write(assistant, tmp_path, notes)
    finding, fixes = find(assistant, "duplicate")
    (fix,) = [each for each in fixes if each.label.startswith("Keep Plan.md")]
    applied = assistant.build_fixes().apply(finding, fix.id)
    added = "## From “Copied plan”\n\n```yaml\nx: 1\n```\n\nOnly here: ask Anna.\n"
    assert (tmp_path / "Plan.md").read_text() == f"{notes['Plan.md']}\n{added}"
    assert (tmp_path / "List.md").read_text() == "See [[Plan]] and [p](Plan.md) and [[Plan]].\n"
    assert not (tmp_path / "Old/Copied plan.md").exists()
    assert (tmp_path / ".trash/Copied plan.md").read_text() == notes["Old/Copied plan.md"]
    assistant.edits.undo(run=applied.run)
    assert {path: (tmp_path / path).read_text() for path in notes} == notes
    assert not (tmp_path / ".trash").exists()


@pytest.mark.parametrize(
    ("kept", "copy", "added"),
    [
        ("# Plan\n", "# New plan\n", "### New plan"),
        ("# Plan\n", "New plan\n========\n", "### New plan"),
        ("# Plan\n", "# Plan\n", ""),
        ("Plan\n====\n", "# Plan\n", ""),
        ("# Plan\n", "# Plan (conflicted copy 2026-11-02)\n", ""),
        ("---\nr: 4\n---\n", "---\nr: 4\n---\n", ""),
        ("---\nr: 4\n---\n", "---\nr: 5\n---\n", "```yaml\nr: 5\n```"),
        (
            "---\ntags:\n  - a\nr: 4\n---\n",
            "---\nr: 4\ntags:\n  - a\n  - b\n\nx: |\n  ```\n---\n",
            "````yaml\ntags:\n  - a\n  - b\nx: |\n  ```\n````",
        ),
        ("---\nr: 4\n---\n", "r: 4\n", "r: 4"),
        ("# Plan\n", "---\nr: [\n---\n# Plan\n", "```yaml\nr: [\n```"),
        ("", "---\n# by hand\nr: 4\n---\n# A\n", "### A\n\n```yaml\n# by hand\nr: 4\n```"),
    ],
)
def test_nothing_of_a_conflict_copy_is_lost(
    assistant: Assistant, tmp_path: Path, kept: str, copy: str, added: str
) -> None:
    name = "Plan (conflicted copy 2026-11-02)"
    body = "Ask Anna.\n"
    write(assistant, tmp_path, {"Plan.md": kept + body, f"{name}.md": copy + body})
    finding, (fix,) = find(assistant, "conflict_copy")
    assistant.build_fixes().apply(finding, fix.id)
    whole = f"{kept}{body}\n## From “{name}”\n\n{added}\n" if added else kept + body
    assert (tmp_path / "Plan.md").read_text() == whole


def test_one_side_of_a_conflict_is_kept(assistant: Assistant, tmp_path: Path) -> None:
    marked = "<<<<<<< HEAD\nAt 7.\n||||||| base\nAt 6.\n=======\nAt 8.\n>>>>>>> other"
    write(assistant, tmp_path, {"Gate.md": f"# Gate\n\n{marked}\n\nGreen.\n"})
    finding, fixes = find(assistant, "git_conflict")
    assert [fix.label for fix in fixes] == ["Keep “At 7.”", "Keep “At 8.”"]
    assistant.build_fixes().apply(finding, fixes[1].id)
    assert (tmp_path / "Gate.md").read_text() == "# Gate\n\nAt 8.\n\nGreen.\n"


MARKED = "<<<<<<< HEAD\n{0} 1\n=======\n{0} 2\n>>>>>>> other\n"


@pytest.mark.parametrize(
    "above",
    [
        "```\n{}```\n",
        "~~~~ diff\n{}~~~~\n",
        "%%\n{}%%\n",
        "<!--\n{}-->\n",
        "```\n<<<<<<< HEAD\nopen\n=======\n```\n",
        "```\n{0}```\n\n```\n{0}```\n",
    ],
)
def test_an_example_of_a_conflict_is_left_alone(
    assistant: Assistant, tmp_path: Path, above: str
) -> None:
    head = f"# Git\n\n{above.format(MARKED.format('example'))}\n"
    write(assistant, tmp_path, {"Git.md": f"{head}{MARKED.format('flour')}\nEnd.\n"})
    finding, fixes = find(assistant, "git_conflict")
    assert [fix.label for fix in fixes] == ["Keep “flour 1”", "Keep “flour 2”"]
    assistant.build_fixes().apply(finding, fixes[0].id)
    assert (tmp_path / "Git.md").read_text() == f"{head}flour 1\n\nEnd.\n"


def test_a_conflict_with_code_and_a_long_line_is_solved(
    assistant: Assistant, tmp_path: Path
) -> None:
    long = "bread " * 3000
    side = f"{long}\n\n```\n=======\n```\n"
    text = f"# Git\n\n<<<<<<< HEAD\n{side}=======\nflour 2\n>>>>>>> other\n"
    write(assistant, tmp_path, {"Git.md": text})
    finding, fixes = find(assistant, "git_conflict")
    assistant.build_fixes().apply(finding, fixes[0].id)
    assert (tmp_path / "Git.md").read_text() == f"# Git\n\n{side}"


def test_another_conflict_than_that_of_the_finding_is_not_solved(
    assistant: Assistant, tmp_path: Path
) -> None:
    write(assistant, tmp_path, {"Git.md": f"Bread.\n\n{MARKED.format('flour')}"})
    finding, _ = find(assistant, "git_conflict")
    fixes = assistant.build_fixes()
    note = tmp_path / "Git.md"
    note.write_text(f"flour 1\n\n{MARKED.format('sugar')}")
    assert fixes.list_fixes(finding) == ()
    note.write_text(MARKED.replace(" 2", " 20").format("flour"))
    assert fixes.list_fixes(finding) == ()
    note.write_text(f"Above.\n\n{MARKED.format('sugar')}\n{MARKED.format('flour')}")
    fixes.apply(finding, fixes.list_fixes(finding)[1].id)
    assert note.read_text() == f"Above.\n\n{MARKED.format('sugar')}\nflour 2\n"


def test_a_fix_that_was_shown_for_another_content_is_not_applied(
    assistant: Assistant, tmp_path: Path
) -> None:
    write(assistant, tmp_path, {"Cellar.md": "Jam.\n", "List.md": "See [[Celler]].\n"})
    finding, fixes = find(assistant, "broken_link")
    (tmp_path / "List.md").write_text("See [[Celler]] now.\n")
    with pytest.raises(EditOutdated):
        assistant.build_fixes().apply(finding, fixes[0].id)
    (tmp_path / "List.md").write_text("See the cellar.\n")
    assert assistant.build_fixes().list_fixes(finding) == ()


def test_what_a_person_has_to_decide_has_no_fix(assistant: Assistant, tmp_path: Path) -> None:
    write(assistant, tmp_path, {"A/Plan.md": "One.\n", "B/Plan.md": "Two.\n"})
    assert find(assistant, "same_title")[1] == ()
