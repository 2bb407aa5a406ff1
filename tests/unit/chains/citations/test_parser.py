import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.parser import mask_non_prose, parse_answer


def numbers_in(answer):
    return [group.numbers for group in parse_answer(answer).numbers]


def claims_in(answer):
    return [(claim.quote, claim.numbers) for claim in parse_answer(answer).claims]


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("So it is [1].", [(1,)]),
        ("So it is [1, 2].", [(1, 2)]),
        ("So it is [1][2].", [(1, 2)]),
        ("So it is [1]–[3].", [(1, 2, 3)]),
        ("So it is [2-4].", [(2, 3, 4)]),
        ("So it is [1], [3] and [2].", [(1, 3, 2)]),
        ("This [1] and later that [2].", [(1,), (2,)]),
        ("Capital[1], 2024[2], 答案[3]。", [(1,), (2,), (3,)]),
        ("[1]–[999] is too far to be meant.", [(1, 999)]),
    ],
)
def test_numbers_are_found_in_every_form(answer, numbers):
    assert numbers_in(answer) == numbers


@pytest.mark.parametrize(
    "answer",
    [
        "`x[1]`",
        "```\nlist [1]\n```",
        "~~~py\n[1]\n~~~",
        "``a ` [1]``",
        "[1](https://example.org)",
        "[^1]",
        "[^1]: a note",
        "a[1] and row_x[2] and self.items[3]",
        "rows[1].name, rows[2] = 5",
        "[1]: https://example.org",
        r"\[1\]",
        "[x] [ ] [1a] [1234] []",
    ],
)
def test_what_only_looks_like_a_number_is_none(answer):
    assert numbers_in(answer) == []


@pytest.mark.parametrize(
    "quoted",
    [
        '"so it goes"',
        "“so it goes”",
        "„so it goes“",
        "«so it goes»",
        "« so it goes »",
        "「so it goes」",
    ],
)
def test_quotations_are_found_in_every_style(quoted):
    assert claims_in(f"They say {quoted} [2].") == [("so it goes", ((2,),))]


def test_a_quotation_belongs_to_the_number_behind_it():
    assert claims_in('First "a b c" [1], then "d e f" [2].') == [
        ("a b c", ((1,),)),
        ("d e f", ((2,), (1,))),
    ]


def test_a_number_behind_the_full_stop_still_belongs_to_the_sentence():
    assert claims_in('He wrote "a b c". [1] Then more.') == [("a b c", ((1,),))]
    assert claims_in('He wrote "a b c." ([1])') == [("a b c.", ((1,),))]


def test_a_number_before_the_quotation_counts_when_none_follows():
    assert claims_in('According to [1], "a b c." And [2] differs.') == [("a b c.", ((1,),))]


def test_a_number_in_another_sentence_is_not_meant():
    assert claims_in('He wrote "a b c". Later [1] differs.') == [("a b c", ())]


def test_a_number_in_another_list_item_is_not_meant():
    assert claims_in('- "a b c"\n- other [1]') == [("a b c", ())]


def test_a_number_inside_the_quotation_marks_is_meant():
    assert claims_in('"The sky is blue [1]."')[0][1] == ((1,),)


def test_a_block_quotation_is_a_quotation():
    assert claims_in("> a b c\n> d e f [1]\n\nMore.") == [("a b c\nd e f", ((1,),))]


def test_a_block_quotation_goes_with_a_number_beside_it():
    assert claims_in("In [2]:\n\n> a b c\n\n[3] says more.") == [("a b c", ((3,), (2,)))]


def test_the_attribution_of_a_block_quotation_is_not_quoted():
    assert claims_in("> a b c\n> — The Note, [1]") == [("a b c", ((1,),))]


def test_two_numbers_in_a_block_make_two_quotations():
    assert claims_in("> a b c [1]\n> d e f [2]") == [("a b c", ((1,),)), ("d e f", ((2,),))]


def test_a_callout_is_no_quotation():
    assert claims_in("> [!note] Title\n> Some words of the model's own [1]") == []


def test_inches_and_unclosed_marks_quote_nothing():
    assert claims_in('A 5" pipe and a 6" pipe, and "this never ends [1].') == []


def test_code_quotes_nothing():
    assert claims_in('```\nx = "a b c"\n```\nand `"d e f"` [1]') == []


HOSTILE = ['"', "“", "„", "[1]", "[", "[1", '["', "> ", ">\n", "`", "``` ", "](", '"a b c ', "“a” "]
HOSTILE += [". ", "[1].", "[1, ", "\n\n", "\n>a\n\n", "«", "»", "`a``b```", '[1]"a"', "\n— ", "|"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_answer_takes_no_longer_than_its_length(unit):
    begun = time.thread_time()
    parse_answer((unit * 200_000)[:200_000])
    assert time.thread_time() - begun < 10


PIECES = st.sampled_from(
    ["`", "```\n", '"', "“", "”", "[1]", "[2](u)", "> ", "\n", "\n\n", "word ", ". ", "—", "漢字"]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_masking_keeps_every_place(answer):
    assert len(mask_non_prose(answer)) == len(answer)
    assert mask_non_prose(answer).count("\n") == answer.count("\n")


@given(st.lists(PIECES, max_size=40).map("".join))
def test_what_is_read_stands_in_the_answer(answer):
    reading = parse_answer(answer)
    for group in reading.numbers:
        assert answer[group.start] == "["
        assert answer[group.end - 1] == "]"
    assert all(0 <= claim.start <= len(answer) for claim in reading.claims)


def test_code_in_a_block_quotation_does_not_part_it() -> None:
    code = "\n".join(f"> line {number} of the code" for number in range(9))
    answer = f"> Another note. [1]\n\n*Place*\n\n> On success:\n>\n> ```\n{code}\n> ```\n> [2]\n"
    claims = parse_answer(answer).claims
    assert [claim.numbers for claim in claims] == [((1,),), ((2,),)]


def test_a_line_that_looks_like_a_fence_hides_no_citation() -> None:
    assert [group.numbers for group in parse_answer("```npm i```\n\nIt runs. [3]").numbers] == [
        (3,)
    ]
    assert parse_answer("````\n```\nx [1]\n```\n[2]\n````\nSo. [3]").numbers[0].numbers == (3,)
