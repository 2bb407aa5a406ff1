from dataclasses import replace
from itertools import count

import pytest

from context.envelope import ContextEnvelope, Messages, RequestMeta
from context.errors import ContextHookError, ContextPatchError, HookPatchError
from context.hooks import ContextEvent, ContextResult, CustomMessage, HookRegistry, MessageEvent
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart

QUESTION = Message("user", "Why?", "q")
ENVELOPE = ContextEnvelope(messages=Messages((QUESTION,)))
RESULT = Message("tool", (ToolResultPart("c", "the key is 1234"),), "r")
WHY = {"scope": "cached", "invalidateCacheReason": "because"}


def marker(event):
    if event.reason != "before_request":
        return None
    messages = [m.to_dict() for m in event.envelope.messages.cached]
    op = {"op": "messages_cached_replace", "scope": "cached", "invalidateCacheReason": "add marker"}
    added = {"role": "user", "content": f"[marker {len(messages)}]"}
    return ContextResult([op | {"messages": [*messages, added]}], "marker", {"title": "Marked"})


def once(event):
    added = [{"role": "user", "content": "[once]"}]
    op = {"op": "messages_uncached_append", "scope": "uncached", "messages": added}
    return ContextResult([op])


def registry(*handlers, kind="context"):
    hooks = HookRegistry()
    for handler in handlers:
        hooks.on(kind, handler)
    return hooks


def run(hooks, reason="before_request"):
    ids = count(1)
    return hooks.run_context(reason, ENVELOPE, lambda: f"t{next(ids)}")


def test_a_hook_sees_what_those_before_it_left():
    ran = run(registry(marker, marker))
    assert [m.text for m in ran.envelope.messages.cached] == ["Why?", "[marker 1]", "[marker 2]"]
    assert [m.id for m in ran.envelope.messages.cached] == ["q", "t1:1", "t2:2"]


def test_a_transform_has_all_that_an_entry_of_it_needs():
    (transform,) = run(registry(marker)).transforms
    assert (transform.entry_id, transform.name) == ("t1", "marker")
    assert transform.reasons == ("add marker",)
    assert transform.display == {"title": "Marked"}


def test_a_hook_that_wants_nothing_changes_nothing():
    ran = run(registry(marker, lambda event: ContextResult()), "turn_end")
    assert ran.envelope is ENVELOPE
    assert ran.transforms == ()


def test_the_envelope_that_was_given_stays_as_it_is():
    run(registry(marker))
    assert ENVELOPE.messages.cached == (QUESTION,)


def test_a_hook_that_raises_ends_the_request_by_its_name():
    def broken(event):
        raise RuntimeError("no such luck")

    with pytest.raises(ContextHookError, match='"broken" failed at before_request: no such luck'):
        run(registry(marker, broken))
    hooks = HookRegistry()
    hooks.on("context", broken, name="mine")
    with pytest.raises(ContextHookError) as caught:
        run(hooks, "turn_end")
    assert (caught.value.name, caught.value.reason) == ("mine", "turn_end")


@pytest.mark.parametrize("answer", [{}, "patch", [marker]])
def test_a_hook_that_returns_something_else_ends_the_request(answer):
    with pytest.raises(ContextHookError, match="instead of ContextResult"):
        run(registry(lambda event: answer))


@pytest.mark.parametrize("patch", ["x", [3], [{"op": "tools_remove", "scope": "cached"}]])
def test_a_patch_that_cannot_be_applied_is_both_errors(patch):
    with pytest.raises(ContextHookError) as caught:
        run(registry(lambda event: ContextResult(patch)))
    assert isinstance(caught.value, ContextPatchError)


@pytest.mark.parametrize("reason", ["before_request", "turn_end"])
def test_only_an_ephemeral_hook_may_add_to_the_uncached_part(reason):
    text = f'context\\({reason}\\) persisted patch from "once" contained non-cached op'
    with pytest.raises(ContextPatchError, match=text):
        run(registry(once), reason)
    ran = run(registry(once), "ephemeral")
    assert [m.text for m in ran.envelope.messages.uncached] == ["[once]"]
    assert ran.reasons == ()


def test_hooks_of_another_kind_do_not_exist():
    with pytest.raises(ValueError, match="before_agent_start"):
        HookRegistry().on("tool", marker)


def redact(event):
    message = event.message
    if isinstance(message.content, str):
        return Message(message.role, message.content.replace("1234", "…"))
    parts = tuple(
        ToolResultPart(p.tool_call_id, p.content.replace("1234", "…"), p.is_error)
        if isinstance(p, ToolResultPart)
        else p
        for p in message.content
    )
    return Message(message.role, parts)


def test_a_message_hook_changes_a_message_that_keeps_its_id():
    ran = registry(redact, kind="message").run_message(RESULT)
    assert ran.message == Message("tool", (ToolResultPart("c", "the key is …"),), "r")
    assert ran.problems == ()


def test_a_message_hook_may_leave_a_message_alone():
    assert registry(lambda event: None, kind="message").run_message(RESULT).message == RESULT


def broken(event):
    raise RuntimeError("oops")


CALL = Message("assistant", (TextPart("Let me see."), ToolCallPart("c", "search", {})), "a")


def test_a_hook_cannot_end_the_program():
    def leave(event):
        raise SystemExit(3)

    with pytest.raises(ContextHookError, match="it tried to end the program"):
        run(registry(leave))
    told = registry(leave, kind="message").run_message(RESULT)
    assert (told.message, len(told.problems)) == (RESULT, 1)
    assert len(registry(leave, kind="before_agent_start").run_agent_start("Why?").problems) == 1


@pytest.mark.parametrize(
    ("message", "hook"),
    [
        (RESULT, broken),
        (RESULT, lambda event: "text"),
        (RESULT, lambda event: Message("user", "gone")),
        (RESULT, lambda event: Message("tool", ())),
        (CALL, lambda event: Message("user", "x")),
        (CALL, lambda event: Message("assistant", (ToolCallPart("d", "delete", {}),))),
        (QUESTION, lambda event: Message("assistant", "x")),
    ],
)
def test_a_message_hook_that_fails_is_reported_and_the_original_used(message, hook):
    ran = registry(hook, redact, kind="message").run_message(message)
    assert ran.message == redact(MessageEvent(message)).__class__(
        message.role, redact(MessageEvent(message)).content, message.id
    )
    assert len(ran.problems) == 1
    assert "failed" in ran.problems[0]


def test_a_message_may_be_added_at_the_start_of_a_turn():
    def start(event):
        return CustomMessage("hello", f"You asked: {event.prompt}")

    hooks = registry(start, lambda event: None, broken, kind="before_agent_start")
    ran = hooks.run_agent_start("Why?")
    assert [message.content for message in ran.messages] == ["You asked: Why?"]
    assert ran.problems == ('The hook "broken" failed at the start: oops',)


def test_a_start_hook_that_returns_something_else_adds_nothing():
    ran = registry(lambda event: "hi", kind="before_agent_start").run_agent_start("Why?")
    assert ran.messages == ()
    assert "instead of CustomMessage" in ran.problems[0]


def test_an_event_says_where_the_loop_stands():
    assert ContextEvent("turn_end", ENVELOPE).reason == "turn_end"
    assert HookRegistry().has("context") is False
    assert registry(marker).has("context")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_refused_before_anything_is_stored(number):
    op = {"op": "options_set", "reasoning": number} | WHY
    with pytest.raises(HookPatchError, match="not JSON"):
        run(registry(lambda event: ContextResult([op])))
    call = ToolCallPart("c1", "read_note", {"path": "A.md"})
    changed = Message("assistant", (replace(call, arguments={"start": number}),))
    ran = registry(lambda event: changed, kind="message").run_message(Message("assistant", (call,)))
    assert (ran.message.content, len(ran.problems)) == ((call,), 1)


@pytest.mark.parametrize("display", [{"title": object()}, [1]])
def test_what_cannot_be_stored_is_refused_before_anything_is(display):
    op = {"op": "tools_remove", "toolNames": []} | WHY
    with pytest.raises(HookPatchError, match="not JSON"):
        run(registry(lambda event: ContextResult([op], display=display)))


@pytest.mark.parametrize("content", [("text",), 3])
def test_a_message_of_other_things_than_parts_is_no_message(content):
    ran = registry(lambda event: Message("user", content), kind="message").run_message(QUESTION)
    assert (ran.message, len(ran.problems)) == (QUESTION, 1)
    start = registry(lambda event: CustomMessage("x", content), kind="before_agent_start")
    assert start.run_agent_start("Why?").messages == ()


class Stopped(Exception):
    pass


class Stop:
    def __init__(self):
        self.is_cancelled = False

    def raise_if_cancelled(self):
        if self.is_cancelled:
            raise Stopped


@pytest.mark.parametrize("error", [Stopped, RuntimeError])
def test_a_hook_that_gives_up_because_it_was_stopped_has_not_failed(error):
    def slow(event):
        event.envelope.meta.cancel.is_cancelled = True
        raise error

    envelope = ContextEnvelope(meta=RequestMeta(cancel=Stop()))
    with pytest.raises(Stopped):
        registry(slow).run_context("before_request", envelope, str)


def test_what_is_registered_before_an_error_is_taken_back():
    hooks = registry(marker)

    def register():
        with hooks.all_or_nothing():
            hooks.on("context", marker)
            hooks.on("message", redact)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        register()
    assert [m.text for m in run(hooks).envelope.messages.cached] == ["Why?", "[marker 1]"]
    assert not hooks.has("message")


def test_what_is_registered_without_an_error_stays():
    hooks = HookRegistry()
    with hooks.all_or_nothing():
        hooks.on("message", redact)
    assert hooks.has("message")


def test_the_last_hook_with_a_label_names_the_answer():
    first, last = ContextResult(label="one"), ContextResult(label=" two \n words ")
    ran = run(registry(lambda _: first, lambda _: last, lambda _: ContextResult()), "turn_end")
    assert (ran.label, ran.transforms) == ("two words", ())
    assert run(registry(marker)).label is None
    with pytest.raises(HookPatchError, match="only a turn_end hook may set a label"):
        run(registry(lambda _: first))
    with pytest.raises(HookPatchError, match="its label is not text"):
        run(registry(lambda _: ContextResult(label=5)), "turn_end")
