"""A JSON text is split into pieces that are the text together, and name the notes they are of."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.requests.pieces import KnownText, NoteRef, NoteTexts, split_json

BEDS = '<source n="1" path="Beds &amp; more.md" lines="1-3">\nThe beans: "north" \\ bed.\n</source>'
NOTES = NoteTexts(
    ("/vault",),
    {"Beds & more.md": "v1"},
    {},
    (KnownText("The plan of the project, in a few words", ("Plan.md",)),),
    {"A quoted answer of some length": ("Tea.md",)},
    frozenset({"What a model wrote", "7391", "Ann Bee", "max_tokens", "role"}),
)
TEXTS = st.lists(
    st.sampled_from(
        [BEDS, NOTES.known[0].text, "A quoted answer of some length", "What a model wrote"]
    )
    | st.text(st.characters(exclude_categories=()), max_size=400),
    max_size=6,
)


@given(TEXTS, st.booleans(), st.sampled_from([None, 2]))
def test_the_pieces_together_are_the_text(
    texts: list[str], is_ascii: bool, indent: int | None
) -> None:
    values: Mapping[str, object] = {"a": texts, "b": "".join(texts), "c": 3}
    text = json.dumps(values, ensure_ascii=is_ascii, indent=indent)
    assert "".join(piece.text for piece in split_json(text, NOTES)) == text


def test_each_note_is_named_with_its_version() -> None:
    text = json.dumps({"content": f"Before. {BEDS} After.", "system": NOTES.known[0].text})
    named = [piece for piece in split_json(text, NOTES) if piece.notes]
    assert [piece.notes for piece in named] == [
        (NoteRef("/vault", "Beds & more.md", "v1"),),
        (NoteRef("/vault", "Beds & more.md", "v1"),),
        (NoteRef("/vault", "Plan.md"),),
    ]
    assert json.loads(f'"{named[0].text}{named[1].text}"') == BEDS
    again = split_json(json.dumps({"content": BEDS.replace('n="1"', 'n="12"')}), NOTES)
    assert named[1] in again  # the passage is stored once, whatever its number


def test_texts_that_are_escaped_in_another_way_are_one_piece_of_their_notes() -> None:
    odd = json.dumps(f"Before. {BEDS}").replace("B", "\\u0042").replace("b", "\\u0062")
    pieces = split_json(f'{{"content": {odd}}}', NOTES)
    assert "".join(piece.text for piece in pieces) == f'{{"content": {odd}}}'
    (named,) = [piece for piece in pieces if piece.notes]
    assert named.text == odd[1:-1]


def test_a_note_that_is_cut_off_and_prior_context_are_found() -> None:
    cut = BEDS.removesuffix("</source>")
    prior = '<prior_context source="Tea.md" type="note">\nGreen tea.\n</prior_context>'
    for text, path in ((cut, "Beds & more.md"), (prior, "Tea.md")):
        pieces = split_json(json.dumps(text), NOTES)
        assert {note.path for piece in pieces for note in piece.notes} == {path}


@pytest.mark.parametrize(
    "text",
    [
        "Version 2.0: what is new in it?",
        "At 9.30: the dentist. See report.pdf: page 3.",
        "Plan.md: is it good?",
        "Links in my garden:\nOne.md\n\nLinks to it:\nTwo.md",
        'What a model wrote <source path="Beds.md">\nNothing.\n</source>',
    ],
)
def test_what_only_looks_like_the_text_of_a_note_is_none(text: str) -> None:
    notes = NoteTexts(("/vault",), {}, {}, answers=frozenset({text} if "<" in text else ()))
    pieces = split_json(json.dumps({"content": text}), notes)
    assert [piece.notes for piece in pieces if piece.notes] == []


def test_the_memory_and_pinned_answers_count_as_written_by_a_model() -> None:
    memory = "<memory>\n<facts>\n- The beans are in the north bed.\n</facts>\n</memory>"
    pin = '<prior_context source="this chat" type="selection">\nGreen tea.\n</prior_context>'
    pieces = split_json(json.dumps({"content": f"{memory}\n{pin}\nAnd now?"}), NOTES)
    told = [json.loads(f'"{piece.text}"') for piece in pieces if piece.is_answer]
    assert (told, [piece for piece in pieces if piece.notes]) == ([memory, pin], [])


def test_short_strings_of_a_model_are_pieces_but_names_of_fields_are_not() -> None:
    text = json.dumps({"role": "role", "max_tokens": "7391", "Ann Bee": ["max_tokens"]})
    told = [piece.text for piece in split_json(text, NOTES) if piece.is_answer]
    assert told == ["7391", "Ann Bee", "max_tokens"]
