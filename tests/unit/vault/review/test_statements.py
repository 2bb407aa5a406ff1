"""Numbers that are quantities are told from those that name something."""

import time

import pytest

from vault.review.statements import find_numbers, find_statements


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The barrel holds 210 litres", [[210.0]]),
        ("Shoes cost €1,200.50 in all", [[1200.5]]),
        ("Coffee weighs 1.500 kg", [[1500.0, 1.5]]),
        ("Backups start at 02:30", [[150.0]]),
        ("Three copies are kept for 4 weeks", [[3.0], [4.0]]),
        ("In 2024 it drew 2000 W", [[2000.0]]),
        ("バケツは210リットル 入ります", [[210.0]]),
    ],
)
def test_quantities_are_read(text: str, values: list[list[float]]) -> None:
    (statement,) = find_statements(text)
    found = [sorted(quantity.values, reverse=True) for quantity in statement.quantities]
    assert found == [sorted(some, reverse=True) for some in values]


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to count here",
        "Since 2024 on 2024-05-03 and on 3 May",
        "See EIP-20, version 1.2.3 and step 4",
        "The 3rd of H2O with 0xff01",
        "A range of 10-20 and 1/2",
        "As a transaction of TransactionType 2",
    ],
)
def test_numbers_that_name_something_are_words(text: str) -> None:
    assert list(find_statements(text)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("_two_ litres", 2.0),
        ("__five__ kg", 5.0),
        ("twenty_two", 22.0),
        ("ｔｗｏ litres", 2.0),
        ("ﬁve litres", 5.0),
        ("５００ kg", 500.0),
        ("٣٥ kg", 35.0),
    ],
)
def test_a_number_alone_in_its_text_is_found_as_among_others(text: str, value: float) -> None:
    for each in (text, f"{text}, 7 kg"):
        assert next(find_numbers(each)).quantity.values == {value}


def test_each_sentence_is_a_statement() -> None:
    found = find_statements("Barrels hold 3 litres. Lids weigh 4 kg; 5 are left.")
    assert [one.text for one in found] == [
        "Barrels hold 3 litres.",
        "Lids weigh 4 kg;",
        "5 are left.",
    ]


@pytest.mark.parametrize("text", ["This adds 2 steps.", "It takes 3 days.", "Here we add 4 keys."])
def test_a_sentence_about_its_own_note_is_no_statement(text: str) -> None:
    assert list(find_statements(text)) == []


def test_a_long_run_of_blanks_is_read_in_a_bounded_time() -> None:
    started = time.process_time()
    (said,) = find_statements(f"The pump {' ' * 40_000} uses 13 litres — at most.")
    assert time.process_time() - started < 1
    assert [each.written for each in said.quantities] == ["13 litres"]


def test_many_numbers_that_are_multiplied_are_read_in_a_bounded_time() -> None:
    started = time.process_time()
    found = list(find_numbers("5k " * 20_000))
    assert time.process_time() - started < 4
    assert {value for each in found for value in each.quantity.values} == {5_000.0}
