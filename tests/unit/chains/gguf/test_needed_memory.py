"""The memory that is free and used, and the sentence for a model that does not fit."""

from pathlib import Path

import pytest

from chains.errors import LocalModelFailed
from chains.gguf.file import ModelFile, format_size, require_memory

GB = 10**9
BIG = ModelFile(
    path=Path("/models/big.gguf"),
    name="Big 14B",
    context_length=131_072,
    size_bytes=9 * GB,
    token_bytes=200_000,
    window_bytes=0,
    work_bytes=GB // 2,
    takes_tools=True,
    changed_ns=1,
)


def refuse(context: int, free: int) -> str:
    """Return why a model is refused."""
    with pytest.raises(LocalModelFailed) as raised:
        require_memory(BIG, context, free)
    return str(raised.value)


def test_a_model_that_fits_or_whose_memory_is_unknown_is_accepted() -> None:
    needed = BIG.count_needed_bytes(16_384)
    require_memory(BIG, 16_384, needed)
    require_memory(BIG, 131_072, None)
    assert "needs 12.8 GB" in refuse(16_384, needed - 1)


def test_a_refusal_names_a_context_that_fits() -> None:
    assert refuse(16_384, 11 * GB) == (
        "Big 14B needs 12.8 GB of memory with a context of 16,384 tokens, and 11.0 GB are free. "
        "Close other programs, or set chat.localContext to at most 7,168."
    )
    require_memory(BIG, 7_168, 11 * GB)


def test_a_model_that_fits_with_no_context_at_all_needs_another_way_out() -> None:
    sentence = refuse(16_384, 8 * GB)
    assert sentence.endswith("Close other programs, or choose a smaller model.")


def test_sizes_are_shown_in_megabytes_or_gigabytes() -> None:
    assert [format_size(n) for n in (1, 2_450_944, 949_000_000, 1_250_000_000)] == [
        "1 MB",
        "2 MB",
        "949 MB",
        "1.2 GB",
    ]
