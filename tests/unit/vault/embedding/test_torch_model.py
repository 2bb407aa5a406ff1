"""When an embedding model in torch is loaded and freed."""

import threading
from collections.abc import Callable

import pytest

from vault.embedding.torch_model import TorchModel


def test_a_model_that_is_freed_while_it_is_loaded_does_not_stay() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def load() -> object:
        begun.set()
        assert goes_on.wait(60)
        return object()

    model = TorchModel(load)
    model.begin_loading()
    assert begun.wait(60)
    model.free()  # does not wait for the load
    goes_on.set()
    _join(model)
    assert not model.is_loaded
    assert model.load() is model.load()
    assert model.is_loaded


def _fail() -> object:
    raise OSError("the disk is full")


@pytest.mark.parametrize("load", [object, _fail])
def test_a_model_is_loaded_ahead_again_once_it_is_no_longer_loaded(
    load: Callable[[], object],
) -> None:
    loads = []

    def count() -> object:
        loads.append(1)
        return load()

    model = TorchModel(count)
    for number in (1, 2):
        model.begin_loading()
        _join(model)
        assert not model.is_loading
        assert len(loads) == number
        model.free()


def _join(model: TorchModel) -> None:
    assert model._loading is not None
    model._loading.join(60)
