"""How much of what the help of Obsidian and of Dataview shows is computed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.vaults.views import BASES, QUERIES, write_view_vault
from tests.unit.vault.views.conftest import NoEmbedder, update_words
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block, find_view_blocks

# What stays source, with what is named.
BASES_LEFT = {
    "a creation time": "file.ctime",
    "a function for lists": "The function map()",
}
QUERIES_LEFT = {
    "group by": "GROUP BY status",
    "flatten": "FLATTEN genre",
    "calendar": "CALENDAR",
    "a creation time": "file.cday",
    "a regular expression": "The function regexmatch()",
    "a function with a function": "map(genre, (g) => upper(g))",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    root = write_view_vault(tmp_path_factory.mktemp("vault"))
    made = Vault(root, tmp_path_factory.mktemp("index"), (), NoEmbedder())
    update_words(made)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("kind", "texts", "left"),
    [("base", BASES, BASES_LEFT), ("dataview", QUERIES, QUERIES_LEFT)],
)
def test_every_construct_is_computed_but_for_those_that_are_named(
    vault: Vault, kind: str, texts: dict[str, str], left: dict[str, str]
) -> None:
    found = {}
    for name, text in texts.items():
        block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
        views = compute_block(vault, block, "Home.md").views
        said = " ".join(view for view in views if isinstance(view, str))
        found |= {name: said} if said else {}
    assert found == {name: f"{part} is not understood." for name, part in left.items()}


def test_no_result_shows_a_private_note(vault: Vault) -> None:
    for path in ("Home.md", "Queries.md", *(f"Bases/{name}.base" for name in BASES)):
        for block in find_view_blocks(vault.read_note(path)):
            for view in compute_block(vault, block, path).views:
                assert not re.search("Secret", str(view)), path


def test_a_note_that_became_private_is_not_shown_before_it_is_indexed(vault: Vault) -> None:
    block = ViewBlock("dataview", 'LIST FROM "Required Reading"', (1, 1))
    note = Path(vault.root / "Required Reading/Iliad.md")
    text = note.read_text("utf-8")
    (before,) = compute_block(vault, block, "Home.md").views
    note.write_text(f"{text}\n#private\n", "utf-8")
    (after,) = compute_block(vault, block, "Home.md").views
    note.write_text(text, "utf-8")
    assert not isinstance(before, str)
    assert not isinstance(after, str)
    assert (len(before.rows), len(after.rows)) == (1, 0)
