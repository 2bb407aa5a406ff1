"""Measure the fastest encoder on this processor, and cache the result as JSON.

The file name depends on the processor, the versions of the libraries and the model's stamp. A
result is therefore used only on the computer and for the model that it was measured with.
"""

import hashlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from resources.system.files import make_private_folder, write_atomically

FLOAT32, BFLOAT16 = "float32", "bfloat16"
TORCH, ONNX = "torch", "onnx"
LONG_TEXT: Final = "the committee discussed the budget and agreed to meet again; " * 9

_ROUNDS = 5
_FEWEST_ROUNDS = 2
_PATIENCE_S = 1.0
_MEASURED_TEXTS = 8
_SLOW_S = 0.1  # for one passage; slower models are measured with one passage at a time
_HOPELESS = 4.0
_BFLOAT16_FLAGS = ("amx_bf16", "avx512_bf16")
_PROCESSOR_FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")


def measure_seconds(
    encoders: "dict[str, Callable[[Sequence[str]], Any]]",
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Measure the minimum time in seconds that each encoder needs for the same texts.

    Encoders take turns, so that other programs slow them down equally. Usually the measurement
    takes at most a second.

    Args:
        encoders: the encoders by name. The first one is the reference.
        clock: returns the current time in seconds. The default is processor time, so that the time
            of other programs is not counted.
    """
    long_text = (LONG_TEXT,)
    best = _take_turns(encoders, long_text, _FEWEST_ROUNDS, clock)
    first = next(iter(best.values()))
    if first > _SLOW_S or any(seconds > _HOPELESS * first for seconds in best.values()):
        return best
    return _take_turns(encoders, long_text * _MEASURED_TEXTS, _ROUNDS, clock)


def _take_turns(
    encoders: "dict[str, Callable[[Sequence[str]], Any]]",
    texts: Sequence[str],
    rounds: int,
    clock: Callable[[], float],
) -> dict[str, float]:
    best = dict.fromkeys(encoders, float("inf"))
    ends_at = time.monotonic() + _PATIENCE_S
    for number in range(rounds):
        if number >= _FEWEST_ROUNDS and time.monotonic() > ends_at:
            break
        for name, encode in encoders.items():
            started = clock()
            encode(texts)
            best[name] = min(best[name], clock() - started)
    return best


def locate_choice(cache: str, stamp: str) -> Path:
    """Return the path of the file that stores the choice of an encoder.

    The name depends on this processor, the versions of torch and onnxruntime, and the model.

    Args:
        cache: the cache folder.
        stamp: the name and fingerprint of the embedding model.
    """
    versions = "\0".join(map(_find_version, ("torch", "onnxruntime")))
    named = f"{_describe_processor()}\0{versions}\0{stamp}"
    return Path(cache) / f"{hashlib.sha256(named.encode()).hexdigest()[:16]}.json"


def _find_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def can_compute_bfloat16() -> bool:
    """Return whether the processor is known to have instructions for bfloat16.

    Only Linux lists its processor's instructions in a file.
    """
    flags = _read_processor().get("flags", "").split()
    return any(flag in flags for flag in _BFLOAT16_FLAGS)


def _describe_processor() -> str:
    """Return a text that identifies the type of the processor.

    Several fields are combined, because different virtual processors can have the same model name.
    """
    fields = _read_processor()
    if not fields:
        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(value for name, value in fields.items() if name in _PROCESSOR_FIELDS)


def _read_processor() -> dict[str, str]:
    """Return the fields of the first processor in `/proc/cpuinfo`, or none on other systems."""
    try:
        first = Path("/proc/cpuinfo").read_text("ascii", "replace").split("\n\n", 1)[0]
    except OSError:
        return {}
    fields = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value for name, _, value in fields}


def read_choice(file: Path) -> dict[str, Any]:
    """Load the cached encoder choice, or return an empty mapping if it is missing or damaged."""
    try:
        kept = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    is_known = isinstance(kept, dict) and kept.get("precision") in (FLOAT32, BFLOAT16)
    return kept if is_known else {}


def keep_choice(file: Path, choice: Mapping[str, Any]) -> None:
    """Store the encoder choice atomically.

    If the file cannot be written, the speed is measured again next time.
    """
    with suppress(OSError):
        make_private_folder(file.parent)
        content = json.dumps({**read_choice(file), **choice})
        write_atomically(file, content.encode("ascii"))
