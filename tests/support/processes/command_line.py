"""The command line, run in this process."""

import json
from collections.abc import Callable
from typing import Any

from app.assistant import Assistant


def no_window(_assistant: Assistant) -> int:
    raise AssertionError("no window was asked for")


Strata = Callable[..., tuple[int, str, str]]


def document(output: str) -> Any:
    """Read the one document on standard output."""
    found, end = json.JSONDecoder().raw_decode(output)
    assert output[end:].strip() == ""
    return found
