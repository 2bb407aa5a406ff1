"""Long passages cut down to the sentences that a query is about."""

import pytest

from tests.support.sessions.memory_session import hit as make_hit
from tests.unit.vault.conftest import NotesIndexer
from vault.search.excerpts import FEWEST_PASSAGES, cut_excerpts, drop_irrelevant
from vault.search.hits import SIGNALS, Hit
from vault.search.query import parse_query

FILLER = "The committee met again and talked about the weather of the past weeks at length. " * 3
ANSWER = "Mildew is kept off tomatoes by watering them early."
PASSAGE = f"{FILLER}\n\n{ANSWER}\n\n{FILLER}"


def hit(text: str, path: str = "Long.md", score: float = 0.5) -> Hit:
    signals = dict.fromkeys(SIGNALS)
    return make_hit(path, text, 10, id=path, title=path, score=score, signals=signals)


def test_an_excerpt_holds_the_words_and_names_its_own_lines() -> None:
    (found, *_) = cut_excerpts([hit(PASSAGE)], parse_query("tomatoes mildew"), {"Long.md"}, 5)
    assert ANSWER in found.text
    assert len(found.text) < 400
    lines = PASSAGE.split("\n")
    assert found.text in "\n".join(lines[found.lines[0] - 10 : found.lines[1] - 9])


def test_a_note_of_few_passages_is_shown_by_whole_passages() -> None:
    found = [hit(PASSAGE, "Short.md"), hit(PASSAGE, "Other.md", 0.4)]
    assert cut_excerpts(found, parse_query("tomatoes"), set(), 5) == found


def test_the_second_passage_comes_first_where_it_holds_the_words() -> None:
    found = cut_excerpts(
        [hit(FILLER, score=0.52), hit(PASSAGE)], parse_query("tomatoes mildew"), {"Long.md"}, 1
    )
    assert ANSWER in found[0].text


def test_every_passage_keeps_a_place_and_scores_fall() -> None:
    hits = [hit(PASSAGE, f"{n}.md", 0.9 - n / 100) for n in range(40)]
    found = cut_excerpts(hits, parse_query("tomatoes"), {one.path for one in hits[::2]}, 100)
    assert {one.path for one in found} == {one.path for one in hits}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 1 for one in found)


def test_further_down_passages_are_whole_and_in_their_order() -> None:
    hits = [hit(PASSAGE, f"{n}.md", 0.9 - n / 100) for n in range(FEWEST_PASSAGES + 5)]
    found = cut_excerpts(hits, parse_query("tomatoes"), {one.path for one in hits}, 100)
    assert [one.path for one in found[-5:]] == [f"{FEWEST_PASSAGES + n}.md" for n in range(5)]
    assert all(one.text == PASSAGE for one in found[-5:])
    assert all(one.text != PASSAGE for one in found[:-5])


@pytest.mark.parametrize(
    "solid",
    [
        "```\n" + "\n".join(f"water({n}) # tomatoes" for n in range(30)) + "\n```",
        "| plant | water |\n|---|---|\n" + "\n".join(f"| tomato {n} | early |" for n in range(25)),
    ],
    ids=["fence", "table"],
)
def test_a_fence_or_a_table_is_not_cut(solid: str) -> None:
    text = f"{FILLER}\n\n{solid}\n\n{FILLER}"
    assert any(
        solid in one.text
        for one in cut_excerpts([hit(text)], parse_query("tomato"), {"Long.md"}, 9)
    )


def test_words_of_scripts_without_blanks_are_found() -> None:
    text = f"{FILLER}\n\n剪定ばさみは納屋の赤い箱に入っています。\n\n{FILLER}"
    assert "納屋" in cut_excerpts([hit(text)], parse_query("納屋"), {"Long.md"}, 1)[0].text


def test_a_search_of_filters_alone_is_left_as_it_is() -> None:
    assert cut_excerpts([hit(PASSAGE)], parse_query(""), {"Long.md"}, 1) == [hit(PASSAGE)]


def test_one_endless_sentence_is_cut_between_words() -> None:
    text = "tomatoes and beans and " * 100
    found = cut_excerpts([hit(text)], parse_query("tomatoes"), {"Long.md"}, 9)
    assert all(len(one.text) < 460 and one.text in text for one in found)


def test_an_excerpt_holds_the_phrase_that_was_asked_for() -> None:
    text = f"{FILLER}\n\nTomatoes and mildew, mildew and tomatoes.\n\n{FILLER}\n\n{ANSWER}"
    query = parse_query('mildew tomatoes "kept off"')
    assert [ANSWER in one.text for one in cut_excerpts([hit(text)], query, {"Long.md"}, 9)] == [
        True
    ]


def test_a_passage_without_the_words_is_shown_whole() -> None:
    hits = [hit(PASSAGE), hit(FILLER, score=0.4)]
    assert FILLER in [one.text for one in cut_excerpts(hits, parse_query("mildew"), {"Long.md"}, 9)]


WALRUS = "The walrus rests on the ice of the northern bay in month {n}, and eats clams."
ZEBRA = "A herd of zebras grazes on the savannah of the south in month {n}, and drinks."


def test_a_list_ends_where_its_relevance_does(index_of_notes: NotesIndexer) -> None:
    notes = {f"ice-{n}.md": WALRUS.format(n=n) + "\n" for n in range(9)}
    notes |= {f"herd-{n}.md": ZEBRA.format(n=n) + "\n" for n in range(9)}
    index = index_of_notes(notes)
    found = index.excerpts("walrus", 30).hits
    assert {hit.path for hit in found} == {f"ice-{n}.md" for n in range(9)}
    assert len(index.excerpts("walrus", 4).hits) == 4
    striped = index.excerpts("striped animals in Africa", 30).hits  # a word of no note
    assert {hit.path for hit in striped[:9]} == {f"herd-{n}.md" for n in range(9)}
    assert index.excerpts("quarterly tax return", 30).hits == ()
    assert len(index.excerpts("path:herd", 30).hits) == 9


def test_where_meaning_was_not_compared_all_hits_are_kept() -> None:
    hits = [hit(PASSAGE), hit(FILLER)]
    assert drop_irrelevant(hits) == hits
