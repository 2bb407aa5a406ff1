"""How much of what the help of Obsidian and of Dataview shows is computed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.vaults.views import BASES, QUERIES, write_view_vault
from tests.unit.vault.views.conftest import NoEmbedder, update_words
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block, find_view_blocks

# What stays source, with what is named.
BASES_LEFT = {
    "a function for lists": "The function map()",
}
QUERIES_LEFT = {
    "group by": "GROUP BY status",
    "flatten": "FLATTEN genre",
    "calendar": "CALENDAR",
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


CHARS = "()[]{}\"'`!&|=<>.,:-+*/% \n#ab9é\0"


@settings(deadline=None, max_examples=80)
@given(
    text=st.sampled_from([*BASES.values(), *QUERIES.values()]),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.text(CHARS, max_size=4)), max_size=4),
    kind=st.sampled_from(["base", "dataview"]),
)
def test_a_broken_text_is_computed_or_named(
    vault: Vault, text: str, cuts: list[tuple[float, str]], kind: str
) -> None:
    for place, added in cuts:
        at = int(place * len(text))
        text = text[:at] + added + text[at + 1 :]
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    assert all(view for view in compute_block(vault, block, "Home.md").views)


@pytest.mark.parametrize(
    "formulas",
    [
        {f"f{n}": f"formula.f{n + 1} + formula.f{n + 1}" for n in range(40)} | {"f40": "'x'"},
        {"f0": "rating.toFixed(999999999)"},
        {"f0": "today() + '99999999999999999999 years'"},
        {"f0": "formula.f0 + 1"},
        {f"f{n}": f"formula.f{n + 1}.replace('a', formula.f{n + 1})" for n in range(9)}
        | {"f9": "'" + 300 * "a" + "'"},
    ],
)
def test_formulas_that_grow_without_end_are_cut_off(vault: Vault, formulas: dict[str, str]) -> None:
    written = "".join(f'  {name}: "{text}"\n' for name, text in formulas.items())
    shown = f"formulas:\n{written}views: [{{type: table, order: [formula.f0]}}]\n"
    for text in (shown, f"{shown}filters: formula.f0 > 1\n"):
        (view,) = compute_block(vault, ViewBlock("base", text, (1, 1)), "Home.md").views
        if not isinstance(view, str):
            assert all(len(cell) <= 401 for row in view.rows for cell in row.cells)


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
