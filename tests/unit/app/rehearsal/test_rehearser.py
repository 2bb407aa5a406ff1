"""An answer is asked again without some of what the model saw, at the wire."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest, SessionBusy
from app.rehearsal.rehearse import CONTINUED
from app.rehearsal.result import EachResult, RehearsalProgress, RehearsalResult
from app.spending import LimitQuestion
from chains.cancel import CancelToken
from chains.errors import Cancelled, ModelError, Offline, SpendingLimitReached
from chains.events import AskResult, Mode, TextDelta
from chains.request.ask import Ask
from context.log.entries import MessageEntry
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.models.priced_models import charge_for_calls
from tests.support.sessions.turns import result_of
from tests.unit.app.rpc.test_backup import request
from tests.unit.app.rpc.test_server import Caller
from tests.unit.app.time_machine.test_time_machine import PNG

NOTES = {
    "Barrel.md": "# Barrel\nThe barrel behind the shed holds 210 litres of rain.\n",
    "Copy.md": "# Old list\nThe barrel behind the shed holds 210 litres of rain.\n",
    "Beds.md": "# Barrel and beds\nThe beans beside the barrel need 5 litres of rain a day.\n",
    "Weather.md": "# Barrel and rain\nThere was more rain than the barrel could take in May.\n",
}
QUESTION = "What do the notes say about the barrel, the rain and the litres?"
FACTS = (
    "The barrel behind the shed holds 210 litres of rain.",
    "The beans beside the barrel need 5 litres of rain a day.",
)


@pytest.fixture
def notes(assistant: Assistant, tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text)
    (vault / "Plan.png").write_bytes(PNG)
    assistant.settings.set("retrieval.rewrite", False)
    assistant.open_vault(vault, remember=False)
    assistant.agents.connect(None, "all")
    return vault


def answer_facts(body: dict[str, Any]) -> Answer:
    """Answer with each fact that is in the last message, as a model that only reads its sources."""
    said = json.dumps(body["messages"][-1])
    return Answer(" ".join(fact for fact in FACTS if fact in said) or "Nothing is said of it.")


def ask(assistant: Assistant, question: str = QUESTION, mode: Mode = "vault", **fields: Any) -> Any:
    return result_of(list(assistant.ask(Ask(question, mode, **fields), CancelToken())))


def rehearse(assistant: Assistant, result: AskResult, *keys: str) -> RehearsalResult:
    *_, last = assistant.rehearser.ask(result.session, result.entry, keys, CancelToken())
    assert isinstance(last, RehearsalResult)
    return last


def rehearse_each(assistant: Assistant, result: AskResult) -> EachResult:
    *_, last = assistant.rehearser.ask_each(result.session, result.entry, CancelToken())
    assert isinstance(last, EachResult)
    return last


def list_calls(assistant: Assistant, result: AskResult, cancel: CancelToken) -> Iterator[object]:
    """Yield the progress before each call, and the result. The text that arrives is left out."""
    for event in assistant.rehearser.ask_each(result.session, result.entry, cancel):
        if not isinstance(event, TextDelta):
            yield event


def find_key(assistant: Assistant, result: AskResult, source: str) -> str:
    parts = assistant.rehearser.offer(result.session, result.entry).parts
    return next(part.key for part in parts if part.source == source)


def list_raw(server: ModelServer) -> list[str]:
    return [one.raw.decode() for one in server.received if one.path.endswith("/chat/completions")]


def test_the_unchanged_request_is_byte_for_byte_what_was_sent_but_for_its_temperature(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    (notes / "Garden").mkdir()
    (notes / "Garden" / "AGENTS.md").write_text("Answer in short sentences.\n")
    (notes / "Garden" / "Peas.md").write_text("# Peas\nThe peas grow in the north bed.\n")
    assistant.settings.set("chat.temperature", 0.25)
    session, results = "", []
    modes: tuple[Mode, ...] = ("vault", "chat", "project", "agent", "vault")
    place: dict[str, Any] = {"project": str(notes / "Garden")}
    for mode in modes:
        if mode == "agent":
            call = ("c1", "read_note", json.dumps({"path": "Peas.md"}))
            server.script(Answer("", calls=(call,)), Answer("It is the north bed."))
        attach = ("Plan.png", "Barrel.md") if mode == "chat" else ()
        results.append(
            ask(assistant, f"{QUESTION} {mode} “ü” \u2028", mode, attach=attach, **place)
        )
        place = {"session": results[-1].session}
    session = results[-1].session
    list(assistant.compact(session, CancelToken()))
    results.append(ask(assistant, "And the peas?", "vault", session=session))
    raw = list_raw(server)
    for result in results:
        rehearse(assistant, result)
        again = list_raw(server)[-1].replace('"temperature":0.0', '"temperature":0.25')
        assert again in raw
    assert any("data:image/png;base64," in again for again in list_raw(server)[len(raw) :])


def test_the_text_of_an_answer_is_told_as_it_arrives(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    events = list(assistant.rehearser.ask(result.session, result.entry, (), CancelToken()))
    progress, *texts, last = events
    assert isinstance(progress, RehearsalProgress)
    assert isinstance(last, RehearsalResult)
    assert (progress.before, "before" in progress.to_dict()) == (last.before, False)
    assert len(texts) > 1
    assert "".join(one.text for one in texts if isinstance(one, TextDelta)) == last.rehearsal.text


def test_the_body_differs_exactly_by_the_source_that_is_left_out(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    rehearse(assistant, result)
    key = find_key(assistant, result, "Beds.md")
    found = rehearse(assistant, result, key)
    whole, without = list_raw(server)[-2:]
    at = next(at for at, pair in enumerate(zip(whole, without, strict=False)) if len(set(pair)) > 1)
    at = whole.rfind("<source ", 0, at + len("<source "))
    length = len(whole) - len(without)
    assert whole[:at] + whole[at + length :] == without
    gone = json.loads(f'"{whole[at : at + length]}"')
    assert gone.startswith(f'<source n="{key}"')
    assert gone.strip().endswith("</source>")
    assert "need 5 litres" in gone
    assert found.difference.gone == (FACTS[1],)
    assert (found.difference.new, found.difference.same) == ((), 1)


def test_each_source_is_ranked_by_what_falls_without_it_and_copies_are_grouped(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    offer = assistant.rehearser.offer(result.session, result.entry, each=True)
    before = len(list_raw(server))
    found = rehearse_each(assistant, result)
    assert len(list_raw(server)) - before == found.sent <= offer.cost.calls
    table = found.table
    assert (table.noise, table.is_complete, table.untested) == (0, True, ())
    assert sorted(one.names for one in table.ranking) == [("Barrel.md", "Copy.md"), ("Beds.md",)]
    carriers = {one.text: one.carriers for one in table.sentences}
    both = tuple(find_key(assistant, result, name) for name in ("Barrel.md", "Copy.md"))
    assert carriers[FACTS[0]] == (tuple(sorted(both)),)
    assert carriers[FACTS[1]] == ((find_key(assistant, result, "Beds.md"),),)
    assert rehearse_each(assistant, result).sent == 0
    assert assistant.rehearser.offer(result.session, result.entry, each=True).cost.calls == 0


def test_a_rehearsal_is_in_no_later_request_no_version_and_no_transcript(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("The barrel is green."))
    result = ask(assistant)
    before = assistant.sessions.read(result.session)
    server.script(Answer("The barrel is purple."))
    rehearse(assistant, result, "L3")
    after = assistant.sessions.read(result.session)
    assert after.path() == before.path()
    assert after.tree.leaf == before.tree.leaf
    server.script(Answer("Understood."))
    ask(assistant, "And now?", session=result.session)
    assert "purple" not in list_raw(server)[-1]
    told = assistant.history.transcript(result.session)
    assert "purple" not in str(told)
    copy = assistant.branches.fork(result.session, result.entry)
    ask(assistant, "And now?", session=copy)
    assert "purple" not in list_raw(server)[-1]


def test_calls_are_in_the_ledger_with_the_notes_that_were_sent(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant)
    rehearse(assistant, result, find_key(assistant, result, "Beds.md"))
    calls = [one for one in assistant.ledger.list_calls() if one["kind"] == "model"]
    assert calls[-1]["session"] == result.session
    assert set(calls[-1]["notes"]) == {"Barrel.md", "Copy.md", "Weather.md"}
    (usage,) = [
        one for one in assistant.sessions.read(result.session).usage() if one.purpose == "rehearsal"
    ]
    assert usage.prompt_tokens == 100


def test_the_text_of_a_note_that_is_excluded_since_is_not_sent_again(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    assistant.settings.set("vault.exclude", ["Beds.md"])
    offer = assistant.rehearser.offer(result.session, result.entry)
    assert any("not kept any more" in note for note in offer.notes)
    rehearse(assistant, result)
    assert "need 5 litres" not in list_raw(server)[-1]
    assert "holds 210 litres" in list_raw(server)[-1]


def test_what_was_asked_is_kept_when_it_is_stopped_and_it_goes_on_from_there(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    cancel = CancelToken()
    events = list_calls(assistant, result, cancel)
    for event in events:
        assert isinstance(event, RehearsalProgress)
        if event.done == 3:
            cancel.cancel()
            break
    with pytest.raises(Cancelled):
        next(events)
    seen = len(list_raw(server))
    offer = assistant.rehearser.offer(result.session, result.entry, each=True)
    assert len(offer.stored) == 3
    found = rehearse_each(assistant, result)
    assert len(list_raw(server)) - seen == found.sent == found.table.calls - 3


def test_a_server_that_is_not_allowed_is_not_called(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant)
    assistant.settings.set("chat.apiBase", "https://models.invalid/v1")
    assistant.settings.set("privacy.offline", True)
    with pytest.raises(Offline):
        rehearse(assistant, result)
    assert assistant.rehearser.offer(result.session, result.entry).stored == ()


def test_the_model_that_gave_the_answer_is_asked_whatever_is_set_now(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant)
    assistant.settings.set("chat.model", "gpt-4o-mini")
    assert rehearse(assistant, result).rehearsal.model == "gpt-4o"
    assert json.loads(list_raw(server)[-1])["model"] == "gpt-4o"


def test_an_answer_without_a_model_or_without_a_kept_request_is_refused(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    quoted = ask(assistant, model="extractive")
    with pytest.raises(InvalidRequest, match="No model wrote this answer"):
        rehearse(assistant, quoted)
    result = ask(assistant)
    with pytest.raises(InvalidRequest, match="no part 99"):
        assistant.rehearser.offer(result.session, result.entry, ["99"])
    chatted = ask(assistant, "Hello", "chat")
    with pytest.raises(InvalidRequest, match="no sources"):
        rehearse_each(assistant, chatted)
    for file in assistant.paths.sent.glob("*.sent"):
        file.unlink()
    with pytest.raises(InvalidRequest, match="not kept"):
        rehearse(assistant, result)


def test_a_chat_that_is_being_written_to_is_busy_and_nothing_is_sent(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant)
    seen = len(server.received)
    with assistant.sessions.open(result.session), pytest.raises(SessionBusy):
        rehearse(assistant, result)
    assert len(server.received) == seen


def test_a_call_of_a_tool_is_said_and_not_run(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    read = ("c1", "read_note", json.dumps({"path": "Beds.md"}))
    server.script(Answer("", calls=(read,)), Answer("They need 5 litres [1]."))
    result = ask(assistant, mode="agent")
    parts = {
        part.key: part for part in assistant.rehearser.offer(result.session, result.entry).parts
    }
    assert parts["W.1"].kind == "step"
    assert parts["1"].source == "Beds.md"
    write = ("c2", "create_note", json.dumps({"path": "New.md", "text": "x"}))
    server.script(Answer("I write it.", calls=(write,)))
    found = rehearse(assistant, result, "1")
    assert "5 litres" not in list_raw(server)[-1]
    assert found.rehearsal.note.startswith("The model wanted to call a tool")
    assert not (notes / "New.md").exists()


def test_the_spending_limit_is_asked_about_once_for_all_calls_together(
    assistant: Assistant, server: ModelServer, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    charge_for_calls(monkeypatch)
    assistant.settings.set("spending.dayLimit", 0.000001)
    seen, asked = len(list_raw(server)), list[SpendingLimitReached]()

    def allow(question: LimitQuestion) -> None:
        asked.append(question.passed)
        question.answer("send")

    with pytest.raises(SpendingLimitReached, match=r"spent today\. It was not sent\.$"):
        rehearse(assistant, result)
    with pytest.raises(SpendingLimitReached, match=r"^Up to \d+ calls .* They were not sent\.$"):
        rehearse_each(assistant, result)
    assert len(list_raw(server)) == seen
    offer = assistant.rehearser.offer(result.session, result.entry, each=True)
    assistant.spending.connect(allow)
    found = rehearse_each(assistant, result)
    assistant.spending.connect(None)
    (question,) = asked
    assert question.calls == offer.cost.calls > 1
    assert question.most == pytest.approx(offer.cost.price)
    assert len(list_raw(server)) - seen == found.sent > 1


def test_a_rehearsal_that_fits_a_limit_is_not_asked_about(
    assistant: Assistant, server: ModelServer, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    charge_for_calls(monkeypatch)
    offer = assistant.rehearser.offer(result.session, result.entry, each=True)
    assert offer.cost.price
    asked = list[SpendingLimitReached]()

    def stop(question: LimitQuestion) -> None:
        asked.append(question.passed)
        question.answer("stop")

    assistant.spending.connect(stop)
    assistant.settings.set("spending.dayLimit", offer.cost.price * 0.99)
    with pytest.raises(SpendingLimitReached):
        rehearse_each(assistant, result)
    assert [one.calls for one in asked] == [offer.cost.calls]
    assistant.settings.set("spending.dayLimit", offer.cost.price * 1.01)
    assert rehearse_each(assistant, result).sent > 1
    assistant.spending.connect(None)
    assert len(asked) == 1


def test_a_kill_before_an_answer_is_stored_costs_only_that_call_again(
    assistant: Assistant, server: ModelServer, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    before = len(list_raw(server))

    def die(*_args: object) -> None:
        raise KeyboardInterrupt

    events = list_calls(assistant, result, CancelToken())
    assert [next(events), next(events), next(events)]
    with monkeypatch.context() as patch:
        patch.setattr("app.rehearsal.rehearse.store_rehearsal", die)
        with pytest.raises(KeyboardInterrupt):
            next(events)
    assert len(list_raw(server)) - before == 3
    found = rehearse_each(assistant, result)
    assert found.sent == found.table.calls - 2
    assert len(list_raw(server)) - before == found.table.calls + 1


def test_an_answer_that_breaks_off_is_not_stored_and_an_error_keeps_the_rest(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    server.script(answer_facts, Failure(400))
    with pytest.raises(ModelError):
        rehearse_each(assistant, result)
    assert len(assistant.rehearser.offer(result.session, result.entry).stored) == 1
    server.script(Answer("The barrel holds 210 litres", break_after=2))
    with pytest.raises(ModelError):
        rehearse_each(assistant, result)
    assert len(assistant.rehearser.offer(result.session, result.entry).stored) == 1


def test_a_client_sees_the_price_agrees_and_follows_the_progress(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    which = {"session": result.session, "entry": result.entry}
    seen = len(server.received)
    (offer,) = request(assistant, "rehearse", **which, each=True)
    assert (offer["data"]["asked"], offer["data"]["cost"]["calls"]) == (False, 9)
    assert len(server.received) == seen
    *events, found = request(assistant, "rehearse", **which, each=True, agreed=True)
    assert {event["event"] for event in events} == {"rehearsal_progress"}
    assert [event["data"]["done"] for event in events] == list(range(found["data"]["sent"]))
    assert found["data"]["table"]["complete"]
    key = find_key(assistant, result, "Beds.md")
    *_, found = request(assistant, "rehearse", **which, without=[key], agreed=True)
    assert (found["data"]["known"], found["data"]["difference"]["gone"]) == (True, [FACTS[1]])
    (refused,) = request(assistant, "rehearse", **which, without=["99"])
    assert refused["error"]["code"] == "bad_request"


def test_an_image_and_a_summary_of_earlier_turns_are_left_out(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    first = ask(assistant, "What is on the plan?", "chat", attach=("Plan.png",))
    parts = {part.key: part for part in assistant.rehearser.offer(first.session, first.entry).parts}
    image = next(key for key, part in parts.items() if part.kind == "image")
    rehearse(assistant, first, image)
    assert "data:image" not in list_raw(server)[-1]
    server.script(Answer("The shed stands beside the pond of the plan. " * 200))
    ask(assistant, "Tell all of it.", "chat", session=first.session)
    server.script(Answer("Understood."))
    ask(assistant, "And the shed?", "chat", session=first.session)
    server.script(Answer("Summary: the plan shows a pond."))
    list(assistant.compact(first.session, CancelToken()))
    server.script(Answer("Understood."))
    last = ask(assistant, "And now?", "chat", session=first.session)
    assert "shows a pond" in list_raw(server)[-1]
    assert "And the shed?" in list_raw(server)[-1]
    rehearse(assistant, last, "L4.1")
    assert "shows a pond" not in list_raw(server)[-1]
    assert "And now?" in list_raw(server)[-1]


def test_a_note_that_is_excluded_meanwhile_ends_it_and_is_not_sent_again(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    events = list_calls(assistant, result, CancelToken())
    next(events)
    next(events)
    seen = len(list_raw(server))
    assistant.settings.set("vault.exclude", ["Beds.md"])
    with pytest.raises(InvalidRequest, match="changed meanwhile"):
        next(events)
    assert len(list_raw(server)) == seen


def test_a_note_that_is_excluded_since_is_neither_named_nor_quoted_again(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    (notes / "Private").mkdir()
    (notes / "Private" / "My Diary.md").write_text("# Diary\nThe diary says the rain was heavy.\n")
    (notes / "Weather.md").write_text("# Weather\nSee [[My Diary]] and Private/My Diary.md.\n")
    server.script(Answer("My Diary.md says: the diary says the rain was heavy [1]."))
    first = ask(assistant, "What does the diary say of the rain?")
    reads = [
        ("c1", "read_note", json.dumps({"path": "Private/My Diary.md"})),
        ("c2", "read_note", json.dumps({"path": "Weather.md"})),
        ("c3", "read_note", json.dumps({"path": "my diary"})),
    ]
    server.script(Answer("I look.", calls=tuple(reads)), Answer("It was heavy."))
    agent = ask(assistant, "And who else says so?", "agent", session=first.session)
    server.script(Answer("It is as I said."))
    last = ask(assistant, "And Weather.md?", session=first.session)
    assert "Private/My Diary.md" in list_raw(server)[-1]
    assistant.settings.set("vault.exclude", ["Private/**"])
    for result in (first, agent, last):
        rehearse(assistant, result)
        raw = list_raw(server)[-1]
        assert "diary.md" not in raw.casefold().replace("%20", " ")
        assert "[[my diary" not in raw.casefold()
        assert '"my diary' not in raw.casefold().replace("\\", "")
        assert "rain was heavy" not in raw
        assert "Weather.md" in raw
    calls = [one for one in assistant.ledger.list_calls() if one["kind"] == "model"]
    assert not any("Diary" in path for one in calls[-3:] for path in one["notes"])


def test_what_was_left_out_by_hand_changes_neither_the_table_nor_the_price(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(answer_facts)
    result = ask(assistant)
    keys = [part.key for part in assistant.rehearser.offer(result.session, result.entry).parts]
    for some in (["L3"], ["L1"], ["L1", "L3"], sorted({"1", "2"} & set(keys))):
        rehearse(assistant, result, *some)
    offer = assistant.rehearser.offer(result.session, result.entry, each=True)
    found = rehearse_each(assistant, result)
    assert found.sent <= offer.cost.calls
    assert found.table.ranking
    assert all(one.names for one in found.table.ranking)
    assert "L3" not in {key for one in found.table.ranking for key in one.keys}


def test_the_id_of_a_question_means_the_last_answer_of_its_newest_version(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    read = ("c1", "read_note", json.dumps({"path": "Beds.md"}))
    server.script(Answer("I look.", calls=(read,)), Answer("They need 5 litres [1]."))
    result = ask(assistant, mode="agent")
    path = assistant.sessions.read(result.session).path()
    typed = next(one for one in path if isinstance(one, MessageEntry))
    server.script(Answer("Understood."))
    ask(assistant, "And now?", session=result.session)
    offer = assistant.rehearser.offer(result.session, typed.id)
    assert (offer.answer, offer.parts[-1].source) == (result.entry, "Beds.md")
    assert assistant.time_machine.show_then(result.session, typed.id).entry == result.entry


def test_that_only_the_rest_of_a_continued_answer_is_asked_again_is_said(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("The barrel holds 210 litres", break_after=2))
    broken = ask(assistant)
    assert CONTINUED not in assistant.rehearser.offer(broken.session, broken.entry).notes
    server.script(Answer("of rain."))
    rest = result_of(
        list(assistant.runner.continue_answer(broken.session, broken.entry, None, CancelToken()))
    )
    assert CONTINUED in assistant.rehearser.offer(rest.session, rest.entry).notes
    assert CONTINUED in rehearse(assistant, rest).to_dict()["remarks"]
    assert CONTINUED in rehearse_each(assistant, rest).to_dict()["remarks"]
    server.script(Answer("Understood."))
    last = ask(assistant, "And now?", session=broken.session)
    assert CONTINUED not in assistant.rehearser.offer(last.session, last.entry).notes


@pytest.fixture
def caller(assistant: Assistant) -> Iterator[Caller]:
    caller = Caller(assistant)
    yield caller
    caller.hang_up()


def test_a_chat_in_which_something_is_rehearsed_is_at_work_and_can_be_stopped(
    assistant: Assistant, server: ModelServer, notes: Path, caller: Caller
) -> None:
    result = ask(assistant)
    is_read = threading.Event()

    def answer_late(_body: dict[str, Any]) -> Answer:
        is_read.wait(30)
        return Answer("Nothing is said of it.")

    server.script(answer_late)
    which = {"session": result.session, "entry": result.entry}
    running = caller.send("rehearse", **which, each=True, agreed=True)
    caller.event("rehearsal_progress")
    for type, fields in (
        ("prompt", {"text": "And now?"}),
        ("delete_session", {}),
        ("rehearse", {"agreed": True}),
    ):
        error = caller.error(type, session=result.session, **fields)
        assert "is still at work" in error["message"]
        assert "abort" in error["hint"]
    assert not caller.ask("rehearse", **which)["asked"]
    caller.ask("abort", session=result.session)
    is_read.set()
    assert caller.response(running)["error"]["code"] == "cancelled"
    assert caller.ask("rehearse", **which, agreed=True)["asked"]
