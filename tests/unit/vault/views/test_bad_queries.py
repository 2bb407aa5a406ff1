"""Queries that are too long, too deep or too large are named as not understood, and at once."""

import pytest

from tests.unit.vault.views.conftest import WordIndexer
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block
from vault.views.view import ComputedView

NOTES = {f"Note {number}.md": f"---\nrating: {number}\n---\n#a0 #b0\n" for number in range(3)}


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(NOTES)


def compute(vault: Vault, kind: str, text: str) -> ComputedView | str:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    (view,) = compute_block(vault, block, "Note 0.md").views
    return view


PAIRS = [f"(#a{n} AND #b{n})" for n in range(22)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dataview", f"LIST FROM {' OR '.join(PAIRS)}"),
        (
            "dataview",
            f"LIST FROM -({' AND '.join(PAIRS).replace(') AND', ') and')})".replace(
                " AND #", " OR #"
            ),
        ),
        ("dataview", f"LIST FROM {' or '.join(f'(-#a{n} && -#b{n})' for n in range(22))}"),
        ("dataview", f"LIST FROM {' OR '.join(f'#a{n}' for n in range(20_000))}"),
        ("dataview", f"LIST LIMIT {'9' * 5_000}"),
        ("dataview", f"LIST FROM {'(' * 3_000}#a{')' * 3_000}"),
        ("dataview", f"LIST FROM {'-(' * 3_000}#a{')' * 3_000}"),
        ("dataview", f"LIST FROM {'(' * 3_000}"),
        ("dataview", f"LIST WHERE {'(' * 3_000}a{')' * 3_000}"),
        ("dataview", f"LIST WHERE {'!' * 3_000}a"),
        ("dataview", f"LIST WHERE {' AND '.join(['a'] * 3_000)}"),
        ("dataview", f"LIST WHERE rating > {'9' * 5_000}"),
        ("base", f"views: [{{type: list, limit: {'9' * 5_000}}}]"),
        ("base", f"views: [{{type: list, limit: '{'9' * 5_000}'}}]"),
        ("base", f"filters: {'{and: [' * 3_000}a{']}' * 3_000}"),
        ("base", f"filters: {{and: [{', '.join(['a > b'] * 5_000)}]}}"),
        ("base", f"filters: {{or: [{', '.join(['a > b'] * 5_000)}]}}"),
        ("base", f'filters: "{"(" * 3_000}a{")" * 3_000}"'),
        ("base", f'formulas: {{f: "{"(" * 3_000}a{")" * 3_000}"}}'),
        ("base", f"filters: a > {'9' * 5_000}"),
    ],
    ids=range(20),
)
def test_a_query_that_is_too_large_is_named_or_computed(vault: Vault, kind: str, text: str) -> None:
    view = compute(vault, kind, text)
    if isinstance(view, str):
        assert "not understood" in view or "no valid YAML" in view
    else:
        assert view.total <= len(NOTES)
