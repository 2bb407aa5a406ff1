"""A chat as a tree: asked in other words, answered anew, copied, named, with pinned messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import (
    InvalidRequest,
    NotFound,
    SessionBusy,
    SessionMissing,
    StorageFailed,
    TurnFailed,
    describe,
)
from app.sessions.branches import SummaryDraft
from app.sessions.session import Session
from app.sessions.transcript import AnswerItem, CustomItem, UserItem
from chains.cancel import CancelToken
from chains.events import AskResult, CompactionEnded, Warned
from chains.request.ask import Selection
from context.errors import BadPin
from context.log.entries import BranchSummaryEntry
from tests.support.models.model_server import Answer, Body, Failure, ModelServer
from tests.support.sessions.turns import ask, result_of


def chat(assistant: Assistant, *questions: str, **fields: Any) -> list[AskResult]:
    """Ask one question after the other in one chat."""
    results: list[AskResult] = []
    for question in questions:
        session = results[-1].session if results else None
        fields = {"mode": "chat", **fields}
        results.append(result_of(ask(assistant, question, session=session, **fields)))
    return results


def shown(assistant: Assistant, session: str | None) -> list[str]:
    assert session is not None
    items = assistant.history.transcript(session).items
    return [item.text for item in items if isinstance(item, UserItem | AnswerItem | CustomItem)]


def question_of(assistant: Assistant, session: str | None, at: int = 0) -> UserItem:
    assert session is not None
    items = [i for i in assistant.history.transcript(session).items if isinstance(i, UserItem)]
    return items[at]


def answer_of(assistant: Assistant, session: str | None, at: int = -1) -> AnswerItem:
    assert session is not None
    items = [i for i in assistant.history.transcript(session).items if isinstance(i, AnswerItem)]
    return items[at]


def texts(body: Body) -> list[Any]:
    """The texts of a request behind its system message; parts where messages were merged."""
    return [m["content"] for m in body["messages"][1:]]


def sent(server: ModelServer) -> list[bytes]:
    """The bytes of each chat request."""
    return [received.raw for received in server.received if received.body]


def edit(assistant: Assistant, session: str, entry: str, text: str, **fields: Any) -> AskResult:
    return result_of(assistant.edit(session, entry, text, CancelToken(), **fields))


def regenerate(assistant: Assistant, session: str, entry: str) -> AskResult:
    return result_of(assistant.regenerate(session, entry, CancelToken()))


def test_a_question_can_follow_any_entry(assistant: Assistant, server: ModelServer) -> None:
    one, _ = chat(assistant, "One?", "Two?")
    result_of(ask(assistant, "Other?", mode="chat", session=one.session, parent=one.entry))
    assert texts(server.bodies[2]) == ["One?", "Understood.", "Other?"]
    assert shown(assistant, one.session) == ["One?", "Understood.", "Other?", "Understood."]


def test_an_entry_of_usage_stands_for_the_answer_that_it_belongs_to(
    assistant: Assistant, server: ModelServer
) -> None:
    one, _ = chat(assistant, "One?", "Two?")
    session = str(one.session)
    used = assistant.sessions.read(session).usage()[0].id
    assert shown(assistant, assistant.branches.fork(session, used)) == ["One?", "Understood."]
    result_of(ask(assistant, "Other?", mode="chat", session=session, parent=used))
    assert texts(server.bodies[2]) == ["One?", "Understood.", "Other?"]
    assistant.branches.select_leaf(session, assistant.sessions.read(session).usage()[1].id)
    assert shown(assistant, session)[2] == "Two?"
    last = assistant.history.read_last_context(session, full=True, entry=used)
    assert last is not None
    assert last["request_body"]["messages"][-1]["content"] == "One?"
    again = regenerate(assistant, session, used)
    assert texts(server.bodies[3]) == ["One?"]
    assert again.answer.text == "Understood."


def test_an_entry_that_is_not_there_is_not_found(assistant: Assistant, server: ModelServer) -> None:
    (one,) = chat(assistant, "One?")
    for session in (one.session, None):
        with pytest.raises(TurnFailed) as failure:
            ask(assistant, "Two?", mode="chat", session=session, parent="ffffffff")
        info = describe(failure.value)
        assert info.code == "not_found"
        assert "ffffffff" in info.message
    assert len(server.bodies) == 1


def test_an_edited_question_stands_beside_the_first(
    assistant: Assistant, server: ModelServer
) -> None:
    one, _ = chat(assistant, "One?", "Two?")
    session = str(one.session)
    first = question_of(assistant, session)
    edited = edit(assistant, session, first.entry, "Uno?")
    assert texts(server.bodies[2]) == ["Uno?"]
    now = question_of(assistant, session)
    assert now.siblings == (first.entry, now.entry)
    assert now.mode == "chat"
    assert edited.turn not in (one.turn, None)
    assert shown(assistant, session) == ["Uno?", "Understood."]


def test_an_edited_question_takes_what_was_attached_along(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    (one,) = chat(reading, "One?", attach=("Watering.md", "garden/Tomatoes.md"))
    session = str(one.session)
    (small_vault / "Watering.md").write_text("By hand.\n", "utf-8")
    (small_vault / "garden/Tomatoes.md").unlink(missing_ok=True)
    events = list(reading.edit(session, question_of(reading, session).entry, "Uno?", CancelToken()))
    sent = server.bodies[1]["messages"][-1]["content"]
    assert "By hand." in sent[0]["text"]
    assert "garden/Tomatoes.md" not in sent[0]["text"]
    assert question_of(reading, session).attach == ("Watering.md",)
    (warning,) = [event.message for event in events if isinstance(event, Warned)]
    assert "garden/Tomatoes.md is not attached again" in warning
    assert warning in result_of(events).warnings


@pytest.mark.parametrize("is_named", [True, False])
def test_a_hidden_file_of_an_older_chat_is_attached_again(
    reading: Assistant, server: ModelServer, small_vault: Path, is_named: bool
) -> None:
    """Older versions recorded hidden files without a mark, or only in the segments."""
    hidden, near = small_vault / ".env", small_vault / "garden" / ".netrc"
    hidden.write_text("KEY=1\nKEY=2\n")
    near.write_text("KEY=3\n")
    lines = (Selection(f"hidden:{hidden}", 1, 1),)
    (one,) = chat(reading, "One?", attach=(f"hidden:{near}", "Watering.md"), selections=lines)
    session = str(one.session)
    file = reading.sessions.file(session)
    text = file.read_text("utf-8")
    if is_named:
        text = text.replace(f"hidden:{near}", "garden/.netrc").replace("hidden:", "")
    else:
        text = text.replace('"attach"', '"x-attach"').replace('"selections"', '"x-selections"')
    file.write_text(text, "utf-8")
    events = list(reading.edit(session, question_of(reading, session).entry, "Uno?", CancelToken()))
    assert [event for event in events if isinstance(event, Warned)] == []
    again = json.dumps(server.bodies[1])
    assert ("KEY=1" in again, "KEY=2" in again, "KEY=3" in again) == (True, False, True)
    now = question_of(reading, session)
    assert all(each.startswith("hidden:") for each in now.attach if each != "Watering.md")
    assert [s.path for s in now.selections] == [f"hidden:{hidden}"]


def test_a_new_answer_stands_beside_the_first_and_answers_the_same_request(
    assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("First."), Answer("Second."), Answer("Third."), Answer("Fourth."))
    one, two = chat(assistant, "One?", "Two?")
    session = str(one.session)
    again = regenerate(assistant, session, str(two.entry))
    assert again.turn == two.turn
    assert sent(server)[2] == sent(server)[1]
    answer = answer_of(assistant, session)
    assert (answer.text, answer.siblings) == ("Third.", (two.entry, again.entry))
    assert again.context["prefix"]["changed"] is False
    result_of(ask(assistant, "Three?", mode="chat", session=session))
    assert texts(server.bodies[3])[-2:] == ["Third.", "Three?"]


def test_a_question_without_an_answer_is_answered(
    assistant: Assistant, server: ModelServer
) -> None:
    (one,) = chat(assistant, "One?")
    session = str(one.session)
    question = question_of(assistant, session)
    again = regenerate(assistant, session, question.entry)
    assert answer_of(assistant, session).siblings == (one.entry, again.entry)


def test_a_new_answer_is_given_the_passages_of_the_first(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    first = result_of(ask(reading, "How many litres does the barrel hold?"))
    (small_vault / "garden/Tomatoes.md").write_text(
        "# Barrel\n\nThe barrel holds litres.\n", "utf-8"
    )
    again = regenerate(reading, str(first.session), str(first.entry))
    assert sent(server)[1] == sent(server)[0]
    assert again.mode == "vault"


def test_a_new_answer_sees_a_note_as_it_is_now_and_no_excluded_one(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    (one,) = chat(reading, "One?", attach=("Watering.md", "garden/Tomatoes.md"))
    (small_vault / "Watering.md").write_text("By hand.\n", "utf-8")
    (small_vault / "garden/Tomatoes.md").write_text("Secret. #private\n", "utf-8")
    again = regenerate(reading, str(one.session), str(one.entry))
    sent = server.bodies[1]["messages"][-1]["content"][0]["text"]
    assert "By hand." in sent
    assert "Tomatoes" not in sent
    assert any("Tomatoes.md is gone or excluded" in warning for warning in again.warnings)
    assert [s.source for s in answer_of(reading, one.session).answer.sources] == ["Watering.md"]
    ask(reading, "Two?", mode="chat", session=one.session)
    assert "By hand." in server.bodies[2]["messages"][-1]["content"][0]["text"]


def test_choosing_a_branch_goes_on_at_its_end(assistant: Assistant, server: ModelServer) -> None:
    one, two = chat(assistant, "One?", "Two?")
    session = str(one.session)
    first = question_of(assistant, session).entry
    edit(assistant, session, first, "Uno?")
    assistant.branches.select_leaf(session, first)
    assert assistant.sessions.read(session).path()[-1].id == two.entry
    chat_now = shown(assistant, session)
    assert chat_now == ["One?", "Understood.", "Two?", "Understood."]
    ask(assistant, "Three?", mode="chat", session=session)
    assert texts(server.bodies[3])[::2] == ["One?", "Two?", "Three?"]
    with pytest.raises(NotFound):
        assistant.branches.select_leaf(session, "ffffffff")


def test_a_branch_is_chosen_in_a_chat_whose_first_question_was_taken_back(
    assistant: Assistant, server: ModelServer
) -> None:
    """The search finds such a question too, and opens it."""
    (one,) = chat(assistant, "One?")
    session = str(one.session)
    first = question_of(assistant, session).entry
    with assistant.sessions.open(session) as opened:
        assert opened.take_back(None)
    assistant.branches.show_entry(session, first)
    assert shown(assistant, session) == ["One?", "Understood."]


def test_an_empty_chat_is_not_compacted(assistant: Assistant, server: ModelServer) -> None:
    (one,) = chat(assistant, "One?")
    session = str(one.session)
    with assistant.sessions.open(session) as opened:
        opened.take_back(None)
    *_, ended = assistant.compaction.compact(session, "", None, CancelToken())
    *_, draft = assistant.compaction.draft(session, CancelToken())
    assert isinstance(ended, CompactionEnded)
    assert isinstance(draft, SummaryDraft)
    assert (ended.result["by"], draft.report.by, draft.leaf) == ("none", "none", None)
    assert server.bodies[1:] == []


def test_what_the_model_saw_of_an_older_answer(assistant: Assistant, server: ModelServer) -> None:
    server.script(Answer("First."), Answer("Second."), Answer("Third."))
    one, two = chat(assistant, "One?", "Two?")
    session = str(one.session)
    again = regenerate(assistant, session, str(two.entry))
    bodies = {}
    for entry in (one.entry, two.entry, again.entry):
        found = assistant.history.read_last_context(session, True, entry)
        assert found is not None
        bodies[entry] = (
            found["rebuilt"],
            [m["content"] for m in found["request_body"]["messages"]],
        )
    assert bodies[one.entry] == (False, ["One?"])
    assert bodies[again.entry] == (False, ["One?", "First.", "Two?"])
    assert bodies[two.entry] == (True, ["One?", "First.", "Two?"])


def test_a_copy_is_a_chat_of_its_own(assistant: Assistant, server: ModelServer) -> None:
    one, _ = chat(assistant, "One?", "Two?")
    session = str(one.session)
    assistant.branches.label(session, str(one.entry), "the good one")
    copy = assistant.branches.fork(session, str(one.entry))
    assert assistant.sessions.read(copy).header.branched_from == session
    assert shown(assistant, copy) == ["One?", "Understood."]
    assert answer_of(assistant, copy).label == "the good one"
    assert assistant.sessions.read(copy).usage()
    ask(assistant, "Else?", mode="chat", session=copy)
    assert texts(server.bodies[2]) == ["One?", "Understood.", "Else?"]
    assert shown(assistant, session)[2] == "Two?"


def test_of_a_copy_that_cannot_be_written_nothing_is_left(
    assistant: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entries were written, and the disk was full at the title: half a copy was listed."""
    one, _ = chat(assistant, "One?", "Two?")
    session, kept = str(one.session), assistant.sessions.sent.list_notes().requests
    assert kept

    def fail(*_arguments: object) -> None:
        raise StorageFailed("The disk is full.")

    monkeypatch.setattr("app.sessions.branches.write_title", fail)
    with pytest.raises(StorageFailed):
        assistant.branches.fork(session)
    assert [info.session for info in assistant.sessions.list()] == [session]
    assert assistant.sessions.bin.list_chats() == []
    assert assistant.sessions.sent.list_notes().requests == kept


def test_a_chat_that_another_program_has_begun_under_the_id_of_a_copy_stays(
    assistant: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = chat(assistant, "One?")[0], chat(assistant, "Two?")[0]
    store, other = assistant.sessions, assistant.sessions.file(str(two.session)).read_bytes()
    create, made = store.create, list[str]()

    def begin_elsewhere(*arguments: Any) -> Session:
        copy = create(*arguments)
        store.file(copy.id).write_bytes(other)
        made.append(copy.id)
        return copy

    monkeypatch.setattr(store, "create", begin_elsewhere)
    with pytest.raises(SessionBusy):
        assistant.branches.fork(str(one.session))
    assert store.file(made[0]).read_bytes() == other


def test_copies_can_be_told_apart_by_their_titles(
    assistant: Assistant, server: ModelServer
) -> None:
    one, _ = chat(assistant, "One?", "Two?")
    session = str(one.session)
    first = assistant.branches.fork(session, str(one.entry))
    second = assistant.branches.fork(session)
    third = assistant.branches.fork(first)
    assistant.branches.rename(session, "x " * 60)
    long = assistant.branches.fork(session)
    titles = {info.session: info.title for info in assistant.sessions.list()}
    assert titles[first] == "Fork of One?"
    assert titles[second] == "Fork 2 of One?"
    assert titles[third] == "Fork 3 of One?"
    assert titles[long].startswith("Fork of x x")
    assert len(titles[long]) <= 80
    assistant.branches.rename(third, "")
    assert assistant.sessions.info(third).title == "One?"


def test_a_name_is_put_on_an_entry_and_taken_off(assistant: Assistant, server: ModelServer) -> None:
    (one,) = chat(assistant, "One?")
    session = str(one.session)
    assistant.branches.label(session, str(one.entry), " the\ngood one ")
    assert answer_of(assistant, session).label == "the good one"
    assistant.branches.label(session, str(one.entry), "")
    assert answer_of(assistant, session).label == ""
    with pytest.raises(NotFound):
        assistant.branches.label(session, "ffffffff", "x")


def test_a_message_of_a_program_is_read_by_the_model_and_shown_if_it_wants(
    assistant: Assistant, server: ModelServer
) -> None:
    (one,) = chat(assistant, "One?")
    session = str(one.session)
    entry = assistant.branches.send_message(session, "weather", "It rains.")
    assistant.branches.send_message(session, "weather", "It snows.", display=False)
    assert shown(assistant, session) == ["One?", "Understood.", "It rains."]
    assert assistant.sessions.read(session).path()[-2].id == entry
    ask(assistant, "Two?", mode="chat", session=session)
    (sent,) = texts(server.bodies[1])[2:]
    assert [part["text"] for part in sent] == ["It rains.", "It snows.", "Two?"]


def test_what_is_no_question_cannot_be_edited(assistant: Assistant, server: ModelServer) -> None:
    (one,) = chat(assistant, "One?")
    with pytest.raises(TurnFailed, match="is not a question") as failure:
        edit(assistant, str(one.session), str(one.entry), "Uno?")
    assert isinstance(failure.value.reason, InvalidRequest)
    assert len(server.bodies) == 1


def test_what_is_no_answer_cannot_be_given_anew(assistant: Assistant, server: ModelServer) -> None:
    (one,) = chat(assistant, "One?")
    rain = assistant.branches.send_message(str(one.session), "weather", "It rains.")
    with pytest.raises(TurnFailed, match="is not an answer"):
        regenerate(assistant, str(one.session), rain)
    assert len(server.bodies) == 1


def test_a_chat_from_a_later_version_goes_on_as_a_copy_of_what_is_known(
    assistant: Assistant, server: ModelServer
) -> None:
    one, two = chat(assistant, "One?", "Two?")
    session = str(one.session)
    file = assistant.sessions.file(session)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    later = next(at for at, line in enumerate(lines) if line.get("id") == two.entry)
    lines[later]["schemaVersion"] = 7
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with pytest.raises(TurnFailed, match="schemaVersion 7, which is not known"):
        ask(assistant, "Three?", mode="chat", session=session)
    with pytest.raises(InvalidRequest, match="schemaVersion 7, which is not known"):
        assistant.branches.fork(session, str(two.entry))
    copy = assistant.branches.fork(session)
    assert shown(assistant, copy) == ["One?", "Understood.", "Two?"]
    ask(assistant, "Three?", mode="chat", session=copy)
    assert texts(server.bodies[2])[::2] == ["One?", "Two?", "Three?"]


def left_branch(assistant: Assistant, server: ModelServer) -> tuple[str, str]:
    """Make a chat that has left a branch; return it with the last entry of that branch."""
    server.script(Answer("Beans in May."), Answer("Peas in March."), Answer("They sow in spring."))
    one = chat(assistant, "When beans?")[0]
    session = str(one.session)
    edit(assistant, session, question_of(assistant, session).entry, "When peas?")
    return session, str(one.entry)


def test_a_branch_that_was_left_is_summed_up_on_request(
    assistant: Assistant, server: ModelServer
) -> None:
    session, entry = left_branch(assistant, server)
    summary = assistant.branches.summarise_branch(session, entry, CancelToken())
    assert summary == "They sow in spring."
    asked = str(server.bodies[2]["messages"])
    assert "When beans?" in asked
    assert "When peas?" not in asked
    log = assistant.sessions.read(session)
    kept = log.log.entries[-1]
    assert isinstance(kept, BranchSummaryEntry)
    assert [usage.purpose for usage in log.usage()] == ["answer", "answer", "summary"]
    assert (kept.from_id, kept.summary) == (entry, summary)
    assert shown(assistant, session) == ["When peas?", "Peas in March."]
    with pytest.raises(InvalidRequest, match="goes on with"):
        assistant.branches.summarise_branch(session, log.path()[-1].id, CancelToken())


def test_with_no_model_set_a_branch_becomes_an_outline_whoever_answered(
    assistant: Assistant, server: ModelServer
) -> None:
    session, entry = left_branch(assistant, server)
    assistant.settings.set("chat.model", "extractive")
    before = len(server.received)
    assert "When beans?" in assistant.branches.summarise_branch(session, entry, CancelToken())
    assert len(server.received) == before
    chosen = assistant.branches.summarise_branch(session, entry, CancelToken(), model="gpt-4o")
    assert chosen == "They sow in spring."


def test_without_a_model_a_branch_is_summed_up_in_its_own_words(
    assistant: Assistant, server: ModelServer
) -> None:
    session, entry = left_branch(assistant, server)
    server.script(Failure(400))
    assert "When beans?" in assistant.branches.summarise_branch(session, entry, CancelToken())


def test_the_entry_before_another_is_found(assistant: Assistant, server: ModelServer) -> None:
    (asked,) = chat(assistant, "One?")
    question, answer = question_of(assistant, asked.session), answer_of(assistant, asked.session)
    assert asked.session is not None
    assert assistant.history.find_entry_before(asked.session, answer.entry) == question.entry
    first = assistant.sessions.read(asked.session).path()[0].id
    with pytest.raises(NotFound, match="Nothing stands before"):
        assistant.history.find_entry_before(asked.session, first)


@pytest.fixture
def long_chat(assistant: Assistant, server: ModelServer) -> str:
    """A chat with one turn, whose answer is far longer than its question."""
    server.script(Answer("The river rises in spring. " * 400))
    asked = result_of(ask(assistant, "When does the river rise?", mode="chat"))
    assert asked.session is not None
    return asked.session


def list_items(assistant: Assistant, session: str) -> tuple[UserItem, AnswerItem]:
    question, answer = assistant.history.transcript(session).items
    assert isinstance(question, UserItem)
    assert isinstance(answer, AnswerItem)
    return question, answer


def test_a_pinned_message_says_so_and_is_in_the_report(
    assistant: Assistant, long_chat: str
) -> None:
    question, _ = list_items(assistant, long_chat)
    assistant.branches.pin(long_chat, question.entry, True)
    assert [item.is_pinned for item in list_items(assistant, long_chat)] == [True, False]
    (pin,) = assistant.preview(long_chat)["pins"]
    assert (pin["target"], pin["source"]) == (question.entry, "this chat")
    assert pin["tokens"] > 0


def test_a_pin_can_be_taken_off(assistant: Assistant, long_chat: str) -> None:
    question, _ = list_items(assistant, long_chat)
    assistant.branches.pin(long_chat, question.entry, True)
    assistant.branches.pin(long_chat, question.entry, False)
    assert not list_items(assistant, long_chat)[0].is_pinned
    assert assistant.preview(long_chat)["pins"] == []


def test_pins_take_no_more_than_a_quarter_of_the_budget(
    assistant: Assistant, long_chat: str
) -> None:
    _, answer = list_items(assistant, long_chat)
    assistant.settings.set("autoCompactThreshold", 4_000)
    with pytest.raises(BadPin, match="may use") as refused:
        assistant.branches.pin(long_chat, answer.entry, True)
    assert describe(refused.value).code == "bad_request"
    assert not list_items(assistant, long_chat)[1].is_pinned


def test_what_is_not_in_the_chat_cannot_be_pinned(assistant: Assistant, long_chat: str) -> None:
    with pytest.raises(BadPin, match="nothing to pin"):
        assistant.branches.pin(long_chat, "ffffffff", True)


def test_a_chat_that_is_not_there_has_no_pins(assistant: Assistant) -> None:
    with pytest.raises(SessionMissing):
        assistant.branches.pin("20260101-000000-aaaaaa", "ffffffff", True)


def test_a_chat_that_another_process_deletes_for_good_while_it_is_copied_leaves_no_copy(
    assistant: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requests of its answers were removed: seed 3091 of the simulator."""
    (result,) = chat(assistant, "How much?")

    def name_fork(session: str, _infos: object) -> str:
        assistant.sessions.delete_for_good(session)
        return "Copy"

    monkeypatch.setattr("app.sessions.branches.name_fork", name_fork)
    assert result.session is not None
    with pytest.raises(SessionMissing):
        assistant.branches.fork(result.session)
    assert assistant.list_sessions() == []
    assert assistant.sessions.bin.list_chats() == []
