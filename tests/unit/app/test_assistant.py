import json
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest, SessionMissing, TurnFailed, VaultNotChosen, describe
from app.library.library import IndexFinished
from app.paths import Paths
from app.sessions.transcript import AnswerItem, UserItem
from app.wiring import build, find_vault
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, MessageEnded, TextDelta, Warned
from chains.request.ask import Ask
from context.errors import ContextOverflow
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import wait_until
from tests.support.sessions.turns import ask, result_of
from vault.errors import VaultMissing
from vault.indexing.throttle import UpdateQueue
from vault.vault import Vault


def test_a_folder_that_is_remembered_is_opened_by_the_next_run(
    assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault)
    again = build(Paths.find())
    assert find_vault(again, None) == small_vault.resolve()
    assert find_vault(again, "/elsewhere") == Path("/elsewhere")


def test_a_folder_that_cannot_be_opened_leaves_the_open_one(
    reading: Assistant, tmp_path: Path
) -> None:
    before = reading.vault
    with pytest.raises(VaultMissing):
        reading.open_vault(tmp_path / "nothere")
    assert reading.vault == before
    assert reading.settings.get("vault.path") == ""


def test_the_index_lies_among_our_own_files(reading: Assistant, strata_home: Path) -> None:
    library = reading.library
    assert library is not None
    assert library.vault.index_dir.parent == strata_home / "data" / "vaults"


def test_without_notes_only_a_chat_works(assistant: Assistant) -> None:
    assert assistant.notes() == ()
    for call in (
        lambda: list(assistant.index(CancelToken())),
        lambda: assistant.search("x"),
        lambda: assistant.read_note("x.md"),
    ):
        with pytest.raises(VaultNotChosen):
            call()
    assert result_of(ask(assistant, "Hello?", mode="chat")).answer.end.status == "complete"


def test_an_answer_rests_on_notes_that_were_indexed_on_the_way(
    reading: Assistant, small_vault: Path
) -> None:
    events = ask(reading, "How many litres does the barrel hold?")
    assert any(isinstance(event, IndexProgressed) for event in events)
    result = result_of(events)
    assert "Watering.md" in {citation.path for citation in result.answer.checked.citations}
    library = reading.library
    assert library is not None
    wait_until(lambda: not library.is_updating, "the update has ended")
    assert library.vault.note_count == 5
    assert library.vault.indexed_at is not None
    assert {note.state for note in reading.notes()} == {"indexed"}
    assert reading.search("barrel", 1).hits
    (small_vault / "Watering.md").write_text("# Watering\n\nBy hand.\n", "utf-8")
    assert "By hand." in reading.read_note("Watering.md").text
    chat = reading.history.transcript(result.session)
    question, answer = chat.items
    assert isinstance(question, UserItem)
    assert isinstance(answer, AnswerItem)
    assert chat.title == "How many litres does the barrel hold?"
    assert answer.answer.checked.citations == result.answer.checked.citations
    assert reading.search("barrel", 1).hits == ()  # no note holds the word any more


def test_a_folder_that_another_process_indexes_is_searched_with_a_warning(
    reading: Assistant, small_vault: Path
) -> None:
    library = reading.library
    assert library is not None
    with closing(Vault(small_vault.resolve(), library.vault.index_dir)) as other:
        other.update()
        events = ask(reading, "How many litres does the barrel hold?")
    assert any(isinstance(event, Warned) for event in events)
    result = result_of(events)
    assert result.answer.checked.citations
    assert any("indexed before" in warning for warning in result.warnings)


def test_a_question_does_not_wait_for_an_index_that_is_running(reading: Assistant) -> None:
    library = reading.library
    assert library is not None
    is_running, may_end = threading.Event(), threading.Event()

    def hold(_progress: object) -> None:
        is_running.set()
        assert may_end.wait(60)

    update = threading.Thread(target=library.vault.update, args=(hold,))
    update.start()
    assert is_running.wait(60)
    events = ask(reading, "How many litres does the barrel hold?")
    assert update.is_alive()
    assert not any(isinstance(event, IndexProgressed) for event in events)
    may_end.set()
    update.join(60)
    *_, last = reading.index(CancelToken())
    assert isinstance(last, IndexFinished)
    assert last.report.notes == 5


def test_a_question_does_not_wait_for_an_index_that_is_paused_meanwhile(
    reading: Assistant,
) -> None:
    assert reading.library is not None
    asked = reading.ask(Ask("How many litres does the barrel hold?"), CancelToken())
    events: list[Event] = []
    for event in asked:
        events.append(event)
        if isinstance(event, IndexProgressed):
            reading.library.vault.throttle.pause()
    assert result_of(events).answer.end.status == "complete"
    later = ask(reading, "How many litres does the barrel hold?")
    assert not any(isinstance(event, IndexProgressed) for event in later)


def test_a_question_does_not_wait_long_for_what_the_watcher_takes_up(
    reading: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UpdateQueue, "wait_until_idle", lambda _self, _timeout_s: False)
    events = ask(reading, "How many litres does the barrel hold?")
    assert not any(isinstance(event, IndexProgressed) for event in events)


def test_an_index_that_is_stopped_says_how_far_it_came(reading: Assistant) -> None:
    cancel = CancelToken()
    cancel.cancel()
    *_, last = reading.index(cancel)
    assert isinstance(last, IndexFinished)
    assert not last.report.is_complete


def test_whoever_stops_watching_stops_the_index(
    reading: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()

    def update(_self: Vault, progress: object, is_cancelled: object, **_how: object) -> None:
        progress(None)  # type: ignore[operator]
        while not is_cancelled():  # type: ignore[operator]
            stopped.wait(0.001)
        stopped.set()

    monkeypatch.setattr(Vault, "update", update)
    indexing = reading.index(CancelToken())
    next(indexing)
    indexing.close()  # type: ignore[attr-defined]
    assert stopped.wait(60)


def test_a_question_that_does_not_fit_is_refused_with_its_table_and_kept(
    assistant: Assistant,
) -> None:
    with pytest.raises(TurnFailed) as caught:
        ask(assistant, "word " * 200_000, mode="chat")
    info = describe(caught.value)
    assert (info.code, info.is_taken_back) == ("context_overflow", True)
    assert info.context is not None
    (listed,) = assistant.list_sessions()
    assert (listed.session, listed.turns) == (info.session, 0)
    assert listed.title.startswith("word word")
    assert assistant.history.transcript(listed.session).items == ()


def test_a_chat_goes_on_as_before_after_a_question_that_does_not_fit(
    assistant: Assistant, server: ModelServer
) -> None:
    first = result_of(ask(assistant, "One?", mode="chat"))
    for _ in range(2):
        with pytest.raises(TurnFailed):
            ask(assistant, "word " * 200_000, mode="chat", session=first.session)
    path = assistant.sessions.read(str(first.session)).path()
    assert path[-1].id == first.entry
    ask(assistant, "Two?", mode="chat", session=first.session)
    sent = [message["content"] for message in server.bodies[-1]["messages"]]
    assert sent[1:] == ["One?", "Understood.", "Two?"]
    question = assistant.history.transcript(str(first.session)).items[2]
    assert isinstance(question, UserItem)
    assert len(question.siblings) == 3


def test_the_first_question_of_a_chat_may_be_put_again_after_it_did_not_fit(
    assistant: Assistant, server: ModelServer
) -> None:
    with pytest.raises(TurnFailed) as caught:
        ask(assistant, "word " * 200_000, mode="chat")
    session = str(caught.value.session)
    result = result_of(ask(assistant, "One?", mode="chat", session=session))
    assert result.context["layers"]["L4"]["items"] == 0
    assert [info.title for info in assistant.list_sessions()] == ["One?"]


def test_what_was_asked_is_on_the_disk_when_the_first_event_comes(
    reading: Assistant, server: ModelServer
) -> None:
    first = result_of(ask(reading, "One?", attach=("Watering.md",)))
    session, entry = str(first.session), str(first.entry)
    file = reading.sessions.file(session)
    token = CancelToken()
    question = reading.history.transcript(session).items[0]
    assert isinstance(question, UserItem)
    for events in (
        reading.ask(Ask("Two?", session=session, attach=("Watering.md",)), token),
        reading.edit(session, question.entry, "Three?", token),
        reading.regenerate(session, entry, token),
    ):
        stored = next(events)
        assert isinstance(stored, MessageEnded)
        assert stored.entry_id in file.read_text("utf-8")
        assert stored.session == session
        events.close()  # type: ignore[attr-defined]
    texts = [line["content"] for line in lines_of(file) if line["type"] == "message"]
    assert texts == ["One?", "Understood.", "Two?", "Three?"]


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_file_that_is_missing_is_refused_before_anything_is_stored(assistant: Assistant) -> None:
    with pytest.raises(TurnFailed) as caught:
        ask(assistant, "One?", mode="chat", attach=("nowhere.md",))
    assert caught.value.session is None
    assert assistant.list_sessions() == []


def test_a_page_that_cannot_be_fetched_fails_the_turn_and_the_message_is_kept(
    assistant: Assistant,
) -> None:
    with pytest.raises(TurnFailed, match="Only pages in the public Internet") as caught:
        ask(assistant, "One?", mode="chat", attach=("http://127.0.0.1:9/page",))
    (chat,) = assistant.list_sessions()
    assert (chat.session, chat.title) == (caught.value.session, "One?")


def test_an_agent_without_a_model_says_that_it_needs_one(reading: Assistant) -> None:
    with pytest.raises(TurnFailed, match="Agent mode needs a model") as caught:
        ask(reading, "What grows?", mode="agent")
    assert describe(caught.value).code == "bad_request"
    assert reading.list_sessions() == []
    first = result_of(ask(reading, "What grows?"))
    with pytest.raises(TurnFailed, match="Agent mode needs a model"):
        ask(reading, "And what else?", mode="agent", session=first.session)
    assert reading.sessions.read(str(first.session)).path()[-1].id == first.entry


def test_an_empty_question_is_refused(assistant: Assistant) -> None:
    with pytest.raises(TurnFailed) as caught:
        ask(assistant, " ", mode="chat")
    assert isinstance(caught.value.reason, InvalidRequest)


def test_a_chat_that_is_gone_is_no_chat_to_go_on_with(assistant: Assistant) -> None:
    with pytest.raises(TurnFailed) as caught:
        ask(assistant, "x", mode="chat", session="nothere")
    assert isinstance(caught.value.reason, SessionMissing)
    assert caught.value.session is None


def test_a_chat_in_use_can_be_read_and_previewed(assistant: Assistant, server: ModelServer) -> None:
    first = result_of(ask(assistant, "One?", mode="chat"))
    server.script(Answer("Slow. " * 40, stall_after=6))
    cancel = CancelToken()
    running = assistant.ask(Ask("Two?", "chat", session=first.session), cancel)
    assert any(isinstance(event, TextDelta) for event in running)
    with pytest.raises(TurnFailed, match="in use"):
        ask(assistant, "Three?", mode="chat", session=first.session)
    assert len(assistant.history.transcript(first.session).items) == 3
    assert assistant.preview(first.session, "Three?", "chat")["layers"]["L4"]["items"] == 2
    cancel.cancel()
    assert result_of(list(running)).answer.end.status == "interrupted"
    assert ask(assistant, "Three?", mode="chat", session=first.session, dry_run=True)


def test_whoever_stops_watching_an_answer_keeps_what_had_arrived(
    assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("Slow. " * 40, stall_after=6), Answer("On."))
    running = assistant.ask(Ask("One?", "chat"), CancelToken())
    while type(next(running)).__name__ != "TextDelta":
        pass
    running.close()  # type: ignore[attr-defined]
    (chat,) = assistant.list_sessions()
    answer = assistant.history.transcript(chat.session).items[1]
    assert isinstance(answer, AnswerItem)
    assert answer.text.startswith("Slow.")
    assert answer.answer.end.status == "interrupted"
    assert result_of(ask(assistant, "Two?", mode="chat", session=chat.session)).answer.text == "On."


def test_a_preview_stores_nothing_and_follows_the_threshold(assistant: Assistant) -> None:
    small = assistant.preview(None, "A question", "chat", changes={"autoCompactThreshold": 4_000})
    large = assistant.preview(None, "A question", "chat")
    assert (small["threshold"], large["threshold"]) == (4_000, 128_000)
    assert small["budget"] < large["budget"]
    assert small["session"] is None
    assert small["used"] == large["used"]
    assert assistant.list_sessions() == []


def test_a_preview_goes_on_in_the_mode_of_the_last_turn(
    assistant: Assistant, reading: Assistant
) -> None:
    chat = result_of(ask(assistant, "One?", mode="chat")).session
    notes = result_of(ask(assistant, "One?", update_index=False)).session
    sizes = {
        session: assistant.preview(session)["layers"]["L1"]["tokens"] for session in (chat, notes)
    }
    assert sizes[chat] == assistant.preview(chat, mode="chat")["layers"]["L1"]["tokens"]
    assert sizes[notes] == assistant.preview(None)["layers"]["L1"]["tokens"]
    assert sizes[chat] != sizes[notes]


def test_a_preview_over_the_budget_has_the_table(assistant: Assistant) -> None:
    with pytest.raises(ContextOverflow) as caught:
        assistant.preview(None, "word " * 9_000, "chat", changes={"autoCompactThreshold": 4_000})
    assert caught.value.report is not None


def test_models_are_none_the_one_that_is_set_and_those_served(
    assistant: Assistant, server: ModelServer
) -> None:
    names = {choice.name: choice for choice in assistant.model_setup.list_choices()}
    assert list(names) == ["extractive", "gpt-4o", "scripted"]
    assert names["gpt-4o"].is_set
    assert {choice.where for choice in names.values()} == {"this computer"}


def test_a_service_has_its_key_and_a_server_of_ones_own_the_one_for_its_address(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assistant.model_setup.key_provider("openai/gpt-4o") == "openai"
    assert assistant.model_setup.key_provider("extractive") is None
    assert not assistant.model_setup.has_key("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    assert assistant.model_setup.has_key("openai")
    assistant.settings.set("chat.apiBase", "http://127.0.0.1:1/v1")
    assert assistant.model_setup.key_provider("openai/gpt-4o") == "http://127.0.0.1:1"
    assert not assistant.model_setup.has_key("http://127.0.0.1:1")


def test_what_is_attached_is_sent_whole_and_then_carried_forward(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    note = (small_vault / "Watering.md").read_text("utf-8")
    first = result_of(ask(reading, "What is it?", mode="chat", attach=("Watering.md",)))
    sent = server.bodies[0]["messages"][-1]["content"][0]["text"]
    assert sent.startswith('<source n="1"')
    assert note.splitlines()[-1] in sent
    ask(reading, "And now?", mode="chat", session=first.session)
    carried, question = server.bodies[1]["messages"][-1]["content"]
    assert carried["text"].startswith('<prior_context source="Watering.md" type="note">')
    assert question["text"] == "And now?"


def test_a_changed_note_is_carried_forward_at_its_new_version_and_a_private_one_not(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    session = result_of(ask(reading, "One?", mode="chat", attach=("Watering.md",))).session
    (small_vault / "Watering.md").write_text("By hand.\n", "utf-8")
    ask(reading, "Two?", mode="chat", session=session)
    (small_vault / "Watering.md").write_text("By night. #private\n", "utf-8")
    ask(reading, "Three?", mode="chat", session=session)
    second, third = (body["messages"][-1]["content"][0]["text"] for body in server.bodies[1:])
    assert "By hand." in second
    assert "By night." not in third
    assert "now excluded" in third


def test_a_chat_with_attachments_stays_a_chat(reading: Assistant, server: ModelServer) -> None:
    session = result_of(ask(reading, "One?", mode="chat", attach=("Watering.md",))).session
    last = reading.history.read_last_context(session)
    assert last is not None
    after = reading.preview(session)["layers"]["L1"]["tokens"]
    assert after == last["layers"]["L1"]["tokens"]


def test_a_refused_attachment_leaves_no_chat(reading: Assistant) -> None:
    with pytest.raises(TurnFailed) as failure:
        ask(reading, "One?", mode="chat", attach=("Nothing.md",))
    info = describe(failure.value)
    assert (info.code, info.session) == ("not_found", None)
    assert reading.list_sessions() == []


def test_what_an_agent_read_can_be_opened_from_its_answer_later(
    reading: Assistant, server: ModelServer
) -> None:
    calls = (("c1", "read_note", '{"path": "Watering.md"}'),)
    server.script(Answer(calls=calls, text=""), Answer("By hand [1]. Never [9]."))
    session = result_of(ask(reading, "How?", mode="agent", update_index=False)).session
    again = build(Paths.find())
    answer = again.history.transcript(str(session)).items[-1]
    assert isinstance(answer, AnswerItem)
    assert [source.source for source in answer.answer.sources] == ["Watering.md"]
    assert [(c.n, c.path) for c in answer.answer.checked.citations] == [(1, "Watering.md")]
    assert [claim.n for claim in answer.answer.checked.unverified] == [9]
    (step,) = answer.answer.steps
    assert (step.name, step.status, step.ref_id) == ("read_note", "ok", None)
    assert step.text.startswith("<source")
    assert reading.preview(session)["layers"]["T"]["tokens"] > 0
    again.close()


def test_text_that_was_escaped_for_the_prompt_is_shown_as_it_is_written(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "Barrel.md").write_text("The barrel is full if level < 3 & tap > 1.\n", "utf-8")
    server.script(Answer("It is full if level &lt; 3 &amp; tap &gt; 1 [1].", chunk_chars=3))
    events = list(ask(reading, "barrel level tap", attach=("Barrel.md",), mode="chat"))
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown == result_of(events).answer.text == "It is full if level < 3 & tap > 1 [1]."


def test_an_answer_of_a_model_without_a_citation_has_a_warning(
    reading: Assistant, server: ModelServer
) -> None:
    server.script(Answer("Before eight."), Answer("Before eight [1]."))
    said, cited = (result_of(ask(reading, "When to water the beds?")) for _ in range(2))
    assert said.warnings == ("This answer cites no note.",)
    assert cited.warnings == ()
