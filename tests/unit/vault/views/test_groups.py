"""The rows of a group are together, in the order in which they are written."""

import pytest

from tests.unit.vault.views.conftest import WordIndexer
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block, write_markdown
from vault.views.view import ComputedView

AREAS = ("Work", "work", "Work", "Café", "Cafe", "Café", "'4'", "4.0", "'4'", "", "WORK")


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(
        {
            f"n{number:02}.md": f"---\narea: {area}\n---\n- [ ] task {number:02}\n"
            for number, area in enumerate(AREAS)
        }
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dataview", "TASK GROUP BY area"),
        ("dataview", "TASK SORT file.name DESC GROUP BY area"),
        ("dataview", "TASK GROUP BY area DESC LIMIT 7"),
        ("base", "views: [{type: list, order: [file.path], groupBy: area}]"),
        ("base", "views: [{type: table, order: [file.path], groupBy: {property: area}}]"),
    ],
)
def test_rows_are_returned_in_the_order_in_which_they_are_written(
    vault: Vault, kind: str, text: str
) -> None:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    (view,) = compute_block(vault, block, "n00.md").views
    assert isinstance(view, ComputedView)
    written = write_markdown(view)
    places = [written.index(row.cells[0]) for row in view.rows]
    assert places == sorted(places)
    groups = [row.group for row in view.rows]
    assert sorted(groups, key=list(dict.fromkeys(groups)).index) == groups
