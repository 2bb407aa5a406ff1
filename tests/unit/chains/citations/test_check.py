import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.check import MAX_QUOTATIONS, Unverified, check_citations

GARDEN = "# Garden\nThe **sky** is blue & wide.\nWater is wet.\nBeans need warm soil."
SERVER = "The server has 31 W.\nIt runs <b>Debian</b> 12."


@pytest.fixture
def sources(source):
    return [
        source(1, GARDEN, first=10, heading=("Year", "Garden")),
        source(2, SERVER, first=5, title="Home server", source="Home server.md"),
    ]


def test_a_number_is_linked_to_its_place(sources):
    (citation,) = check_citations("It has 31 W [2].", sources).citations
    assert citation.to_dict() == {
        "n": 2,
        "path": "Home server.md",
        "heading": [],
        "lines": [5, 6],
        "page": None,
        "quote": None,
        "verified": False,
        "found_by": "model",
    }


def test_a_passage_of_a_pdf_is_cited_by_its_page(source):
    manual = source(1, SERVER, heading=("Page 12",), source="Manuals/Server.pdf")
    (citation,) = check_citations("It has 31 W [1].", [manual]).citations
    assert citation.to_dict()["page"] == 12


def test_a_bare_number_is_not_doubtful(sources):
    report = check_citations("It has 31 W [2].", sources)
    assert not report.citations[0].is_doubtful
    assert report.unverified == ()


def test_a_quotation_that_is_there_is_verified_and_opens_its_exact_lines(sources):
    (citation,) = check_citations('The note says "Water is wet" [1].', sources).citations
    assert (citation.verified, citation.lines, citation.quote) == (True, (12, 12), "Water is wet")
    assert citation.heading == ("Year", "Garden")


def test_a_quotation_over_two_lines_opens_both(sources):
    (citation,) = check_citations("> blue & wide. Water is wet. [1]", sources).citations
    assert citation.lines == (11, 12)


def test_a_paraphrase_in_quotation_marks_is_not_verified(sources):
    report = check_citations('It says "the sky is wide and blue" [1].', sources)
    assert report.citations[0].is_doubtful
    assert report.citations[0].lines == (10, 13)
    assert report.unverified == (
        Unverified(1, "the sky is wide and blue", "Not in Note 1 as it was sent."),
    )


def test_a_number_without_a_source_is_said_so(sources):
    report = check_citations("So it is [9].", sources)
    assert report.citations == ()
    assert report.unverified == (Unverified(9, None, "[9] has no source."),)


def test_a_made_up_quotation_without_a_number_is_found_out(sources):
    report = check_citations('Your notes say "always sow at full moon".', sources)
    assert report.unverified == (
        Unverified(None, "always sow at full moon", "Not in any of the sources."),
    )


def test_wrong_number_paraphrase_and_invention_are_all_marked_in_one_answer(sources):
    answer = (
        'Beans want "warm soil" [1]. It "likes soil that is warm" [1] and "draws 31 W" [7]. '
        'Someone said "never water at noon".'
    )
    report = check_citations(answer, sources)
    assert [(c.n, c.verified) for c in report.citations] == [(1, True), (1, False)]
    assert [claim.n for claim in report.unverified] == [1, 7, None]


def test_a_quotation_under_the_wrong_number_says_where_it_is(sources):
    (claim,) = check_citations('It says "Water is wet" [2].', sources).unverified
    assert claim.reason == "Not in Home server as it was sent. It is in [1]."


def test_a_quotation_for_several_numbers_is_verified_where_it_is_found(sources):
    report = check_citations('It says "Water is wet" [1][2].', sources)
    assert [(c.n, c.quote, c.verified) for c in report.citations] == [
        (1, "Water is wet", True),
        (2, None, False),
    ]
    assert report.unverified == ()


def test_an_unnumbered_quotation_that_is_in_a_source_is_fine(sources):
    assert check_citations('It says "beans need warm soil".', sources).unverified == ()


def test_a_word_or_two_in_quotation_marks_need_no_source(sources):
    assert check_citations('A so-called "cold frame" helps.', sources).unverified == ()


def test_words_of_the_question_need_no_source(sources):
    question = "What about the famous purple potatoes?"
    answer = 'Nothing on "the famous purple potatoes" is said.'
    assert check_citations(answer, sources, question).unverified == ()


def test_the_name_of_a_note_in_quotation_marks_is_no_quotation(sources):
    report = check_citations('In "Home server" [2] it is said.', sources)
    assert (report.citations[0].quote, report.unverified) == (None, ())


def test_what_was_escaped_on_the_way_is_found(sources):
    for quote in ("It runs Debian 12", "It runs &lt;b&gt;Debian&lt;/b&gt; 12", "blue &amp; wide"):
        report = check_citations(f"It says “{quote}” [2][1].", sources)
        assert report.unverified == (), quote


def test_without_sources_quotation_marks_are_just_that():
    report = check_citations('They call it "the best of all worlds" [1].', [])
    assert [claim.reason for claim in report.unverified] == ["[1] has no source."]
    assert check_citations('They call it "the best of all worlds".', []).unverified == ()


def test_each_citation_is_listed_once(sources):
    answer = 'A [1], b [1], "Water is wet" [1], again "Water is wet" [1].'
    assert [c.quote for c in check_citations(answer, sources).citations] == ["Water is wet"]


@pytest.mark.parametrize(
    "unit", ['"a b c" [1] ', '"x%d y z" ', "[1]", "> a b c [2]\n", "“a b c d” "]
)
def test_a_hostile_answer_takes_seconds_at_most(sources, unit):
    answer = "".join(unit.replace("%d", str(i)) for i in range(200_000 // len(unit)))
    begun = time.thread_time()
    check_citations(answer, sources)
    assert time.thread_time() - begun < 10


def test_what_was_not_checked_is_said(sources):
    answer = " ".join(f'"made up thing {i}" [1].' for i in range(MAX_QUOTATIONS + 5))
    assert "Only the first" in check_citations(answer, sources).unverified[-1].reason


@given(st.text(), st.text(min_size=1))
def test_any_answer_can_be_checked(answer, text):
    from context.layers import Layer, Segment

    segment = Segment.build(
        id="s",
        layer=Layer.L3,
        kind="passage",
        source="A.md",
        text=text,
        lines=(1, 1 + text.count("\n")),
        number=1,
    )
    for citation in check_citations(f'"{text}" [1] {answer}', [segment]).citations:
        assert citation.lines is not None
        assert 1 <= citation.lines[0] <= citation.lines[1] <= 1 + text.count("\n")
