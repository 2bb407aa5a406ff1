"""Half a surrogate pair, wherever it comes from, never makes a chat or a list unusable."""

import json
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.rpc.requests import parse
from app.rpc.turns import PromptRequest
from app.sessions import store as session_store
from app.sessions.file import LoadedLog
from context.log.entries import parse_entry
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of

BAD, GOOD = "half \ud83d end", "half \ufffd end"
POISONED = [
    {"type": "session", "version": 2, "id": "old", "timestamp": "", "vault": "/n\udcff"},
    {
        "type": "message",
        "id": "0000000a",
        "parentId": None,
        "timestamp": "",
        "role": "user",
        "content": "\ud800",
        "turnId": "t1",
    },
    {
        "type": "message",
        "id": "0000000b",
        "parentId": "0000000a",
        "timestamp": "",
        "role": "assistant",
        "content": BAD,
        "turnId": "t1",
        "model": "m",
        "usage": None,
        "status": "complete",
    },
]


def goes_on(assistant: Assistant, server: ModelServer, session: str) -> None:
    """Ask once more in a chat; the request and the list of chats are well."""
    server.script(Answer("Understood."))
    assert (
        result_of(ask(assistant, "And?", mode="chat", session=session)).answer.end.status
        == "complete"
    )
    json.dumps(server.bodies[-1], ensure_ascii=False).encode("utf-8")
    assert session in [info.session for info in assistant.list_sessions()]
    assert assistant.history.transcript(session).items


def test_an_answer_with_half_a_pair_is_kept_and_the_chat_goes_on(
    assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer(BAD, chunk_chars=3, reasoning=BAD))
    result = result_of(ask(assistant, "One?", mode="chat"))
    assert result.answer.text == GOOD
    goes_on(assistant, server, str(result.session))
    assert GOOD in json.dumps(server.bodies[-1], ensure_ascii=False)


@pytest.mark.parametrize("chunk_chars", [1, 2, 3])
def test_a_pair_that_is_split_over_two_pieces_is_one_character(
    assistant: Assistant, server: ModelServer, chunk_chars: int
) -> None:
    server.script(Answer("a\ud83d\ude00b\ud83d", chunk_chars=chunk_chars))
    assert result_of(ask(assistant, "One?", mode="chat")).answer.text == "a\U0001f600b\ufffd"


def test_a_question_with_half_a_pair_is_asked_and_listed(
    assistant: Assistant, server: ModelServer
) -> None:
    result = result_of(ask(assistant, BAD, mode="chat"))
    assert [info.title for info in assistant.list_sessions()] == [GOOD]
    goes_on(assistant, server, str(result.session))


def test_half_a_pair_in_calls_of_tools_and_their_results_does_no_harm(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "Odd.canvas").write_text(
        '{"nodes": [{"id": "a", "type": "text", "text": "card \\ud83d card", "x": 0, "y": 0}]}'
    )
    (small_vault / "Yaml.md").write_text('---\ntitle: "half \\ud83d end"\n---\nHalf a pair.\n')
    server.script(
        Answer("", calls=(("c\ud800", "search_notes", '{"query": "card \\ud83d"}'),)),
        Answer("", calls=(("c2", "read_note", '{"path": "Odd.canvas"}'),)),
        Answer("", calls=(("c3", "read_note", '{"path": "\\ud83d.md"}'),)),
        Answer("Done."),
    )
    result = result_of(ask(reading, "What is on the card?", mode="agent"))
    assert (result.answer.end.status, len(result.answer.steps)) == ("complete", 3)
    json.dumps(result.to_dict(), ensure_ascii=False).encode()
    goes_on(reading, server, str(result.session))


def test_notes_with_half_a_pair_are_searched_and_sent(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "Yaml.md").write_text('---\ntitle: "half \\ud83d end"\n---\nHalf a pair.\n')
    (small_vault / "Odd.canvas").write_text(
        '{"nodes": [{"id": "a", "type": "text", "text": "card \\ud83d card", "x": 0, "y": 0}]}'
    )
    result = result_of(ask(reading, "Half a pair on a card?", attach=("Yaml.md", "Odd.canvas")))
    assert result.answer.end.status == "complete"
    states = {note.path: note.state for note in reading.notes()}
    assert states["Yaml.md"] == states["Odd.canvas"] == "indexed"
    goes_on(reading, server, str(result.session))


def test_a_chat_that_was_poisoned_earlier_opens_and_goes_on(
    assistant: Assistant, server: ModelServer
) -> None:
    folder = assistant.paths.sessions
    folder.mkdir(parents=True)
    lines = "".join(f"{json.dumps(line)}\n" for line in POISONED)
    (folder / "old.jsonl").write_text(lines, "utf-8")
    assert [info.title for info in assistant.list_sessions()] == ["\ufffd"]
    goes_on(assistant, server, "old")
    kept = (folder / "old.jsonl").read_text("utf-8")
    assert kept.startswith(lines)


def test_a_chat_that_cannot_be_read_is_listed_beside_the_others(
    assistant: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(ask(assistant, "One?", mode="chat"))
    (assistant.paths.sessions / "bad.jsonl").write_text("{}\n", "utf-8")
    load = session_store.load_log

    def fail_for_one(session: str, content: bytes) -> LoadedLog:
        if session == "bad":
            raise ValueError("it holds something unheard of")
        return load(session, content)

    monkeypatch.setattr(session_store, "load_log", fail_for_one)
    listed = {info.session: info.title for info in assistant.list_sessions()}
    assert listed[str(result.session)] == "One?"
    assert listed["bad"].startswith("This chat cannot be read: ")


def test_a_request_over_rpc_is_clean_and_its_id_comes_back_as_it_was_sent() -> None:
    line = b'{"id": "\\ud800", "type": "prompt", "text": "half \\ud83d end"}'
    request = parse(line, {"prompt": PromptRequest})
    assert isinstance(request, PromptRequest)
    assert (request.id, request.text) == ("\ud800", GOOD)


def test_entries_read_and_written_again_are_the_same() -> None:
    entry = parse_entry(POISONED[1] | {"extra \udc00": "\udc00"})
    assert parse_entry(entry.to_dict()) == entry
