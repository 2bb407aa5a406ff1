"""Search in all chats, and titles that the user gives."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import InvalidRequest
from app.sessions.search import ChatHit, search_chats
from app.sessions.session import Session
from app.sessions.session_info import TITLE
from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import MessageEntry, OtherEntry
from context.messages import Message


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDB]:
    state = StateDB(tmp_path / "state.db")
    yield state
    state.close()


@pytest.fixture
def store(tmp_path: Path, state: StateDB) -> SessionStore:
    return SessionStore(tmp_path / "sessions", state)


def chat(store: SessionStore, day: int, *texts: str, vault: str = "/notes") -> str:
    """Make a chat of questions and answers in turn, on a day of March 2026."""
    with store.create(vault) as session:
        for number, text in enumerate(texts):
            say(session, text, f"2026-03-{day:02}T10:{number:02}:00Z")
        return session.id


def say(session: Session, text: str, time: str) -> None:
    path = session.path()
    role = "assistant" if len(path) % 2 else "user"
    parent = path[-1].id if path else None
    session.append([MessageEntry(session.new_id(), parent, time, Message(role, text), "t1")])


def rename(store: SessionStore, session: str, title: str) -> None:
    with store.open(session) as opened:
        data = {"type": "custom", "customType": TITLE, "content": title}
        leaf = opened.path()[-1].id
        opened.append([OtherEntry(opened.new_id(), leaf, opened.now(), "custom", data)])


def texts(hits: tuple[ChatHit, ...]) -> list[str]:
    return [hit.text for hit in hits]


def test_words_in_any_order_are_found_in_the_chats_of_all_vaults(store: SessionStore) -> None:
    old = chat(store, 1, "Where is the WATER barrel?", "In the shed.", vault="/a")
    new = chat(store, 2, "How large?", "The barrel holds 210 litres of water.", vault="/b")
    hits = search_chats(store, "barrel water")
    assert [(hit.session, hit.role) for hit in hits] == [(new, "assistant"), (old, "user")]
    assert hits[1].to_dict() == {
        "session": old,
        "entry": store.read(old).path()[0].id,
        "role": "user",
        "text": "Where is the WATER barrel?",
        "at": "2026-03-01T10:00:00Z",
    }
    assert search_chats(store, "barrel snow") == ()


def test_a_phrase_in_quotes_is_found_word_for_word(store: SessionStore) -> None:
    chat(store, 1, "the green\nbean", "green is the bean")
    assert texts(search_chats(store, '"Green  bean"')) == ["the green bean"]
    assert len(search_chats(store, "green bean")) == 2


def test_the_excerpt_is_cut_around_the_words_also_behind_letters_that_fold_to_two(
    store: SessionStore,
) -> None:
    chat(store, 1, "ß" * 50 + " filler" * 50 + " the STRASSE is here" + " more" * 100)
    (hit,) = search_chats(store, "straße")
    assert hit.text.startswith("…filler filler")
    assert "the STRASSE is here" in hit.text
    assert hit.text.endswith("more…")
    assert len(hit.text) < 300


@pytest.mark.parametrize("query", ["", "  ", '""'])
def test_a_blank_query_is_refused(store: SessionStore, query: str) -> None:
    with pytest.raises(InvalidRequest):
        search_chats(store, query)


def test_a_chat_that_cannot_be_read_is_skipped(store: SessionStore) -> None:
    found = chat(store, 1, "Where is the barrel?")
    store.file("folder").mkdir()
    broken = store.file(chat(store, 2, "A barrel?"))
    broken.write_bytes(b'\xff{"barrel"\n' * 3)
    assert [hit.session for hit in search_chats(store, "barrel")] == [found]


def test_a_title_takes_the_place_of_the_first_question_and_is_found(store: SessionStore) -> None:
    named = chat(store, 1, "Where is the barrel?")
    later = chat(store, 2, "And the hose?")
    rename(store, named, "Watering in summer")
    assert [(info.session, info.title) for info in store.list()] == [
        (later, "And the hose?"),
        (named, "Watering in summer"),
    ]
    assert [(hit.role, hit.text) for hit in search_chats(store, "watering")] == [
        ("title", "Watering in summer")
    ]
    rename(store, named, "")
    assert store.info(named).title == "Where is the barrel?"
    assert search_chats(store, "watering") == ()
