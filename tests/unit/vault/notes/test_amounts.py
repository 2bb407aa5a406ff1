"""Amounts are read from values, and added only where their units are the same."""

import pytest

from vault.notes.amounts import (
    DecimalMark,
    add_amounts,
    average_amounts,
    contains_money,
    find_decimal_mark,
    find_money,
    has_two_readings,
    parse_amount,
    read_numbers,
)


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
        (["0,500 kg", "1,5 kg"], "2 kg", "1 kg"),
        (["0.250 kg", "-0,250 kg"], "0 kg", "0 kg"),
        (["EUR 100", "50 eur", "-EUR 20"], "130 EUR", "43.33 EUR"),
        (["1 200,50 €", "2\u202f000 €"], "3,200.50 €", "1,600.25 €"),
        (["1'200.50 CHF", "CHF 1"], "1,201.50 CHF", "600.75 CHF"),
        (["9007199254740993", "1"], "9,007,199,254,740,994", "4,503,599,627,370,497"),
        (["0.1"] * 3, "0.3", "0.1"),
        (["1,234,567", "1"], "1,234,568", "617,284"),
        ([], None, None),
    ],
)
def test_amounts_are_added(values: list[str], total: str | None, mean: str | None) -> None:
    amounts = [amount for value in values if (amount := parse_amount(value)) is not None]
    assert len(amounts) == len(values)
    added, averaged = add_amounts(amounts), average_amounts(amounts)
    assert (str(added) if added else None, str(averaged) if averaged else None) == (total, mean)


@pytest.mark.parametrize(
    "text",
    [
        *("borrowed", "2026-10-11", "4 of 10", "3 km in 2 h", "", "€", "v2", "EURO5", "12,50 €/l"),
        *("24.12.", "24.12.2026", "24.12. Eve", "1.2.3", "1,00,000", "1.90.000,5", "-€-5"),
    ],
)
def test_other_values_are_no_amounts(text: str) -> None:
    assert parse_amount(text) is None


@pytest.mark.parametrize(
    ("values", "total"),
    [
        (["1.900,50 €", "2.000 €"], "3,900.50 €"),
        (["2.000 €", "12,5 €"], "2,012.5 €"),
        (["2.000", "1.234.567"], "1,236,567"),
        (["1,900.50 €", "2,000 €"], "3,900.50 €"),
        (["1.500 kg", "9.8 kg"], "11.3 kg"),
        (["1,500 kg", "0,5 kg"], "2 kg"),
        (["1,500 kg", "1 200,5 kg"], "1,202 kg"),
        (["1.900", "12"], None),
        (["1,900 EUR", "650 EUR"], None),
        (["1.900", "12,5", "12.5"], None),
    ],
)
def test_the_values_of_a_property_tell_how_its_numbers_are_read(
    values: list[str], total: str | None
) -> None:
    mark = find_decimal_mark(values)
    amounts = [amount for value in values if (amount := parse_amount(value, mark)) is not None]
    assert any(has_two_readings(value, mark) for value in values) == (total is None)
    assert total is None or str(add_amounts(amounts)) == total


def test_a_number_that_is_not_decided_has_both_readings() -> None:
    assert list(map(str, read_numbers("1,900"))) == ["1900", "1.900"]
    assert list(map(str, read_numbers("1.900 EUR"))) == ["1900", "1.900"]
    assert list(map(str, read_numbers("1.900 euros a month"))) == ["1900", "1.900"]


@pytest.mark.parametrize(
    ("text", "mark", "number"),
    [
        *[("3.875", "", "3.875"), ("-52.520 kg", "", "-52.520"), ("1,900 EUR", "", "1900")],
        *[("0,500", "", "0.500"), ("3.875", ",", "3875"), ("3,875", ".", "3875")],
    ],
)
def test_a_single_point_stands_before_decimals(text: str, mark: DecimalMark, number: str) -> None:
    assert list(map(str, read_numbers(text, mark))) == [number]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("80.5, in the morning", "80.5"), ("72.5. Felt ok", "72.5"), ("4.5, 4.2", "4.5")],
        *[("3,5.", "3.5"), ("45.6.", "45.6"), ("12.50.", "12.50"), ("-4.5.", "-4.5")],
        *[("5.5,", "5.5"), ("80, early", "80"), ("0.5.", "0.5")],
    ],
)
def test_a_mark_behind_a_number_is_punctuation(text: str, number: str) -> None:
    assert list(map(str, read_numbers(text))) == [number]


@pytest.mark.parametrize("text", ["24.12.", "1.1.", "05.11.", "31.12."])
def test_a_day_of_a_year_is_no_number(text: str) -> None:
    assert read_numbers(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("goggles, 20€ at the sale in 2026", ["20 €"]),
        ("€20 or 20 EUR", ["20 €", "20 EUR"]),
        ("612 CHF for four, 1'640 CHF rent", ["612 CHF", "1,640 CHF"]),
        ("costs $1,200.50.", ["1,200.50 $"]),
        ("für 9,50 Euro", ["9.50 Euro"]),
        ("20 eggs in 2026, 18 CHFx, x20€ and 3%", []),
    ],
)
def test_money_is_found_within_a_text(text: str, found: list[str]) -> None:
    assert list(map(str, find_money(text))) == found


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("new goggles, 20€", True),
        ("new goggles, €20.00", True),
        ("20 euros for goggles", True),
        ("20 CHF for goggles", False),
        ("20 goggles", False),
        ("120€ for goggles", False),
    ],
)
def test_the_same_money_may_be_written_otherwise(text: str, is_there: bool) -> None:
    assert contains_money(text, find_money("What did I pay 20 EUR for in 2026?")) is is_there


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a loan of 12 020 €", ["12,020 €"]),
        ("rent of 1\u202f000\u00a0€", ["1,000 €"]),
        ("€ 1 000 000", ["1,000,000 €"]),
        ("12'020,50 CHF", ["12,020.50 CHF"]),
        ("2026 120 € and 2026-11-24 130 €", ["120 €", "130 €"]),
        ("x1 000 €", []),
    ],
)
def test_blanks_between_thousands_belong_to_the_number(text: str, found: list[str]) -> None:
    assert list(map(str, find_money(text))) == found


@pytest.mark.parametrize(
    "text",
    [
        "€20 million",
        "$20 bn",
        "€20k",
        "€1,000 million",
        "€20 Mio",
        "€ 20 Mrd.",
        "20 tausend €",
        "€20 mille",
        "10-20 €",
        "10–20 €",
        "€10-20",
        "€10-€20",
        "10 to 20 €",
        "10 bis 20 €",
    ],
)
def test_a_range_or_a_magnitude_is_no_amount_of_its_figures(text: str) -> None:
    assert find_money(text) == ()


@pytest.mark.parametrize("text", ["-20 €", "−20 €", "–20 €", "-€20", "(-20 EUR)", "lost: €-20"])
def test_money_below_zero_is_not_its_bare_amount(text: str) -> None:
    assert not contains_money(text, find_money("20 €"))
    assert contains_money(text, find_money("-20 €"))


@pytest.mark.parametrize("text", ["- 20 €", "Tent 2 - 20 €", "Ticket-20€", "24.12. - 20 €"])
def test_a_dash_before_money_is_no_minus(text: str) -> None:
    assert contains_money(text, find_money("20 €"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1 h 30 min", "90 min"),
        ("2 Std. 15 Min.", "135 Min"),
        ("2 hours and 5 minutes", "125 minutes"),
        ("1h30", "1.5 h"),
        ("3 kg 200 g", "3,200 g"),
        ("★★★☆☆", "3 stars"),
        ("30 min 1 h", "None"),
        ("1 h 30 kg", "None"),
        ("24h 2026", "None"),
    ],
)
def test_an_amount_with_two_units_is_one_amount(text: str, written: str) -> None:
    assert str(parse_amount(text)) == written
