"""An answer that broke off is continued in its own turn, and becomes one answer."""

from collections.abc import Callable
from typing import Any

import pytest

from chains.events import AskResult, TurnEnded
from chains.turn.continuation import (
    REQUEST,
    find_broken_answer,
    group_answers,
    join_answer,
    join_answers,
    store_continuation,
)
from chains.turn.run import run_turn
from context.history.turns import CONTINUATION, list_turns
from context.log.entries import CustomMessageEntry, MessageEntry
from context.messages import Message
from tests.support.models.model_server import Answer, Failure
from tests.support.sessions.memory_session import ListSearch, hit

HITS = (hit("Garden.md", "Beans need warm soil. Sow them in May.", first=10),)
BROKEN = Answer("Beans need warm soil [1].", chunk_chars=6, break_after=3)


@pytest.fixture
def run(server, session, pause, ask) -> Callable[..., AskResult]:
    """Run a turn to its end, and return its result."""

    def running(question: str = "When are beans sown?", **fields: Any) -> AskResult:
        search = ListSearch(*HITS)
        notes = {"search": lambda: search, "vault": search}
        turn = ask(question, api_base=server.url, session=session, pause=pause, **notes, **fields)
        *_, ended = run_turn(turn)
        assert isinstance(ended, TurnEnded)
        return ended.result

    return running


@pytest.fixture
def resume(run) -> Callable[[], AskResult]:
    return lambda: run(is_regenerated=True, is_continued=True)


def roles_and_texts(body: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for message in body["messages"]:
        content = message["content"]
        text = content if isinstance(content, str) else "".join(p["text"] for p in content)
        found.append((message["role"], text))
    return found


def test_the_model_gets_its_question_the_passages_and_what_it_wrote(run, resume, server) -> None:
    server.script(BROKEN, Answer("warm soil [1]."))
    broken = run()
    assert broken.answer.end.status == "interrupted"
    resume()
    first, second = map(roles_and_texts, server.bodies)
    assert second[: len(first)] == first
    assert second[len(first) :] == [
        ("assistant", f"{broken.answer.text}\n\n[interrupted]"),
        ("user", REQUEST),
    ]


def test_the_parts_become_one_answer_with_checked_citations(run, resume, server, session) -> None:
    server.script(BROKEN, Answer("warm soil [1]."))
    broken = run()
    result = resume()
    assert result.answer.text == join_answer(broken.answer.text, "warm soil [1].")
    assert result.answer.end.status == "complete"
    assert [citation.path for citation in result.answer.checked.citations] == ["Garden.md"]
    assert result.answer.seconds >= broken.answer.seconds
    (turn,) = list_turns(session.path())
    (work,) = group_answers(turn.later_entries)
    assert join_answers(work) == result.answer.text
    assert find_broken_answer(session.path()) is None


def test_the_next_question_continues_the_same_prefix(run, resume, server) -> None:
    server.script(BROKEN, Answer("warm soil [1]."), Answer("Water them."))
    run()
    resume()
    run("And then?")
    history = roles_and_texts(server.bodies[-1])
    assert [role for role, _ in history] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert history[3] == ("user", REQUEST)
    assert history[4] == ("assistant", "warm soil [1].")


def test_a_continuation_can_break_off_and_be_continued_too(run, resume, server) -> None:
    server.script(BROKEN, Answer("warm soil", break_after=2, chunk_chars=4), Answer("soil [1]."))
    run()
    middle = resume()
    assert middle.answer.end.status == "interrupted"
    assert resume().answer.text == join_answer(middle.answer.text, "soil [1].")


def test_a_continuation_that_fails_leaves_the_broken_answer(run, resume, server, session) -> None:
    server.script(BROKEN, Failure(401))
    broken = run()
    with pytest.raises(Exception, match="key"):
        resume()
    found = find_broken_answer(session.path())
    assert found is not None
    assert found.text == broken.answer.text


def test_an_answer_cut_at_its_length_limit_tells_so_and_can_be_continued(
    run, resume, server, session
) -> None:
    server.script(Answer("One, two,", finish="length"), Answer("three."))
    cut = run()
    limit = "The answer stops at its limit of 512 tokens (maxOutputTokens)."
    assert (cut.answer.end.status, cut.answer.end.reason) == ("complete", limit)
    (answer,) = (e for e in session.messages if e.message.role == "assistant")
    assert answer.reason == limit
    result = resume()
    assert (result.answer.text, result.answer.end.reason) == ("One, two, three.", "")


def test_an_answer_cut_at_the_limit_of_its_model_names_that_one(run, server) -> None:
    refused = Failure.saying(400, "max_tokens is too large. This model supports at most 300.")
    server.script(refused, Answer("One, two,", finish="length"))
    limit = "The answer stops at its limit of 300 tokens (the most that this model gives)."
    assert run().answer.end.reason == limit


def test_the_rest_is_not_asked_for_twice_after_a_kill(run, resume, server, session) -> None:
    server.script(BROKEN, Answer("warm soil [1]."))
    run()
    store_continuation(session)
    resume()
    asked = [entry for entry in session.path() if isinstance(entry, CustomMessageEntry)]
    assert len(asked) == 1
    assert find_broken_answer(session.path()) is None


@pytest.mark.parametrize(
    ("before", "rest", "joined"),
    [
        ("Beans need", "warm soil.", "Beans need warm soil."),
        ("Beans need ", "warm soil.", "Beans need warm soil."),
        ("Beans need", " warm soil.", "Beans need warm soil."),
        ("Beans", ", peas", "Beans, peas"),
        ("(see", ") and", "(see) and"),
        ("(", "see)", "(see)"),
        ("豆は暖", "かい土", "豆は暖かい土"),
        ("- one\n", "- two", "- one\n- two"),
        ("", "All of it.", "All of it."),
        ("All of it.", "", "All of it."),
    ],
)
def test_a_space_is_added_where_words_would_run_together(
    before: str, rest: str, joined: str
) -> None:
    assert join_answer(before, rest) == joined


def said(entry: str, text: str, **fields: Any) -> MessageEntry:
    return MessageEntry(entry, None, "", Message("assistant", text), "t1", **fields)


def added(entry: str, kind: str) -> CustomMessageEntry:
    return CustomMessageEntry(entry, None, "", kind, Message("user", "x"))


def test_the_message_of_an_extension_separates_answers() -> None:
    entries = (said("a", "One."), added("b", "weather"), said("c", "Two."))
    assert list(group_answers(entries)) == [(entries[0],), entries[1], (entries[2],)]
    entries = (said("a", "One"), added("b", CONTINUATION), said("c", "two."))
    assert list(group_answers(entries)) == [(entries[0], entries[2])]
