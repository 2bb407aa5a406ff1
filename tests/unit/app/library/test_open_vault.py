from collections.abc import Callable
from pathlib import Path

import pytest

from app.config.schema import check
from app.config.settings import Settings
from app.errors import BadSetting
from app.library.library import IndexFinished, Library
from app.library.open_vault import index_options
from app.paths import Paths
from chains.cancel import CancelToken
from tests.support.models.embedding_models import choose_float32, other_model
from vault.options import IndexOptions, VectorServer

SERVER = "https://vectors.invalid?tenant=mine&database=notes"

Values = Callable[..., Settings]


@pytest.fixture
def values() -> Values:
    def make(**given: object) -> Settings:
        return Settings.model_validate({name.replace("__", "."): v for name, v in given.items()})

    return make


def test_as_it_comes_the_index_has_its_own_model_and_its_own_store(values: Values) -> None:
    assert index_options(values()) == IndexOptions("all-MiniLM-L6-v2", None)


def test_a_server_is_asked_with_the_key_of_the_environment(
    values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_API_KEY", "a key")
    chosen = index_options(values(vectorStore__url=SERVER))
    assert chosen.server == VectorServer(SERVER, token="a key", is_refused=False)


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [(SERVER, True), ("http://127.0.0.1:8000", False), ("http://localhost:8000", False)],
)
def test_offline_only_a_server_on_this_computer_is_asked(
    values: Values, url: str, is_refused: bool
) -> None:
    server = index_options(values(vectorStore__url=url, privacy__offline=True)).server
    assert server is not None
    assert server.is_refused is is_refused


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(BadSetting, match="begins with http"):
        check("vectorStore.url", "127.0.0.1:8000")


def test_another_model_may_be_chosen_while_the_notes_are_open(
    values: Values, small_vault: Path, tmp_path: Path, strata_home: Path
) -> None:
    other = other_model(tmp_path / "model")
    choose_float32(strata_home / "cache" / "embedding", other)
    model = str(other)
    settings = values()
    library = Library.open(small_vault, Paths.find(), (), lambda: index_options(settings))
    try:
        first = list(library.update(CancelToken()))[-1]
        settings = values(embedding__model=model)
        second = list(library.update(CancelToken()))[-1]
        assert isinstance(first, IndexFinished)
        assert isinstance(second, IndexFinished)
        assert second.report.embedded_chunks == first.report.embedded_chunks > 0
        assert library.vault.status().embedder == model
    finally:
        library.close()
