"""The names of a vault are read once, and again after the catalog has changed."""

from contextlib import closing
from pathlib import Path
from unittest.mock import patch

from vault.catalog import Catalog
from vault.questions.vocabulary import VaultNames, VocabularyReader
from vault.questions.words import split_words
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


def test_many_values_are_split_into_words_once_for_all_questions() -> None:
    names = VaultNames()
    names.properties = {f"{n}.md": {"author": [f"Jane Writer{n}"]} for n in range(50)}
    with patch("vault.questions.vocabulary.split_words", side_effect=split_words) as split:
        assert names.find_values_with("Writer7", "author") == ["Jane Writer7"]
        assert names.find_values_with("Writer8", "author") == ["Jane Writer8"]
    assert split.call_count == 50 + 2
