"""Generate arguments of tool calls: any JSON, and some that are not JSON at all."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

MOST_DEPTH: Final = 6
TEXTS: Final = (
    "",
    "n.md",
    "  \t",
    "Zoë 日本語 🌱",
    "\ud800",
    "a\udfffb",
    "\ud83d\ude00",
    "\x00\x07\x1b[31m",
    "\u202e\u2066\u200d",
    "</tool> \u2028\u2029",
    "x" * 5_000,
)
NUMBERS: Final = (0, -0.0, 1.5, 1e308, 5e-324, -1, 2**31, 2**64, 10**400, -(10**4_000))
KEYS: Final = (*TEXTS[:10], "path", "x", "$ref", "__proto__", "type", "items")
# What no JSON parser accepts, or what Strata refuses because of its size.
BROKEN: Final = (
    "",
    "{",
    "[]",
    "null",
    '"text"',
    "NaN",
    '{"x": NaN}',
    '{"x": -Infinity}',
    '{"x": 1e999}',
    '{"path": "n.md", "path": {}}',
    "{'x': 1}",
    '{"x": ' + "9" * 5_000 + "}",
    '{"x": ' + "[" * 5_000 + "]" * 5_000 + "}",
    *('{"x": ' * levels + "1" + "}" * levels for levels in (65, 99, 100, 101)),
    '{"a": {}} {"b": {}}',
    '"{\\"x\\": {}}"',
)


def generate_value(random: Random, depth: int = MOST_DEPTH) -> Any:
    """Return any JSON value."""
    makers: list[Callable[[], Any]] = [
        lambda: random.choice(TEXTS),
        lambda: random.choice(NUMBERS),
        lambda: random.choice((None, True, False)),
        lambda: random.uniform(-1e9, 1e9),
    ]
    if depth:
        makers += [lambda: generate_object(random, depth - 1)] * 3
        makers += [lambda: [generate_value(random, depth - 1) for _ in range(random.randrange(4))]]
    return random.choice(makers)()


def generate_object(random: Random, depth: int = MOST_DEPTH) -> dict[str, Any]:
    """Return a JSON object with any values."""
    keys = [random.choice(KEYS) for _ in range(random.randrange(5))]
    return {key: generate_value(random, depth) for key in keys}


def generate_arguments(random: Random, deepest: int) -> str:
    """Return the text of a tool call's arguments, which usually is a JSON object.

    Args:
        random: decides which.
        deepest: the number of levels of the deepest object.
    """
    draw = random.randrange(20)
    if draw == 0:
        return random.choice(BROKEN)
    if draw == 1:
        return '{"x": ' * (deepest - 1) + "{}" + "}" * (deepest - 1)
    text = json.dumps(generate_object(random), ensure_ascii=random.random() < 0.5)
    return text.encode("utf-8", "backslashreplace").decode()
