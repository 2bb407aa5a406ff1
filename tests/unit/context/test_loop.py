"""A turn in which tools are called, request by request."""

import json
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from context.assemble.apply_hooks import run_turn_end_hooks
from context.assemble.inputs import HistoryPolicy, Ports
from context.errors import BadInputs, ContextHookError, ContextOverflow, SummaryFailed
from context.history.boundaries import ANEW
from context.hooks import ContextResult, HookRegistry
from context.layers import Layer
from context.log.entries import (
    CustomMessageEntry,
    EphemeralEntry,
    MemoryUpdateEntry,
    MessageEntry,
    SegmentsEntry,
    TransformEntry,
    parse_entry,
)
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from context.pipeline import prepare
from context.report.markdown import envelope_markdown
from context.tokens import count_message
from tests.support.sessions.chats import TIME, Chat, passage
from tests.support.sessions.recount import merge_for_wire
from tests.unit.context.history.test_tool_pairing import check_pairs

SEARCH = ToolDefinition("search", "Searches the notes", {"type": "object"})
WHY = {"scope": "cached", "invalidateCacheReason": "because"}


@dataclass
class Loop:
    """An agent's chat: each call and result is stored, as a runner would do it."""

    chat: Chat = field(default_factory=lambda: Chat(threshold=50_000))
    hooks: HookRegistry | None = None
    tools: tuple[ToolDefinition, ...] = (SEARCH,)
    requests: list = field(default_factory=list)

    def begin(self, question, segments=()):
        self.inputs = self.chat.inputs(question, segments)
        self.chat.path = list(self.inputs.path)
        self.number = 0
        return self.send()

    def send(self, mode="send", tools=None):
        number = self.number + 1
        inputs = replace(
            self.inputs,
            path=tuple(self.chat.path),
            request=number,
            tools=self.tools if tools is None else tools,
            previous=self.chat.previous,
        )
        appended = []
        ports = replace(self.chat.ports(appended), hooks=self.hooks)
        prepared = prepare(inputs, ports, mode)
        if mode == "send":
            self.number = number
            self.appended = appended
            self.chat.path += [e for e in appended if not isinstance(e, EphemeralEntry)]
            self.chat.path = [
                replace(entry, segments=prepared.segments)
                if isinstance(entry, SegmentsEntry) and entry.turn_id == self.inputs.turn
                else entry
                for entry in self.chat.path
            ]
            self.chat.previous = prepared.request_body()
            self.requests.append(prepared)
        return prepared

    def store(self, role, content):
        message = Message(role, content)
        name, parent = next(self.chat._ids), self.chat.path[-1].id
        entry = MessageEntry(name, parent, TIME, message, self.inputs.turn, status="complete")
        self.chat.path.append(entry)

    def step(self, *results):
        calls = tuple(ToolCallPart(f"c{at}", "search", {"q": "x"}) for at in range(len(results)))
        self.store("assistant", calls)
        for at, result in enumerate(results):
            self.store("tool", (ToolResultPart(f"c{at}", result),))
        return self.send()

    def end(self, answer="Done."):
        self.store("assistant", answer)

    def remember(self, **parts):
        parent = self.chat.path[-1].id
        self.chat.path.append(MemoryUpdateEntry(next(self.chat._ids), parent, TIME, **parts))


def hooked(handler):
    hooks = HookRegistry()
    hooks.on("context", handler)
    return hooks


def texts(prepared):
    return [message.text for message in prepared.messages]


def body_bytes(prepared):
    """A request's messages as bytes, one by one, less the uncached one."""
    messages = prepared.request_body()["messages"]
    if prepared.envelope.messages.uncached:
        messages = messages[:-1]
    return [json.dumps(message) for message in messages]


def test_calls_and_results_stand_behind_the_question():
    loop = Loop()
    loop.begin("Why?")
    prepared = loop.step("found a", "found b")
    body = prepared.request_body()
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    layers = prepared.report.layers
    assert layers[Layer.W].items == 3
    assert layers[Layer.W].tokens == sum(
        count_message(message, loop.chat.counter) for message in prepared.messages[1:]
    )


def test_a_request_of_a_turn_begins_with_the_one_before_it():
    loop = Loop()
    first = loop.begin("Why?", [passage(1, "a note")])
    for _ in range(15):
        second = loop.step("found something")
        assert body_bytes(second)[: len(first.messages)] == body_bytes(first)
        assert not second.report.prefix.changed
        first = second


def test_tools_that_come_or_leave_within_a_turn_are_the_only_reason_that_is_named():
    loop = Loop()
    loop.begin("Why?")
    loop.store("assistant", (ToolCallPart("c", "search", {}),))
    loop.store("tool", (ToolResultPart("c", "found"),))
    for tools in ((), (SEARCH,)):
        prepared = loop.send(tools=tools)
        assert prepared.report.prefix.reasons == ("the tools changed",)


def test_a_loop_that_ends_without_tools_names_what_changed_and_no_more():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    prepared = loop.step("word " * 4_000)
    assert prepared.ends_loop
    assert prepared.report.prefix.reasons == ("the tools changed",)


def test_a_question_that_a_hook_redacts_within_a_turn_does_not_shorten_its_context():
    loop = Loop()
    loop.begin("My secret is 7.", [passage(1, "a note")])
    asked = next(e for e in loop.chat.path if isinstance(e, MessageEntry))
    parts = [{"type": "text", "text": "Redacted."}]
    patch = {"op": "message_replace", "entryId": asked.id, "parts": parts, **WHY}
    loop.hooks = hooked(lambda event: ContextResult((patch,)) if event.reason else None)
    prepared = loop.step("found")
    assert prepared.report.prefix.reasons == ("because",)


def test_work_becomes_history_when_the_turn_ends():
    loop = Loop()
    loop.begin("Why?")
    loop.step("found")
    loop.end()
    prepared = loop.begin("And?")
    assert [message.role for message in prepared.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert prepared.report.layers[Layer.W].tokens == 0
    assert prepared.report.layers[Layer.L4].items == 1
    assert not prepared.report.prefix.changed


def test_a_turn_that_has_its_answer_asks_for_nothing_more():
    loop = Loop()
    loop.begin("Why?")
    loop.step("found")
    loop.end()
    with pytest.raises(BadInputs):
        loop.send()


def test_older_results_shrink_before_anything_else_and_calls_stay():
    loop = Loop(Chat(threshold=6_000))
    loop.chat.ask("Earlier?", "Yes.")
    loop.begin("Why?")
    prepared = loop.step("line\n" * 900)
    assert prepared.report.guard == ()
    prepared = loop.step("line\n" * 2_200)
    assert prepared.report.guard == ("work",)
    results = [message.content[0] for message in prepared.messages if message.role == "tool"]
    assert len(results[0].content) == pytest.approx(2_250, abs=10)
    assert results[1].content == "line\n" * 2_200
    assert prepared.report.layers[Layer.L4].items == 1
    assert prepared.report.prefix.reasons == ("older results of this turn were shortened",)
    assert [out.layer for out in prepared.report.dropped] == [Layer.W]
    assert not prepared.ends_loop


def test_work_that_outgrows_the_budget_ends_the_loop_without_tools():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    prepared = loop.step("word " * 4_000, "word " * 4_000)
    assert prepared.ends_loop
    assert prepared.request_body()["tools"] == []
    assert prepared.report.guard[-1] == "end_loop"
    assert prepared.report.used <= prepared.report.budget
    assert [message.role for message in prepared.messages][-1] == "tool"
    check_pairs(prepared.messages)


def test_calls_too_large_for_the_budget_leave_the_oldest_first():
    loop = Loop(Chat(threshold=4_000))
    loop.begin("Why?")
    loop.store("assistant", (ToolCallPart("c", "search", {"q": "word " * 5_000}),))
    loop.store("tool", (ToolResultPart("c", "ok"),))
    prepared = loop.step("found")
    assert prepared.ends_loop
    assert [message.role for message in prepared.messages] == ["user", "assistant", "tool"]
    assert prepared.report.used <= prepared.report.budget


def test_a_question_over_the_budget_overflows_in_a_loop_as_well():
    with pytest.raises(ContextOverflow):
        Loop(Chat(threshold=4_000)).begin("word " * 5_000)


def test_what_is_kept_in_mind_is_told_before_the_question_and_frozen():
    loop = Loop()
    loop.remember_first = loop.chat.path.append(
        MemoryUpdateEntry("m", None, TIME, scratchpad="a <b>", facts=("f",))
    )
    first = loop.begin("Why?")
    notes = first.messages[-1].content[0].text
    assert notes.startswith("<memory>")
    assert "a &lt;b&gt;" in notes
    loop.remember(scratchpad="changed")
    second = loop.step("found")
    assert second.messages[0] == first.messages[0]
    assert "changed" in second.messages[-1].text
    assert second.envelope.messages.uncached == second.messages[-1:]
    assert second.report.layers[Layer.E].items == 2
    third = loop.step("found more")
    assert body_bytes(third)[: len(body_bytes(second))] == body_bytes(second)
    assert not third.report.prefix.changed
    loop.end()
    fourth = loop.begin("And?")
    assert fourth.envelope.messages.uncached == ()
    assert "changed" in fourth.messages[-1].content[0].text


def marker(event):
    if event.reason != "before_request":
        return None
    messages = [message.to_dict() for message in event.envelope.messages.cached]
    added = {"role": "user", "content": "[marker]"}
    op = WHY | {"op": "messages_cached_replace", "messages": [*messages, added]}
    return ContextResult([op], "marker")


def once(event):
    if event.reason != "ephemeral":
        return None
    op = {"op": "messages_uncached_append", "scope": "uncached"}
    return ContextResult([op | {"messages": [{"role": "user", "content": "[once]"}]}])


def test_what_a_hook_changes_before_a_request_is_stored_and_replayed_without_it():
    loop = Loop(hooks=hooked(marker))
    first = loop.begin("Why?")
    assert texts(first) == ["Why?", "[marker]"]
    assert [type(entry) for entry in loop.appended] == [TransformEntry]
    loop.hooks = None
    loop.end()
    assert texts(loop.begin("And?")) == ["Why?", "[marker]", "Done.", "And?"]


def test_a_marker_before_each_request_leaves_what_was_sent_as_it_was():
    loop = Loop(hooks=hooked(marker))
    first = loop.begin("Why?")
    second = loop.step("found")
    assert body_bytes(second)[: len(first.messages)] == body_bytes(first)
    assert texts(second)[-1] == "[marker]"


def test_what_is_ephemeral_is_logged_and_never_comes_back():
    loop = Loop(hooks=hooked(once))
    first = loop.begin("Why?")
    assert texts(first) == ["Why?", "[once]"]
    assert first.report.ephemerals == 1
    (log,) = loop.appended
    assert [message.text for message in log.messages] == ["[once]"]
    second = loop.step("found")
    assert texts(second).count("[once]") == 1
    assert not second.report.prefix.changed
    loop.hooks = None
    loop.end()
    assert "[once]" not in texts(loop.begin("And?"))


def test_an_ephemeral_hook_may_change_the_cached_part_once_and_says_why():
    def forget(event):
        if event.reason != "ephemeral":
            return None
        first = event.envelope.messages.cached[0].id
        return ContextResult([WHY | {"op": "message_hide", "entryId": first}])

    loop = Loop()
    for question in ("One?", "Two?"):
        loop.begin(question)
        loop.end()
    loop.hooks = hooked(forget)
    third = loop.begin("Three?")
    assert texts(third) == ["Done.", "Two?", "Done.", "Three?"]
    assert third.report.prefix.reasons == ("because",)
    assert (loop.appended, third.report.transforms) == ([], ())
    loop.hooks = None
    loop.end()
    fourth = loop.begin("Four?")
    assert texts(fourth)[:3] == ["One?", "Done.", "Two?"]
    assert fourth.report.prefix.reasons == ("earlier turns came back",)


def test_a_hook_that_fails_leaves_nothing_behind():
    hooks = hooked(marker)
    hooks.on("context", lambda event: 1 / 0, name="broken")
    loop = Loop(hooks=hooks)
    loop.appended = []
    with pytest.raises(ContextHookError, match="broken"):
        loop.begin("Why?")
    assert loop.appended == []
    assert not any(isinstance(entry, TransformEntry) for entry in loop.chat.path)


def finish(loop):
    """Let the hooks at a turn that has its answer; return each write."""
    writes = []
    ports = Ports(
        loop.chat.counter,
        writes.append,
        lambda: next(loop.chat._ids),
        lambda: TIME,
        hooks=loop.hooks,
    )
    run_turn_end_hooks(replace(loop.inputs, path=tuple(loop.chat.path), tools=loop.tools), ports)
    return writes


def test_at_the_end_of_a_turn_hooks_see_the_answer_and_shape_the_next_request():
    seen = []

    def forget(event):
        if event.reason != "turn_end":
            return None
        seen.append(event.envelope)
        calls = event.envelope.messages.cached[1]
        return ContextResult([WHY | {"op": "message_hide", "entryId": calls.id}], "forget")

    loop = Loop(hooks=hooked(forget))
    loop.begin("Why?")
    loop.step("found")
    loop.end()
    writes = finish(loop)
    assert [m.role for m in seen[0].messages.cached] == ["user", "assistant", "tool", "assistant"]
    assert [tool.name for tool in seen[0].tools] == ["search"]
    assert [[entry.transformer_name for entry in write] for write in writes] == [["forget"]]
    loop.chat.path += writes[0]
    loop.hooks = None
    assert texts(loop.begin("And?")) == ["Why?", "Done.", "And?"]


def test_the_patches_of_a_turns_end_are_one_write_or_none():
    def policy(event):
        op = {"op": "system_part_set", "partName": "policy", "text": " No secrets."}
        return ContextResult([WHY | op]) if event.reason == "turn_end" else None

    loop = Loop(hooks=hooked(policy))
    loop.hooks.on("context", policy)
    loop.begin("Why?")
    loop.end()
    (write,) = finish(loop)
    assert [entry.parent_id for entry in write] == [loop.chat.path[-1].id, write[0].id]
    loop.hooks.on("context", lambda event: 1 / 0)
    with pytest.raises(ContextHookError, match="turn_end"):
        finish(loop)
    loop.hooks = hooked(marker)
    assert finish(loop) == []


class Stopped:
    is_cancelled = True

    def raise_if_cancelled(self):
        raise KeyboardInterrupt


def test_a_request_that_was_stopped_runs_no_hook():
    chat = Chat()
    ports = Ports(chat.counter, list, str, str, hooks=hooked(marker), cancel=Stopped())
    with pytest.raises(KeyboardInterrupt):
        prepare(chat.inputs("Why?"), ports)


def test_a_hook_is_told_what_the_request_is_for():
    seen = []
    loop = Loop(hooks=hooked(lambda event: seen.append(event.envelope.meta)))
    budget = loop.begin("Why?").report.budget
    meta = seen[0]
    assert (meta.model, meta.budget, meta.turn, meta.request) == ("test/model", budget, "t1", 1)


def test_a_preview_runs_no_hook():
    loop = Loop()
    loop.begin("Why?")
    loop.hooks = hooked(lambda event: 1 / 0)
    assert texts(loop.send(mode="preview")) == ["Why?"]


def test_a_tool_that_nothing_runs_is_left_out_and_told():
    def more(event):
        tools = [tool.to_dict() for tool in event.envelope.tools]
        made_up = {"name": "fly", "description": "", "parameters": {}}
        return ContextResult([WHY | {"op": "tools_replace", "tools": [*tools, made_up]}])

    loop = Loop(hooks=HookRegistry())
    loop.hooks.on("context", lambda event: more(event) if event.reason != "ephemeral" else None)
    prepared = loop.begin("Why?")
    assert [tool["name"] for tool in prepared.request_body()["tools"]] == ["search"]
    assert "fly" in prepared.report.warnings[0]


def test_a_hook_may_shorten_the_answer_but_not_lengthen_it():
    def options(most):
        op = WHY | {"op": "options_set", "maxTokens": most, "temperature": 0.9}
        return hooked(lambda event: ContextResult([op]) if event.reason != "ephemeral" else None)

    assert Loop(hooks=options(50)).begin("Why?").envelope.options["maxTokens"] == 50
    prepared = Loop(hooks=options(10**6)).begin("Why?")
    assert prepared.envelope.options == {"maxTokens": 1_000, "temperature": 0.9}


def test_a_question_that_a_hook_hid_is_sent_all_the_same():
    def hide(event):
        target = event.envelope.messages.cached[-1].id
        return ContextResult([WHY | {"op": "message_hide", "entryId": target}])

    loop = Loop(hooks=hooked(lambda event: hide(event) if event.reason != "ephemeral" else None))
    assert texts(loop.begin("Why?")) == ["Why?"]


def test_a_redacted_question_is_sent_redacted():
    def redact(event):
        parts = [{"type": "text", "text": "…"}]
        target = event.envelope.messages.cached[-1].id
        op = {"op": "message_replace", "entryId": target, "parts": parts}
        return ContextResult([WHY | op])

    loop = Loop(hooks=hooked(lambda event: redact(event) if event.reason != "ephemeral" else None))
    prepared = loop.begin("my password", [passage(1, "a")])
    assert [part.text for part in prepared.messages[-1].content][-1] == "…"


def test_instructions_that_a_hook_adds_are_reported_with_its_reason():
    op = WHY | {"op": "system_part_set", "partName": "policy", "text": "\n\nNo secrets."}
    loop = Loop()
    loop.begin("Why?")
    loop.end()
    loop.hooks = hooked(lambda e: ContextResult([op]) if e.reason == "before_request" else None)
    second = loop.begin("And?")
    assert second.request_body()["system"].endswith("No secrets.")
    assert second.report.prefix.reasons == ("because",)
    assert second.report.to_dict()["transforms"][0]["ops"] == ["system_part_set"]


def test_a_request_in_full_shows_its_parts_apart():
    op = WHY | {"op": "system_part_set", "partName": "policy", "text": " No secrets."}
    loop = Loop(hooks=hooked(once))
    loop.hooks.on(
        "context", lambda e: ContextResult([op]) if e.reason == "before_request" else None
    )
    loop.begin("Why?")
    prepared = loop.step("found it")
    text = envelope_markdown(prepared.report.to_dict(), prepared.request_body())
    cached, uncached = text.split("## Messages (uncached)")
    assert '2. **assistant** — [search {"q": "x"}]\n3. **tool** — found it' in cached
    assert "1. **user** — [once]" in uncached
    assert "— system_part_set (because)" in uncached
    assert "**policy**\n\n```\nNo secrets.\n```" in cached


STEPS = st.one_of(
    st.tuples(st.just("step"), st.lists(st.integers(0, 6_000), min_size=1, max_size=3)),
    st.tuples(st.just("end"), st.integers(1, 3_000)),
    st.tuples(st.just("interrupt"), st.booleans()),
    st.tuples(st.just("memory"), st.text(max_size=20)),
    st.tuples(st.just("custom"), st.text(max_size=20)),
)


def play(loop, steps):
    """Run the steps of a chat; yields each request and the one before it in the same turn."""
    before = None
    prepared = loop.begin("Question 0", [passage(1, "note " * 50)])
    yield before, prepared
    for at, (wanted, value) in enumerate(steps):
        before, kind = prepared, "end" if prepared.ends_loop else wanted
        if kind == "step":
            prepared = loop.step(*("word " * (size // 5) for size in value))
        elif kind == "memory":
            loop.remember(scratchpad=value)
            prepared = loop.send()
        elif kind == "custom":
            parent = loop.chat.path[-1].id
            message = Message("user", value)
            name = next(loop.chat._ids)
            loop.chat.path.append(CustomMessageEntry(name, parent, TIME, "c", message))
            prepared = loop.send()
        else:
            if kind == "interrupt" and value:
                loop.store("assistant", (ToolCallPart("c", "search", {}),))
            elif kind == "end":
                loop.end("word " * 100)
            before, prepared = None, loop.begin(f"Question {at + 1}", [passage(1, "note")])
        yield before, prepared


def failing(task):
    raise SummaryFailed("The model is away.")


def missing_nothing(task):
    held = [message for turn in task.turns for message in turn.messages]
    assert all(message in held for turn in task.said for message in turn.messages)
    return "What was said."


UPKEEPS = [
    None,
    HistoryPolicy(),
    HistoryPolicy(keep_last=1, clean_after=0),
    HistoryPolicy(auto_compact=False),
]
LOOPS = st.builds(
    lambda threshold, handler, history_policy, summarise: Loop(
        Chat(threshold=threshold, history_policy=history_policy, summarise=summarise),
        None if handler is None else hooked(handler),
    ),
    st.sampled_from([4_000, 6_000, 12_000, 100_000]),
    st.sampled_from([None, None, marker, once]),
    st.sampled_from(UPKEEPS),
    st.sampled_from([None, failing, missing_nothing, lambda task: "word " * 2_000]),
)


@given(LOOPS, st.lists(STEPS, max_size=10))
@settings(max_examples=60, deadline=None)
def test_what_holds_for_every_request_of_a_loop(loop, steps):
    last = None
    for before, prepared in play(loop, steps):
        report = prepared.report.to_dict()
        assert report["used"] <= report["budget"]
        assert report["used"] == sum(layer["tokens"] for layer in report["layers"].values())
        sent = merge_for_wire(prepared.messages)
        counted = sum(count_message(message, loop.chat.counter) for message in sent)
        rest = report["layers"]["T"]["tokens"] + report["layers"]["L1"]["tokens"]
        assert counted + rest == report["used"]
        assert prepared.report.prefix.changed == bool(prepared.report.prefix.reasons)
        check_pairs(prepared.messages)
        assert len(prepared.marks) <= 4
        assert texts(prepared).count("[once]") <= 1
        if before is not None and not prepared.report.prefix.changed:
            assert body_bytes(prepared)[: len(body_bytes(before))] == body_bytes(before)
        if before is None and last is not None and not prepared.report.prefix.changed:
            history = sum(len(turn) for turn in history_of(last))
            assert body_bytes(prepared)[:history] == body_bytes(last)[:history]
        last = prepared


def history_of(prepared):
    """The messages of L4, which stand before the one that the context of the turn is in."""
    asked = [at for at, m in enumerate(prepared.messages) if str(m.text).startswith("<source")]
    return [prepared.messages[:at] for at in asked[-1:]]


@given(LOOPS, st.lists(STEPS, max_size=8))
@settings(max_examples=40, deadline=None)
def test_save_reopen_prepare_is_prepare(loop, steps):
    for _, prepared in play(loop, steps):
        loop.hooks, hooks = None, loop.hooks
        path = loop.chat.path
        again = loop.send(mode="preview")
        loop.chat.path = [parse_entry(json.loads(json.dumps(e.to_dict()))) for e in path]
        reopened = loop.send(mode="preview")
        loop.chat.path, loop.hooks = path, hooks
        assert reopened.request_body() == again.request_body()
        assert prepared.report.request_budget == again.report.request_budget


PATCHES = st.lists(
    st.one_of(
        st.tuples(st.just("hide"), st.integers(0, 30)),
        st.tuples(st.just("redact"), st.integers(0, 30)),
        st.tuples(st.just("bare"), st.integers(0, 30)),
        st.tuples(st.just("compact"), st.integers(0, 30)),
        st.tuples(st.just("policy"), st.text(max_size=9)),
    ),
    max_size=2,
)


def operations(envelope, patch):
    """Operations that fit the envelope, whatever the numbers say."""
    cached = envelope.messages.cached
    for kind, value in patch if cached else ():
        if kind == "policy":
            yield WHY | {"op": "system_part_set", "partName": "policy", "text": value}
            continue
        target = cached[value % len(cached)].id
        if kind == "hide":
            yield WHY | {"op": "message_hide", "entryId": target}
        elif kind == "redact":
            parts = [{"type": "text", "text": "[redacted]"}]
            yield WHY | {"op": "message_replace", "entryId": target, "parts": parts}
        elif kind == "bare":
            messages = [{"role": m.role, "content": m.to_dict()["content"]} for m in cached]
            yield WHY | {"op": "messages_cached_replace", "messages": messages[value % 3 :]}
        else:
            fields = {"summary": "Early.", "timestamp": TIME, "tokensBefore": 1}
            yield WHY | {"op": "compaction_apply", "firstKeptEntryId": target} | fields
        return


@given(
    st.sampled_from([4_000, 12_000, 100_000]),
    st.sampled_from(UPKEEPS),
    st.lists(st.tuples(STEPS, PATCHES, PATCHES), max_size=8),
)
@settings(max_examples=80, deadline=None)
def test_whatever_hooks_do_a_request_fits_and_can_be_sent(threshold, history_policy, script):
    patches = {}

    def shape(event):
        wanted = patches.get(event.reason, ())
        return ContextResult(tuple(operations(event.envelope, wanted)))

    loop = Loop(Chat(threshold=threshold, history_policy=history_policy), hooked(shape))
    playing = play(loop, [step for step, _, _ in script])
    while True:
        at = len(loop.requests)
        _, lasting, passing = script[at % len(script)] if script else (None, (), ())
        patches.update(before_request=lasting, ephemeral=passing)
        following = next(playing, None)
        if following is None:
            break
        _, prepared = following
        report = prepared.report
        assert report.used <= report.budget
        assert report.prefix.changed == bool(report.prefix.reasons)
        assert any(message.role == "user" for message in prepared.messages)
        check_pairs(prepared.messages)


def positions(loop, entries):
    """Where boundaries stand in the chat."""
    ids = [entry.id for entry in loop.chat.path]
    return [ids.index(entry.up_to_entry_id) for entry in entries]


@given(LOOPS, st.lists(STEPS, max_size=14))
@example(
    Loop(Chat(threshold=4_000, history_policy=HistoryPolicy(keep_last=1, clean_after=0)), None),
    [("step", [4_565]), *[("end", 1)] * 4, ("step", [5_750])],
)
@settings(max_examples=60, deadline=None)
def test_boundaries_only_move_forward_and_trimming_only_shrinks(loop, steps):
    for _ in play(loop, steps):
        pass
    for entries in (loop.chat.trims, loop.chat.drops):
        assert positions(loop, entries) == sorted(positions(loop, entries))
        for entry in entries:
            assert entry.tokens_after <= entry.tokens_before
            # Decided anew after a compaction, a trim may find that nothing needs to be shortened.
            assert entry.tokens_after < entry.tokens_before or entry.extra.get(ANEW)


@given(LOOPS, st.lists(STEPS, max_size=14))
@settings(max_examples=60, deadline=None)
def test_what_the_user_said_is_never_trimmed(loop, steps):
    for _, prepared in play(loop, steps):
        users = [message for message in prepared.messages if message.role == "user"]
        assert not any("[trimmed]" in str(message.content) for message in users)


@given(LOOPS, st.lists(STEPS, max_size=14))
@settings(max_examples=60, deadline=None)
def test_a_compaction_frees_something_or_nothing_is_stored(loop, steps):
    for _, prepared in play(loop, steps):
        actions = prepared.report.actions
        stored = [e for e in loop.appended if getattr(e, "transformer_name", "") == "compaction"]
        if stored:
            figures = actions.compaction
            assert actions.compact
            assert figures["after_tokens"] < figures["before_tokens"]
            assert figures["after_messages"] <= figures["before_messages"]
            assert figures["by"] in ("model", "outline", "none")
