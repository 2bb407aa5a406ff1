from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import StorageFailed
from app.long_texts import LongTexts
from app.paths import Paths
from app.wiring import build
from chains.tokenizer import counter_for

LONG = "\n\n".join(f"Paragraph {n} is about beans and barrels. " * 20 for n in range(6)).strip()
COUNTER = counter_for("gpt-4o")


@pytest.fixture
def texts(tmp_path: Path) -> LongTexts:
    return LongTexts(tmp_path / "pasted")


def test_the_question_at_the_end_stays_a_message(texts: LongTexts) -> None:
    pasted = texts.as_file(f"{LONG}\n\nWhat follows from that?\n")
    assert pasted.rest == "What follows from that?"
    assert pasted.path.read_text() == LONG


def test_the_question_at_the_beginning_stays_a_message(texts: LongTexts) -> None:
    pasted = texts.as_file(f"Sum this up:\n\n{LONG}\n\nBest wishes")
    assert pasted.rest == "Sum this up:"
    assert pasted.path.read_text() == f"{LONG}\n\nBest wishes"


def test_a_text_without_a_question_becomes_a_file_as_it_is(texts: LongTexts) -> None:
    pasted = texts.as_file(LONG)
    assert (pasted.rest, pasted.path.read_text()) == ("", LONG)


def test_such_a_file_can_be_opened_like_a_note(strata_home: Path) -> None:
    assistant = build(Paths.find())
    path = assistant.long_texts.as_file(LONG).path
    assert path.is_relative_to(strata_home / "data")
    note = assistant.read_note(str(path))
    assert (note.path, note.text) == (str(path), LONG)
    assistant.close()


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("# Minutes of 3/4: beans & barrels", "Minutes of 3 4 beans barrels.txt"),
        ("../../etc/passwd", "etc passwd.txt"),
        ("***", "Pasted text.txt"),
    ],
)
def test_a_file_is_named_by_its_first_words(texts: LongTexts, first: str, name: str) -> None:
    assert texts.as_file(first + "\n" + "*" * 700).path.name == name


def test_the_same_text_is_kept_once_and_another_of_the_same_name_beside_it(
    texts: LongTexts,
) -> None:
    one, again, other = (texts.as_file(text).path for text in (LONG, LONG, LONG + " More."))
    assert one == again != other
    assert one.name == other.name


def test_where_it_cannot_be_kept_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "pasted").write_text("in the way")
    with pytest.raises(StorageFailed):
        LongTexts(tmp_path / "pasted").as_file(LONG)


@given(
    st.lists(st.sampled_from(["Beans. " * 9, "Barrels hold water. " * 30, "", "x" * 900])),
    st.integers(100, 500),
)
def test_parts_of_a_message_fit_and_are_the_whole_of_it(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    parts = LongTexts(Path("unused")).split(text, most, "gpt-4o")
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")
    assert all(COUNTER.count(part) <= most for part in parts)
