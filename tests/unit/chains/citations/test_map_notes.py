from chains.citations.check import check_citations
from chains.citations.map_notes import (
    MapNote,
    QuotedNotes,
    build_matcher,
    name_spans,
    read_notes,
)
from context.layers import Layer, Segment

TEXT = "The barrel holds 200 litres.\nIt leaks.\nThe barrel holds 200 litres.\nIt was mended."
FIND = build_matcher(TEXT, 40)
LINES = (40, 43)


def read(answer: str) -> list[MapNote]:
    return read_notes(answer, LINES, FIND)


def test_a_note_stands_behind_its_lines_however_they_are_written() -> None:
    for named in ("41-42: ", "- 41–42: ", "Lines 41-42: ", "[41-42]: ", "L41-L42: "):
        assert read(f"{named}It leaked.") == [MapNote((41, 42), "It leaked.")]


def test_a_note_that_names_no_lines_or_others_rests_on_all_that_was_shown() -> None:
    assert read("It leaked.\n9: It was mended.") == [
        MapNote(LINES, "It leaked."),
        MapNote(LINES, "It was mended."),
    ]


def test_a_note_may_go_on_over_several_lines() -> None:
    assert read("41: It leaked,\nand badly.") == [MapNote((41, 41), "It leaked, and badly.")]


def test_what_is_not_in_the_text_is_no_quotation() -> None:
    assert read('41: It "leaks", but not "very much".') == [
        MapNote((41, 41), 'It "leaks", but not very much.')
    ]


def test_a_quotation_says_which_lines_a_note_is_about() -> None:
    assert read('40: It "was mended".') == [MapNote((40, 43), 'It "was mended".')]
    assert read('It "was mended".') == [MapNote((43, 43), 'It "was mended".')]


def test_a_quotation_that_stands_twice_is_looked_up_in_the_lines_that_are_named() -> None:
    assert read('42: "holds 200 litres"')[0].lines == (42, 42)
    assert read('"holds 200 litres"')[0].lines == (40, 40)


def test_nothing_is_no_note() -> None:
    assert read("Nothing.") == read("") == []


def test_many_gaps_are_not_all_named() -> None:
    assert name_spans((1, 1), (3, 5)) == "lines 1, 3-5"
    assert name_spans(*[(n, n) for n in range(1, 15)]).endswith("12 and 2 more")


def test_one_line_is_not_named_as_several() -> None:
    assert name_spans((7, 7)) == "line 7"
    assert name_spans((7, 8)) == "lines 7-8"


def test_notes_are_read_again_from_where_they_are_sent() -> None:
    sent = '[Notes on lines 1-90.]\n40-41: It holds "200 litres".\n42: It leaks.'
    notes = QuotedNotes.parse(sent)
    assert notes.find("200 litres") == (40, 41)
    assert notes.find("It leaks") is None


def derived(text: str) -> Segment:
    return Segment.build(
        id="d",
        layer=Layer.L3,
        kind="note",
        source="Log.md",
        text=text,
        lines=(1, 90),
        number=1,
        derived="map_reduce",
    )


def test_an_answer_is_checked_against_what_the_notes_quote_and_cites_those_lines() -> None:
    source = derived('[Notes on lines 1-90.]\n40-41: It holds "200 litres" in all.')
    report = check_citations('It holds "200 litres" [1], "in all" [1].', [source])
    verified = [citation for citation in report.citations if citation.verified]
    assert [(c.quote, c.lines) for c in verified] == [("200 litres", (40, 41))]
    assert [claim.quote for claim in report.unverified] == ["in all"]
