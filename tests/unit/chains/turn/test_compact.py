"""Compactions in whole turns: by a scripted model, by an outline, after an overflow, on request."""

import json
from dataclasses import replace

import pytest

from chains.events import CompactionEnded, CompactionStarted, TurnEnded
from chains.request.epochs import LoggedBreaker
from chains.tokenizer import load_counter
from chains.turn.run import compact_on_request, edit_summary_in_use, run_turn
from context.compaction import HEAD
from context.errors import ContextOverflow, SummaryFailed
from context.history.turns import list_turns
from context.log.entries import ModelChangeEntry, OptionsChangeEntry, TransformEntry, parse_entry
from tests.support.models.model_server import Answer, Failure

SUMMARY = "Decisions: beans are sown in Row 12, as was asked in questions 10 and 11."
WORDS = "In Row 12 " + "words and words and words " * 60


def is_for_summary(body):
    return "has to be remembered" in str(body["messages"][-1]["content"])


def answering(body):
    text = SUMMARY if is_for_summary(body) else WORDS
    return Answer(text, chunk_chars=400)


@pytest.fixture
def chat(server, session, pause, ask):
    """Ask in a chat without notes; return the events of the turn."""
    server.script(answering)

    def asking(question="And then?", **fields):
        values = {"api_base": server.url, "mode": "chat", "pause": pause, "session": session}
        return list(run_turn(ask(question, **(values | fields))))

    return asking


def result_of(events):
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def compactions(session):
    return [entry for entry in session.entries if isinstance(entry, TransformEntry)]


def test_a_chat_that_fills_its_room_is_summed_up_by_its_model(chat, session, server):
    for number in range(14):
        context = result_of(chat(f"Question {number}?", threshold=4_000)).context
        assert context["used"] <= context["budget"]
        assert context["dropped"] == []
    assert 0 < len(compactions(session)) < 7
    (told, *_), (apply, *_) = context["compactions"], compactions(session)[0].patch
    assert apply["summary"] == f"{HEAD}\n{SUMMARY}"
    assert (apply["by"], told["by"]) == ("model", "model")
    assert server.bodies[-1]["messages"][1]["content"].startswith(f"{HEAD}\n{SUMMARY}\n\n")


def test_the_call_for_a_summary_continues_what_the_service_has_already(chat, server):
    for number in range(12):
        chat(f"Question {number}?", threshold=4_000)
    at = next(at for at, body in enumerate(server.bodies) if is_for_summary(body))
    before, asked = server.bodies[at - 1]["messages"], server.bodies[at]["messages"]
    assert asked[:-1] == before[: len(asked) - 1]


def test_what_a_summary_takes_is_noted_as_usage_beside_the_requests_of_the_turns(chat, session):
    while not compactions(session):
        result = result_of(chat("And then?", threshold=4_000))
    requests = [usage for usage in session.usage() if usage.purpose == "answer"]
    (spent,) = (usage for usage in session.usage() if usage.purpose != "answer")
    assert (spent.purpose, spent.request, spent.turn_id) == ("summary", 0, result.turn)
    assert spent.model == requests[-1].model
    assert (spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens) == (100, 10, 40)
    assert spent.estimated > 1_000
    assert [usage.request for usage in requests] == [1] * len(requests)


def test_what_a_summary_on_request_takes_belongs_to_no_turn(chat, session, ask, server):
    for number in range(3):
        chat(f"Question {number}?")
    request = ask("", api_base=server.url, mode="chat", session=session)
    list(compact_on_request(request, ""))
    (spent,) = (usage for usage in session.usage() if usage.purpose != "answer")
    assert (spent.turn_id, spent.request) == ("", 0)


def test_a_watcher_hears_of_a_compaction_before_and_after(chat):
    events = [event for number in range(12) for event in chat(f"{number}?", threshold=4_000)]
    told = [e for e in events if isinstance(e, CompactionStarted | CompactionEnded)]
    assert isinstance(told[0], CompactionStarted)
    assert isinstance(told[1], CompactionEnded)
    assert told[0].reason == "auto"
    assert told[1].result["after_tokens"] < told[1].result["before_tokens"]
    assert told[1].result["strategies_run"] == ["summarise"]


def test_an_outline_stands_in_where_the_model_fails(chat, session, server):
    def failing(body):
        return Failure(400) if is_for_summary(body) else Answer(WORDS, chunk_chars=400)

    server.script(failing)
    for number in range(12):
        assert (
            result_of(chat(f"Question {number}?", threshold=4_000)).answer.end.status == "complete"
        )
    (apply, *_) = compactions(session)[0].patch
    assert apply["by"] == "outline"
    assert "Question 0?" in apply["summary"]


def test_without_a_model_everything_works_by_outline(chat, session):
    long = "word " * 400
    for number in range(14):
        context = result_of(chat(f"{number} {long}?", model="extractive", threshold=4_000)).context
        assert context["used"] <= context["budget"]
    assert {op["by"] for entry in compactions(session) for op in entry.patch} == {"outline"}


def test_another_model_may_make_the_summaries(chat, server):
    for number in range(12):
        chat(f"Question {number}?", threshold=4_000, summary_model="small")
    models = {body["model"] for body in server.bodies if is_for_summary(body)}
    assert models == {"small"}


def test_an_overflow_is_answered_after_one_compaction_and_one_retry(chat, session, server):
    for number in range(3):
        chat(f"Question {number}?")
    overflow = Failure.saying(400, "This model's maximum context length is 100 tokens.")
    server.script(overflow, answering)
    events = chat("Too long?")
    assert result_of(events).answer.text == WORDS
    assert [e.reason for e in events if isinstance(e, CompactionStarted)] == ["overflow"]
    assert len(compactions(session)) == 1
    assert len(list_turns(session.path())) == 4


@pytest.mark.parametrize("words", ["maximum context length is 8000 tokens", "too long"])
def test_an_overflow_compacts_to_the_usual_share_of_the_limit_that_it_names(
    chat, session, server, words
):
    for number in range(30):
        before = result_of(chat(f"Question {number}?", threshold=50_000)).context
    assert 8_000 < before["used"] < 12_000
    refused = Failure.saying(400, f"Your prompt is too long: {words}.")
    server.script(refused, answering)
    context = result_of(chat("Too long?", threshold=50_000)).context
    limit = 8_000 if "8000" in words else before["used"]
    assert limit * 0.4 < context["used"] < limit * 0.75
    assert context["layers"]["L4"]["items"] > 5
    assert len(compactions(session)) == 1


FIGURES = (
    "prompt is too long: 209321 tokens > 200000 maximum",
    "This model's maximum context length is 200,000 tokens. However, you requested 209,321 tokens.",
    "the request exceeds the available context size (200000 tokens), n_prompt_tokens = 400000",
    "maximum context length is 200000 tokens",
)


@pytest.mark.parametrize("words", FIGURES)
@pytest.mark.parametrize("turns", [2, 12])
def test_an_overflow_whose_figures_contradict_ours_gets_its_compaction_and_its_retry(
    chat, session, server, words, turns
):
    for number in range(turns):
        before = result_of(chat(f"Question {number}?", threshold=300_000)).context
    server.script(Failure.saying(400, words), answering)
    asked = len(server.bodies)
    events = chat("Too long?", threshold=300_000)
    context = result_of(events).context
    assert [e.reason for e in events if isinstance(e, CompactionStarted)] == ["overflow"]
    assert 0.1 * before["used"] < context["used"] < before["used"]
    answers = [body for body in server.bodies[asked:] if not is_for_summary(body)]
    assert len(answers) == 2
    assert context["factor"] == round(before["factor"] + 0.05, 2)
    after = result_of(chat("And then?", threshold=300_000)).context
    assert after["factor"] == context["factor"]


def test_an_overflow_of_a_first_question_shortens_what_was_sent_along(
    chat, session, server, source
):
    found = tuple(source(number, "beans in the sun. " * 60) for number in range(1, 7))
    server.script(Failure.saying(400, FIGURES[0]), answering)
    notes = tuple(replace(one, kind="note") for one in found)
    result = result_of(chat("Too long?", threshold=300_000, attached=notes))
    first, second = server.bodies
    assert result.answer.text == WORDS
    assert len(str(second["messages"])) < 0.9 * len(str(first["messages"]))


def test_an_overflow_that_nothing_can_shorten_gets_its_one_retry(chat, server):
    server.script(Failure.saying(400, FIGURES[0]), answering)
    assert result_of(chat("Too long?", threshold=300_000)).answer.text == WORDS
    assert len(server.bodies) == 2


def test_an_overflow_is_told_after_one_retry(chat, server):
    server.script(Failure.saying(400, FIGURES[0]))
    with pytest.raises(ContextOverflow):
        chat("Too long?", threshold=300_000)
    assert len(server.bodies) == 2


BAD_SUMMARIES = (
    Answer("- Decisions: beans are sown in", finish="length"),
    Answer(""),
    Answer("I will now look that up."),
    Answer("Beans?", calls=(("c1", "search_notes", "{}"),)),
    Answer("Something was said."),
)


@pytest.mark.parametrize("bad", BAD_SUMMARIES, ids=["cut", "empty", "promise", "call", "nameless"])
@pytest.mark.parametrize("is_mended", [True, False])
def test_a_summary_that_says_nothing_is_asked_for_once_more_and_then_made_as_an_outline(
    chat, session, server, bad, is_mended
):
    wanted = []

    def reply(body):
        if not is_for_summary(body):
            return Answer(WORDS, chunk_chars=400)
        wanted.append(str(body["messages"][-1]["content"]))
        return Answer(SUMMARY) if is_mended and len(wanted) == 2 else bad

    server.script(reply)
    for number in range(10, 24):
        if not compactions(session):
            chat(f"Is Question {number} of Row 12 about beans?", threshold=4_000)
    (apply,) = compactions(session)[0].patch
    assert (len(wanted), apply["by"]) == (2, "model" if is_mended else "outline")
    assert "could not be used" not in wanted[0]
    assert "could not be used" in wanted[1]
    assert "Row 12" in apply["summary"]


def test_an_overflow_that_stays_is_told(chat, server):
    chat("Question?")
    server.script(Failure.saying(400, "This model's maximum context length is 100 tokens."))
    with pytest.raises(ContextOverflow):
        chat("Too long?")


def test_fruitless_attempts_are_counted_from_the_log(session):
    for _ in range(3):
        assert not LoggedBreaker(session, []).is_tripped("m", 100)
        LoggedBreaker(session, kept := []).record("m", 100, has_shrunk=False)
        session.append(kept)
    session.entries[:] = [parse_entry(json.loads(json.dumps(e.to_dict()))) for e in session.entries]
    assert LoggedBreaker(session, []).is_tripped("m", 100)
    assert not LoggedBreaker(session, []).is_tripped("m", 101)
    session.append([TransformEntry("t1", None, "", "compaction", ())])
    assert not LoggedBreaker(session, []).is_tripped("m", 100)


def test_a_fruitless_attempt_is_logged_as_the_content_of_a_custom_entry(session):
    LoggedBreaker(session, kept := []).record("m", 100, has_shrunk=False)
    assert kept[0].to_dict()["content"] == {"model": "m", "budget": 100, "after": None}


def test_what_is_asked_for_is_compacted_up_to_the_last_complete_turn(chat, session, server, ask):
    for number in range(4):
        chat(f"Question {number}?", threshold=50_000)
    request = ask("", api_base=server.url, mode="chat", threshold=50_000, session=session)
    events = list(compact_on_request(request, "Mention beans."))
    result = events[-1].result
    (apply, *_) = compactions(session)[-1].patch
    assert result["entry"] == compactions(session)[-1].id
    assert result["summary"] == apply["summary"] == f"{HEAD}\n{SUMMARY}"
    assert result["strategies_run"] == ["summarise"]
    assert apply["firstKeptEntryId"] == session.messages[-2].id
    assert server.bodies[-1]["messages"][-1]["content"].endswith("Mention beans.")


def test_where_nothing_precedes_the_last_turn_nothing_is_compacted(chat, session, server, ask):
    chat("Question?")
    request = ask("", api_base=server.url, mode="chat", session=session)
    before = list(session.entries)
    events = list(compact_on_request(request))
    assert events[-1].result["entry"] is None
    assert session.entries == before


def test_a_new_epoch_is_noted_once(chat, session):
    chat("One?")
    chat("Two?", threshold=9_000)
    chat("Three?", threshold=9_000, model="another")
    chat("Four?", threshold=9_000, model="another")
    changes = [e for e in session.entries if isinstance(e, OptionsChangeEntry | ModelChangeEntry)]
    assert [change.to_dict().get("options") for change in changes] == [
        {"autoCompactThreshold": 9_000},
        None,
    ]
    assert changes[1].model == "another"


@pytest.fixture
def request_in_use(chat, session, server, ask):
    """A chat of four turns with a summary in use; the settings of its requests."""
    for number in range(4):
        chat(f"Question {number}?", threshold=50_000)
    request = ask("", api_base=server.url, mode="chat", threshold=50_000, session=session)
    list(compact_on_request(request))
    return request


def test_an_edited_summary_takes_the_place_of_the_old_one(chat, session, server, request_in_use):
    (compaction,) = compactions(session)
    for text in ("Beans in June.", "Beans in June, in rows."):
        edit_summary_in_use(request_in_use, compaction.id, text)
    context = result_of(chat("And then?", threshold=50_000)).context
    sent = str(server.bodies[-1]["messages"])
    assert "Beans in June, in rows." in sent
    assert SUMMARY not in sent
    (told,) = context["compactions"]
    (made,) = compaction.patch
    added = count(server, "Beans in June, in rows.") - count(server, SUMMARY)
    assert told["entry"] == compaction.id
    assert told["after_tokens"] == made["tokensAfter"] + added
    assert told["before_tokens"] == made["tokensBefore"]
    assert context["prefix"]["reasons"] == ["the history was compacted", "the summary was edited"]


def count(server, text):
    return load_counter(server.bodies[-1]["model"]).count(f"{HEAD}\n{text}")


def test_an_edit_that_changes_nothing_is_not_stored(chat, session, request_in_use):
    (compaction,), before = compactions(session), list(session.entries)
    edit_summary_in_use(request_in_use, compaction.id, f"  {SUMMARY}\n")
    assert session.entries == before


@pytest.mark.parametrize("text", ["", "  \n", "word " * 3_000])
def test_an_edit_has_to_be_a_summary(chat, session, request_in_use, text):
    (compaction,), before = compactions(session), list(session.entries)
    with pytest.raises(SummaryFailed):
        edit_summary_in_use(request_in_use, compaction.id, text)
    assert session.entries == before


def test_a_summary_that_a_later_one_includes_cannot_be_edited(chat, session, request_in_use):
    (old,) = compactions(session)
    chat("And then?", threshold=50_000)
    list(compact_on_request(request_in_use))
    with pytest.raises(SummaryFailed, match="not sent any more"):
        edit_summary_in_use(request_in_use, old.id, "Beans.")
    with pytest.raises(SummaryFailed, match="not sent any more"):
        edit_summary_in_use(request_in_use, "missing", "Beans.")


def test_a_later_summary_is_made_from_the_edited_one(chat, session, server, request_in_use):
    (old,) = compactions(session)
    edit_summary_in_use(request_in_use, old.id, "Beans in June.")
    chat("And then?", threshold=50_000)
    list(compact_on_request(request_in_use))
    (asked,) = [body for body in server.bodies[-1:] if is_for_summary(body)]
    assert "Beans in June." in str(asked["messages"])
    assert SUMMARY not in str(asked["messages"])
