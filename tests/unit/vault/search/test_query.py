from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.search.filter_kinds import FILTERS
from vault.search.query import Query, describe_filters, parse_query, write_query

# Values of the filters whose value is not any text or date.
VALUES = {"date": "2024-03", "task": "open", "has": "open-task", "task-priority": ">=high"}


def test_filters_are_taken_out_of_the_words() -> None:
    query = parse_query('soup path:Kitchen file:"winter menu" tag:#food/warm after:2024-03 hot')
    assert query.words == "soup hot"
    keys = ("path", "file", "tag")
    assert [query.filters()[key] for key in keys] == [["Kitchen"], ["winter menu"], ["food/warm"]]
    assert query.after == datetime(2024, 3, 1, tzinfo=UTC)
    assert query.filters() == {
        "path": ["Kitchen"],
        "file": ["winter menu"],
        "tag": ["food/warm"],
        "after": "2024-03-01",
    }


def test_or_between_two_limits_of_a_kind_is_no_word() -> None:
    for either, both in (
        ("date:2024 OR date:2025", "date:2024 date:2025"),
        ("task-priority:low OR task-priority:high", "task-priority:low task-priority:high"),
        ("seeds due:2024-03 OR due:2024-05", "seeds due:2024-03 due:2024-05"),
    ):
        assert parse_query(either) == parse_query(both)
    assert parse_query("date:2024 OR seeds").words == "OR seeds"


@pytest.mark.parametrize(
    ("value", "first", "after"),
    [
        ("2024", date(2024, 1, 1), date(2025, 1, 1)),
        ("2024-03", date(2024, 3, 1), date(2024, 4, 1)),
        ("2024-03-05", date(2024, 3, 5), date(2024, 3, 6)),
        ("2024-03-05..2024-03-07", date(2024, 3, 5), date(2024, 3, 8)),
        ("..2024-03", date.min, date(2024, 4, 1)),
        ("2024-03..", date(2024, 3, 1), date.max),
        ("..", date.min, date.max),
    ],
)
def test_a_date_filter_is_a_range_of_days(value: str, first: date, after: date) -> None:
    query = parse_query(f"soup date:{value}")
    assert (query.words, query.days) == ("soup", ((first, after),))
    (written,) = query.filters()["date"]
    assert parse_query(f"date:{written}").days == query.days


@pytest.mark.parametrize("value", ["2024-13", "2024-03-07..2024-03-05", "..someday", "2024-02-30"])
def test_a_date_filter_with_another_value_is_words_and_named(value: str) -> None:
    query = parse_query(f"soup date:{value}")
    assert (query.words, query.days) == (f"soup date:{value}", ())
    assert "names no date" in query.problems[0]


@pytest.mark.parametrize("end", ["?", ".", "!", ",", "?!", " ?"])
@pytest.mark.parametrize("written", ["tag:recipe", "folder:House", "date:2024-03..", "file:a.b"])
def test_the_end_of_a_sentence_is_no_part_of_a_filter(written: str, end: str) -> None:
    query = parse_query(f"Which notes are in {written}{end}")
    assert (query.clauses, query.days) == (parse_query(written).clauses, parse_query(written).days)
    assert query.has_filter
    assert not query.problems


def test_a_task_filter_names_a_kind_of_task() -> None:
    assert parse_query("roof task:Open") == Query("roof", task="open")
    assert parse_query("task:done").filters() == {"task": "done"}
    unknown = parse_query("roof task:soon")
    assert (unknown.words, unknown.has_filter) == ("roof task:soon", False)
    assert "names no kind of task" in unknown.problems[0]


def test_a_phrase_is_looked_for_by_its_words_too() -> None:
    query = parse_query('who wrote "the base  fee" first?')
    assert query.phrases == ("the base fee",)
    assert query.words == 'who wrote "the base  fee" first?'


@pytest.mark.parametrize(
    "text",
    [
        "what is path: good for",
        "file:///etc/hosts",
        "xpath:a",
        "tag:#",
        'an "unclosed phrase',
        '12" pipes and 3" screws',
        "re:Invent",
        '""',
    ],
)
def test_what_only_looks_like_a_filter_is_words(text: str) -> None:
    assert parse_query(text) == Query(text)


@pytest.mark.parametrize("text", ["after:noon", "before:2024-13"])
def test_a_filter_without_a_date_is_words_and_named(text: str) -> None:
    query = parse_query(f"soup {text}")
    assert (query.words, query.has_filter) == (f"soup {text}", False)
    name = text.partition(":")[0]
    assert query.problems == (
        f"{text} names no date, so it was searched as words. Write {name}:2024, {name}:2024-03 or "
        f"{name}:2024-03-15.",
    )


def test_a_filter_that_does_not_exist_is_named_once() -> None:
    query = parse_query("soup author:smith Author:jones note: re:Invent std:vector at 12:30")
    assert query.words == "soup author:smith Author:jones note: re:Invent std:vector at 12:30"
    assert query.problems == (
        "There is no filter author: so it was searched as words. Filters are path:, folder:, "
        "file:, tag:, link:, linked-from:, has:, after:, before:, date:, due:, task: "
        "and task-priority:.",
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tag: gas", "tag:gas"),
        ("TAG:  gas prices", "tag:gas"),
        ('soup folder: "winter garden"', 'folder:"winter garden"'),
        ("meetings after: 2024-03", "after:2024-03"),
    ],
)
def test_a_filter_with_a_space_before_its_value_is_words_and_named(text: str, meant: str) -> None:
    query = parse_query(text)
    assert (query.words.split(), query.has_filter) == (text.split(), False)
    name = meant.partition(":")[0]
    assert query.problems == (
        f"There is a space after {name}: so it was searched as words. Write {meant} to filter.",
    )


@pytest.mark.parametrize("text", ["before: and after: lunch", "the file: we lost it", "tag: "])
def test_prose_with_a_colon_is_no_filter(text: str) -> None:
    assert parse_query(text) == Query(text)


def test_folders_are_told_as_paths() -> None:
    query = parse_query('soup folder:Kitchen folder:"winter garden"')
    assert query.words == "soup"
    assert query.filters() == {"path": ["Kitchen", "winter garden"]}


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    assert len(parse_query(text).words) <= len(text)


def test_very_many_filters_and_a_very_long_text_take_no_time() -> None:
    query = parse_query('path:a "b" ' * 100_000)
    assert len(query.clauses) + len(query.phrases) <= 16


@pytest.mark.parametrize(
    "text",
    [
        "tag:soup OR tag:stew leek",
        '-tag:draft -folder:"winter garden" leek',
        "[rating:>=4] [author:Jane Austen] -[status:read]",
        "link:Server task:open date:2024-03-01..2024-03-10 roof",
        "",
    ],
)
def test_a_query_is_printed_as_it_is_parsed(text: str) -> None:
    query = parse_query(text)
    assert query.problems == ()
    assert parse_query(write_query(query)) == query


@pytest.mark.parametrize("text", ["[1] [x] see [[Note: a]] and [link](a:b)", "a OR b", "- tag"])
def test_brackets_and_signs_of_prose_are_words(text: str) -> None:
    assert parse_query(text) == Query(text)


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("tag:a OR due:2026-12", "with the tag #a or due 2026-12"),
        ("due:2026-12 OR tag:a", "due 2026-12 or with the tag #a"),
        ("due:2026-11 OR due:2026-12 OR tag:a", "due 2026-11 or due 2026-12 or with the tag #a"),
        ("tag:a OR task:open", "with the tag #a or with an open task"),
        ("-due:..", "not due on any day"),
        ("-task:done", "without a done task"),
        ("-task-priority:>=high", "without high priority or above"),
        ("-after:2024-03", "not changed since 2024-03"),
        (
            "-date:2024-03..2024-05",
            "without a date in name, heading or properties: from 2024-03 to",
        ),
        ('has:"open-task due:2026-12"', "with an open task due 2026-12"),
        ('-has:"task task-priority:high"', "without a task with high priority"),
        ("-task:Open", "without an open task"),
        ("tag:a OR task-priority:>=HIGH", "with the tag #a or with high priority or above"),
        ("-due:<2026-12", "not due before 2026-12"),
        ("task:open -date:2026-11", "not dated 2026-11"),
        ('has:"task due:2025 due:2026"', "with a task due 2025 or 2026"),
        (
            'has:"task task-priority:high task-priority:low"',
            "with a task with high priority or low priority",
        ),
        ("[a:==5]", "with a: =5"),
        ("file:(2)", "with “(2)” in the name"),
    ],
)
def test_each_filter_can_be_excluded_and_be_an_alternative(text: str, described: str) -> None:
    query = parse_query(text)
    assert describe_filters(query).startswith(described)
    assert (query.words, query.problems) == ("", ())
    assert parse_query(write_query(query)) == query


def test_a_limit_beside_an_alternative_stays_one() -> None:
    query = parse_query("due:2026 due:2027 OR tag:a")
    assert query.due == parse_query("due:2026").due
    assert [len(clause) for clause in query.clauses] == [2]


@pytest.mark.parametrize(
    "part", ["open-task tag:a", "tag due:2024", "task due:someday", "due:2024"]
)
def test_what_is_no_limit_of_a_task_is_words_and_named(part: str) -> None:
    query = parse_query(f'has:"{part}" roof')
    assert not query.has_filter
    assert "names nothing that a note may have" in query.problems[0]


@pytest.mark.parametrize(
    "text",
    [
        'has:" "',
        "date:<0001",
        "due:>9999",
        "date:9999-12-31",
        '[a:" "]',
        "[a:>]",
        "[a:>=]",
        "[a:!=]",
    ],
)
def test_a_filter_without_a_value_or_a_day_is_words(text: str) -> None:
    query = parse_query(text)
    assert (query.words, query.has_filter) == (text, False)


@pytest.mark.parametrize("text", ["(tag:a OR tag:b)", "tag:c -(tag:a OR tag:b)", "([a:1])"])
def test_filters_in_parentheses_are_named(text: str) -> None:
    query = parse_query(text)
    assert "parenthesis" in query.problems[0]
    assert ")" not in "".join(each.value for clause in query.clauses for each in clause)


@pytest.mark.parametrize("written", ['-"base fee"', 'OR "base fee"'])
def test_a_phrase_that_a_sign_has_no_effect_on_is_named(written: str) -> None:
    query = parse_query(f"tag:a {written}")
    assert f"{written} was searched as words" in query.problems[0]
    assert not parse_query('tag:a "base fee" or "fee"').problems


@pytest.mark.parametrize("key", FILTERS)
def test_each_filter_of_the_table_is_read_written_and_described(key: str) -> None:
    kind, value = FILTERS[key], VALUES.get(key, "2024-03-01")
    text = "[rating:4]" if key == "property" else f"{key}:{value}"
    query = parse_query(f"{text} soup")
    assert (query.words, query.has_filter, query.problems) == ("soup", True, ())
    assert parse_query(write_query(query)) == query
    assert list(query.filters()) == [kind.listed_as]
    assert describe_filters(query).startswith(kind.phrase.partition("{")[0])


@pytest.mark.parametrize("key", FILTERS)
def test_each_filter_is_negated_by_a_sign(key: str) -> None:
    value = VALUES.get(key, "2024-03-01")
    negated = parse_query("-[rating:4] soup" if key == "property" else f"-{key}:{value} soup")
    assert negated.clauses[0][0].is_negated
    assert describe_filters(negated).startswith(FILTERS[key].opposite.partition("{")[0])


@pytest.mark.parametrize(
    ("value", "described"),
    [
        ("2026-11-26", "dated 2026-11-26"),
        ("2026-11", "dated from 2026-11-01 to 2026-11-30"),
        ("..2026-11-26", "dated until 2026-11-26"),
        ("2026-11-23..2026-11-29", "dated from 2026-11-23 to 2026-11-29"),
        ("2026-11-23..", "dated from 2026-11-23 on"),
        ("..", "dated on any day"),
    ],
)
def test_a_range_of_days_is_described_in_words(value: str, described: str) -> None:
    assert describe_filters(parse_query(f"task:open date:{value}")) == described
