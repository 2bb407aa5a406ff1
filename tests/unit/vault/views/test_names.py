"""A property has one name, whether its accents are characters of their own or not."""

from unicodedata import normalize

import pytest

from tests.unit.vault.views.conftest import WordIndexer
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block
from vault.views.view import ComputedView

NAMES = ("Größe", "Año de edición", "Ångström", "が", "संख्या")


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    front = "\n".join(f"{name}: 5" for name in NAMES)
    fields = "\n".join(f"{name}:: 5" for name in NAMES)
    return index_words(
        {
            "nfc.md": f"---\n{normalize('NFC', front)}\n---\n",
            "nfd.md": f"---\n{normalize('NFD', front)}\n---\n",
            "field.md": normalize("NFD", fields),
            "none.md": "",
        }
    )


def compute(vault: Vault, kind: str, text: str) -> ComputedView:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    (view,) = compute_block(vault, block, "nfd.md").views
    assert isinstance(view, ComputedView), view
    return view


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("name", NAMES)
def test_a_property_is_found_in_each_form_of_its_name(vault: Vault, name: str, form: str) -> None:
    written = normalize("NFD" if form == "NFD" else "NFC", name)
    field = "-".join(written.split())
    texts = {
        "base": [
            f'filters: note["{written}"] > 1',
            f'filters: note["{written}"] + 1 > 1',
            f'filters: file.hasProperty("{written}")',
            f"views: [{{type: table, filters: '!note[\"{written}\"].isEmpty()'}}]",
        ],
        "dataview": [
            f"LIST WHERE {field} > 1",
            f"LIST WHERE {field} + 1 > 1",
            f"LIST WHERE this.{field} = {field}",
        ],
    }
    wanted = {"nfc.md", "nfd.md", "field.md"}
    for kind, queries in texts.items():
        for query in queries:
            assert {row.path for row in compute(vault, kind, query).rows} == wanted, query
    for query in (f"[{written}:>1]", f"[{written}:*]", f"[{field}:5]"):
        assert {hit.path for hit in vault.list_notes(query, 10).hits} == wanted, query


def test_a_column_shows_a_property_in_each_form_of_its_name(vault: Vault) -> None:
    name = normalize("NFD", "Größe")
    base = f"filters: file.hasProperty('Größe')\nviews: [{{type: table, order: [{name}]}}]"
    for kind, text in (("base", base), ("dataview", f"TABLE WITHOUT ID {name} WHERE {name}")):
        assert [row.cells for row in compute(vault, kind, text).rows] == [("5",)] * 3
