import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chains import tokenizer
from chains.tokenizer import PIECE_CHARS, load_counter

PROSE = "The quick brown fox, isn't it? été 漢字 12345.\n\n  - an item\n"


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("openai/gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("azure/gpt-4", "cl100k_base"),
        ("openrouter/openai/gpt-4o", "o200k_base"),
    ],
)
def test_a_model_of_openai_is_counted_with_its_own_encoding(model, encoding):
    counter = load_counter(model)
    assert (counter.name, counter.is_exact) == (encoding, True)
    assert (counter.message_overhead, counter.part_overhead) == (4, 0)


@pytest.mark.parametrize(
    "model", ["extractive", "ollama/gpt-4o", "claude-sonnet-4-5", "local", "davinci"]
)
def test_any_other_model_gets_the_largest_count_of_all_encodings(model):
    counter = load_counter(model)
    exact = [load_counter(name).count(PROSE) for name in ("gpt-4o", "gpt-4", "text-davinci-003")]
    assert counter.count(PROSE) == max(exact)
    assert (counter.is_exact, counter.message_overhead, counter.part_overhead) == (False, 8, 3)


def test_special_tokens_are_words_like_any_other():
    assert load_counter("gpt-4o").count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", tokenizer.ENCODING_FILES)
@pytest.mark.parametrize(
    "unit",
    [
        PROSE,
        "It's 5 o'clock; the 3rd of 12 notes says so. ",
        "def f(x):\n    return {'a': x[0]}\n\n\n",
        "漢字の文章です。次の行にも続きます\n" * 3 + "漢字",
        "| a | b |\n|---|---|\n| 1 | 2 |\nText\n",
        "Überschrift\r\n\r\nDer Garten ist groß, e\u0301te\u0301. ",
        "https://example.org/a/b?c=d&e=f " * 3 + "ende. ",
    ],
)
def test_a_long_text_is_counted_as_if_in_one_piece(name, unit):
    text = unit * (5 * PIECE_CHARS // len(unit))
    encoding = tokenizer._load(name)
    counter = tokenizer.EncodingCounter([encoding], is_exact=True)
    assert counter.count(text) == len(encoding.encode_ordinary(text))


def test_a_text_that_is_shortened_until_it_fits_is_encoded_about_once():
    """A megabyte without a blank, as it is cut to a limit: each cut once took a second."""
    text, counter = "".join(map(str, range(170_000))), load_counter("local")
    tokenizer._count_piece.cache_clear()
    cuts = [len(text) // number for number in range(1, 40)]
    assert all(counter.count(text[:cut]) for cut in cuts)
    pieces = len(text) // PIECE_CHARS + 1 + len(cuts)
    assert tokenizer._count_piece.cache_info().misses <= pieces * len(tokenizer.ENCODING_FILES)


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "漢", "aA1", "!", "\u00a0", "e\u0301", "'", "\ud800"]
)
def test_a_megabyte_of_anything_is_counted_in_seconds(unit):
    text = unit * (1_000_000 // len(unit))
    begun = time.thread_time()
    assert load_counter("gpt-4o").count(text) > 0
    assert time.thread_time() - begun < 10


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_can_be_counted(text):
    assert 0 <= load_counter("local").count(text) <= 4 * len(text.encode("utf-8", "surrogatepass"))


def test_without_encodings_bytes_are_estimated(monkeypatch):
    monkeypatch.setattr(tokenizer, "_encodings_folder", lambda: None)
    monkeypatch.setattr(tokenizer, "_load", tokenizer._load.__wrapped__)
    monkeypatch.setattr(tokenizer, "_largest", tokenizer._largest.__wrapped__)
    assert load_counter("gpt-4o").name == "bytes"


def test_a_damaged_encoding_is_not_fetched_anew(monkeypatch, tmp_path):
    for file_name, _ in tokenizer.ENCODING_FILES.values():
        (tmp_path / file_name).write_bytes(b"damaged")
    monkeypatch.setattr(tokenizer, "_encodings_folder", lambda: tmp_path)
    monkeypatch.setattr(tokenizer, "_load", tokenizer._load.__wrapped__)
    monkeypatch.setattr(tokenizer, "_largest", tokenizer._largest.__wrapped__)
    assert load_counter("local").name == "bytes"
    assert len(list(tmp_path.iterdir())) == len(tokenizer.ENCODING_FILES)


def test_counting_leaves_the_environment_alone_and_never_imports_litellm():
    code = (
        "import os, sys; from chains.tokenizer import load_counter; before = dict(os.environ)\n"
        "assert 'tiktoken' not in sys.modules\n"
        "load_counter('local').count('x')\n"
        "assert dict(os.environ) == before and 'litellm' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
