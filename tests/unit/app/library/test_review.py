"""Dismissed findings are remembered for each vault, and a damaged file only offers them again."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import NotFound, StorageFailed, VaultNotChosen
from app.library.library import Library
from app.library.review import NoteReview, ReviewResult, review_with
from chains.cancel import CancelToken
from chains.errors import Cancelled
from tests.conftest import write_notes
from tests.support.vaults.reviewed import make_catalog
from vault.review.findings import FindingFilter

BARREL = "# {}\n\nThe rain barrel holds {} litres.\n"
NOTES = {
    "Barrel.md": BARREL.format("Barrel", 210),
    "Garden.md": BARREL.format("Garden", 200),
    **{f"Other {n}.md": f"Note {n}.\n" for n in range(30)},
}


@pytest.fixture
def reviewing(assistant: Assistant, tmp_path: Path) -> Assistant:
    (tmp_path / "notes").mkdir()
    assistant.open_vault(tmp_path / "notes", remember=False)
    assert assistant.library is not None
    make_catalog(assistant.library.vault.index_dir, NOTES, {})
    return assistant


def find(assistant: Assistant) -> ReviewResult:
    *_, result = assistant.review.find(CancelToken())
    assert isinstance(result, ReviewResult)
    return result


def test_a_dismissed_finding_is_remembered_and_restored(reviewing: Assistant) -> None:
    (finding,) = find(reviewing).findings
    reviewing.review.dismiss(finding)
    reviewing.review.dismiss(finding)
    assert (find(reviewing).findings, find(reviewing).dismissed) == ((), (finding,))
    reviewing.review.restore([finding])
    assert (find(reviewing).findings, find(reviewing).dismissed) == ((finding,), ())


def test_another_figure_is_offered_although_the_one_before_was_dismissed(
    reviewing: Assistant,
) -> None:
    (finding,) = find(reviewing).findings
    reviewing.review.dismiss(finding)
    assert reviewing.library is not None
    changed = {**NOTES, "Garden.md": BARREL.format("Garden", 190)}
    make_catalog(reviewing.library.vault.index_dir, changed, {})
    assert len(find(reviewing).findings) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"dismissed": 3}', b"\xff"])
def test_a_damaged_file_offers_the_findings_again(reviewing: Assistant, content: bytes) -> None:
    (finding,) = find(reviewing).findings
    reviewing.review.dismiss(finding)
    (file,) = reviewing.paths.reviews.iterdir()
    file.write_bytes(content)
    assert find(reviewing).findings == (finding,)
    reviewing.review.dismiss(finding)
    assert find(reviewing).dismissed == (finding,)
    (aside,) = [one for one in file.parent.iterdir() if one != file]
    assert aside.read_bytes() == content


def test_keys_beside_a_damaged_one_stay_dismissed(reviewing: Assistant) -> None:
    (finding,) = find(reviewing).findings
    reviewing.review.dismiss(finding)
    (file,) = reviewing.paths.reviews.iterdir()
    damaged = json.dumps({"dismissed": [finding.key, 7, None]})
    file.write_text(damaged)
    reviewing.review.dismiss(replace(finding, detail="another"))
    assert find(reviewing).dismissed == (finding,)
    (aside,) = [one for one in file.parent.iterdir() if one != file]
    assert aside.read_text() == damaged


def test_a_file_that_cannot_be_read_is_not_replaced(reviewing: Assistant) -> None:
    (finding,) = find(reviewing).findings
    reviewing.review.dismiss(finding)
    (file,) = reviewing.paths.reviews.iterdir()
    file.rename(file.with_suffix(".kept"))
    file.mkdir()
    assert find(reviewing).findings == (finding,)
    with pytest.raises(StorageFailed):
        reviewing.review.dismiss(finding)
    with pytest.raises(StorageFailed):
        reviewing.review.restore([finding])
    assert file.is_dir()


def test_two_instances_do_not_lose_each_others_dismissed_findings(reviewing: Assistant) -> None:
    (finding,) = find(reviewing).findings
    assert reviewing.library is not None
    vault, start = reviewing.library.vault, threading.Barrier(2)

    def dismiss(name: str) -> None:
        review = NoteReview(lambda: vault, reviewing.paths, lambda: False)
        start.wait()
        for number in range(25):
            review.dismiss(replace(finding, detail=f"{name}{number}"))

    others = [threading.Thread(target=dismiss, args=(name,)) for name in "ab"]
    for other in others:
        other.start()
    for other in others:
        other.join()
    (file,) = reviewing.paths.reviews.iterdir()
    assert len(json.loads(file.read_bytes())["dismissed"]) == 50


@pytest.mark.parametrize(
    ("named", "notes"),
    [
        ("", 4),
        (".", 4),
        ("Work", 3),
        ("./Work", 3),
        ("Work/", 3),
        ("/Work", 3),
        ("Work/../Work", 3),
        ("Work/Plans", 1),
        ("Work//Plans/.", 1),
        ("{root}/Work/Plans", 1),
        ("{root}", 4),
    ],
)
def test_a_review_is_limited_to_a_folder_however_it_is_written(
    assistant: Assistant, tmp_path: Path, named: str, notes: int
) -> None:
    review_in_folders(assistant, tmp_path)
    which = FindingFilter(folder=named.format(root=tmp_path))
    result = review_with(assistant.review, CancelToken(), which)
    assert result.notes == notes
    assert [one.kind for one in result.findings].count("contradiction") == (notes > 1)


@pytest.mark.parametrize(
    "named",
    ["Wor", "Workshop", "..", "Work/../..", "/etc", "{root}-2", "Work/A.md", " ", "~x", "\0"],
)
def test_a_folder_that_the_vault_does_not_have_is_an_error(
    assistant: Assistant, tmp_path: Path, named: str
) -> None:
    review_in_folders(assistant, tmp_path)
    with pytest.raises(NotFound, match="There is no folder"):
        review_with(assistant.review, CancelToken(), FindingFilter(folder=named))


def review_in_folders(assistant: Assistant, root: Path) -> None:
    """Open a folder whose notes are in folders, and fill its index without embedding."""
    notes = {
        "Work/A.md": BARREL.format("Barrel", 210),
        "Work/B.md": BARREL.format("Garden", 200),
        "Work/Plans/C.md": "Note.\n",
        "Worker.md": "Note.\n",
    }
    write_notes(root, notes)
    assistant.open_vault(root, remember=False)
    assert assistant.library is not None
    make_catalog(assistant.library.vault.index_dir, notes, {})


def test_dismissed_findings_stay_dismissed_when_the_vault_moves(
    assistant: Assistant, tmp_path: Path
) -> None:
    before, now = tmp_path / "before", tmp_path / "now"
    before.mkdir()
    for path in ("Barrel.md", "Garden.md"):
        (before / path).write_text(NOTES[path], "utf-8")
    open_and_index(assistant, before)
    (finding,) = find(assistant).findings
    assistant.review.dismiss(finding)
    before.rename(now)
    open_and_index(assistant, now)
    assert find(assistant).dismissed == (finding,)
    assistant.review.restore([finding])
    assert find(assistant).findings == (finding,)


def open_and_index(assistant: Assistant, folder: Path) -> None:
    assistant.open_vault(folder, remember=False)
    for _ in assistant.index(CancelToken()):
        pass


def test_a_review_is_cancelled(reviewing: Assistant) -> None:
    cancel = CancelToken()
    items = reviewing.review.find(cancel)
    next(items)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(items)


def test_what_cannot_be_stored_is_an_error(reviewing: Assistant) -> None:
    (finding,) = find(reviewing).findings
    reviewing.paths.reviews.parent.mkdir(parents=True, exist_ok=True)
    reviewing.paths.reviews.write_bytes(b"a file in place of the folder")
    with pytest.raises(StorageFailed):
        reviewing.review.dismiss(finding)


def test_without_a_vault_nothing_is_reviewed(assistant: Assistant) -> None:
    with pytest.raises(VaultNotChosen):
        list(assistant.review.find(CancelToken()))


def test_unchanged_notes_are_not_compared_again(reviewing: Assistant) -> None:
    assert len(list(reviewing.review.find(CancelToken()))) > 1
    (again,) = reviewing.review.find(CancelToken())
    assert isinstance(again, ReviewResult)
    assert (len(again.findings), again.notes) == (1, len(NOTES))
    assert reviewing.library is not None
    make_catalog(reviewing.library.vault.index_dir, {**NOTES, "Other 3.md": "Changed.\n"}, {})
    assert len(list(reviewing.review.find(CancelToken()))) > 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"fingerprint": 3}', b"\xff"])
def test_a_damaged_report_is_made_again(reviewing: Assistant, content: bytes) -> None:
    first = find(reviewing)
    assert reviewing.library is not None
    (reviewing.library.vault.index_dir / "review.json").write_bytes(content)
    assert find(reviewing) == first


def test_a_review_in_the_background_waits_while_the_index_is_in_use(
    reviewing: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[bool]()

    def look(_library: Library) -> bool:
        looks.append(len(looks) < 3)
        return looks[-1]

    monkeypatch.setattr(Library, "is_in_use", property(look))
    monkeypatch.setattr("app.library.review._STEP_S", 0.0)
    monkeypatch.setattr("app.library.review._LOOK_S", 0.0)
    *_, result = reviewing.review.find(CancelToken(), is_background=True)
    assert isinstance(result, ReviewResult)
    assert len(result.findings) == 1
    assert looks[:4] == [True, True, True, False]
