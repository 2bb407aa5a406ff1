"""Links and embeds that lead nowhere are found, and those that lead somewhere are not."""

from pathlib import Path

import pytest

from tests.support.vaults.reviewed import review

CELLAR = '# Cellar\n\n## The shelves (old)\n\nJam. ^jam\n\n<a id="wine"></a>\n'


@pytest.mark.parametrize(
    ("line", "kind", "reason"),
    [
        ("[[Celler]]", "broken_link", "There is no note or file “Celler”."),
        ("[[House/Attic|attic]]", "broken_link", "There is no note or file “House/Attic”."),
        ("[jam](../Celar.md)", "broken_link", "There is no note or file “../Celar.md”."),
        ("[[Cellar#Shelf]]", "broken_link", "House/Cellar.md has no heading “Shelf”."),
        ("[[Cellar#^jams]]", "broken_link", "House/Cellar.md has no block “^jams”."),
        ("[x](#nowhere)", "broken_link", "This note has no heading “nowhere”."),
        ("![[Plan.png]]", "broken_embed", "There is no note or file “Plan.png”."),
        ("![[Cellar#Racks]]", "broken_embed", "House/Cellar.md has no heading “Racks”."),
        ("![Plan](img/plan.jpg)", "broken_embed", "There is no note or file “img/plan.jpg”."),
    ],
)
def test_what_leads_nowhere_is_found(tmp_path: Path, line: str, kind: str, reason: str) -> None:
    notes = {"House/Cellar.md": CELLAR, "House/List.md": f"# List\n\nSee {line} there.\n"}
    (found,) = review(tmp_path, notes, kinds=["broken_link", "broken_embed"])
    assert (found.kind, found.reason) == (kind, reason)
    assert [(note.path, note.first) for note in found.notes] == [("House/List.md", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "[[cellar]] and [[House/Cellar]] and [[Keller]]",
        "[[Cellar#The shelves (old)]] and [[Cellar#^JAM]] and [[#List]]",
        "[x](Cellar.md#the-shelves-old) and [x](Cellar.md#wine) and [x](./Cellar.md)",
        "![[photo.png]] and [f](../files/) and [p](../files/photo.png)",
        "[web](https://example.org/x) and [mail](mailto:a@b.c) and [out](../../elsewhere.md)",
        "`[[Nothing]]` and %% [[Nothing]] %%",
        "[[{{title}}]] and [[<% tp.date.now() %>]]",
        "[[2026-03-01]] and [[Hidden]]",
    ],
)
def test_what_leads_somewhere_or_is_no_link_is_not_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "photo.png").write_bytes(b"")
    (tmp_path / "Hidden.md").write_text("---\nprivate: true\n---\n")  # not in the index
    notes = {
        "House/Cellar.md": f"---\naliases: [Keller]\n---\n{CELLAR}",
        "House/List.md": f"# List\n\nSee {line}\n",
        "Days/2026-03-01.md": "Rain.\n",
    }
    assert review(tmp_path, notes, kinds=["broken_link", "broken_embed"]) == ()


def test_one_target_is_one_finding_in_a_note(tmp_path: Path) -> None:
    (found,) = review(tmp_path, {"List.md": "[[Jam]] and [[Jam]]\n\n[[Jam|jam]]\n"})
    assert found.notes[0].first == 1


def test_notes_without_links_are_found_where_others_have_some(tmp_path: Path) -> None:
    notes = {
        "A.md": "To [[B]].\n",
        "B.md": "Text.\n",
        "Alone.md": "A thought. [[Alone]]\n",
        "2026-03-01.md": "Rain.\n",
        "Empty.md": "\n",
    }
    (found,) = review(tmp_path, notes, kinds=["orphan"])
    assert found.notes[0].path == "Alone.md"
    unlinked = {f"{n}.md": f"Thought {n}.\n" for n in range(9)}
    assert review(tmp_path / "rare", {**notes, **unlinked}, kinds=["orphan"]) == ()
