"""Convert amounts to the units of others, such as 500 g to 0.5 kg."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, lru_cache
from typing import Final

from vault.notes.keywords import fold

__all__ = [
    "can_convert",
    "convert_amount",
    "cut_measures",
    "find_measures",
    "is_known_unit",
    "is_measured",
    "match_measures",
]

# The names of units by what they measure, each with its size in the first unit of the row. A name
# such as "m" or "pounds" may mean two units: the other unit tells which.
_UNITS: Final[Mapping[str, Mapping[str, str]]] = {
    "mass": {
        "g gr gram grams gramm gramme grammes gramo gramos": "1",
        "mg milligram milligrams milligramm": "0.001",
        "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo": "1000",
        "t ton tons tonne tonnes tonnen tonelada toneladas": "1000000",
        "lb lbs pound pounds": "453.59237",
        "oz ounce ounces": "28.349523125",
    },
    "length": {
        "m meter meters metre metres metern mètre mètres metro metros": "1",
        "mm": "0.001",
        "cm centimeter centimeters centimetre centimetres zentimeter centímetro": "0.01",
        "dm": "0.1",
        "km kilometer kilometers kilometre kilometres kilometern kilometro kilometros": "1000",
        "in inch inches zoll": "0.0254",
        "ft foot feet": "0.3048",
        "yd yard yards": "0.9144",
        "mi mile miles meile meilen": "1609.344",
    },
    "volume": {
        "l liter liters litre litres litern litro litros": "1",
        "ml milliliter milliliters millilitre": "0.001",
        "cl": "0.01",
        "dl": "0.1",
        "hl": "100",
    },
    "area": {"m² qm sqm": "1", "ha hectare hectares hektar hectárea hectáreas": "10000"},
    "duration": {
        "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos": "1",
        "ms": "0.001",
        "min mins m minute minutes minuten minuto minutos": "60",
        "h hr hrs hour hours std stunde stunden heure heures hora horas": "3600",
        "d day days tag tage tagen jour jours día días": "86400",
        "week weeks woche wochen semaine semaines semana semanas": "604800",
    },
    "calendar": {
        "month months monat monate monaten mois mes meses": "1",
        "year years jahr jahre jahren an ans année années año años": "12",
    },
    "data": {
        "b byte bytes": "1",
        "kb": "1e3",
        "mb": "1e6",
        "gb": "1e9",
        "tb": "1e12",
        "kib": "1024",
        "mib": "1048576",
        "gib": "1073741824",
        "tib": "1099511627776",
    },
    "power": {"w watt watts": "1", "kw": "1000", "mw": "1000000"},
    "share": {"% percent pct prozent": "1"},
    "pages": {"p pp page pages seite seiten página páginas": "1"},
    "words": {"word words wort wörter wörtern mots palabras": "1"},
    "energy": {"cal": "0.004184", "kcal": "4.184", "kj": "1", "wh": "3.6", "kwh": "3600"},
    "euros": {"€ eur euro euros": "1"},
    "dollars": {"$ usd dollar dollars": "1"},
    "pounds": {"£ gbp pound pounds": "1"},
    "stars": {"star stars stern sterne sternen étoile étoiles estrella estrellas": "1"},
}
# Units that are only told apart from words, short ones that are words too, and those of money.
_OTHER_UNITS: Final = (
    "nm v kv mv hz khz mhz ghz bar mbar psi pa hpa kpa ah mah rpm dpi px db lm lx va kva"
)
_OTHER_MEASURES: Final = frozenset(_OTHER_UNITS.split())
_WORDS: Final = frozenset({"in", "an", "mi", "p", "t", "b", "d", "s", "tag"})
_MONEY: Final = frozenset({"eur", "usd", "gbp"})
_MOST_IN_SHORT: Final = 3
_MEASURE: Final = re.compile(
    r"(?<![^\s(\[|~≈<>=+/–-])(?P<number>\d+(?:[.,]\d+)*)"
    r"[ \u00a0\u202f]?(?P<unit>[^\W\d_]{1,4})(?!\w)"
)
_MOST_CACHED: Final = 1_024
# Endings that two forms of another unit may differ in, as in "1 box" and "2 boxes".
_ENDINGS: Final = ("s", "es", "n", "en", "e")


def convert_amount(number: Decimal, unit: str, other: str) -> Decimal | None:
    """Convert a number of one unit to another, or return None if they measure different things.

    The number stays the same if one of the units is not known.

    Args:
        unit: its unit, as written.
        other: the unit to convert it to.
    """
    sizes, other_sizes = _find_sizes(unit), _find_sizes(other)
    if not (sizes and other_sizes):
        return number
    kind = next((kind for kind in sizes if kind in other_sizes), None)
    return None if kind is None else number * sizes[kind] / other_sizes[kind]


def is_known_unit(unit: str) -> bool:
    """Return whether a unit is one of those that can be converted."""
    return bool(_find_sizes(unit))


def can_convert(unit: str, other: str) -> bool:
    """Return whether two units are known to measure the same, or differ only in their ending."""
    sizes, other_sizes = _find_sizes(unit), _find_sizes(other)
    if sizes and other_sizes:
        return not sizes.keys().isdisjoint(other_sizes)
    short, long = sorted((_fold_unit(unit), _fold_unit(other)), key=len)
    return short == long or long in map(short.__add__, _ENDINGS)


def find_measures(text: str) -> tuple[tuple[str, str], ...]:
    """Return the numbers with a short unit in a text, as ("13", "mm") for "13mm" or "13 mm"."""
    found = (match for match in _MEASURE.finditer(text) if _is_measure(match))
    return tuple(dict.fromkeys((match["number"], fold(match["unit"])) for match in found))


def cut_measures(text: str) -> str:
    """Return a text without the numbers and units that `find_measures` finds in it."""
    return _MEASURE.sub(lambda match: " " if _is_measure(match) else match[0], text)


def match_measures(text: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns that find the measures of a text in another, folded, however spaced."""
    return tuple(
        re.compile(rf"(?<!\w){re.escape(number)}\s?{re.escape(unit)}(?!\w)")
        for number, unit in find_measures(text)
    )


def is_measured(unit: str) -> bool:
    """Return whether a word behind a number can only be its unit, as "kcal", but not "in"."""
    folded = fold(unit)
    is_known = folded in _OTHER_MEASURES or is_known_unit(folded)
    return is_known and folded not in _WORDS


def _is_measure(match: re.Match[str]) -> bool:
    unit = fold(match["unit"])
    is_short = len(unit) <= _MOST_IN_SHORT and unit not in _MONEY
    return (is_short or unit in _OTHER_MEASURES) and is_measured(unit)


def _fold_unit(unit: str) -> str:
    return fold(unit).rstrip(".")


@lru_cache(_MOST_CACHED)
def _find_sizes(unit: str) -> Mapping[str, Decimal]:
    """Return the size of a unit by what it measures, or nothing if it is not known."""
    return _read_units().get(_fold_unit(unit), {})


@cache
def _read_units() -> Mapping[str, Mapping[str, Decimal]]:
    """Return the sizes of each unit by what it measures, by its folded name."""
    units: dict[str, dict[str, Decimal]] = {}
    for kind, sizes in _UNITS.items():
        for names, size in sizes.items():
            for name in names.split():
                units.setdefault(fold(name), {})[kind] = Decimal(size)
    for name in ("pour cent", "por ciento"):
        units[name] = units["%"]
    return units
