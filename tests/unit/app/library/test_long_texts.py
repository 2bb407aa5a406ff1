import json
import os
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import StorageFailed
from app.library.long_texts import LongTexts
from app.paths import Paths
from app.startup import Startup, sweep_files
from app.wiring import build
from chains.tokenizer import load_counter
from tests.support.sessions.binned import let_pass
from tests.support.sessions.turns import ask, result_of

LONG = "\n\n".join(f"Paragraph {n} is about beans and barrels. " * 20 for n in range(6)).strip()
COUNTER = load_counter("gpt-4o")


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


def grow_old(folder: Path) -> None:
    os.utime(folder, (time.time() - 7_200,) * 2)


def test_a_text_goes_with_the_last_file_that_names_it(texts: LongTexts, tmp_path: Path) -> None:
    kept, unused, forked = (texts.as_file(LONG + more).path for more in ("", " One.", " Two."))
    for path in (kept, unused, forked):
        grow_old(path.parent)
    chat, fork, draft = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "drafts.json"))
    chat.write_text("x" * ((1 << 20) - 7) + json.dumps({"source": str(kept)}))
    fork.write_text(json.dumps({"source": str(forked)}))
    draft.write_text("{}")
    assert texts.sweep([chat, fork, draft, tmp_path / "gone"]) == (unused.parent.name,)
    assert [path.exists() for path in (kept, unused, forked)] == [True, False, True]
    fork.unlink()
    draft.write_text(json.dumps({"attached": str(forked)}))
    assert texts.sweep([chat, draft]) == ()
    draft.write_text("{}")
    assert texts.sweep([chat, draft]) == (forked.parent.name,)
    assert texts.sweep([]) == (kept.parent.name,)


def test_a_young_text_and_what_is_no_text_of_ours_stay(texts: LongTexts, tmp_path: Path) -> None:
    young = texts.as_file(LONG).path
    other = tmp_path / "pasted" / "mine"
    other.mkdir()
    grow_old(other)
    assert texts.sweep([]) == ()
    assert young.exists()
    assert other.exists()


def test_when_a_chat_cannot_be_read_every_text_stays(texts: LongTexts, tmp_path: Path) -> None:
    kept = texts.as_file(LONG).path
    grow_old(kept.parent)
    assert texts.sweep([tmp_path]) == ()
    assert kept.exists()


def test_texts_of_chats_that_are_gone_are_removed_when_a_window_opens(strata_home: Path) -> None:
    paths = Paths.find()
    with closing(Startup(paths)) as opening:
        assistant = opening.open()
        kept, orphan = (assistant.long_texts.as_file(LONG + more).path for more in ("", " More."))
        for path in (kept, orphan):
            grow_old(path.parent)
        result_of(ask(assistant, "What is it about?", mode="chat", attach=(str(kept),)))
    with closing(Startup(paths)) as opening:
        sweep_files(opening.open())
    assert (kept.exists(), orphan.exists()) == (True, False)
    (chat,) = (file.stem for file in paths.sessions.glob("*.jsonl"))
    with closing(Startup(paths)) as opening:
        assistant = opening.open()
        assistant.sessions.delete(chat)
        assert sweep_files(assistant) == ()
        assert kept.exists()  # the chat can be restored
        let_pass(assistant.sessions, chat, days=31)
        grow_old(kept.parent)
        assert sweep_files(assistant) == (chat,)
    assert not kept.exists()


@given(
    st.lists(st.sampled_from(["Beans. " * 9, "Barrels hold water. " * 30, "", "x" * 900])),
    st.integers(100, 500),
)
def test_parts_of_a_message_fit_and_are_the_whole_of_it(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    parts = LongTexts(Path("unused")).split(text, most, "gpt-4o")
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")
    assert all(COUNTER.count(part) <= most for part in parts)
