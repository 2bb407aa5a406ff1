"""Turns of an agent: the real loop, tools and client, against a scripted server."""

import json
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.events import CompactionEnded, ToolEnded, ToolStarted, TurnEnded, Usage
from chains.request.draft import NO_TOOL
from chains.tokenizer import load_counter
from chains.turn.agent import AGENT_TOOLS
from chains.turn.run import run_turn
from context.log.entries import MessageEntry
from context.tokens import count_tool
from tests.support.models.anthropic_events import SIGNATURE
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.sessions.memory_session import ListSearch, hit
from vault.errors import NoteUnreadable
from vault.notes.note import Note, parse_note
from vault.records import NoteState
from vault.search.search import SearchResult

TEXTS = {
    "Garden.md": "# Beans\nBeans need warm soil.\nSow them in May.\n",
    "Plans/Terrace.md": "Oak & larch.\n",
    "Long.md": "".join(f"Line {n} of a long note.\n" for n in range(1, 401)),
}


class Notes(ListSearch):
    """Notes in memory; a search finds what it was given."""

    root = Path("Notes")

    def __init__(self) -> None:
        super().__init__(hit("Garden.md", "Sow them in May.", first=3))
        self.meeting: threading.Barrier | None = None
        self.on_read: Callable[[], object] = lambda: None

    def read_allowed(self, path: str) -> Note:
        self.on_read()
        if self.meeting is not None:
            self.meeting.wait(60)
        if path not in TEXTS:
            raise NoteUnreadable(path, "it does not exist")
        return parse_note(path, TEXTS[path].encode())[0]

    def filter_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        return frozenset(paths)

    def notes(self) -> tuple[NoteState, ...]:
        states = [NoteState(path, path, "indexed", "") for path in TEXTS]
        return (*states, NoteState("Secret.md", "Secret", "excluded", "private"))


def calling(*calls: tuple[str, Any], text: str = "", **fields: Any) -> Answer:
    """An answer that calls tools: each by its name and its arguments."""
    written = tuple(
        (f"c{n}", name, a if isinstance(a, str) else json.dumps(a))
        for n, (name, a) in enumerate(calls)
    )
    return Answer(text, calls=written, **fields)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def run(server: ModelServer, session, notes, pause, ask) -> Callable[..., list[Any]]:
    """Run a turn to its end; return its events."""

    def running(question="When?", *, token=None, has_agent=True, **fields):
        values = {"api_base": server.url, "threshold": 32_000, "pause": pause, "session": session}
        if has_agent:
            values |= {"mode": "agent", "vault": notes, "tools": AGENT_TOOLS}
        else:
            values["mode"] = "chat"
        return list(run_turn(ask(question, cancel=token or CancelToken(), **(values | fields))))

    return running


def result_of(events):
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def tool_messages(body) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def test_the_model_is_told_of_its_tools_and_gets_what_they_find(run, server):
    server.script(calling(("search_notes", {"query": "beans"})), Answer("In May [1]."))
    result = result_of(run())
    offered = [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
    assert offered == [
        "search_notes",
        "read_note",
        "list_folder",
        "grep_notes",
        "get_links",
        "list_tags",
        "recent_notes",
        "current_time",
        "read_result",
        "compact_context",
        "tool_search",
        "update_memory",
        "update_progress",
    ]
    (found,) = tool_messages(server.bodies[1])
    assert found.startswith('<source n="1" title="Garden" path="Garden.md" lines="3-3">')
    assert (result.answer.text, result.answer.end.status) == ("In May [1].", "complete")


def test_what_tools_read_can_be_cited(run, server):
    server.script(
        calling(("search_notes", {"query": "beans"})),
        calling(("read_note", {"path": "Plans/Terrace.md"})),
        Answer('"Sow them in May" [1], and "Oak & larch" [2].'),
    )
    citations = result_of(run()).answer.checked.citations
    assert [(c.n, c.path, c.lines, c.verified) for c in citations] == [
        (1, "Garden.md", (3, 3), True),
        (2, "Plans/Terrace.md", (1, 1), True),
    ]


def test_every_call_is_told_of_in_its_order(run, server):
    server.script(
        calling(("list_folder", {}), ("read_note", {"path": "Garden.md", "start": 2})), Answer("Ok")
    )
    events = run()
    assert [e.step.name for e in events if isinstance(e, ToolStarted)] == [
        "list_folder",
        "read_note",
    ]
    assert {e.step.name for e in events if isinstance(e, ToolEnded)} == {"list_folder", "read_note"}
    tools = {tool["id"]: tool for tool in result_of(events).to_dict()["tools"]}
    assert tools["c1"] == {
        "id": "c1",
        "name": "read_note",
        "arguments": {"path": "Garden.md", "start": 2},
        "status": "ok",
        "ref_id": None,
    }


def test_what_is_kept_from_models_is_not_listed(run, server):
    server.script(calling(("list_folder", {})), Answer("Ok"))
    run()
    (listing,) = tool_messages(server.bodies[1])
    assert listing.splitlines() == [
        "Plans/ (1 note)",
        "Garden.md: Garden.md",
        "Long.md: Long.md",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("fly", {}, "There is no tool fly. There are: search_notes"),
        ("read_note", '{"path": "Gar', "The arguments are not JSON"),
        ("read_note", '{"path": ' + "[" * 700 + "]" * 700 + "}", "The arguments are not JSON"),
        ("read_note", "[1]", "have to be a JSON object"),
        ("read_note", {}, "The argument path is missing"),
        ("read_note", {"path": 3}, "has to be of the type string"),
        ("read_note", {"path": "Garden.md", "from": 1}, "There is no argument from"),
        ("search_notes", {"query": "x", "k": 99}, "has to be from 1 to 20"),
        ("read_note", {"path": "Garden.md", "start": 0}, "start has to be at least 1."),
        ("search_notes", {"query": " "}, "nothing to search for"),
        ("read_note", {"path": "Gone.md"}, "it does not exist"),
        ("read_note", {"path": "Garden.md", "start": 9}, "3 lines; it has no line 9."),
        ("read_note", {"path": "Garden.md", "start": 9, "end": 12}, "it has no lines 9 to 12."),
        ("list_folder", {"path": "Nowhere"}, "no notes in a folder Nowhere"),
        ("read_result", {"ref_id": "r99"}, "no stored result"),
    ],
)
def test_a_call_that_cannot_be_done_is_an_ordinary_result(run, server, name, arguments, said):
    server.script(calling((name, arguments)), Answer("So be it."))
    result = result_of(run())
    (content,) = tool_messages(server.bodies[1])
    assert content.startswith("Error: ")
    assert said in content
    assert [step.status for step in result.answer.steps] == ["error"]
    assert result.answer.end.status == "complete"


def test_calls_of_one_answer_run_side_by_side(run, server, notes):
    notes.meeting = threading.Barrier(3)
    paths = [("read_note", {"path": path}) for path in TEXTS]
    server.script(calling(*paths), Answer("Ok"))
    assert [step.status for step in result_of(run()).answer.steps] == ["ok"] * 3


def test_each_step_is_on_disk_before_the_next_request(run, server, session):
    stored = []

    def reply(_body):
        stored.append([entry.message.role for entry in session.messages])
        return Answer("Done.")

    server.script(calling(("list_folder", {}), text="Let me look."), reply)
    run()
    assert stored == [["user", "assistant", "tool"]]
    assert [entry.message.role for entry in session.messages] == [*stored[0], "assistant"]


def test_a_large_result_is_kept_elsewhere_and_read_in_pages(run, server, session):
    page = {"ref_id": "r0", "offset": 0, "limit": 20_000}
    server.script(
        calling(("read_note", {"path": "Long.md"})),
        calling(("read_result", page)),
        Answer("Read."),
    )
    result = result_of(run())
    stub, whole = tool_messages(server.bodies[2])
    assert stub.startswith("[Tool result stored")
    assert whole.split("\n", 1)[1] == session.results["r0"]
    assert TEXTS["Long.md"].removesuffix("\n") in whole
    assert [step.ref_id for step in result.answer.steps] == ["r0", None]


WANTING = ["deepseek-v3.2", "moonshotai/kimi-k2-thinking", "deepseek/deepseek-v4-pro"]


@pytest.mark.parametrize("model", WANTING)
def test_what_was_thought_in_tool_turns_goes_back_to_models_that_ask_for_it(run, server, model):
    server.script(
        Answer("Hello.", reasoning="A greeting."),
        calling(("list_folder", {}), reasoning="Hm, let me see."),
        Answer("Ok", reasoning="I have it."),
        Answer("Welcome.", reasoning="Thanks are due."),
    )
    for question in ("Hi", "Look", "Thanks", "Bye"):
        run(question, model=model)
    for body in server.bodies:
        thoughts = [m.get("reasoning_content") for m in body["messages"]]
        wanted = [None] * 4 + ["Hm, let me see.", None, " "]
        assert thoughts == [*wanted, *[None] * 9][: len(thoughts)]
    assert len(server.bodies[-1]["messages"]) == 10


def test_a_call_without_thinking_has_some_for_models_that_ask_for_it(run, server):
    server.script(calling(("list_folder", {})), Answer("Ok"))
    run(model=WANTING[0])
    run("And?", model=WANTING[0])
    thoughts = [m.get("reasoning_content") for m in server.bodies[-1]["messages"]]
    assert thoughts == [None, None, " ", None, " ", None]


def test_a_server_that_wants_all_thinking_back_is_learned_from_its_refusal(run, server):
    """Some gateways count every answer of a thinking model, not only those with calls."""

    def reply(body):
        asked = [m for m in body["messages"] if m["role"] == "assistant"]
        if any("reasoning_content" not in message for message in asked):
            said = "The `reasoning_content` in the thinking mode must be passed back to the API."
            return Failure.saying(400, said)
        return Answer("Hello.", reasoning="A greeting.")

    server.script(reply)
    for model in (WANTING[0], "scripted"):
        run("Hi", model=model)
        assert result_of(run("And?", model=model)).answer.end.status == "complete"
    assert server.bodies[-1]["messages"][2]["reasoning_content"] == " "


def test_what_was_thought_goes_back_to_no_other_model(run, server):
    server.script(calling(("list_folder", {}), reasoning="Hm, let me see."), Answer("Ok"))
    run()
    run("And?")
    assert "reasoning_content" not in str(server.bodies)


def test_signed_reasoning_goes_back_unchanged_within_the_turn_only(run, server, session):
    server.script(calling(("list_folder", {}), reasoning="Hm, let me see."), Answer("Ok"))
    run(model=CLAUDE)
    run("And?", model=CLAUDE)
    block = {"type": "thinking", "thinking": "Hm, let me see.", "signature": SIGNATURE}
    within, later = server.bodies[1]["messages"], server.bodies[2]["messages"]
    (said,) = [message for message in within if message["role"] == "assistant"]
    assert said["content"][0] == block
    assert [part["type"] for part in said["content"]] == ["thinking", "tool_use"]
    assert SIGNATURE not in json.dumps(later)
    stored = [entry.message for entry in session.path() if isinstance(entry, MessageEntry)]
    assert any(SIGNATURE in json.dumps(message.to_dict()) for message in stored)


def test_a_service_that_needs_tools_gets_one_that_is_counted_and_named(run, server):
    server.script(calling(("list_folder", {})), Answer("Ok"))
    run(model=CLAUDE)
    plain = {"model": CLAUDE, "mode": "chat"}
    chat, again = (result_of(run("And?", has_agent=False, **plain)).context for _ in range(2))
    tokens = count_tool(NO_TOOL, load_counter(CLAUDE))
    for context, body in zip((chat, again), server.bodies[2:], strict=True):
        assert [tool["name"] for tool in body["tools"]] == ["no_tool"]
        assert context["layers"]["T"]["tokens"] == tokens > 0
    assert "the tools changed" in chat["prefix"]["reasons"]
    assert "the tools changed" not in again["prefix"]["reasons"]


def test_a_loop_that_the_budget_ends_leaves_such_a_service_that_tool_too(run, server):
    """The client library would add a tool of its own, which is neither counted nor named."""
    server.script(calling(("read_note", {"path": "Long.md"})), Answer("That is all."))
    limits = {"result_offload_threshold": 1_000_000}  # no result is stored elsewhere
    result = result_of(run(model=CLAUDE, threshold=4_000, **limits))
    context, body = result.context, server.bodies[-1]
    assert [tool["name"] for tool in body["tools"]] == ["no_tool"]
    assert context["layers"]["T"]["tokens"] == count_tool(NO_TOOL, load_counter(CLAUDE))
    assert "the tools changed" in context["prefix"]["reasons"]


def test_no_other_service_gets_a_tool_that_does_nothing(run, server):
    server.script(calling(("list_folder", {})), Answer("Ok"))
    run()
    assert (
        result_of(run("And?", has_agent=False, mode="chat")).context["layers"]["T"]["tokens"] == 0
    )
    assert "tools" not in server.bodies[2]


def test_the_usage_is_that_of_all_requests(run, server):
    server.script(calling(("list_folder", {})), Answer("Ok"))
    assert result_of(run()).usage == Usage(2, 200, 20, 80, 0.0)


def test_at_the_limit_of_steps_there_is_an_answer_without_tools(run, server):
    server.script(
        calling(("list_folder", {})),
        calling(("list_folder", {"path": "Plans"})),
        Answer("That is all I know."),
    )
    result = result_of(run(agent_max_steps=2))
    assert [bool(body.get("tools")) for body in server.bodies] == [True, True, False]
    assert (result.answer.end.status, result.answer.text) == ("limit", "That is all I know.")


def test_at_the_limit_of_time_there_is_an_answer_without_tools(run, server):
    ticks = iter(range(0, 10_000, 100))
    server.script(calling(("list_folder", {})), Answer("Out of time."))
    result = result_of(run(agent_max_seconds=150, clock=lambda: next(ticks)))
    assert "tools" not in server.bodies[1]
    assert (result.answer.end.status, result.answer.text) == ("limit", "Out of time.")


def test_a_tool_that_never_ends_is_left_when_the_time_is_over(run, server, notes):
    release = threading.Event()
    notes.on_read = lambda: release.wait(120)
    server.script(
        calling(("read_note", {"path": "Garden.md"}), ("list_folder", {})), Answer("Out of time.")
    )
    events = run(agent_max_seconds=0)
    release.set()
    statuses = {
        event.step.name: event.step.status for event in events if isinstance(event, ToolEnded)
    }
    assert statuses == {"list_folder": "ok", "read_note": "error"}
    assert (result_of(events).answer.end.status, result_of(events).answer.text) == (
        "limit",
        "Out of time.",
    )
    (left, listed) = tool_messages(server.bodies[1])
    assert "the time for tools was over before this call ended" in left
    assert "Garden.md" in listed
    assert_each_call_has_one_result(server.bodies[1])


def test_a_stop_in_the_middle_of_a_tool_keeps_the_chat_whole(run, server, session, notes):
    token, release = CancelToken(), threading.Event()

    def stop():
        token.cancel()
        release.wait(60)

    notes.on_read = stop
    server.script(calling(("read_note", {"path": "Garden.md"})), Answer("Understood."))
    result = result_of(run(token=token))
    release.set()
    assert (result.answer.end.status, result.answer.text) == ("interrupted", "")
    notes.on_read = lambda: None
    assert result_of(run("Go on.")).answer.text == "Understood."
    assert_each_call_has_one_result(server.bodies[-1])


def assert_each_call_has_one_result(body: Any) -> None:
    """Every call has exactly one result, behind it and before the next answer."""
    messages = body["messages"]
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            behind = []
            for later in messages[at + 1 :]:
                if later["role"] != "tool":
                    break
                behind.append(later["tool_call_id"])
            assert behind.count(call["id"]) == 1


def test_over_fifteen_steps_each_request_begins_with_the_one_before(run, server):
    names = [("read_note", {"path": "Garden.md", "start": 1 + n % 3}) for n in range(15)]
    server.script(*(calling(name, ("list_folder", {})) for name in names), Answer("Done."))
    result = result_of(run(result_offload_threshold=200))
    assert result.answer.end.status == "complete"
    assert len(server.bodies) == 16
    posts = [received for received in server.received if received.body]
    for before, after in pairwise(posts):
        sent, follows = messages_of(before.raw), messages_of(after.raw)
        assert follows.startswith(sent)
        assert before.body["tools"] == after.body["tools"]
    for body in server.bodies:
        assert_each_call_has_one_result(body)


def messages_of(raw: bytes) -> bytes:
    """The bytes of the list of messages, without its end."""
    start = raw.index(b'"messages"')
    messages = json.JSONDecoder().raw_decode(raw[start:].decode().split(":", 1)[1].strip())
    end = raw[start:].decode().split(":", 1)[1].strip()[: messages[1] - 1]
    return end.encode()


def test_calls_of_several_turns_have_names_of_their_own(run, server, session):
    server.script(
        calling(("list_folder", {})), Answer("One."), calling(("list_folder", {})), Answer("Two.")
    )
    run()
    run("Again?")
    ids = [
        part["id"]
        for entry in session.messages
        if isinstance(entry, MessageEntry) and isinstance(entry.message.content, tuple)
        for part in entry.to_dict()["content"]
        if part["type"] == "tool_call"
    ]
    assert len(ids) == len(set(ids)) == 2


def test_a_dry_run_sends_and_stores_nothing(run, server, session):
    result = result_of(run(dry_run=True))
    assert (result.turn, result.context["layers"]["T"]["items"]) == (None, 13)
    assert (server.bodies, session.entries) == ([], [])


CLAUDE = "anthropic/claude-sonnet-4-5"


def marks_in(value: Any) -> int:
    """How many places of a body are marked."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(marks_in, value.values()))
    return sum(map(marks_in, value)) if isinstance(value, list) else 0


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(v) for key, v in value.items() if key != "cache_control"}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def test_a_service_that_takes_marks_is_told_where_its_cache_may_end(run, server, session):
    server.script(
        calling(("read_note", {"path": "Long.md"})), Answer("Many lines [1]."), Answer("No more.")
    )
    limits = {"result_offload_threshold": 100_000}
    assert result_of(run(model=CLAUDE, **limits)).answer.text == "Many lines [1]."
    run("And then?", model=CLAUDE, **limits)
    first, in_the_loop, next_turn = server.bodies
    assert marks_in(first) == 2  # L1 and the question
    assert in_the_loop["messages"][-1]["content"][0]["cache_control"] == {"type": "ephemeral"}
    history = [message for message in next_turn["messages"] if marks_in(message)]
    assert 1 <= marks_in(next_turn) <= 4
    assert history[0]["role"] == "assistant"


def test_marks_change_nothing_else_of_what_is_sent(run, server):
    server.script(
        calling(("read_note", {"path": "Long.md"})), calling(("list_folder", {})), Answer("Done.")
    )
    run(model=CLAUDE, result_offload_threshold=100_000)
    _, before, after = (without_marks(body["messages"]) for body in server.bodies)
    assert after[: len(before)] == before


def test_a_summary_begins_as_the_last_request_and_has_in_full_what_was_trimmed(run, server):
    looked_up = [calling(("read_note", {"path": "Long.md"})), Answer("word " * 200)] * 5
    summed_up = [calling(("compact_context", {})), Answer("Notes were read."), Answer("Done.")]
    server.script(*looked_up, *summed_up)
    for _ in range(6):
        run(model=CLAUDE, result_offload_threshold=100_000, threshold=24_000)
    before, asked = (body["messages"] for body in server.bodies[-3:-1])
    end = len(asked) - 1
    assert without_marks(asked[:end]) == without_marks(before[:end])
    assert "[trimmed]" in str(asked[:end])
    assert str(asked).count("Line 1 of a long note.") == 4  # the last complete turn stays
    assert [at for at, message in enumerate(asked) if marks_in(message)] == [end - 1]


def test_a_service_that_takes_no_marks_gets_none(run, server):
    server.script(calling(("read_note", {"path": "Long.md"})), Answer("Done."))
    run(model="claude-sonnet-4-5", result_offload_threshold=100_000)
    assert server.bodies[0]["model"] == "claude-sonnet-4-5"
    assert [marks_in(body) for body in server.bodies] == [0, 0]


def test_a_model_may_have_the_earlier_conversation_summed_up(run, server):
    server.script(Answer("Beans need warm soil, as I said before. " * 40))
    for number in range(3):
        run(f"Question {number}?")
    server.script(
        calling(("compact_context", {}), ("list_folder", {})),
        Answer("Beans: warm soil."),
        Answer("Done."),
    )
    events = run("Free some space.")
    assert [type(event) for event in events].count(CompactionEnded) == 1
    assert result_of(events).answer.text == "Done."
    asked, _, after = server.bodies[-3:]
    assert "Question 0?" in str(asked["messages"])
    assert "Question 0?" not in str(after["messages"])
    assert "Beans: warm soil." in str(after["messages"][1]["content"])
    assert_each_call_has_one_result(after)
    (told,) = [event.result for event in events if isinstance(event, CompactionEnded)]
    result = after["messages"][-2]["content"]  # the first of two calls
    assert "was compacted" in result
    assert f"{told['before_tokens']:,} tokens became {told['after_tokens']:,}" in result
    assert f"{told['before_messages']} messages became {told['after_messages']}" in result


def test_a_model_is_told_that_there_was_nothing_to_compact(run, server):
    server.script(calling(("compact_context", {})), Answer("Done."))
    assert result_of(run("Free some space.")).answer.text == "Done."
    assert "There was nothing to compact" in server.bodies[-1]["messages"][-1]["content"]


def test_a_large_result_that_cannot_be_stored_is_a_warning_of_the_report(run, server, session):
    session.keep_result = lambda tool, content: None
    server.script(calling(("read_note", {"path": "Long.md"})), Answer("Done."))
    result = result_of(run(result_offload_threshold=100))
    assert "Line 1 of a long note." in str(server.bodies[-1]["messages"])
    (warning,) = [text for text in result.context["warnings"] if "could not be stored" in text]
    assert "read_note" in warning
    assert warning in result.warnings


def test_a_model_is_told_that_it_uses_much_where_it_can_help_it(run, server, session):
    # Several times, since a window of less than 16,000 has no room for that tool.
    replies = calling(*[("read_note", {"path": "Long.md"})] * 4), Answer("Done.")
    limits = {"result_offload_threshold": 100_000}
    server.script(*replies)
    wide = result_of(run(**limits)).context
    session.entries.clear()
    server.script(*replies)
    threshold = int(wide["used"] * wide["factor"] / 0.85) + 300
    run(threshold=threshold, max_output_tokens=300, **limits)
    first, second = server.bodies[-2:]
    assert "[Context:" not in str(first["messages"])
    assert second["messages"][-1]["content"].startswith("[Context: 8")
    assert "compact_context" in second["messages"][-1]["content"]


def test_a_search_goes_on_where_another_ended(run, server, notes):
    notes.hits = (*notes.hits, hit("Beds.md", "Beds are dug in spring."))
    server.script(
        calling(("search_notes", {"query": "beans", "k": 1})),
        calling(("search_notes", {"query": "beans", "k": 1, "offset": 1})),
        Answer("In May."),
    )
    run("When?")
    _, first, second = server.bodies
    assert "There are more; offset 1 shows the next." in str(first["messages"][-1])
    assert "There are more" not in str(second["messages"][-1])


@pytest.mark.parametrize("hits", [True, False])
def test_a_search_tells_the_model_how_much_was_searched(run, server, notes, monkeypatch, hits):
    said = "812 of 6,591 notes searched by meaning, all by words."
    found = SearchResult("beans", tuple(notes.hits) if hits else (), 0.0, warnings=(said,))
    monkeypatch.setattr(notes, "search", lambda *_, **__: found)
    server.script(calling(("search_notes", {"query": "beans"})), Answer("In May."))
    run("When?")
    result = server.bodies[1]["messages"][-1]
    assert said in str(result)
    assert ("Nothing was found" in str(result)) is not hits


def test_a_continued_answer_keeps_the_numbers_of_what_was_read(run, server, session):
    server.script(
        calling(("read_note", {"path": "Garden.md"})),
        Answer("Beans need warm soil [1], says", chunk_chars=40, break_after=2),
        calling(("read_note", {"path": "Plans/Terrace.md"})),
        Answer("the note, and larch [2]."),
    )
    assert result_of(run()).answer.end.status == "interrupted"
    result = result_of(run(is_regenerated=True, is_continued=True))
    assert [(one.n, one.path) for one in result.answer.checked.citations] == [
        (1, "Garden.md"),
        (2, "Plans/Terrace.md"),
    ]
