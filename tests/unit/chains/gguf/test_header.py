"""Headers of files as they come, and of files that are damaged in any way."""

import io
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.gguf.header import BadModelFile, FileHeader, ListLength, read_header
from tests.support.models.tiny_model import (
    Tensor,
    encode_file,
    encode_text,
    list_fields,
    write_model,
)

SMALL = encode_file(list_fields(), {"a": Tensor((32, 2)), "b": Tensor((40,))})
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def read(data: bytes) -> FileHeader:
    return read_header(io.BytesIO(data), len(data))


def make_field(name: str, kind: int, value: bytes) -> bytes:
    return encode_text(name) + struct.pack("<I", kind) + value


def make_file(*fields: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(fields)) + b"".join(fields)


def test_fields_of_a_model_are_read_and_of_its_vocabulary_the_length() -> None:
    fields = list_fields(tokenizer__ggml__tokens=["a"] * 5_000)
    header = read(encode_file(fields, {}))
    assert header.fields == {
        **{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()},
        "llama.attention.layer_norm_rms_epsilon": pytest.approx(1e-5),
        "tokenizer.ggml.tokens": ListLength(5_000),
    }


@pytest.mark.parametrize(("kind", "form"), SCALARS.items())
@pytest.mark.parametrize("version", [2, 3])
def test_a_number_of_each_type_is_read(kind: int, form: str, version: int) -> None:
    data = make_file(make_field("n", kind, struct.pack(f"<{form}", 1)), version=version)
    assert read(data).fields == {"n": 1}


def test_a_file_is_complete_up_to_its_last_tensor() -> None:
    assert len(SMALL) - 160 < read(SMALL).least_bytes <= len(SMALL)
    empty = make_file()
    assert read(empty).least_bytes == len(empty)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not a GGUF file"),
        (b"GGU", "is not a GGUF file"),
        (b"%PDF-1.7 and more", "is not a GGUF file"),
        (make_file(version=1), "has the GGUF version 1, which Strata cannot read"),
        (make_file(version=3 << 24), "has the GGUF version 50331648, which Strata cannot read"),
        (make_file(make_field("n", 99, b"")), "is damaged: its header cannot be read"),
        (make_file(make_field("n", 8, b"\xff" * 8)), "is damaged: its header ends too early"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "is damaged: its header cannot be read"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "is damaged: its header cannot be read"),
        (make_file(b"\xff" * 12), "is damaged: its header cannot be read"),
        (
            make_file(make_field("n", 9, struct.pack("<IQ", 8, 1 << 60))),
            "is damaged: its header ends too early",
        ),
        (
            make_file(make_field("n", 9, struct.pack("<IQ", 9, 2))),
            "is damaged: its header cannot be read",
        ),
    ],
)
def test_a_damaged_header_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(BadModelFile) as raised:
        read(data)
    assert str(raised.value) == reason


@given(st.integers(0, read(SMALL).least_bytes - 1))
def test_a_file_that_is_cut_off_anywhere_is_refused(length: int) -> None:
    data = SMALL[:length]
    with suppress(BadModelFile):
        assert read(data).least_bytes > length


@given(st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_file_with_changed_bytes_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for place, byte in changes:
        data[place] = byte
    try:
        header = read(bytes(data))
    except BadModelFile:
        return
    assert header.least_bytes > 0


@given(st.binary(max_size=300))
def test_any_bytes_after_the_magic_are_read_or_refused(rest: bytes) -> None:
    data = b"GGUF\x03\x00\x00\x00" + rest
    with suppress(BadModelFile):
        assert read(data).least_bytes > 0


def test_a_large_header_is_read_in_parts(tmp_path: Path) -> None:
    words = [f"word {number:06d} " + "x" * 40 for number in range(120_000)]
    path = write_model(tmp_path / "large.gguf", tokenizer__ggml__tokens=words)
    with path.open("rb") as file:
        header = read_header(file, path.stat().st_size)
    assert header.fields["tokenizer.ggml.tokens"] == ListLength(120_000)
    assert header.fields["tokenizer.ggml.eos_token_id"] == 2
