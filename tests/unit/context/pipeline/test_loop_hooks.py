"""Hooks in a turn in which tools are called: what they change, and for how long."""

from dataclasses import replace

import pytest

from context.assemble.apply_hooks import run_turn_end_hooks
from context.assemble.inputs import Ports
from context.errors import ContextHookError
from context.hooks import ContextResult
from context.log.entries import (
    TransformEntry,
)
from context.pipeline import prepare
from context.report.markdown import format_envelope
from tests.support.sessions.chats import TIME, Chat, passage
from tests.support.sessions.loops import WHY, Loop, body_bytes, hooked, marker, once, texts


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
    run_turn_end_hooks(
        replace(loop.inputs, path=tuple(loop.chat.path), tools=loop.tools, ports=ports)
    )
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
        prepare(replace(chat.inputs("Why?"), ports=ports))


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
    text = format_envelope(prepared.report.to_dict(), prepared.request_body())
    cached, uncached = text.split("## Messages (uncached)")
    assert '2. **assistant** — [search {"q": "x"}]\n3. **tool** — found it' in cached
    assert "1. **user** — [once]" in uncached
    assert "— system_part_set (because)" in uncached
    assert "**policy**\n\n```\nNo secrets.\n```" in cached
