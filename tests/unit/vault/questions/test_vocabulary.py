"""The names of a vault are read once, and again after the catalog has changed."""

from contextlib import closing
from pathlib import Path

from vault.catalog import Catalog
from vault.questions.vocabulary import VocabularyReader
from vault.scope import Scope


def test_the_names_are_kept_until_the_catalog_changes(tmp_path: Path) -> None:
    reader = VocabularyReader()
    with closing(Catalog(tmp_path / "catalog.db", is_writable=True)) as catalog:
        names = reader.read(catalog)
        assert reader.read(catalog) is names
        with catalog.transaction():
            catalog.set_meta("vectors_epoch", "1")
        assert reader.read(catalog) is not names


def test_the_names_of_a_part_are_not_those_of_the_whole(tmp_path: Path) -> None:
    reader = VocabularyReader()
    with closing(Catalog(tmp_path / "catalog.db", is_writable=True)) as catalog:
        names = reader.read(catalog)
        assert reader.read(catalog, Scope("House/")) is not names
