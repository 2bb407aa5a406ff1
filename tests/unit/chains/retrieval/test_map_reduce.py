"""Attachments read whole, through the real chain, guard and client."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled, CannotRead, MissingKey, ModelUnavailable
from chains.events import ReadingPart, TurnEnded, Warned
from chains.models import look_up_model
from chains.turn.run import measure_reading, run_turn
from context.assemble.attachments import CurrentSource
from context.layers import Layer, Segment
from context.log.entries import SegmentsEntry, UsageEntry
from tests.support.models.model_server import Answer, Body, Failure, Reply, Silence
from tests.support.models.part_reader import days, first_line, is_part, reads_parts, shown
from tests.support.sessions.memory_session import MemorySession
from tests.unit.chains.retrieval.test_excerpts import EveryOtherLine

QUESTION = "What happened to the barrel?"


def attached(lines: int, source: str = "Log.md") -> Segment:
    return Segment.build(
        id=f"id-{source}",
        layer=Layer.L3,
        kind="note",
        source=source,
        text=days(lines),
        lines=(1, lines),
        version="v1",
        title="Log",
        number=1,
    )


@pytest.fixture
def run(server, session, pause, ask) -> Callable[..., list[Any]]:
    """Run a turn to its end with one large attachment; return its events."""

    def running(segment: Segment, *, token: CancelToken | None = None, **fields: Any) -> list[Any]:
        values = {"mode": "chat", "api_base": server.url, "reads_whole": True, "threshold": 4_000}
        values |= {"session": session, "cancel": token or CancelToken(), "pause": pause}
        values["vault"] = EveryOtherLine()
        return list(run_turn(ask(QUESTION, attached=(segment,), **(values | fields))))

    return running


def result_of(events: list[Any]) -> Any:
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def sent_segments(session: MemorySession) -> tuple[Segment, ...]:
    (entry,) = [entry for entry in session.entries if isinstance(entry, SegmentsEntry)]
    return entry.segments


def test_every_line_reaches_the_model_once_and_its_notes_stand_for_the_attachment(
    run, server, session
) -> None:
    server.script(reads_parts)
    segment = attached(900)
    run(segment)
    parts = [shown(body) for body in server.bodies if is_part(body)]
    lines = [line for text in parts for line in re.findall(r"^\d+: (.*)$", text, re.MULTILINE)]
    assert sorted(lines) == sorted(segment.raw_content.split("\n"))
    (notes,) = sent_segments(session)
    assert (notes.source, notes.kind, notes.lines, notes.version, notes.number) == (
        *("Log.md", "note", (1, 900), "v1"),
        1,
    )
    assert notes.derived == "map_reduce"
    assert notes.raw_content.startswith(f"[Notes on lines 1-900, read in {len(parts)} parts")


def test_an_answer_cites_the_lines_of_the_attachment_itself(run, server) -> None:
    server.script(reads_parts)
    (citation,) = result_of(run(attached(900))).answer.checked.citations
    assert (citation.path, citation.lines, citation.verified) == ("Log.md", (1, 1), True)


def test_it_takes_no_more_than_was_told_before(run, server, session) -> None:
    server.script(reads_parts)
    told = result_of(run(attached(3_000), dry_run=True)).read_whole
    assert server.bodies == []
    assert told["done"] is None
    assert told["attachments"][0]["tokens"] < told["prompt_tokens"]
    done = result_of(run(attached(3_000))).read_whole
    assert {**done, "done": None} == told
    assert 0 < done["done"]["calls"] <= told["calls"]
    calls = [entry for entry in session.usage() if entry.request == 0]
    assert sum(entry.estimated for entry in calls) <= told["prompt_tokens"]
    assert len(calls) == done["done"]["calls"]


def test_it_costs_what_the_model_takes_for_its_tokens(session, ask) -> None:
    fields = {"mode": "chat", "vault": EveryOtherLine(), "session": session}
    cost = measure_reading(ask(QUESTION, attached=(attached(3_000),), model="gpt-4o", **fields))
    known = look_up_model("gpt-4o")
    assert cost.price == pytest.approx(
        cost.prompt_tokens * known.input_price + cost.output_tokens * known.output_price
    )
    assert cost.calls >= cost.parts > 1


def test_notes_that_exceed_their_room_are_joined_until_they_fit(run, server, session) -> None:
    def wordy(body: Body) -> Reply:
        if is_part(body):
            start = first_line(body)
            notes = (f"{start + n}: note {n} on the barrel and its litres" for n in range(12))
            return Answer("\n".join(notes))
        return reads_parts(body)

    server.script(wordy)
    result = result_of(run(attached(3_000)))
    joins = [shown(body) for body in server.bodies if shown(body).startswith("<notes ")]
    assert "0: note 0 on the barrel" in joins[0]
    context = result.context
    assert context["layers"]["L3"]["tokens"] <= context["budget"] // 2
    (notes,) = sent_segments(session)
    assert "note 0 on the barrel and its litres" in notes.raw_content


def test_where_notes_cannot_be_joined_those_are_kept_that_have_room(run, server, session) -> None:
    def without_joins(body: Body) -> Reply:
        if is_part(body):
            start = first_line(body)
            notes = (f"{start + n}: note {n} on the barrel and its litres" for n in range(12))
            return Answer("\n".join(notes))
        return Answer("Nothing.") if shown(body).startswith("<notes ") else reads_parts(body)

    server.script(without_joins)
    result = result_of(run(attached(3_000)))
    assert any(warning.startswith("There was no room for ") for warning in result.warnings)
    (notes,) = sent_segments(session)
    assert "note 0 on the barrel and its litres" in notes.raw_content


def test_a_note_that_is_too_long_is_shortened_and_not_left_out(run, server, session) -> None:
    def rambling(body: Body) -> Reply:
        if is_part(body):
            start = first_line(body)
            sentences = (f"Sentence {n} goes on about the barrel." for n in range(400))
            return Answer(f"{start}: {' '.join(sentences)}")
        return Answer("Nothing.") if shown(body).startswith("<notes ") else reads_parts(body)

    server.script(rambling)
    result = result_of(run(attached(3_000)))
    assert any(
        warning.startswith("To have room, notes were shortened") for warning in result.warnings
    )
    (notes,) = sent_segments(session)
    parts = [line for line in notes.raw_content.splitlines() if "Sentence 0 goes on" in line]
    assert parts
    assert all(line.endswith(". ...") for line in parts)
    assert result.context["layers"]["L3"]["tokens"] <= result.context["budget"] // 2


def test_progress_counts_the_parts(run, server) -> None:
    server.script(reads_parts)
    found = [event for event in run(attached(900)) if isinstance(event, ReadingPart)]
    assert [event.part for event in found] == list(range(1, found[0].parts + 1))
    assert found[0].text == f"Reading part 1 of {len(found)}"


def test_what_the_service_counted_is_in_the_log_and_in_the_result(run, server, session) -> None:
    server.script(reads_parts)
    result = result_of(run(attached(900)))
    calls = [e for e in session.entries if isinstance(e, UsageEntry) and e.request == 0]
    assert {entry.turn_id for entry in calls} == {result.turn}
    assert result.usage.requests == len(calls) + 1
    assert result.usage.prompt_tokens == 100 * (len(calls) + 1)


def test_a_part_that_fails_is_told_and_named_to_the_model(run, server, session) -> None:
    def failing(body: Body) -> Reply:
        if is_part(body) and first_line(body) == 1:
            return Failure.saying(400, "this part is not to my taste")
        return reads_parts(body)

    server.script(failing)
    events = run(attached(900))
    (failed,) = result_of(events).read_whole["done"]["failed"]
    assert failed["lines"][0] == 1
    assert "not to my taste" in failed["reason"]
    told = [event.message for event in events if isinstance(event, Warned)]
    last = failed["lines"][1]
    assert any(text.startswith(f"Lines 1-{last} of Log.md were not read: ") for text in told)
    assert f"[Not read: lines 1-{last}.]" in sent_segments(session)[0].raw_content


def test_where_most_parts_fail_the_question_alone_is_stored(run, server, session) -> None:
    server.script(Failure(503))
    with pytest.raises(ModelUnavailable):
        run(attached(900))
    assert [entry.type for entry in session.entries] == ["message"]


def test_without_a_key_no_second_part_is_asked_for(run, server, session) -> None:
    server.script(Failure(401))
    with pytest.raises(MissingKey):
        run(attached(3_000))
    assert len(server.bodies) <= 6
    assert [entry.type for entry in session.entries] == ["message"]


def test_a_stop_ends_the_reading_and_leaves_the_question(run, server, session) -> None:
    asked = threading.Event()

    def silent(_body: Body) -> Reply:
        asked.set()
        return Silence()

    server.script(silent)
    token = CancelToken()
    stopper = threading.Thread(target=lambda: (asked.wait(30), token.cancel()))
    stopper.start()
    with pytest.raises(Cancelled):
        run(attached(900), token=token)
    stopper.join()
    assert [entry.type for entry in session.entries] == ["message"]


def test_what_fits_is_not_read(run, server, session) -> None:
    result = result_of(run(attached(3)))
    assert result.read_whole is None
    assert len(server.bodies) == 1
    assert sent_segments(session)[0].derived == ""


def test_without_a_model_nothing_is_read(run) -> None:
    with pytest.raises(CannotRead, match="no model is set"):
        run(attached(900), model="extractive", api_base="")


def test_what_would_take_too_many_calls_is_refused_before_any(run, server) -> None:
    with pytest.raises(CannotRead, match="at most 500"):
        run(attached(90_000))
    assert server.bodies == []


def test_notes_are_carried_to_later_turns_as_they_were_made(server, session, pause, ask) -> None:
    server.script(reads_parts)
    changed = CurrentSource("changed", "Quite another text.", "v2")
    fields: dict[str, Any] = {"mode": "chat", "api_base": server.url, "threshold": 4_000}
    fields |= {"session": session, "pause": pause, "vault": EveryOtherLine()}
    fields["resolve"] = lambda _segment: changed
    first = ask(QUESTION, attached=(attached(900),), reads_whole=True, **fields)
    for turn in (first, ask("And then?", **fields)):
        list(run_turn(turn))
    last = str(server.bodies[-1]["messages"][-1])
    assert "<prior_context" in last
    assert "[Notes on lines 1-900" in last
    assert "Quite another text." not in last
