from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.models.embedding_models import choose_float32, other_model
from vault.embedder import Embedder
from vault.embedding.models import (
    CHARS_PER_TOKEN,
    MODEL_PACKAGE,
    PACKAGED,
    WHEEL_FOLDER,
    count_tokens,
    find_model,
    find_packaged_folder,
    load_tokenizer,
)
from vault.embedding_versions import read_used_model
from vault.errors import EmbedderFailed, VaultError
from vault.indexing import progress as reports
from vault.indexing.progress import IndexProgress
from vault.options import IndexOptions
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]
MakeIndex = Callable[..., Vault]

MANY = 41  # more than one batch


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return other_model(tmp_path_factory.mktemp("models") / "short")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    cache = tmp_path_factory.mktemp("cache")
    choose_float32(cache, model)
    return cache


@pytest.fixture
def notes(write: Write) -> Path:
    for number in range(MANY - 1):
        write(f"n{number}.md", f"# Note {number}\n\nAbout the number {number * 7}.\n")
    return write("rain.md", "# Rain\n\nThe barrel holds water for the beds.\n").parent


class Chosen:
    """The setting, which may change while an index is open."""

    def __init__(self) -> None:
        self.options = IndexOptions()

    def __call__(self) -> IndexOptions:
        return self.options

    def model(self, name: Path | str) -> None:
        self.options = IndexOptions(str(name))


@pytest.fixture
def chosen() -> Chosen:
    return Chosen()


@pytest.fixture
def open_index(
    notes: Path, tmp_path: Path, embedder: Embedder, chosen: Chosen, cache: Path
) -> Iterator[Callable[[], Vault]]:
    made: list[Vault] = []

    def make() -> Vault:
        made.append(Vault(notes, tmp_path / "index", (), embedder, chosen, cache))
        return made[-1]

    yield make
    for index in made:
        index.close()


def used(index: Vault) -> str:
    assert index._handle.catalog is not None
    return read_used_model(index._handle.catalog)[0]


def by_meaning(index: Vault) -> tuple[str, float | None]:
    """The first hit of a question that shares no word with its note."""
    result = index.search("How do plants get enough to drink?", 1)
    assert result.warnings == ()
    return result.hits[0].path, result.hits[0].signals["dense"]


def test_the_names_of_the_installed_model_need_no_look_at_the_disk() -> None:
    for name in ("", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert find_model(name) is PACKAGED
    assert PACKAGED.languages() == "English"


def test_a_model_is_told_from_another_by_what_it_is_made_of(model: Path, tmp_path: Path) -> None:
    again, other = other_model(tmp_path / "short"), other_model(tmp_path / "b" / "short", 200)
    assert find_model(str(model)).stamp == find_model(str(again)).stamp
    assert find_model(str(model)).stamp != find_model(str(other)).stamp
    assert find_model(str(model)).languages() == "en, de"


@pytest.mark.parametrize("name", ["nobody/has-this", "not-there", "/no/such/folder", "a b?"])
def test_a_model_that_is_not_there_is_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(EmbedderFailed, match="not on this computer; download it first"):
        find_model(name)


def test_a_folder_embeds_in_its_own_dimension(model: Path) -> None:
    short = Embedder(find_model(str(model)))
    try:
        vector = short.embed_query("rain")
        assert vector.shape == (256,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-3)
    finally:
        short.close()


def test_another_model_takes_over_once_its_vectors_are_complete(
    open_index: Callable[[], Vault],
    chosen: Chosen,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reports, "_SILENCE_S", 0.0)  # every step is told
    index = open_index()
    index.update()
    path, before = by_meaning(index)
    chosen.model(model)
    seen: list[tuple[str, float | None]] = []

    def told(progress: IndexProgress) -> None:
        if progress.phase == "embed" and 0 < progress.done < progress.total and not seen:
            seen.append((used(index), by_meaning(index)[1]))

    report = index.update(told)
    assert (report.embedded_chunks, report.added, report.changed) == (MANY, 0, 0)
    assert seen == [("all-MiniLM-L6-v2", before)]
    assert used(index) == index.status().embedder == str(model)
    assert by_meaning(index)[0] == path
    assert by_meaning(index)[1] != before
    checks = {name: (ok, detail) for name, ok, detail in index.health()}
    assert checks["vector store"][1].startswith(f"{MANY} vectors")
    assert "found by meaning: en, de" in checks["embedding model"][1]
    assert by_meaning(index)[0] == path  # by Chroma, too
    assert index.update().embedded_chunks == 0


def test_what_was_made_of_the_new_vectors_is_kept_over_a_cancel_and_a_restart(
    open_index: Callable[[], Vault], chosen: Chosen, model: Path, write: Write
) -> None:
    for number in range(60):
        write(f"more{number}.md", f"# More {number}\n\nAbout the number {number * 3}.\n")
    first = open_index()
    first.update()
    chosen.model(model)
    done: list[int] = []

    def told(progress: IndexProgress) -> None:
        if progress.phase == "embed":
            done.append(progress.done)

    stopped = first.update(told, lambda: bool(done and done[-1] >= 32))
    assert not stopped.is_complete
    assert used(first) == "all-MiniLM-L6-v2"
    first.close()
    second = open_index()
    assert by_meaning(second)[0] == "rain.md"
    assert (
        "until the new ones are complete"
        in {name: detail for name, _, detail in second.health()}["embedding model"]
    )
    assert second.update().embedded_chunks == MANY + 60 - stopped.embedded_chunks
    assert used(second) == str(model)


def test_going_back_embeds_only_what_is_new_since(
    open_index: Callable[[], Vault], chosen: Chosen, model: Path, write: Write
) -> None:
    index = open_index()
    index.update()
    before = by_meaning(index)
    chosen.model(model)
    index.update()
    write("new.md", "# Snow\n\nSnow is slow.\n")
    index.update()
    chosen.model("all-MiniLM-L6-v2")
    assert index.update().embedded_chunks == 1
    assert by_meaning(index) == before
    assert {name: ok for name, ok, _ in index.health()}["vector store"]


def test_a_third_model_takes_the_place_of_the_spare_one(
    open_index: Callable[[], Vault], chosen: Chosen, model: Path, tmp_path: Path, cache: Path
) -> None:
    third = other_model(tmp_path / "third", 200)
    choose_float32(cache, third)
    index = open_index()
    index.update()
    chosen.model(model)
    index.update()
    chosen.model(third)
    index.update()
    assert by_meaning(index)[0] == "rain.md"
    chosen.model("all-MiniLM-L6-v2")
    assert index.update().embedded_chunks == MANY


def test_the_index_goes_on_with_what_it_has_where_the_model_is_missing(
    open_index: Callable[[], Vault], chosen: Chosen, write: Write
) -> None:
    index = open_index()
    index.update()
    chosen.model("nobody/has-this")
    write("snow.md", "# Snow\n\nSnow is slow rain.\n")
    with pytest.raises(EmbedderFailed, match="nobody/has-this is not on this computer"):
        index.update()
    assert index.search("slow snow", 1).hits[0].signals["dense"]


def test_a_reader_asks_in_the_way_of_the_vectors_that_are_used(
    open_index: Callable[[], Vault], chosen: Chosen, model: Path
) -> None:
    owner, reader = open_index(), open_index()
    owner.update()
    before = by_meaning(reader)
    chosen.model(model)
    owner.update()
    assert by_meaning(reader)[0] == "rain.md"
    assert by_meaning(reader) != before


def test_without_its_model_the_index_is_searched_by_words_and_says_so(
    open_index: Callable[[], Vault], chosen: Chosen, tmp_path: Path, cache: Path
) -> None:
    folder = other_model(tmp_path / "gone", 200)
    choose_float32(cache, folder)
    chosen.model(folder)
    index = open_index()
    index.update()
    index.close()
    folder.rename(tmp_path / "elsewhere")
    result = open_index().search("barrel", 1)
    assert result.hits[0].path == "rain.md"
    assert "by words only" in result.warnings[0]
    with pytest.raises(VaultError):
        open_index().update()


WORDS = st.sampled_from(
    ["Tokenizer", "don't", "a_b", "EIP-1559", "0x12AB", "x" * 120, "[MASK]", "\t"]
)


def by_the_model(text: str) -> int:
    tokens = len(load_tokenizer().encode(text, add_special_tokens=False))
    return max(tokens, -(-len(text) // CHARS_PER_TOKEN))


@given(st.lists(st.one_of(st.text(max_size=40), st.lists(WORDS).map(" ".join)), max_size=8))
def test_counts_are_those_of_the_model(texts: list[str]) -> None:
    assert count_tokens(texts) == [by_the_model(text) for text in texts]


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_any_ascii_is_counted_exactly(text: str) -> None:
    assert count_tokens([text]) == [by_the_model(text)]


def test_the_folder_in_a_wheel_comes_before_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_packaged_folder().parent.name == MODEL_PACKAGE
    (tmp_path / WHEEL_FOLDER).mkdir()
    monkeypatch.setattr("resources.__file__", str(tmp_path / "__init__.py"))
    assert find_packaged_folder() == tmp_path / WHEEL_FOLDER


def test_a_model_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(FileNotFoundError, match="not installed; reinstall Strata"):
        find_packaged_folder()
