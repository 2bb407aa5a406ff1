"""GGUF files for tests: a writer of the format, and a tiny language model whose answers are known.

The model's next token depends on the last one alone. What the user's message ends with chooses the
answer: "?" gives `ANSWER`, and "!" gives a word again and again, until the answer is cut off.

```
path = write_model(tmp_path / "tiny.gguf")
settings.set("chat.model", f"gguf/{path}")
```
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chains.gguf.process import is_installed

needs_library = pytest.mark.skipif(
    not is_installed(), reason="xllamacpp is not installed: pip install -e '.[dev]'"
)

NAME = "Tiny Test Model"
CONTEXT = 8_192
ANSWER = "Yes, it works."
AGAIN = " again"
WIDTH = 320
HEADS = 5
HIDDEN = 32
_WORDS = ("Yes", ",", "▁it", "▁works", ".", "▁again")
# The token after each token, by their texts.
_NEXT = {
    "<0x3F>": "Yes",
    "Yes": ",",
    ",": "▁it",
    "▁it": "▁works",
    "▁works": ".",
    ".": "</s>",
    "<0x21>": "▁again",
    "▁again": "▁again",
}
_TEMPLATE = (
    "{% if tools %}{{ tools | length }}{% endif %}"
    "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    "{{ messages[-1].content }}"
)
_KINDS = {bool: 7, int: 4, float: 6, str: 8}
_FORMS = {bool: "<?", int: "<I", float: "<f"}
_INTEGERS_IN_A_LIST = 5  # which have a sign, unlike those that stand alone


@dataclass(frozen=True)
class Tensor:
    """The weights of a part of a model, in 32-bit floating point.

    Attributes:
        shape: the number of values in a row, and of rows if there is more than one.
        data: the values; None for zeros.
    """

    shape: tuple[int, ...]
    data: bytes | None = None


def encode_text(text: str) -> bytes:
    """Return a text as it stands in a GGUF file."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def encode_value(value: Any) -> bytes:
    """Return the type and the value of a field."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        first = type(value[0])
        number = _INTEGERS_IN_A_LIST if first is int else _KINDS[first]
        items = b"".join(encode_value(item)[4:] for item in value)
        return struct.pack("<IIQ", 9, number, len(value)) + items
    kind = type(value)
    data = encode_text(value) if kind is str else struct.pack(_FORMS[kind], value)
    return struct.pack("<I", _KINDS[kind]) + data


def encode_file(fields: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> bytes:
    """Return a GGUF file."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    head += b"".join(encode_text(name) + encode_value(value) for name, value in fields.items())
    weights = bytearray()
    for name, tensor in tensors.items():
        shape = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        head += encode_text(name) + shape + struct.pack("<IQ", 0, len(weights))
        weights += tensor.data or bytes(4 * _count(tensor.shape))
        weights += bytes(-len(weights) % 32)
    return head + bytes(-len(head) % 32) + bytes(weights)


def list_fields(**changes: Any) -> dict[str, Any]:
    """Return the fields of the tiny model; in the names of changes, `__` stands for a dot."""
    tokens = _list_tokens()
    fields = {
        "general.architecture": "llama",
        "general.name": NAME,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * len(tokens),
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * len(_WORDS),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.chat_template": _TEMPLATE,
    }
    return fields | {name.replace("__", "."): value for name, value in changes.items()}


def write_model(path: Path, **changes: Any) -> Path:
    """Write the tiny model into a file, and return the path.

    Args:
        path: the file.
        changes: fields that differ, as for `list_fields`.
    """
    path.write_bytes(encode_file(list_fields(**changes), _list_tensors()))
    return path


def _list_tokens() -> list[str]:
    return ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *_WORDS]


def _list_tensors() -> dict[str, Tensor]:
    """Return weights with which each token predicts the next one, and the layers change nothing."""
    tokens = _list_tokens()
    seen, said = [[0.0] * WIDTH for _ in tokens], [[0.0] * WIDTH for _ in tokens]
    for place, token in enumerate(tokens):
        seen[place][place] = 1.0
        said[tokens.index(_NEXT.get(token, "</s>"))][place] = 1.0
    ones = struct.pack(f"<{WIDTH}f", *[1.0] * WIDTH)
    square, wide, high = (WIDTH, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH)
    return {
        "token_embd.weight": Tensor((WIDTH, len(tokens)), _pack(seen)),
        "blk.0.attn_norm.weight": Tensor((WIDTH,), ones),
        **{f"blk.0.attn_{part}.weight": Tensor(square) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_norm.weight": Tensor((WIDTH,), ones),
        "blk.0.ffn_gate.weight": Tensor(wide),
        "blk.0.ffn_up.weight": Tensor(wide),
        "blk.0.ffn_down.weight": Tensor(high),
        "output_norm.weight": Tensor((WIDTH,), ones),
        "output.weight": Tensor((WIDTH, len(tokens)), _pack(said)),
    }


def _pack(rows: Sequence[Sequence[float]]) -> bytes:
    return b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
