"""Define the conditions of a query on notes: their path, folder, name, tags, links and properties.

    path:garden  folder:"winter garden"  file:seed  tag:recipe/soup  link:Server  [rating:>=4]

A condition is negated by `-` before it, and conditions joined by `OR` are alternatives. This is the
only place that says how a condition is written, and what it is called in a sentence.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, cast, get_args

from vault.notes.keywords import fold

__all__ = [
    "CONDITION_KEYS",
    "Comparison",
    "Condition",
    "ConditionKey",
    "compare_values",
    "describe_clause",
    "parse_property",
    "write_clause",
]

_Ordered = TypeVar("_Ordered", float, str)
ConditionKey = Literal["path", "folder", "file", "tag", "link", "property"]
Comparison = Literal["=", "<", "<=", ">", ">="]

CONDITION_KEYS: Final = tuple(key for key in get_args(ConditionKey) if key != "property")
_TEST: Final = re.compile(r"(?P<sign><=|>=|<|>|=)?\s*(?P<value>.+)")
_NUMBER: Final = re.compile(r"[-+]?\d[\d.,'\u00a0\u202f]*")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_PLAIN: Final = re.compile(r'[^\s".,;:!?()\[\]]+')
_SIGNS: Final = {"=": "", "<": "below ", "<=": "at most ", ">": "above ", ">=": "at least "}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a note fulfils or not.

    Attributes:
        key: what the condition is about.
        value: the text to compare with.
        name: the name of the property, or an empty string for other conditions.
        comparison: how the value of the property is compared.
        is_negated: whether the notes are wanted that do not fulfil the condition.
    """

    key: ConditionKey
    value: str
    name: str = ""
    comparison: Comparison = "="
    is_negated: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the condition is neither negated nor about a property."""
        return not (self.is_negated or self.name)


def parse_property(name: str, test: str, *, is_negated: bool = False) -> Condition | None:
    """Parse a condition on a property, such as `rating` and `>=4`.

    Return None if it has no value.
    """
    found = _TEST.fullmatch(test.strip().strip('"'))
    if found is None or not name.strip():
        return None
    sign = cast("Comparison", found["sign"] or "=")
    value = found["value"].strip().strip('"')
    return Condition("property", value, name.strip().lower(), sign, is_negated)


def compare_values(value: str, condition: Condition) -> bool:
    """Return whether a value of a property fulfils a condition.

    Days are compared as days, and values that begin with a number by it. Other values are equal if
    they differ only in case and accents.
    """
    wanted = condition.value
    if condition.comparison == "=":
        return _simplify(value) == _simplify(wanted)
    if _DAY.match(value) and _DAY.match(wanted):
        return _is_in_order(value[:10], wanted[:10], condition.comparison)
    number, limit = _read_number(value), _read_number(wanted)
    if number is None or limit is None:
        return False
    return _is_in_order(number, limit, condition.comparison)


def write_clause(clause: Sequence[Condition]) -> str:
    """Write alternative conditions as they are written in a query."""
    return " OR ".join(map(_write, clause))


def describe_clause(clause: Sequence[Condition]) -> str:
    """Describe alternative conditions for a sentence, such as "with the tag #recipe"."""
    return " or ".join(map(_describe, clause))


def _write(condition: Condition) -> str:
    sign = "-" if condition.is_negated else ""
    if condition.key == "property":
        comparison = "" if condition.comparison == "=" else condition.comparison
        return f"{sign}[{condition.name}:{comparison}{condition.value}]"
    value = condition.value
    return f"{sign}{condition.key}:" + (value if _PLAIN.fullmatch(value) else f'"{value}"')


def _describe(condition: Condition) -> str:
    value, without = condition.value, condition.is_negated
    match condition.key:
        case "tag":
            return f"{'without' if without else 'with'} the tag #{value}"
        case "folder":
            return f"{'not ' if without else ''}in the folder “{value}”"
        case "link":
            return f"{'without' if without else 'with'} a link to “{value}”"
        case "property":
            text = f"{condition.name}: {_SIGNS[condition.comparison]}{value}"
            return f"{'without' if without else 'with'} {text}"
        case "file":
            return f"{'without' if without else 'with'} “{value}” in the name"
    return f"{'without' if without else 'with'} “{value}” in the path"


def _simplify(value: str) -> str:
    text = " ".join(fold(value).strip().removeprefix("[[").removesuffix("]]").split())
    return text.rpartition("|")[0] or text


def _read_number(text: str) -> float | None:
    found = _NUMBER.match(text.strip().lstrip("€$£").strip())
    if found is None:
        return None
    digits = re.sub(r"['\u00a0\u202f]", "", found[0]).rstrip(".,")
    if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"[-+]?\d{1,3}(?:\.\d{3})*,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}", digits):
        digits = digits.replace(".", "")
    try:
        return float(digits.replace(",", "."))
    except ValueError:
        return None


def _is_in_order(value: _Ordered, limit: _Ordered, comparison: Comparison) -> bool:
    match comparison:
        case "<":
            return value < limit
        case "<=":
            return value <= limit
        case ">":
            return value > limit
        case ">=":
            return value >= limit
    return value == limit
