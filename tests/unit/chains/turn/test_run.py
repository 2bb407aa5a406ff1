"""Whole turns: the real chains, prompts, budget and client, against a scripted server."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.errors import BadRequest, Cancelled, ModelUnavailable
from chains.events import (
    ContextPrepared,
    MessageEnded,
    Retrieved,
    Step,
    TextDelta,
    TextTakenBack,
    ThoughtDelta,
    TurnEnded,
    Usage,
    Warned,
)
from chains.prompts import Customization
from chains.tokenizer import load_counter
from chains.turn.run import preview, rebuild, run_turn
from context.errors import ContextOverflow
from context.history.turns import list_turns
from context.hooks import HookRegistry
from context.log.entries import MessageEntry, SegmentsEntry, UsageEntry
from tests.support.behaviours.behaviour import chunk, stream, text
from tests.support.models.model_server import Answer, Failure
from tests.support.sessions.memory_session import ListSearch, MemorySession, hit
from vault.questions.reader import Reading

HITS = (
    hit("Garden.md", "## Beans\nBeans need warm soil.\nSow them in May.", first=10),
    hit("Server.md", "The server draws 31 W & hums.", first=3),
)


@pytest.fixture
def search():
    return ListSearch(*HITS)


@pytest.fixture
def run(server, session, search, pause, ask) -> Callable[..., list[Any]]:
    """Run a turn to its end; return its events."""

    def running(question="When are beans sown?", *, token=None, **fields):
        values = {"api_base": server.url, "session": session, "pause": pause}
        if fields.get("mode") != "chat":
            values |= {"search": lambda: search, "vault": search}
        return list(run_turn(ask(question, cancel=token or CancelToken(), **(values | fields))))

    return running


def result_of(events):
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def test_sources_are_indexed_for_the_check_while_the_model_answers(run, monkeypatch):
    indexed = []

    def start(prepare):
        (end,) = prepare.args
        indexed.append((end, prepare.func.__self__, end.is_cancelled))

    monkeypatch.setattr("chains.turn.run.start_call", start)
    evidence = result_of(run()).answer.evidence
    ((end, prepared, was_ended),) = indexed
    assert prepared.texts == evidence.texts[: len(prepared.texts)]
    assert any("Beans need warm soil" in each.text for each in prepared.texts)
    assert not was_ended
    assert end.is_cancelled


def test_the_events_of_a_turn_come_in_their_order(run):
    events = run()
    order = [type(event) for event in events if not isinstance(event, TextDelta)]
    assert order == [
        MessageEnded,
        Step,
        Retrieved,
        ContextPrepared,
        Step,
        MessageEnded,
        ContextPrepared,
        TurnEnded,
    ]
    roles = [event.role for event in events if isinstance(event, MessageEnded)]
    assert roles == ["user", "assistant"]


def test_the_pieces_make_the_answer(run, server):
    server.script(Answer("Beans are sown in May [1].", chunk_chars=3))
    events = run()
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == result_of(events).answer.text == "Beans are sown in May [1]."


def test_the_question_is_stored_before_the_model_is_called(run, server, session):
    stored = []

    def reply(_body):
        stored.extend(session.entries)
        return Answer()

    server.script(reply)
    run()
    assert [type(entry) for entry in stored] == [MessageEntry, SegmentsEntry]
    assert stored[0].message.text == "When are beans sown?"


def test_the_question_is_stored_before_it_is_looked_up(run, session, search, monkeypatch):
    stored = []
    looked_up = search.search

    def look(*args, **fields):
        stored.extend(session.entries)
        return looked_up(*args, **fields)

    monkeypatch.setattr(search, "search", look)
    run()
    assert [entry.type for entry in stored] == ["message"]


def test_a_turn_is_stored_in_three_writes(run, session):
    run()
    kinds = [[entry.type for entry in write] for write in session.writes]
    assert kinds == [["message"], ["segments"], ["message", "usage"]]
    parents = [entry.parent_id for entry in session.path()]
    assert parents == [None, *(entry.id for entry in session.path()[:-1])]


def test_the_entries_of_a_turn_form_one_path(run, session):
    run()
    run("And what hums?")
    parents = {entry.id: entry.parent_id for entry in session.entries}
    path = session.path()
    assert path[0].parent_id is None
    assert [entry.parent_id for entry in path[1:]] == [entry.id for entry in path[:-1]]
    assert len(parents) == len(session.entries)


def test_sources_come_before_the_bare_question(run, server):
    run()
    *_, last = server.bodies[0]["messages"]
    sources, _, question = last["content"].rpartition("\n\n")
    assert question == "When are beans sown?"
    assert '<source n="1" title="Garden" path="Garden.md" lines="10-12">' in sources
    assert "31 W &amp; hums" in sources


def test_the_next_turn_sees_the_bare_question_and_the_answer(run, server):
    server.script(Answer("In May [1]."))
    run()
    run("And the server?")
    history = server.bodies[1]["messages"][1:-1]
    assert history == [
        {"role": "user", "content": "When are beans sown?"},
        {"role": "assistant", "content": "In May [1]."},
    ]


def test_citations_are_checked_against_what_was_sent(run, server):
    server.script(Answer('"Sow them in May" [1], not "in the first week of June" [1] or [9].'))
    result = result_of(run())
    assert [(c.n, c.path, c.lines, c.verified) for c in result.answer.checked.citations] == [
        (1, "Garden.md", (12, 12), True),
        (1, "Garden.md", (10, 12), False),
    ]
    assert [claim.n for claim in result.answer.checked.unverified] == [1, 9]


def test_the_result_has_every_field_of_the_command_line(run):
    shape = result_of(run()).to_dict()
    assert list(shape) == [
        "session",
        "turn",
        "entry",
        "mode",
        "answer",
        "kind",
        "status",
        "citations",
        "unverified",
        "claims",
        "tools",
        "model",
        "usage",
        "warnings",
        "context",
    ]
    assert shape["usage"] == {
        "requests": 1,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "cached_tokens": 40,
    }
    assert (shape["session"], shape["mode"], shape["status"]) == ("chat1", "vault", "complete")


def test_usage_is_stored_with_the_estimate_and_the_factor(run, session):
    result = result_of(run())
    (usage,) = session.usage()
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (100, 10, 40)
    assert usage.estimated == result.context["used"]
    assert usage.factor == result.context["factor"] == 1.1


def test_a_service_that_counts_more_makes_the_budget_smaller(run, server):
    counted = {"prompt_tokens": 9_000, "completion_tokens": 1, "total_tokens": 9_001}
    server.script(Answer(usage=counted))
    first, second = result_of(run()), result_of(run())
    assert second.context["factor"] == pytest.approx(first.context["factor"] + 0.05)
    assert second.context["budget"] < first.context["budget"]


def test_another_models_factor_does_not_count(run, server):
    counted = {"prompt_tokens": 9_000, "completion_tokens": 1, "total_tokens": 9_001}
    server.script(Answer(usage=counted))
    run(model="one")
    assert result_of(run(model="another")).context["factor"] == 1.1


def test_what_was_sent_is_kept_with_its_report(run, server, session):
    result = result_of(run())
    kept = session.saved[-1]
    assert kept["wire"] == server.bodies[0]
    assert kept["report"] == result.context
    assert kept["turn"] == result.turn


def test_the_numbers_of_the_report_add_up_to_what_the_server_received(run, server):
    result = result_of(run(model="gpt-4o"))
    count = load_counter("gpt-4o").count
    tokens = 0
    for message in server.bodies[0]["messages"]:
        content = message["content"]
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        tokens += 4 + sum(count(text) for text in texts)
    assert tokens == result.context["used"]
    assert result.context["counter"] == "o200k_base"


def test_the_final_report_names_the_tokens_that_were_reused(run):
    events = run()
    reports = [event.report for event in events if isinstance(event, ContextPrepared)]
    assert [report.cached_tokens for report in reports] == [0, 40]


# What does not fit


def test_a_question_that_does_not_fit_is_stored_and_not_sent(run, server, session):
    with pytest.raises(ContextOverflow) as caught:
        run("word " * 20_000, threshold=4_000)
    assert caught.value.report is not None
    assert ([entry.type for entry in session.entries], server.bodies) == (["message"], [])


def test_only_the_passages_that_were_sent_are_stored(run, session, search):
    search.hits = tuple(hit(f"N{n}.md", f"Passage {n}. " * 120) for n in range(8))
    result = result_of(run(threshold=4_000))
    stored = next(entry for entry in session.entries if isinstance(entry, SegmentsEntry))
    sent = [segment["id"] for segment in result.context["segments"] if segment["state"] == "full"]
    assert 0 < len(stored.segments) < 8
    assert [segment.id for segment in stored.segments] == sent


def test_a_passage_that_was_not_sent_cannot_be_cited(run, server, search):
    search.hits = tuple(hit(f"N{n}.md", f"Passage {n}. " * 120) for n in range(8))
    server.script(Answer("So it is [8]."))
    result = result_of(run(threshold=4_000))
    assert [claim.reason for claim in result.answer.checked.unverified] == ["[8] has no source."]


# What goes wrong


def test_a_failure_keeps_the_question_and_says_that_there_was_no_answer(run, server, session):
    server.script(Failure(500))
    with pytest.raises(ModelUnavailable):
        run()
    question, answer = session.messages
    assert question.message.text == "When are beans sown?"
    assert (answer.message.text, answer.status) == ("", "error")


def test_a_failed_turn_can_be_continued(run, server):
    server.script(Failure(400), Answer("Now it works."))
    with pytest.raises(BadRequest):
        run()
    assert result_of(run("Again?")).answer.text == "Now it works."
    assert server.bodies[1]["messages"][2]["content"] == "[interrupted]"


def test_waiting_for_another_try_is_a_step(run, server, pauses):
    server.script(Failure.saying(503, "loading"), Answer())
    steps = [event for event in run() if isinstance(event, Step)]
    assert steps[-1] == Step("wait", "Retrying in 1 s (loading)", 1)
    assert pauses == [1.0]


def test_an_answer_that_breaks_off_is_kept_and_said(run, server, session):
    server.script(Answer("Some words of it", chunk_chars=4, break_after=3))
    events = run()
    result = result_of(events)
    assert (result.answer.end.status, result.answer.text) == ("interrupted", "Some wor")
    assert any(isinstance(event, Warned) for event in events)
    assert result.warnings
    assert result.context["warnings"] == list(result.warnings)
    assert session.messages[-1].status == "interrupted"


@pytest.mark.parametrize(
    ("reply", "warning"),
    [
        (Answer(finish="length"), "limit of 512 tokens"),
        (Answer(finish="content_filter"), "held a part"),
        (Answer(""), "empty answer"),
    ],
)
def test_an_answer_that_is_not_whole_comes_with_a_warning(run, server, reply, warning):
    server.script(reply)
    result = result_of(run())
    assert result.answer.end.status == "complete"
    assert warning in result.warnings[0]


def test_a_service_that_cut_the_request_is_found_out(run, server, search):
    search.hits = (hit("Long.md", "Beans need warm soil. " * 800),)
    counted = {"prompt_tokens": 1_000, "completion_tokens": 1, "total_tokens": 1_001}
    server.script(Answer(usage=counted))
    assert "cut the beginning off" in result_of(run(threshold=40_000)).warnings[0]


def test_a_model_that_nobody_knows_is_a_bad_request_with_a_way_out(run, session):
    with pytest.raises(BadRequest, match="openai/no-such-model"):
        run(model="no-such-model", api_base="")
    assert session.messages[-1].status == "error"


def test_a_warning_of_the_search_reaches_the_report(run, search, monkeypatch):
    from vault.search.search import SearchResult

    found = SearchResult("q", HITS, 0.0, warnings=("Searched by words only.",))
    monkeypatch.setattr(search, "search", lambda query, k, _options: found)
    events = run()
    assert Warned("Searched by words only.") in events
    assert "Searched by words only." in result_of(events).warnings


# A killed process


@pytest.fixture
def kept(session, monkeypatch):
    """An event that is set as soon as text of an answer is kept outside of the log."""
    kept, save = threading.Event(), session.save_partial

    def keep(entry):
        save(entry)
        if entry.message.text:
            kept.set()

    monkeypatch.setattr(session, "save_partial", keep)
    monkeypatch.setattr("chains.turn.answer.KEEPING_INTERVAL_S", 0.001)
    return kept


def test_an_arriving_answer_is_kept_until_the_log_has_it(server, session, ask, kept):
    server.script(Answer("First words, then nothing.", chunk_chars=11, stall_after=2))
    running = run_turn(ask(api_base=server.url, mode="chat", session=session))
    next(event for event in running if isinstance(event, TextDelta))
    assert kept.wait(30)
    *_, partial = session.partials
    running.close()  # type: ignore[attr-defined]
    answer = session.messages[-1]
    assert (partial.id, partial.parent_id) == (answer.id, answer.parent_id)
    assert (partial.message, partial.status) == (answer.message, "interrupted")
    assert (partial.reason, partial.model) == ("Strata was closed", "scripted")
    assert session.partials == []


@pytest.fixture
def keep(monkeypatch):
    """A function that does the work which is repeated while an answer is awaited or arrives."""
    works = []

    def repeat(work, _interval_s):
        works.append(work)
        return lambda: None

    def keep():
        works[-1]()

    monkeypatch.setattr("chains.turn.answer.repeat", repeat)
    return keep


def test_before_the_first_text_it_is_kept_that_nothing_has_arrived(server, session, ask, keep):
    server.script(stream(chunk({"reasoning_content": "Hm."}), text("Behind the shed.")))
    running = run_turn(ask(api_base=server.url, mode="chat", session=session))
    next(event for event in running if isinstance(event, ThoughtDelta))
    keep()
    (partial,) = session.partials
    assert (partial.message.text, partial.status) == ("", "interrupted")
    assert (partial.reason, partial.model) == ("Strata was closed", "scripted")
    list(running)
    assert session.partials == []
    answer = session.messages[-1]
    assert (partial.id, answer.message.text) == (answer.id, "Behind the shed.")


def test_kept_text_that_was_thinking_is_forgotten(server, session, ask, keep):
    server.script(stream(text("They want the barrel.", "</think>", "Behind the shed.")))
    running = run_turn(ask(api_base=server.url, mode="chat", session=session))
    next(event for event in running if isinstance(event, TextDelta))
    keep()
    (partial,) = session.partials
    assert partial.message.text == "They want the barrel."
    next(event for event in running if isinstance(event, TextTakenBack))
    assert session.partials == []
    list(running)
    assert session.messages[-1].message.text == "Behind the shed."


@pytest.mark.parametrize(("kind", "is_kept"), [("message", False), ("before_agent_start", True)])
def test_an_answer_that_a_hook_must_see_first_is_not_kept_before(
    server, session, ask, keep, kind, is_kept
):
    hooks = HookRegistry()
    hooks.on(kind, lambda event: None)
    server.script(Answer("First words, then nothing.", chunk_chars=11, stall_after=2))
    hooked = Customization(hooks=hooks)
    running = run_turn(ask(api_base=server.url, mode="chat", session=session, customization=hooked))
    next(event for event in running if isinstance(event, TextDelta))
    keep()
    (partial,) = session.partials
    assert bool(partial.message.text) is is_kept
    running.close()  # type: ignore[attr-defined]


# Stopping


def events_until_stopped(turn):
    events = []
    for event in run_turn(turn):
        events.append(event)
        if isinstance(event, TextDelta):
            turn.cancel.cancel()
    return events


def test_a_stop_keeps_what_had_arrived(server, session, search, ask):
    server.script(Answer("First words, then nothing.", chunk_chars=11, stall_after=2))
    notes = {"search": lambda: search, "vault": search}
    events = events_until_stopped(ask(api_base=server.url, session=session, **notes))
    result = result_of(events)
    assert (result.answer.end.status, result.answer.text) == ("interrupted", "First words")
    stored = session.messages[-1]
    assert (stored.message.text, stored.status) == ("First words", "interrupted")


def test_a_stop_before_the_first_request_stores_nothing_but_the_question(session, search, ask):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(run_turn(ask(search=lambda: search, vault=search, session=session, cancel=token)))
    assert [entry.type for entry in session.entries] == ["message"]


def test_a_watcher_that_goes_away_loses_nothing_that_had_arrived(server, session, search, ask):
    server.script(Answer("First words, then nothing.", chunk_chars=11, stall_after=2))
    notes = {"search": lambda: search, "vault": search}
    running = run_turn(ask(api_base=server.url, session=session, **notes))
    next(event for event in running if isinstance(event, TextDelta))
    running.close()  # type: ignore[attr-defined]
    stored = session.messages[-1]
    assert (stored.message.text, stored.status) == ("First words", "interrupted")


def test_a_watcher_that_goes_away_before_the_first_word_leaves_no_failure(
    server, session, search, ask
):
    notes = {"search": lambda: search, "vault": search}
    running = run_turn(ask(api_base=server.url, session=session, **notes))
    next(event for event in running if isinstance(event, Step) and event.kind == "write")
    running.close()  # type: ignore[attr-defined]
    assert session.messages[-1].status == "interrupted"


# Without a model, without notes, without sending


def test_without_a_model_the_notes_answer_in_their_own_words(run, server, session):
    result = result_of(run(model="extractive", api_base=""))
    assert "> Beans need warm soil.\n> Sow them in May. [1]" in result.answer.text
    assert all(citation.verified for citation in result.answer.checked.citations)
    assert (result.usage, server.received) == (None, [])
    assert session.saved[-1]["wire"] is None


def test_more_passages_are_searched_when_only_their_best_lines_are_quoted(run, search):
    run("When are beans sown?", model="extractive", api_base="")
    assert search.asked == [("When are beans sown?", 20)]


def test_a_chat_looks_nothing_up(run, server, search, session):
    result = result_of(run(mode="chat"))
    assert search.asked == []
    assert server.bodies[0]["messages"][-1] == {"role": "user", "content": "When are beans sown?"}
    assert (result.mode, result.answer.checked.citations) == ("chat", ())
    assert [entry.type for entry in session.entries] == ["message", "message", "usage"]


def test_a_dry_run_retrieves_and_prepares_and_leaves_no_trace(run, server, session, search):
    events = run(dry_run=True)
    result = result_of(events)
    assert [type(event) for event in events] == [Step, Retrieved, ContextPrepared, TurnEnded]
    assert (result.turn, result.entry, result.answer.text, result.session) == (None, None, "", None)
    assert result.context["when"] == "next"
    assert result.context["layers"]["L3"]["items"] == 2
    assert (session.writes, session.saved, server.bodies) == ([], [], [])
    assert search.asked == [("When are beans sown?", 8)]


def test_a_preview_looks_nothing_up_and_leaves_no_trace(server, session, search, ask):
    fields = {"search": lambda: search, "vault": search, "session": session}
    prepared = preview(ask("Half a quest", api_base=server.url, **fields))
    assert prepared.messages[-1].text == "Half a quest"
    assert (search.asked, session.writes, server.bodies) == ([], [], [])


def test_a_preview_needs_no_chat(search, ask):
    prepared = preview(ask("", model="extractive", search=lambda: search, vault=search))
    assert prepared.report.when == "next"


def test_the_last_request_can_be_built_again_from_the_log(run, server, session, search, ask):
    run()
    run("And what hums?")
    fields = {"search": lambda: search, "vault": search, "session": session}
    rebuilt = rebuild(ask("", api_base=server.url, **fields))
    assert rebuilt.request_body() == session.saved[-1]["body"]


def test_offline_another_host_is_not_called(run, session):
    from chains.errors import Offline

    with pytest.raises(Offline):
        run(api_base="http://192.0.2.1/v1", offline=True)
    assert session.messages[0].message.text == "When are beans sown?"


def test_the_answer_can_use_what_the_server_was_sent(run, server):
    def quoting(body):
        sources = body["messages"][-1]["content"]
        words = sources.split("\n")[2]
        return Answer(f"“{words}” [1]")

    server.script(quoting)
    (citation,) = result_of(run()).answer.checked.citations
    assert (citation.quote, citation.verified) == ("Beans need warm soil.", True)
    assert citation.lines == (11, 11)
    assert citation.heading == ("Beans",)


def test_usage_is_none_where_the_service_counts_nothing(run, server, session):
    server.script(Answer(usage=None))
    assert result_of(run()).usage is None
    assert not any(isinstance(entry, UsageEntry) for entry in session.entries)


def test_usage_counts_one_request(run):
    assert result_of(run()).usage == Usage(1, 100, 10, 40, 0.0)


def test_two_chats_run_side_by_side(server, search, ask):
    import threading

    answers = {}

    def run_one(name):
        fields = {"search": lambda: search, "vault": search, "session": MemorySession(name)}
        *_, ended = run_turn(ask(f"Question of {name}?", api_base=server.url, **fields))
        answers[name] = ended.result.answer.text

    server.script(lambda body: Answer(body["messages"][-1]["content"].split("\n\n")[-1]))
    threads = [threading.Thread(target=run_one, args=(f"chat{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == {f"chat{n}": f"Question of chat{n}?" for n in range(4)}


def test_a_question_that_leans_is_searched_with_the_last_turn_and_says_so(
    run, search, session, server
):
    server.script(Answer("In May [1]."))
    run("When are beans sown?")
    events = run("and in autumn?")
    assert search.asked[-1] == ("and in autumn? beans sown Garden", 8)
    assert Step("search", "Searching for “and in autumn? beans sown Garden”") in events
    assert result_of(events).to_dict()["searched"] == "and in autumn? beans sown Garden"
    asked = list_turns(session.path())
    assert [turn.stored_fields.get("searched") for turn in asked] == [
        None,
        "and in autumn? beans sown Garden",
    ]


def test_what_the_last_answer_cites_is_in_play(run, search, server):
    search.hits = (hit("Garden.md", "Beans in May."), hit("Tools.md", "A hoe."))
    server.script(Answer("In May [1]."), Answer("Nothing is said of it."))
    run("When are beans sown?")
    run("How much power does the server draw?")
    run("Where is the hoe?")
    assert search.session_notes == [(), ("Garden.md",), ()]


def test_a_question_that_stands_by_itself_says_nothing_of_searching(run, search):
    run("When are beans sown?")
    events = run("How much power does the server draw?")
    assert search.asked[-1][0] == "How much power does the server draw?"
    assert "searched" not in result_of(events).to_dict()


def test_a_question_for_every_note_is_answered_by_the_whole_list_in_pages(
    run, search, session, server
):
    search.hits = tuple(hit(f"Bed {n}.md", f"Bed {n} was dug.") for n in range(200))
    search.readings["List every note about beds"] = Reading("list", "beds")
    search.readings["more"] = Reading("more", "")
    events = run("List every note about beds")
    assert search.asked == [("beds", 500)]
    (first,) = (e for e in session.path() if isinstance(e, SegmentsEntry))
    shown = len(first.segments) - 1
    said = f"200 notes match. 1 to {shown} are listed here. Ask for more to see the next."
    assert said in result_of(events).warnings
    assert said in str(server.bodies[0])
    assert not result_of(events).context["dropped"]
    search.readings["more"] = Reading("more", "")
    run("more")
    *_, second = (e for e in session.path() if isinstance(e, SegmentsEntry))
    assert second.segments[1].source == f"Bed {shown}.md"


def test_without_a_model_a_list_is_printed_as_it_was_found(run, search):
    search.readings["Which notes mention beans?"] = Reading("list", "beans")
    result = result_of(run("Which notes mention beans?", model="extractive"))
    assert result.answer.text.startswith("2 notes match.\n")
    assert result.answer.text.count("\n- ") == 2
    assert result.warnings == ()  # the answer itself says how many


def test_a_model_may_put_a_follow_up_into_words_to_search_for(run, search, session, server):
    server.script(
        Answer("In May [1]."), Answer('"When are beans harvested?"'), Answer("In August.")
    )
    run("When are beans sown?", rewrites=True)
    events = run("and harvested?", rewrites=True)
    assert len(server.bodies) == 3
    assert "and harvested?" in str(server.bodies[1]["messages"][-1])
    assert search.asked[-1][0] == "When are beans harvested?"
    assert result_of(events).searched == "When are beans harvested?"
    (spent,) = (e for e in session.usage() if e.purpose != "answer")
    assert (spent.purpose, spent.request) == ("rewriting", 0)


def test_where_a_rewrite_fails_the_question_is_searched_without_it(run, search, server):
    server.script(Answer("In May."), Failure(400, "no"), Answer("In August."))
    run("When are beans sown?", rewrites=True)
    events = run("and harvested?", rewrites=True)
    assert search.asked[-1][0] == "and harvested? beans sown"
    assert "searched in its own words" in result_of(events).warnings[0]


def test_a_dry_run_asks_no_model_for_other_words(run, server):
    server.script(Answer("In May."))
    run("When are beans sown?", rewrites=True)
    run("and harvested?", rewrites=True, dry_run=True)
    assert len(server.bodies) == 1
