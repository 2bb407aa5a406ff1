from dataclasses import replace

import pytest

from chains.citations.pieces import cut_pieces
from chains.citations.sections import SECTIONS, ShownSection, cite_sections, read_sections
from context.layers import Layer, Segment
from context.messages import FrozenMapping

LINES = ("## Beds", "", "The beds face south.", "They are old.", "", "Beans climb.", "## Rest")


def make_source(text, first=11, number=2):
    lines = (first, first + text.count("\n"))
    place = {"source": "Garden.md", "title": "Garden", "lines": lines, "number": number}
    return Segment.build(id="p", layer=Layer.L3, kind="passage", text=text, **place)


SOURCE = make_source("\n".join(LINES))
SHOWN = ShownSection(SOURCE, (11, 16), lit=((13, 13), (16, 16)), folded=((14, 15),), is_open=True)


def test_a_section_becomes_a_dict_with_the_lines_of_its_note():
    assert SHOWN.to_dict() == {
        "n": 2,
        "path": "Garden.md",
        "title": "Garden",
        "heading": ["Beds"],
        "lines": [11, 16],
        "lit": [[13, 13], [16, 16]],
        "folded": [[14, 15]],
        "open": True,
        "text": "\n".join(LINES[:6]),
    }


def test_of_a_section_that_is_not_open_only_the_lit_lines_are_its_text():
    assert replace(SHOWN, is_open=False).text == "The beds face south.\nBeans climb."


def test_the_heading_is_the_one_above_the_first_lit_line():
    source = make_source("# Garden\nOld.\n## Beds\nThe beds face south.", first=1)
    assert ShownSection(source, (1, 4), lit=((4, 4),)).heading == ("Garden", "Beds")
    assert ShownSection(source, (1, 4)).heading == ("Garden",)


def test_what_is_shown_is_what_is_not_folded():
    assert SHOWN.shown == ((11, 13), (16, 16))
    assert replace(SHOWN, folded=()).shown == ((11, 16),)
    assert replace(SHOWN, folded=((11, 15),)).shown == ((16, 16),)


def test_sections_are_read_from_the_log_as_they_were():
    stored = {SECTIONS: [SHOWN.to_dict()]}
    assert read_sections(stored, [SOURCE]) == (SHOWN,)
    assert read_sections(FrozenMapping(stored), [SOURCE]) == (SHOWN,), "as an entry has them"


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "text",
        [None],
        [{}],
        [{**SHOWN.to_dict(), "n": 7}],
        [{**SHOWN.to_dict(), "lines": [11]}],
        [{**SHOWN.to_dict(), "lines": [11, 99]}],
        [{**SHOWN.to_dict(), "lit": [[1, 2]]}],
        [{**SHOWN.to_dict(), "folded": 3}],
    ],
)
def test_sections_of_another_form_are_not_read(stored):
    assert read_sections({SECTIONS: stored}, [SOURCE]) == ()


def test_each_range_of_lit_lines_is_cited_by_strata_and_verified():
    found = [(c.n, c.path, c.lines, c.quote, c.verified) for c in cite_sections([SHOWN])]
    assert found == [
        (2, "Garden.md", (13, 13), "The beds face south.", True),
        (2, "Garden.md", (16, 16), "Beans climb.", True),
    ]
    assert {cited.to_dict()["found_by"] for cited in cite_sections([SHOWN])} == {"strata"}


def test_a_section_without_lit_lines_is_cited_by_what_it_shows():
    (cited,) = cite_sections([replace(SHOWN, lit=())])
    assert cited.lines == (11, 13)


def test_pieces_end_at_folds_and_leave_out_the_first_heading():
    found = [(piece.lines, piece.lit, piece.is_folded) for piece in cut_pieces(SHOWN)]
    assert found == [
        (("The beds face south.",), ((1, 1),), False),
        (("They are old.", ""), (), True),
        (("Beans climb.",), ((1, 1),), False),
    ]


def test_a_piece_of_code_has_both_fences():
    source = make_source("```sh\na\nb\nc\n```", first=1)
    section = ShownSection(source, (1, 5), lit=((3, 3),), folded=((1, 2), (4, 5)))
    assert [piece.lines for piece in cut_pieces(section)] == [
        ("```sh", "a", "```"),
        ("```", "b", "```"),
        ("```", "c", "```"),
    ]
