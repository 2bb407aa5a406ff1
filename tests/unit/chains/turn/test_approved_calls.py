"""Tools that ask first: what is approved is done once, and what is not is not done."""

import json
import threading
import time

import pytest

from chains.cancel import CancelToken
from chains.events import ApprovalRequested, ToolEnded, TurnEnded
from chains.tools.approval_desk import ApprovalDesk, ApprovalRules
from chains.turn.agent import AGENT_TOOLS
from chains.turn.run import run_turn
from tests.support.models.model_server import Answer
from tests.support.sessions.asking_tools import Diary, NoNotes


class Person:
    """Decides by a script, and remembers what was asked."""

    def __init__(self, *decisions) -> None:
        self.decisions = list(decisions)
        self.asked = []
        self.on_ask = lambda: None

    def decide(self, request, cancel):
        self.asked.append(request)
        self.on_ask()
        return self.decisions.pop(0)


def calling(*calls) -> Answer:
    return Answer(
        "", calls=tuple((f"c{n}", name, json.dumps(a)) for n, (name, a) in enumerate(calls))
    )


@pytest.fixture
def run(server, session, pause, ask):
    """Run a turn with tools that ask first; return its events."""

    def running(
        *diaries,
        port=None,
        level="ask",
        rules=None,
        token=None,
        clock=time.monotonic,
        question="Write.",
        most_s=300,
    ):
        tools = tuple(diary.tool for diary in diaries)
        turn = ask(
            question,
            mode="agent",
            api_base=server.url,
            threshold=32_000,
            agent_max_steps=9,
            agent_max_seconds=most_s,
            session=session,
            cancel=token or CancelToken(),
            pause=pause,
            clock=clock,
            approvals=port,
            vault=NoNotes(),
            tools=(*AGENT_TOOLS, *(tool.definition for tool in tools)),
            extra_tools=tools,
            rules=rules or ApprovalRules(level),
        )
        return run_turn(turn)

    return running


def results(server) -> list[str]:
    return [m["content"] for m in server.bodies[-1]["messages"] if m["role"] == "tool"]


def statuses(events) -> list[str]:
    return [event.step.status for event in events if isinstance(event, ToolEnded)]


def test_what_is_approved_once_is_done_and_asked_again_next_time(run, server):
    diary, person = Diary(), Person("once", "reject")
    server.script(
        calling(("write_diary", {"text": "a"})),
        calling(("write_diary", {"text": "b"})),
        Answer("Ok"),
    )
    events = list(run(diary, port=person))
    assert diary.text == "a"
    assert [dict(r.arguments) for r in person.asked] == [{"text": "a"}, {"text": "b"}]
    assert statuses(events) == ["ok", "denied"]
    assert results(server)[0] == "Written."
    assert "the user rejected this call" in results(server)[1]
    asked = [event.request for event in events if isinstance(event, ApprovalRequested)]
    assert [(e.tool, e.proposal.diff, e.proposal.summary) for e in asked] == [
        ("write_diary", "+a", "Write the diary."),
        ("write_diary", "+b", "Write the diary."),
    ]
    assert [step.status for step in events[-1].result.answer.steps] == ["ok", "denied"]


def test_where_nobody_can_be_asked_nothing_is_done(run, server):
    diary = Diary()
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    events = list(run(diary))
    assert (diary.text, statuses(events)) == ("", ["denied"])
    assert "nobody can be asked" in results(server)[0]
    assert not [event for event in events if isinstance(event, ApprovalRequested)]


def test_a_proposal_whose_content_changed_is_asked_again(run, server):
    diary, person = Diary(), Person("once", "once")
    changes = iter(["x"])
    person.on_ask = lambda: setattr(diary, "text", diary.text + next(changes, ""))
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    assert statuses(list(run(diary, port=person))) == ["ok"]
    assert diary.text == "xa"
    first, second = person.asked
    assert first.id != second.id
    assert first.call_id == second.call_id == "c0"


def test_content_that_always_changes_ends_in_an_error(run, server):
    diary, person = Diary(), Person(*["once"] * 9)
    person.on_ask = lambda: setattr(diary, "text", diary.text + "x")
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    assert statuses(list(run(diary, port=person))) == ["error"]
    assert diary.text == "x" * 5


@pytest.mark.parametrize(
    ("level", "fields", "is_done"),
    [
        ("never", {}, False),
        ("never", {"session_scope": "example.org"}, False),
        ("reads", {}, False),
        ("reads", {"session_scope": "example.org"}, True),
        ("reads", {"session_scope": "example.org", "warnings": ("Large.",)}, False),
        ("all", {}, True),
        ("all", {"warnings": ("More than ten notes.",)}, False),
    ],
)
def test_levels_without_a_person(run, server, level, fields, is_done):
    diary = Diary(**fields)
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    events = list(run(diary, level=level))
    assert (diary.text == "a", statuses(events)) == (is_done, ["ok" if is_done else "denied"])


@pytest.mark.parametrize(
    ("question", "scope", "is_done"),
    [
        ("Read https://example.org/a and sum up.", "example.org", True),
        ("Read <HTTPS://Example.ORG>.", "example.org", True),
        ("Read [it](https://www.example.org/a).", "example.org", True),
        ("Read https://example.org.", "www.example.org", True),
        ("Read www.example.org, please.", "example.org", True),
        ("Read https://bücher.example/", "xn--bcher-kva.example", True),
        ("Read http://example.org:8080/x", "example.org", True),
        ("Read https://[2001:db8::1]/x", "other.example", False),
        ("Read https://example.org/?u=https://other.example", "example.org", True),
        ("Read https://example.org", "other.example", False),
        ("Read https://example.org", "a.example.org", False),
        ("Read https://example.org@other.example/", "other.example", False),
        ("Read https://example.org@other.example/", "example.org", False),
        ("Read https://example.org、つぎ", "example.org", True),
        ("Read http://example.org.other.example/x", "example.org", False),
        ("Read https://xn--/ and https://example.org!", "example.org", True),
        ("Read https://example。org/", "other.example", False),
        ("What does note.md say?", "note.md", False),
        ("Run it.sh at me@www.example.org", "www.example.org", False),
        ("", "example.org", False),
    ],
)
def test_reads_fetches_only_from_hosts_that_the_question_names(
    run, server, question, scope, is_done
):
    page = Diary("fetch_page", kind="fetch", session_scope=scope)
    server.script(calling(("fetch_page", {"text": "a"})), Answer("Ok"))
    events = list(run(page, level="reads", question=f"{question} Go."))
    assert (page.text == "a", statuses(events)) == (is_done, ["ok" if is_done else "denied"])


def test_a_host_of_an_earlier_question_is_not_named_by_the_next(run, server):
    page = Diary("fetch_page", kind="fetch", session_scope="example.org")
    rules = ApprovalRules("reads")
    server.script(calling(("fetch_page", {"text": "a"})), Answer("Ok"))
    assert statuses(run(page, rules=rules, question="Read https://example.org")) == ["ok"]
    server.script(calling(("fetch_page", {"text": "a"})), Answer("Ok"))
    assert statuses(run(page, rules=rules, question="And the links?")) == ["denied"]


def test_a_brake_asks_a_person_whatever_was_allowed(run, server):
    diary, person = Diary(warnings=("A tenth is removed.",)), Person("once")
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    (asked,) = [e for e in run(diary, port=person, level="all") if isinstance(e, ApprovalRequested)]
    assert asked.request.proposal.warnings == ("A tenth is removed.",)
    assert diary.text == "a"


def test_an_approval_for_the_session_covers_its_scope_only(run, server):
    rules = ApprovalRules()
    here = Diary("fetch_here", kind="fetch", session_scope="here.org")
    there = Diary("fetch_there", kind="fetch", session_scope="there.org")
    person = Person("session", "reject")
    server.script(
        calling(*[(name, {"text": "a"}) for name in ("fetch_here", "fetch_here", "fetch_there")]),
        Answer("Ok"),
    )
    assert sorted(statuses(run(here, there, port=person, rules=rules))) == ["denied", "ok", "ok"]
    assert [request.tool for request in person.asked] == ["fetch_here", "fetch_there"]
    server.script(calling(("fetch_here", {"text": "b"})), Answer("Ok"))
    assert statuses(run(here, there, rules=rules)) == ["ok"]


def test_a_session_approval_without_a_scope_counts_once(run, server):
    diary, person = Diary(), Person("session", "reject")
    server.script(*[calling(("write_diary", {"text": "a"}))] * 2, Answer("Ok"))
    assert statuses(run(diary, port=person)) == ["ok", "denied"]


def test_a_call_that_cannot_be_done_is_not_asked(run, server):
    diary, person = Diary(), Person()
    server.script(
        calling(("write_diary", {"text": ""}), ("write_diary", {"txt": "a"})), Answer("Ok")
    )
    assert statuses(run(diary, port=person)) == ["error", "error"]
    assert person.asked == []


def test_a_stop_while_it_waits_ends_the_turn_and_does_nothing(run, server):
    token, desk, diary = CancelToken(), ApprovalDesk(), Diary()
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    for event in run(diary, port=desk, token=token):
        if isinstance(event, ApprovalRequested):
            desk.open(event.request.id)
            token.cancel()
    assert isinstance(event, TurnEnded)
    assert (event.result.answer.end.status, diary.text) == ("interrupted", "")


def test_an_answer_may_come_before_it_is_waited_for(run, server):
    desk, diary = ApprovalDesk(), Diary()
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    for event in run(diary, port=desk):
        if isinstance(event, ApprovalRequested):
            desk.open(event.request.id)
            assert desk.answer(event.request.id, "once")
            assert not desk.answer(event.request.id, "reject")
    assert diary.text == "a"
    assert not desk.answer("unknown", "once")


def test_all_that_waits_is_rejected_when_the_front_end_goes(run, server):
    desk, diary = ApprovalDesk(), Diary()
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    for event in run(diary, port=desk):
        if isinstance(event, ApprovalRequested):
            desk.open(event.request.id)
            threading.Thread(target=desk.reject_all).start()
    assert diary.text == ""


def test_a_port_that_fails_rejects(run, server, caplog):
    diary, person = Diary(), Person()
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    assert statuses(run(diary, port=person)) == ["denied"]
    assert "No decision could be had" in caplog.text
    caplog.clear()


def test_the_time_that_a_person_takes_does_not_end_the_turn(run, server):
    diary, person, now = Diary(), Person("once"), [0.0]
    person.on_ask = lambda: now.append(1_000.0)
    server.script(calling(("write_diary", {"text": "a"})), Answer("Ok"))
    events = list(run(diary, port=person, clock=lambda: now[-1]))
    assert events[-1].result.answer.end.status == "complete"
    (ended,) = [event for event in events if isinstance(event, ToolEnded)]
    assert ended.step.seconds == 0


def test_approved_calls_that_leave_this_computer_run_side_by_side(run, server):
    meeting = threading.Barrier(3)
    diaries = [Diary(f"fetch_{n}", kind="fetch") for n in range(3)]
    for diary in diaries:
        diary.on_apply = lambda: meeting.wait(30)
    server.script(calling(*((f"fetch_{n}", {"text": "a"}) for n in range(3))), Answer("Ok"))
    assert statuses(run(*diaries, port=Person("once", "once", "once"))) == ["ok"] * 3
    assert [diary.text for diary in diaries] == ["a"] * 3


def test_an_approved_call_that_never_ends_is_left_when_the_time_is_over(run, server):
    release, diary, later = threading.Event(), Diary("fetch_it", kind="fetch"), Diary()
    diary.on_apply = lambda: release.wait(120)
    person = Person("once", "once")
    server.script(
        calling(("fetch_it", {"text": "a"}), ("write_diary", {"text": "b"})), Answer("Ok")
    )
    events = list(run(diary, later, port=person, most_s=0))
    release.set()
    assert statuses(events) == ["ok", "error"]
    assert (later.text, events[-1].result.answer.end.status) == ("b", "limit")


def test_an_outdated_call_that_leaves_this_computer_is_asked_again(run, server):
    diary, person = Diary("fetch_it", kind="fetch"), Person("once", "once")
    changes = iter(["x"])
    person.on_ask = lambda: setattr(diary, "text", diary.text + next(changes, ""))
    server.script(calling(("fetch_it", {"text": "a"})), Answer("Ok"))
    assert statuses(run(diary, port=person)) == ["ok"]
    assert (diary.text, len(person.asked)) == ("xa", 2)
