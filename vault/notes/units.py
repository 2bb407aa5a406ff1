"""Convert amounts to the units of others, such as 500 g to 0.5 kg."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Final

from vault.notes.keywords import fold

__all__ = ["convert_amount"]

# The names of units by what they measure, each with its size in the first unit of the row.
_UNITS: Final[Mapping[str, Mapping[str, str]]] = {
    "mass": {
        "g gr gram grams gramm gramme grammes gramo gramos": "1",
        "mg milligram milligrams milligramm": "0.001",
        "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo": "1000",
        "t ton tons tonne tonnes tonnen tonelada toneladas": "1000000",
        "lb lbs": "453.59237",
        "oz": "28.349523125",
    },
    "length": {
        "m meter meters metre metres metern mètre mètres metro metros": "1",
        "mm": "0.001",
        "cm centimeter centimeters centimetre centimetres zentimeter centímetro": "0.01",
        "dm": "0.1",
        "km kilometer kilometers kilometre kilometres kilometern kilometro kilometros": "1000",
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
        "min mins minute minutes minuten minuto minutos": "60",
        "h hr hrs hour hours std stunde stunden heure heures hora horas": "3600",
        "d day days tag tage tagen jour jours día días": "86400",
        "week weeks woche wochen semaine semaines semana semanas": "604800",
    },
    "calendar": {
        "month months monat monate monaten mois mes meses": "1",
        "year years jahr jahre jahren an ans année années año años": "12",
    },
    "data": {"b byte bytes": "1", "kb": "1e3", "mb": "1e6", "gb": "1e9", "tb": "1e12"},
    "energy": {"kcal": "4.184", "kj": "1", "wh": "3.6", "kwh": "3600"},
    "euros": {"€ eur euro euros": "1"},
    "dollars": {"$ usd dollar dollars": "1"},
    "pounds": {"£ gbp": "1"},
    "stars": {"star stars stern sterne sternen étoile étoiles estrella estrellas": "1"},
}
# Endings that two forms of another unit may differ in, as in "1 box" and "2 boxes".
_ENDINGS: Final = ("s", "es", "n", "en", "e")


def convert_amount(number: Decimal, unit: str, other: str) -> Decimal | None:
    """Convert a number of one unit to another, or return None if they measure different things.

    Args:
        number: the number.
        unit: its unit, as written.
        other: the unit to convert it to.
    """
    unit, other = (fold(each).rstrip(".") for each in (unit, other))
    known = _read_units()
    if unit in known and other in known:
        (kind, size), (other_kind, other_size) = known[unit], known[other]
        return number * size / other_size if kind == other_kind else None
    short, long = sorted((unit, other), key=len)
    return number if short == long or long in map(short.__add__, _ENDINGS) else None


@cache
def _read_units() -> Mapping[str, tuple[str, Decimal]]:
    """Return what each unit measures, and its size, by its folded name."""
    return {
        fold(name): (kind, Decimal(size))
        for kind, sizes in _UNITS.items()
        for names, size in sizes.items()
        for name in names.split()
    }
