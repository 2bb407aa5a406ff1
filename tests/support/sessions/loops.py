"""An agent's chat for tests of the context engine, request by request."""

import json
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from context.assemble.turn_context import START_TOKENS
from context.hooks import ContextResult, HookRegistry
from context.log.entries import (
    CustomMessageEntry,
    EphemeralEntry,
    MemoryUpdateEntry,
    MessageEntry,
    SegmentsEntry,
)
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from context.pipeline import prepare
from tests.support.sessions.chats import TIME, Chat, passage

SEARCH = ToolDefinition("search", "Searches the notes", {"type": "object"})


WHY = {"scope": "cached", "invalidateCacheReason": "because"}


@dataclass
class Loop:
    """An agent's chat: each call and result is stored, as a runner would do it."""

    chat: Chat = field(default_factory=lambda: Chat(threshold=50_000))
    hooks: HookRegistry | None = None
    tools: tuple[ToolDefinition, ...] = (SEARCH,)
    reading_tools: frozenset[str] | None = None
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
            number=number,
            tools=self.tools if tools is None else tools,
            previous=self.chat.previous,
            reading_tools=self.reading_tools,
        )
        appended = []
        ports = replace(self.chat.ports(appended), hooks=self.hooks)
        prepared = prepare(replace(inputs, ports=ports), mode)
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
        sent = {START_TOKENS: self.requests[-1].report.start_tokens} if self.requests else {}
        extra = sent if role == "assistant" else {}
        place = name, parent, TIME, message, self.inputs.turn
        entry = MessageEntry(*place, status="complete", extra=extra)
        self.chat.path.append(entry)

    def step(self, *results, name="search", is_error=False):
        calls = tuple(ToolCallPart(f"c{at}", name, {"q": "x"}) for at in range(len(results)))
        self.store("assistant", calls)
        for at, result in enumerate(results):
            self.store("tool", (ToolResultPart(f"c{at}", result, is_error),))
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
