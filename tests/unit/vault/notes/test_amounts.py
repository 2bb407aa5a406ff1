"""Amounts are read from values, and added only where their units are the same."""

import pytest

from vault.notes.amounts import add_amounts, average_amounts, parse_amount


@pytest.mark.parametrize(
    ("values", "total", "mean"),
    [
        (["12.50 €", "8 €", "9.50 €", "15 €"], "45.00 €", "11.25 €"),
        (["€8", "9,50 €"], "17.50 €", "8.75 €"),
        (["1,400 EUR", "650 eur"], "2,050 EUR", "1,025 EUR"),
        (["1.400,50", "2"], "1,402.50", "701.25"),
        (["4", "4", "5"], "13", "4.33"),
        (["-3 °C", "5 °C"], "2 °C", "1 °C"),
        (["9.8 kg", "17 lb"], None, None),
        (["8 €", "9"], None, None),
        ([], None, None),
    ],
)
def test_amounts_are_added(values: list[str], total: str | None, mean: str | None) -> None:
    amounts = [amount for value in values if (amount := parse_amount(value)) is not None]
    assert len(amounts) == len(values)
    added, averaged = add_amounts(amounts), average_amounts(amounts)
    assert (str(added) if added else None, str(averaged) if averaged else None) == (total, mean)


@pytest.mark.parametrize(
    "text", ["borrowed", "2026-10-11", "4 of 10", "3 km in 2 h", "", "€", "v2"]
)
def test_other_values_are_no_amounts(text: str) -> None:
    assert parse_amount(text) is None
