"""Check sums, differences and equations that an answer computes itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import inf
from typing import Final

from chains.claims.facts import AnswerSentence, Figure
from vault.notes.units import can_convert

__all__ = ["ComputedFigure", "check_computed", "list_equations"]

_SUM: Final = re.compile(
    r"\b(?:together|in total|totals?|total(?:ing|ling|s) |altogether|in all|sum|combined|overall"
    r"|adds? up|add(?:s|ed)? to|makes|zusammen|insgesamt|summe|gesamt\w*|ensemble|au total|en tout"
    r"|somme|en total|juntos|suman?)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:more|less|cheaper|dearer|higher|lower|left|remain\w*|saves?|savings?|teurer|billiger"
    r"|günstiger|mehr|weniger|höher|niedriger|übrig|de plus|de moins|reste|más|menos|quedan?)\b",
    re.IGNORECASE,
)
# A figure for another time, person or piece than the others.
_RATE: Final = re.compile(
    r"\b(?:per|each|a (?:day|week|month|year|person)|monthly|yearly|weekly|daily|pro|je|jährlich"
    r"|monatlich|im (?:monat|jahr)|par|chaque|al (?:mes|año)|cada|discount|vat|tax|rabatt|mwst"
    r"|without|except|ohne|sans|sin)\b|%",
    re.IGNORECASE,
)
_DIFFERENCE: Final = re.compile(
    r"\b(?:difference|differenz|unterschied|différence|diferencia)\b", re.IGNORECASE
)
_OPERATORS: Final = {
    "+": "+",
    "plus": "+",
    "und": "",
    "-": "-",
    "−": "-",
    "–": "-",
    "minus": "-",
    "×": "*",
    "*": "*",
    "x": "*",
    "times": "*",
    "\\times": "*",
    "\\cdot": "*",
    "\\div": "/",
    "mal": "*",
    "/": "/",
    "÷": "/",
    "=": "=",
    "equals": "=",
}
# A sign between two numbers, behind the unit of the first one.
_GAP: Final = re.compile(
    r"(?:\s?[%€$£¥°]|\s?[^\W\d_]{1,10})?[\s*_]*([^\s\w€$£¥%°]|\\?[a-z]+)[\s*_€$£¥]*$", re.IGNORECASE
)
# An operator before a number, whose other operand is not known.
_OPEN: Final = re.compile(r"[+−×*/÷=-][\s*_€$£¥]*$|\b(?:plus|minus|times|mal)\s+$", re.IGNORECASE)
_DECIMALS: Final = re.compile(r"[.,](\d{1,2})(?!\d)")
_MOST_OPERANDS: Final = 10
_EXACT: Final = 1e-9


@dataclass(frozen=True)
class ComputedFigure:
    """The outcome of a check of a computed figure.

    Attributes:
        reason: says how it is computed, such as "1,900 € + 2,480 €", or what it should be.
    """

    figure: Figure
    is_right: bool
    reason: str


def list_equations(sentence: AnswerSentence, figures: Sequence[Figure]) -> Iterator[ComputedFigure]:
    """Yield the result of each equation in a sentence, such as "1,900 + 2,480 = 4,380"."""
    signs = [_read_gap(sentence, one, other) for one, other in pairwise(figures)]
    for at, sign in enumerate(signs):
        if sign != "=":
            continue
        first = at
        while first and signs[first - 1] in ("+", "-", "*", "/"):
            first -= 1
        operators = signs[first:at]
        is_plain = set(operators) <= {"+", "-"} or len(operators) == 1
        start = figures[first].start - sentence.start
        is_whole = not _OPEN.search(sentence.masked[:start])
        is_signed = any(figure.is_negative for figure in figures[first : at + 2])
        if operators and is_plain and is_whole and not is_signed:
            yield _check_equation(figures[first : at + 1], operators, figures[at + 1])


def _read_gap(sentence: AnswerSentence, one: Figure, other: Figure) -> str:
    start, end = one.number.end - sentence.start, other.start - sentence.start
    found = _GAP.match(sentence.masked[start:end])
    return _OPERATORS.get(found[1].lower(), "") if found else ""


def _check_equation(
    operands: Sequence[Figure], operators: Sequence[str], result: Figure
) -> ComputedFigure:
    is_right = _makes(operands, operators, result)
    written = operands[0].written + "".join(
        f" {'×' if sign == '*' else sign} {operand.written}"
        for sign, operand in zip(operators, operands[1:], strict=True)
    )
    largest = [max(operand.values) for operand in operands]
    reason = written if is_right else f"{written} is {_show(_compute(largest, operators))}"
    return ComputedFigure(result, is_right, reason)


def _makes(operands: Sequence[Figure], operators: Sequence[str], result: Figure) -> bool:
    """Return whether an operation makes a figure, or rounded makes it.

    All numbers are read alike: "1.900" is a decimal if "4.380" is one.
    """
    for choose in (max, min):
        value = _compute([choose(operand.values) for operand in operands], operators)
        spare = max(map(_count_decimals, operands)) > _count_decimals(result) or "/" in operators
        close = 0.5 * 10 ** -_count_decimals(result) if spare else 0
        if abs(value - choose(result.values)) <= close + _EXACT * abs(value):
            return True
    return False


def _compute(values: Sequence[float], operators: Sequence[str]) -> float:
    result = values[0]
    for sign, value in zip(operators, values[1:], strict=True):
        if sign == "/":
            result = result / value if value else inf
        else:
            result = {"+": result + value, "-": result - value, "*": result * value}[sign]
    return result


def _count_decimals(figure: Figure) -> int:
    found = _DECIMALS.search(figure.written)
    return len(found[1]) if found else 0


def check_computed(
    figure: Figure,
    sentence: AnswerSentence,
    beside: Sequence[Figure],
    before: Sequence[Figure],
    column: Iterable[Figure],
) -> ComputedFigure | None:
    """Check a figure that stands in nothing that was sent as a sum or a difference.

    Args:
        beside: the other figures of the sentence.
        before: the figures of the sentences before it.
        column: the figures of the list right before it, one an item.

    Returns:
        How it is computed, what it should be, or None if it cannot be told.
    """
    if not figure.values:
        return None
    beside = [other for other in beside if _can_be_part(other, figure)]
    earlier = [other for other in before if _can_be_part(other, figure)]
    is_said = any(each.search(sentence.text) for each in (_SUM, _DIFFERENCE, _COMPARED))
    is_alone = not figure.unit or sentence.is_row  # whose numbers add up by chance
    operands = [*beside, *earlier] if is_said else [] if is_alone else beside
    if (found := _find_operands(figure, operands[:_MOST_OPERANDS])) is not None:
        return ComputedFigure(figure, True, found)
    items = [other for other in column if _can_be_part(other, figure)]
    if _SUM.search(sentence.text):
        operands = beside if len(beside) > 1 else items
        is_largest = all(max(figure.values) >= max(other.values) for other in operands)
        if len(operands) > 1 and is_largest and _is_total(figure, sentence, len(beside)):
            return _tell_sum(figure, operands)
    elif _DIFFERENCE.search(sentence.text) and len(beside) == 2:
        values = [max(other.values) for other in beside]
        if max(figure.values) > max(values):  # it is of other things
            return None
        reason = f"{beside[0].written} and {beside[1].written} differ by"
        return ComputedFigure(figure, False, f"{reason} {_show(abs(values[0] - values[1]))}")
    return None


def _is_total(figure: Figure, sentence: AnswerSentence, beside: int) -> bool:
    """Return whether a figure can only be the total that its sentence tells.

    It is the last one of several, or the only one. In a sentence with a rate, such as "a month",
    and with an equation, other figures may be computed too.
    """
    masked_text = sentence.masked
    is_last = not re.search(r"\d", masked_text[figure.number.end - sentence.start :])
    is_plain = "=" not in masked_text and not _RATE.search(masked_text)
    return is_plain and is_last and beside != 1


def _tell_sum(figure: Figure, operands: Sequence[Figure]) -> ComputedFigure:
    total = sum(max(operand.values) for operand in operands)
    written = " + ".join(operand.written for operand in operands)
    return ComputedFigure(figure, False, f"{written} is {_show(total)}")


def _can_be_part(other: Figure, figure: Figure) -> bool:
    """Return whether a figure may be computed from another one, which is of the same unit."""
    is_other = bool(other.values - {0.0}) and other.values != figure.values
    return is_other and (figure.unit == other.unit or can_convert(figure.unit, other.unit))


def _find_operands(figure: Figure, operands: Sequence[Figure]) -> str | None:
    """Return the sum or difference of figures that makes a figure, or None."""
    values = [(max(each.values), min(each.values)) for each in operands]
    for size in range(2, len(operands) + 1):
        for chosen in combinations(range(len(operands)), size):
            if not any(_is_near(values, chosen, which, figure) for which in (0, 1)):
                continue
            parts = [operands[at] for at in chosen]
            if _makes(parts, "+" * (size - 1), figure):
                return " + ".join(operand.written for operand in parts)
    for one, other in combinations(operands, 2):
        larger, smaller = sorted((one, other), key=lambda each: -max(each.values))
        if _makes((larger, smaller), "-", figure):
            return f"{larger.written} - {smaller.written}"
    return None


def _is_near(
    values: Sequence[tuple[float, float]], chosen: Iterable[int], which: int, figure: Figure
) -> bool:
    """Return whether a sum may make a figure, before its decimals are read."""
    wanted = min(figure.values) if which else max(figure.values)
    return abs(sum(values[at][which] for at in chosen) - wanted) <= 1 + _EXACT * abs(wanted)


def _show(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")
