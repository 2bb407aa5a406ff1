"""What holds for patches and hooks, over envelopes and chats nobody thought of."""

import json
from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from context.envelope import ContextEnvelope
from context.errors import ContextHookError, ContextPatchError
from context.hooks import ContextResult, HookRegistry, MessageEvent
from context.log.entries import EphemeralEntry, TransformEntry, parse_entry
from context.messages import Message, list_tool_calls
from context.patches import MESSAGE_OPS, apply_patch
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import PATCHES as FITTING
from tests.support.sessions.loops import STEPS, Loop, play
from tests.support.sessions.loops import operations as fitting

WORDS = st.text(max_size=12) | st.sampled_from(
    ["$& {} %s ${x}", "</source>", "```", "\u2028\ud800"]
)
IDS = st.sampled_from(["a", "b", "c", "d"])
PARTS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}),
    st.fixed_dictionaries({"type": st.just("reasoning"), "text": WORDS}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_call"),
            "id": IDS,
            "name": WORDS,
            "arguments": st.dictionaries(WORDS, WORDS | st.integers(), max_size=2),
        }
    ),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_call_id": IDS, "content": WORDS}),
)
CONTENTS = WORDS | st.lists(PARTS, max_size=3)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": CONTENTS},
    optional={"id": IDS},
)
SYSTEM_PARTS = st.fixed_dictionaries({"name": IDS, "text": WORDS})
TOOLS = st.fixed_dictionaries({"name": IDS, "description": WORDS, "parameters": st.just({})})
ENVELOPES = st.fixed_dictionaries(
    {
        "system": st.fixed_dictionaries({"parts": st.lists(SYSTEM_PARTS, max_size=3)}),
        "tools": st.lists(TOOLS, max_size=3),
        "messages": st.fixed_dictionaries(
            {
                "cached": st.lists(MESSAGES, max_size=5),
                "uncached": st.lists(MESSAGES, max_size=1),
            }
        ),
        "options": st.dictionaries(st.sampled_from(["temperature", "maxTokens"]), st.integers()),
    }
).map(ContextEnvelope.from_dict)

FIELDS = {
    "system_part_set": {"partName": IDS, "text": WORDS},
    "system_part_remove": {"partName": IDS},
    "system_parts_replace": {"parts": st.lists(SYSTEM_PARTS, max_size=2)},
    "tools_replace": {"tools": st.lists(TOOLS, max_size=2)},
    "tools_remove": {"toolNames": st.lists(IDS, max_size=2)},
    "messages_cached_replace": {"messages": st.lists(MESSAGES, max_size=4)},
    "messages_uncached_append": {"messages": st.lists(MESSAGES, max_size=2)},
    "options_set": {"temperature": st.integers()},
    "message_replace": {"entryId": IDS, "parts": st.lists(PARTS, max_size=2)},
    "message_hide": {"entryId": IDS},
    "compaction_apply": {"summary": WORDS, "firstKeptEntryId": IDS, "tokensBefore": st.just(1)},
}


SOUND = st.just(True)
MOSTLY_SOUND = st.sampled_from([True, True, True, False])


@st.composite
def operations(draw, names=tuple(FIELDS), sound=SOUND):
    """An operation as a hook might write it; one that is not sound lacks or mistakes something."""
    name = draw(st.sampled_from(names))
    op = {"op": name, **{key: draw(values) for key, values in FIELDS[name].items()}}
    op["scope"] = "uncached" if name == "messages_uncached_append" else "cached"
    if op["scope"] == "cached":
        op["invalidateCacheReason"] = draw(st.sampled_from(["because", "{} %s"]))
    if not draw(sound):
        spoilt = draw(st.sampled_from(sorted(op)))
        op[spoilt] = draw(st.sampled_from(["", None, 3, " ", [1]]))
    return op


PATCHES = st.lists(operations(), max_size=4)
LASTING_OPS = tuple(name for name in FIELDS if name != "messages_uncached_append")
LASTING = st.lists(operations(LASTING_OPS), max_size=4)
REQUEST = st.lists(
    operations(tuple(name for name in LASTING_OPS if name not in MESSAGE_OPS)), max_size=3
)


def patched(envelope, ops, **fields):
    """The result of a patch as JSON, or the sentence of its error."""
    try:
        result = apply_patch(envelope, ops, entry_id="t", **fields)
    except ContextPatchError as error:
        return str(error)
    return (result.envelope.to_dict(), result.cache_invalidated, result.reasons)


@given(ENVELOPES, PATCHES)
def test_a_patch_changes_nothing_but_its_result_and_always_comes_to_the_same(envelope, ops):
    before, asked = envelope.to_dict(), json.dumps(ops)
    first = patched(envelope, ops, phase="ephemeral")
    assert first == patched(envelope, ops, phase="ephemeral")
    assert (envelope.to_dict(), json.dumps(ops)) == (before, asked)


@given(ENVELOPES, PATCHES)
def test_a_patch_of_a_stored_envelope_comes_to_the_same(envelope, ops):
    stored = ContextEnvelope.from_dict(json.loads(json.dumps(envelope.to_dict())))
    again = json.loads(json.dumps(ops))
    assert patched(stored, again, phase="ephemeral") == patched(envelope, ops, phase="ephemeral")


@given(ENVELOPES, LASTING, REQUEST)
def test_two_patches_one_after_the_other_are_one_patch(envelope, first, second):
    try:
        halfway = apply_patch(envelope, first, entry_id="t").envelope
    except ContextPatchError:
        return
    wanted = apply_patch(halfway, second).envelope
    assert apply_patch(envelope, [*first, *second], entry_id="t").envelope == wanted


@given(ENVELOPES, LASTING)
def test_a_lasting_patch_never_touches_what_belongs_to_one_request(envelope, ops):
    try:
        result = apply_patch(envelope, ops, phase="turn_end")
    except ContextPatchError:
        return
    assert result.envelope.messages.uncached == envelope.messages.uncached
    assert result.cache_invalidated == bool(ops)
    assert set(result.reasons) == {op["invalidateCacheReason"] for op in ops}
    assert result.envelope.system.compiled == "".join(
        part.text for part in result.envelope.system.parts
    )


HALF_A_PAIR = {
    "op": "system_part_set",
    "scope": "cached",
    "partName": "a",
    "text": "half a surrogate pair: \ud800",
    "invalidateCacheReason": "because",
}


@given(ENVELOPES, st.lists(st.lists(operations(sound=MOSTLY_SOUND), max_size=2), max_size=3))
@example(ContextEnvelope(), [[HALF_A_PAIR]])
def test_hooks_of_a_phase_are_all_sound_or_none_is_kept(envelope, patches):
    hooks = HookRegistry()
    for ops in patches:
        hooks.on("context", lambda event, ops=ops: ContextResult(ops), name="generated")
    ids = count(1)
    try:
        run = hooks.run_context("before_request", envelope, lambda: f"t{next(ids)}")
    except ContextHookError:
        return  # and with it all that the hooks before it wanted
    replayed = envelope
    for transform in run.transforms:
        entry = TransformEntry(transform.entry_id, None, "", transform.name, transform.patch)
        stored = parse_entry(json.loads(json.dumps(entry.to_dict())))
        replayed = apply_patch(replayed, stored.patch, entry_id=stored.id).envelope
    assert replayed == run.envelope


@given(MESSAGES.map(Message.from_dict), CONTENTS, st.sampled_from(["user", "assistant", "tool"]))
def test_whatever_a_message_hook_returns_roles_results_and_calls_are_kept(message, content, role):
    other = Message.from_dict({"role": role, "content": content})
    hooks = HookRegistry()
    hooks.on("message", lambda event: other if event == MessageEvent(message) else None)
    run = hooks.run_message(message)
    assert (run.message.role, run.message.id) == (message.role, message.id)
    assert {call.id for call in list_tool_calls(run.message)} <= {
        call.id for call in list_tool_calls(message)
    }
    if run.message.content != message.content:
        assert run.problems == ()


SECRET = "[only once 7f3a]"


def shaping(patches, fails):
    """Hooks that shape each request as the script says, add a word to it alone, and may fail."""
    number = count()

    def shape(event):
        if event.reason == "before_request":
            at = next(number)
            return ContextResult(tuple(fitting(event.envelope, patches[at % len(patches)])))
        messages = [{"role": "user", "content": SECRET}]
        op = {"op": "messages_uncached_append", "scope": "uncached", "messages": messages}
        return ContextResult([op])

    def fail(event):
        if event.envelope.meta.request == fails:
            raise RuntimeError

    hooks = HookRegistry()
    hooks.on("context", shape)
    hooks.on("context", fail)
    return hooks


@given(
    st.lists(st.tuples(STEPS, FITTING), min_size=1, max_size=6),
    st.sampled_from([None, None, None, 2, 3]),
)
@settings(max_examples=60, deadline=None)
def test_what_hooks_did_is_replayed_without_them_and_what_was_ephemeral_never_comes_back(
    script, fails
):
    hooks = shaping([ops for _, ops in script], fails)
    loop = Loop(Chat(threshold=50_000), hooks)
    playing = play(loop, [step for step, _ in script])
    while True:
        stored = [entry for entry in loop.chat.path if isinstance(entry, TransformEntry)]
        try:
            following = next(playing, None)
        except ContextHookError:
            after = [entry for entry in loop.chat.path if isinstance(entry, TransformEntry)]
            assert after == stored
            return
        if following is None:
            return
        loop.hooks = None
        again = loop.send(mode="preview").request_body()
        loop.hooks = hooks
        body = following[1].request_body()
        assert SECRET in str(body["messages"].pop())
        assert SECRET not in str(body) + str(again)
        assert again["messages"][: len(body["messages"])] == body["messages"]
        assert [again[key] for key in ("system", "tools", "options")] == [
            body[key] for key in ("system", "tools", "options")
        ]
        assert sum(isinstance(entry, EphemeralEntry) for entry in loop.appended) == 1


@pytest.mark.parametrize("reason", ["before_request", "ephemeral"])
def test_a_preview_runs_no_hook_at_any_boundary(reason):
    hooks = HookRegistry()
    hooks.on("context", lambda event: 1 / 0 if event.reason == reason else None)
    loop = Loop(hooks=None)
    loop.begin("Why?")
    loop.hooks = hooks
    assert loop.send(mode="preview").messages[-1].text == "Why?"
