"""The values of the exam of a summary: where facts are found, and what a log may hold."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.exam import (
    MOST_STORED,
    ChangedFact,
    ChatFact,
    FactReader,
    FactTexts,
    NotePassage,
    SaidText,
    SummaryExam,
    build_query,
    has_whole,
    normalize,
)

EXAM = {"facts": 9, "in_request": 7, "one_call": 1, "findable": 0}


@pytest.mark.parametrize("key", ["gone", "changed", "new"])
@pytest.mark.parametrize("damaged", [None, ["x"], "x", 3, {"text": "x"}, [None], [[]]])
def test_a_damaged_exam_is_none(key, damaged):
    assert SummaryExam.read(EXAM | {key: damaged}) is None


def test_an_exam_is_read_as_it_was_stored():
    place = {"passage": "It has 19 kW.", "start": 4}
    changed = {"text": "19 kW", "reason": "18 kW was said", **place}
    stored = EXAM | {
        "gone": [{"kind": "name", "text": "Bo", "line": "Bo", "entry": "m1"}],
        "changed": [changed],
        "asked_again": True,
        "new": [changed | {"text": "EU"}],
    }
    assert SummaryExam.read(stored).to_dict() == stored
    assert (
        SummaryExam.read(EXAM).describe() == "7 in the request, 1 within reach, 1 gone, 0 changed"
    )


@pytest.mark.parametrize(
    ("text", "form", "is_there"),
    [
        ("预算是500元，地点在北京。", "500", True),
        ("회의는 3월 5일 14:00에 500원을 낸다.", "14:00", True),
        ("会議は3月5日に東京で、予算は500円です。", "500", True),
        ("会議は東京で", "東京", True),
        ("查看plan.md吧", "plan.md", True),
        ("预算是1500元", "500", False),
        ("预算是500.5元", "500", False),
        ("500kg", "500", False),
        ("500м", "500", False),
        ("v500", "500", False),
        ("snake_500", "500", False),
        ("the 15 €", "5 €", False),
    ],
)
def test_neighbours_end_a_word_in_scripts_without_blanks(text, form, is_there):
    assert has_whole(text, form) is is_there


@pytest.mark.parametrize(
    ("text", "path", "is_there"),
    [
        ("see Data.md", "A.md", False),
        ("see Notes/A.md", "A.md", False),
        ("see B-A.md", "A.md", False),
        ("see A.md.bak", "A.md", False),
        ("see A.mdx", "A.md", False),
        ("see `A.md`.", "A.md", True),
        ("in A.md.", "A.md", True),
        ('{"path": "Notes/A.md"}', "Notes/A.md", True),
        ("[[A.md#Part]]", "A.md", True),
    ],
)
def test_a_path_is_named_only_as_a_whole(text, path, is_there):
    assert FactTexts((SaidText(text),), lambda _line: frozenset()).has_path(path) is is_there


SUMMARY = "The pump stands in the cellar. The rent is 15 €.\nNamed Anna Berg"
EXAMINED = SummaryExam(
    4,
    2,
    gone=(ChatFact("date", "3 May 2026", "Anna calls on 3 May 2026", ("3 may 2026",)),),
    changed=(ChangedFact("15 €", "14 € was said"),),
)


def test_an_edit_by_the_listed_facts_keeps_the_figures_true() -> None:
    kept = EXAMINED.after_edit(SUMMARY, f"{SUMMARY}\nAnna calls on 3 May 2026.")
    assert kept is not None
    assert (kept.in_request, kept.gone) == (3, ())
    taken_out = EXAMINED.after_edit(SUMMARY, "The pump stands in the cellar.\nNamed Anna Berg")
    assert taken_out is not None
    assert (taken_out.in_request, taken_out.changed) == (2, ())


@pytest.mark.parametrize(
    "after", ["Nothing to see.", "", "The rent is 15 €.\nNamed Anna Berg", SUMMARY.upper()]
)
def test_an_edit_that_takes_other_sentences_away_has_no_figures(after: str) -> None:
    assert EXAMINED.after_edit(SUMMARY, after) is None


def make_exam(*, count: int = 3) -> SummaryExam:
    """An exam of nine facts, of which some are gone, one is changed and one is new."""
    said = [("12 l", "the can has 12 l"), ("12 l", "the tub has 12 l"), ("Bo", "Bo")]
    gone = tuple(ChatFact("figure", text, line, (), entry="m1") for text, line in said)
    changed = ChangedFact("19 kW", "18 kW was said", "It has 19 kW.", 4)
    new = ChangedFact("EU", "not in what was said", "Made in the EU.", 20, is_wrong=False)
    return SummaryExam(9, 8 - count, 1, 0, gone, (changed,), new=(new,))


def test_what_is_lost_is_told_in_one_way():
    assert make_exam().list_lines() == [
        "5 in the request, 1 within reach, 3 gone, 1 new, 1 changed",
        "- Changed: 19 kW (18 kW was said)",
        "- New: EU (not in what was said)",
        "- Gone: the can has 12 l",
        "- Gone: the tub has 12 l",
        "- Gone: Bo",
    ]
    assert make_exam(count=5).list_lines()[-1] == "And 2 more."
    assert SummaryExam(0, 0).list_lines() == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Bo", ["Bo"]),
        ("  bo ", ["Bo"]),
        ("12 l", ["the can has 12 l", "the tub has 12 l"]),
        ("The can has  12 l", ["the can has 12 l"]),
        ("12", []),
        ("", []),
        ("EU", []),
    ],
)
def test_a_fact_that_is_gone_is_found_by_its_text_or_its_line(text, lines):
    assert [fact.line for fact in make_exam().find_gone(text)] == lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("19 KW", ["19 kW"]),
        ("It has 19 kW.", ["19 kW"]),
        ("EU", ["EU"]),
        ("Made in the EU.", ["EU"]),
        ("Bo", []),
        ("", []),
    ],
)
def test_a_fact_that_is_changed_or_new_is_found_by_its_text_or_its_sentence(text, found):
    assert [one.text for one in make_exam().find_altered(text)] == found


WORDS = [
    "water",
    "a.md",
    "B/a.md",
    "500",
    "500.5",
    "1,500",
    "東京",
    "x_1",
    "é",
    "İs",
    "ß",
    "-",
    "น้ำ",
]
SAID = st.lists(st.sampled_from([*WORDS, " ", "\n"]), max_size=8).map("".join)


@given(st.lists(SAID, max_size=3), SAID, st.frozensets(st.sampled_from(WORDS), max_size=4))
def test_facts_are_found_by_their_words_as_by_a_search_of_all_texts(texts, form, words):
    def list_words(line):
        return frozenset(word for word in WORDS if word in line)

    form = normalize(form)
    lines = [list_words(line) for text in texts for line in text.splitlines()]
    is_line = bool(words) and any(len(words & line) >= 0.7 * len(words) for line in lines)
    is_said = any(has_whole(normalize(text), form) for text in texts) or is_line
    said = FactTexts(tuple(map(SaidText, texts)), list_words)
    assert said.has(ChatFact("name", form, form, (form,), words)) is is_said


READER = FactReader(
    lambda _text: (), lambda line: frozenset(line.casefold().split()), lambda *_: ()
)


def make_lost(lines: list[str], *, others: int = 0) -> SummaryExam:
    """An exam of lost facts, of which the log does not keep some others."""
    gone = tuple(ChatFact("name", line, line, ()) for line in lines)
    count = len(lines) + others
    return SummaryExam(count + 3, 2, 1, gone=gone, not_checked=count)


@given(
    st.lists(st.text("abc", min_size=1, max_size=3), max_size=60),
    st.lists(st.text("abc ", max_size=9), max_size=6),
    st.integers(0, 50),
)
def test_each_fact_is_counted_once_and_each_line_searched_once(lines, texts, others):
    searches = []

    def find(words):
        searches.append(words)
        return [NotePassage(f"{at}.md", (at, at), text) for at, text in enumerate(texts)]

    before = make_lost(lines, others=others)
    exam = before.search(find, READER)
    assert len(searches) == len(set(searches)) <= MOST_STORED
    assert exam.in_request + exam.within_reach + exam.gone_count + exam.not_checked == exam.facts
    assert (exam.findable, exam.gone_count) == (len(exam.found), len(exam.gone))
    said = set(" ".join(texts).split())
    assert [one.fact.text for one in exam.found] == [
        fact.text for fact in before.stored_gone if fact.text in said
    ]
    assert SummaryExam.read(exam.to_dict()).describe() == exam.describe()
    assert before.describe().count("not checked") == bool(lines or others)


def test_a_passage_behind_the_tenth_does_not_make_a_fact_findable():
    passages = [NotePassage(f"{at}.md", (1, 1), "x" if at < 10 else "Bo") for at in range(12)]
    assert make_lost(["Bo"]).search(lambda _words: passages, READER).findable == 0
    assert make_lost(["Bo"]).search(lambda _words: passages[1:], READER).findable == 1


@pytest.mark.parametrize(
    ("kind", "text", "line", "query"),
    [
        ("figure", "18.4 kW", "The pump needs 18.4 kW", "The pump needs"),
        ("figure", "18.4 kW", "18.4 kW", "18 4 kW"),
        ("figure", "18.4 kW", "path:x 18.4 kW", "path x"),
        ("date", "3 May 2026", "Anna calls on 3 May 2026", "Anna calls on"),
        ("name", "Bo Berg", "Bo Berg", "Bo Berg"),
        ("command", "make beds --all", "`make beds --all`", "make beds all"),
        ("path", "Home/A.md", "Home/A.md", "Home A md"),
    ],
)
def test_a_fact_is_searched_by_words_that_are_known_without_it(kind, text, line, query):
    assert build_query(ChatFact(kind, text, line, ())) == query


def test_what_a_search_finds_is_told_with_its_place():
    exam = make_lost(["Bo", "Al"]).search(
        lambda _words: [NotePassage("House/Berg.md", (7, 9), "It was Bo.")], READER
    )
    assert exam.list_lines() == [
        "2 in the request, 2 within reach, 1 gone, 0 changed",
        "- Gone: Al",
        "- Findable: Bo (House/Berg.md, line 7)",
    ]
    assert make_lost(["Bo"]).list_lines()[1] == "- Not checked: Bo"


@pytest.mark.parametrize(
    ("kind", "line", "passage", "is_found"),
    [
        ("date", "Box 2026", "The last frost of 2026 was late.", False),
        ("date", "Box 2026", "The box of 2026 is full.", True),
        ("figure", "the can holds 12 l", "The tub takes 12 l of rain.", False),
        ("figure", "the can holds 12 l", "Holds 12 l of rain: the can.", True),
        ("figure", "12 l", "The tub takes 12 l of rain.", True),
        ("name", "Bo", "It was Bo.", True),
    ],
)
def test_a_figure_of_something_else_does_not_make_a_fact_findable(kind, line, passage, is_found):
    text = line.removeprefix("Box ").removeprefix("the can holds ")
    reader = replace(READER, list_words=lambda said: frozenset(re.findall(r"\w+", said.lower())))
    exam = replace(make_lost(["x"]), gone=(ChatFact(kind, text, line, ()),))
    found = exam.search(lambda _words: [NotePassage("A.md", (1, 1), passage)], reader)
    assert found.findable == is_found


@pytest.mark.parametrize(
    ("text", "lines", "kind", "line", "found"),
    [
        ("# House\n\nIt was Bo.\nAl.", (3, 6), "name", "Bo", (5, 5)),
        # Its words decide where several lines have the figure.
        ("The tub: 12 l.\nThe can holds 12 l.", (1, 2), "figure", "the can holds 12 l", (2, 2)),
        # The fact goes over two lines, or what was found is not the text of these lines.
        ("It was Bo\nBerg.", (7, 8), "name", "Bo Berg", (7, 8)),
        ("It was Bo.", (7, 9), "name", "Bo", (7, 9)),
    ],
)
def test_a_findable_fact_is_placed_in_the_line_that_says_it(text, lines, kind, line, found):
    said = line.removeprefix("the can holds ")
    reader = replace(READER, list_words=lambda one: frozenset(re.findall(r"\w+", one.lower())))
    exam = replace(make_lost(["x"]), gone=(ChatFact(kind, said, line, ()),))
    (place,) = exam.search(lambda _words: [NotePassage("A.md", lines, text)], reader).found
    assert place.passage.lines == found
