"""Hooks at a turn, through the real chains and a scripted server."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled
from chains.events import CompactionStarted, MessageEnded, ToolStarted, TurnEnded, Warned
from chains.prompts import Customization
from chains.turn.agent import AGENT_TOOLS
from chains.turn.run import compact_on_request, preview, run_turn
from context.errors import ContextHookError
from context.hooks import ContextResult, CustomMessage, HookRegistry
from context.log.entries import CustomMessageEntry, EphemeralEntry, TransformEntry
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart
from tests.support.models.model_server import Answer, ModelServer
from tests.unit.chains.turn.test_agent import Notes, calling, tool_messages

WHY = {"scope": "cached", "invalidateCacheReason": "because"}


@pytest.fixture
def hooks() -> HookRegistry:
    return HookRegistry()


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def chat(server: ModelServer, session, pause, ask, hooks) -> Callable[..., list[Any]]:
    """Ask without notes; return the events."""

    def asking(question="Why?", token=None, is_hooked=True, **fields):
        customization = Customization(hooks=hooks if is_hooked else None)
        values = {"mode": "chat", "api_base": server.url, "customization": customization}
        values |= {"session": session, "cancel": token or CancelToken(), "pause": pause}
        return list(run_turn(ask(question, **(values | fields))))

    return asking


@pytest.fixture
def agent(server: ModelServer, session, pause, ask, hooks, notes) -> Callable[..., list[Any]]:
    """Ask with tools; return the events."""

    def asking(question="When?", offload_bytes=4_096, is_hooked=True, **fields):
        turn = ask(
            question,
            mode="agent",
            session=session,
            pause=pause,
            vault=notes,
            tools=AGENT_TOOLS,
            customization=Customization(hooks=hooks if is_hooked else None),
            result_offload_threshold=offload_bytes,
            **({"api_base": server.url, "threshold": 32_000} | fields),
        )
        return list(run_turn(turn))

    return asking


def result_of(events):
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def warnings_of(events: Iterable[Any]) -> list[str]:
    return [event.message for event in events if isinstance(event, Warned)]


def types_of(session) -> list[str]:
    return [entry.type for entry in session.entries]


def replacing(old: str, new: str):
    """A message hook that replaces words wherever they stand."""

    def part_of(part):
        if isinstance(part, TextPart):
            return TextPart(part.text.replace(old, new))
        if isinstance(part, ToolResultPart):
            content = part.content.replace(old, new)
            return ToolResultPart(part.tool_call_id, content, part.is_error)
        return part

    def hook(event):
        message = event.message
        if isinstance(message.content, str):
            return Message(message.role, message.content.replace(old, new))
        return Message(message.role, tuple(part_of(part) for part in message.content))

    return hook


def system_part(reason: str, name="policy", text=" No secrets."):
    """A context hook that adds a part to the instructions, at one boundary."""
    op = WHY | {"op": "system_part_set", "partName": name, "text": text}
    return lambda event: ContextResult([op], name) if event.reason == reason else None


def broken(_event):
    raise RuntimeError("no such luck")


# Message hooks


def test_a_question_is_changed_before_it_is_stored_and_used(chat, server, session, hooks):
    hooks.on("message", replacing("1234", "…"))
    chat("My code is 1234.")
    assert session.messages[0].message.text == "My code is …."
    assert server.bodies[0]["messages"][-1]["content"] == "My code is …."


def test_a_changed_question_stays_changed_in_every_later_call(chat, server, session, hooks, ask):
    hooks.on("message", replacing("1234", "…"))
    chat("My code is 1234.")
    report = result_of(chat("And now?", is_hooked=False)).context
    assert report["prefix"] == {**report["prefix"], "changed": False, "reasons": []}
    list(compact_on_request(ask("", mode="chat", api_base=server.url, session=session)))
    sent = "".join(received.raw.decode() for received in server.received)
    assert "1234" not in sent
    assert "My code is …." in json.dumps(server.bodies[1], ensure_ascii=False)


def test_an_answer_is_changed_before_it_is_stored_and_that_is_said(chat, server, session, hooks):
    hooks.on("message", replacing("1234", "…"))
    server.script(Answer("It is 1234."))
    events = chat()
    result = result_of(events)
    assert result.answer.text == session.messages[1].message.text == "It is …."
    (warning,) = warnings_of(events)
    assert "changed this answer" in warning
    assert list(result.warnings) == result.context["warnings"] == [warning]
    assert session.saved[-1]["report"]["warnings"] == [warning]


def test_an_answer_that_breaks_off_is_changed_as_well(chat, server, session, hooks):
    hooks.on("message", replacing("1234", "…"))
    server.script(Answer("It is 1234, and", chunk_chars=20, break_after=2))
    assert result_of(chat()).answer.end.status == "interrupted"
    assert session.messages[1].message.text == "It is …, and"


def test_an_answer_without_a_word_is_no_message_for_hooks(chat, server, session, hooks):
    hooks.on("message", lambda event: Message(event.message.role, event.message.content + "!"))
    server.script(Answer(""))
    chat()
    assert server.bodies[0]["messages"][-1]["content"] == "Why?!"
    assert [entry.message.text for entry in session.messages] == ["Why?!", ""]


def test_a_message_hook_that_fails_is_told_and_the_original_used(chat, server, session, hooks):
    hooks.on("message", broken)
    events = chat()
    told = 'The message hook "broken" failed: no such luck'
    assert warnings_of(events) == [told, told]
    assert told in result_of(events).warnings
    assert [entry.message.text for entry in session.messages] == ["Why?", "Understood."]


def test_a_result_is_changed_before_it_is_stored_kept_elsewhere_and_sent(
    agent, server, session, hooks
):
    hooks.on("message", replacing("warm soil", "…"))
    server.script(
        calling(("read_note", {"path": "Garden.md"})),
        calling(("search_notes", {"query": "beans"})),
        Answer('"Sow them in May." [2]'),
    )
    result = result_of(agent(offload_bytes=40))
    assert "Beans need …" in next(iter(session.results.values()))
    stored = str([entry.to_dict() for entry in session.entries]) + str(session.results)
    sent = "".join(received.raw.decode() for received in server.received)
    assert "warm soil" not in stored + sent + str(session.saved)
    assert [(c.n, c.verified) for c in result.answer.checked.citations] == [(2, True)]


def test_a_result_that_hooks_leave_alone_keeps_its_sources(agent, server, session, hooks):
    hooks.on("message", replacing("nothing of the kind", "…"))
    server.script(
        calling(("read_note", {"path": "Garden.md"}), ("read_note", {"path": "Plans/Terrace.md"})),
        Answer('"Sow them in May." [1] "Oak & larch." [2]'),
    )
    assert [c.verified for c in result_of(agent()).answer.checked.citations] == [True, True]
    kept = [e.content["sources"] for e in session.entries if e.type == "custom"]
    assert sorted(source["content"] for sources in kept for source in sources) == [
        "# Beans\nBeans need warm soil.\nSow them in May.",
        "Oak &amp; larch.",
    ]


def test_a_failing_hook_at_a_result_is_told_once_in_the_report(agent, server, hooks):
    def fails_at_results(event):
        if event.message.role == "tool":
            broken(event)

    hooks.on("message", fails_at_results)
    server.script(calling(("list_folder", {})), Answer("Done."))
    events = agent()
    assert len(warnings_of(events)) == 1
    assert list(result_of(events).warnings) == warnings_of(events)


def test_what_went_wrong_early_in_a_turn_is_told_at_its_end(agent, server, hooks):
    def fails_at_questions(event):
        if event.message.role == "user":
            broken(event)

    hooks.on("message", fails_at_questions)
    server.script(calling(("list_folder", {})), calling(("list_folder", {})), Answer("Done."))
    events = agent()
    assert list(result_of(events).warnings) == warnings_of(events)
    assert len(warnings_of(events)) == 1


def test_a_call_that_a_hook_changed_is_run_as_it_was_changed(agent, server, session, hooks):
    def elsewhere(event):
        content = event.message.content
        if event.message.role != "assistant" or isinstance(content, str):
            return None
        (call,) = content
        return Message("assistant", (ToolCallPart(call.id, call.name, {"path": "Garden.md"}),))

    hooks.on("message", elsewhere)
    server.script(calling(("read_note", {"path": "Nowhere.md"})), Answer("Done."))
    events = agent()
    (started,) = (event for event in events if isinstance(event, ToolStarted))
    assert started.step.arguments == {"path": "Garden.md"}
    assert "Beans need warm soil" in tool_messages(server.bodies[1])[0]


def test_a_call_that_a_hook_took_away_is_not_run(agent, server, session, hooks):
    hooks.on(
        "message",
        lambda event: (
            Message("assistant", "I may not.") if event.message.role == "assistant" else None
        ),
    )
    server.script(calling(("list_folder", {})), Answer("Not asked for."))
    result = result_of(agent())
    assert (result.answer.text, result.answer.steps) == ("I may not.", ())
    assert len(server.bodies) == 1


# Context hooks


def test_what_a_hook_changes_is_stored_before_the_request_is_sent(chat, server, session, hooks):
    hooks.on("context", system_part("before_request"))
    chat()
    assert [[entry.type for entry in write] for write in session.writes] == [
        ["message"],
        ["context_transform"],
        ["message", "usage"],
    ]
    assert server.bodies[0]["messages"][0]["content"].endswith("No secrets.")


def test_a_transform_is_replayed_without_its_hook(chat, server, session, hooks):
    hooks.on("context", system_part("before_request"))
    chat()
    chat("And?", is_hooked=False)
    assert server.bodies[1]["messages"][0] == server.bodies[0]["messages"][0]
    assert types_of(session).count("context_transform") == 1


@pytest.mark.parametrize("reason", ["before_request", "ephemeral"])
def test_a_hook_that_fails_before_a_request_leaves_nothing_but_the_question(
    chat, server, session, hooks, reason
):
    hooks.on("context", system_part("before_request"))
    hooks.on("context", lambda event: broken(event) if event.reason == reason else None, "bad")
    with pytest.raises(ContextHookError, match=f'"bad" failed at {reason}'):
        chat()
    assert (types_of(session), server.bodies) == (["message"], [])


def test_options_that_a_hook_sets_reach_the_service(chat, server, hooks):
    op = WHY | {"op": "options_set", "reasoning": "low", "temperature": 0.9, "maxTokens": 50}
    hooks.on("context", lambda e: ContextResult([op]) if e.reason == "before_request" else None)
    chat()
    body = server.bodies[0]
    assert (body["reasoning_effort"], body["temperature"], body["max_tokens"]) == ("low", 0.9, 50)


def test_a_hook_that_fails_in_a_loop_keeps_the_work_so_far(agent, server, session, hooks):
    hooks.on("context", system_part("before_request"))
    hooks.on("context", lambda e: broken(e) if e.envelope.meta.request == 2 else None)
    server.script(calling(("list_folder", {})), Answer("Never asked for."))
    with pytest.raises(ContextHookError):
        agent()
    assert [entry.message.role for entry in session.messages] == ["user", "assistant", "tool"]
    assert types_of(session).count("context_transform") == 1
    server.script(Answer("Done."))
    assert result_of(agent("And now?", is_hooked=False)).answer.text == "Done."


def test_hooks_see_the_work_of_a_turn(agent, server, hooks):
    seen = []
    hooks.on("context", lambda event: seen.append((event.reason, event.envelope)))
    server.script(calling(("list_folder", {})), Answer("Done."))
    agent()
    roles = [
        (reason, [message.role for message in envelope.messages.cached])
        for reason, envelope in seen
    ]
    assert roles == [
        ("before_request", ["user"]),
        ("ephemeral", ["user"]),
        ("before_request", ["user", "assistant", "tool"]),
        ("ephemeral", ["user", "assistant", "tool"]),
        ("turn_end", ["user", "assistant", "tool", "assistant"]),
    ]
    assert [tool.name for tool in seen[0][1].tools] == [tool.name for tool in seen[-1][1].tools]


def test_what_is_ephemeral_is_sent_once_logged_and_never_comes_back(chat, server, session, hooks):
    op = {"op": "messages_uncached_append", "scope": "uncached"}
    added = [{"role": "user", "content": "Be brief."}]

    def once(event):
        return ContextResult([op | {"messages": added}]) if event.reason == "ephemeral" else None

    hooks.on("context", once)
    result = result_of(chat())
    assert server.bodies[0]["messages"][-1]["content"] == "Why?\n\nBe brief."
    assert result.context["ephemerals"] == 1
    (log,) = (entry for entry in session.entries if isinstance(entry, EphemeralEntry))
    assert [message.text for message in log.messages] == ["Be brief."]
    chat("And?", is_hooked=False)
    assert "Be brief." not in str(server.bodies[1]["messages"])


def test_a_history_that_a_hook_hides_from_each_request_is_compacted_at_the_end_of_a_turn(
    chat, server, hooks
):
    def hide(event):
        *earlier, _question = event.envelope.messages.cached
        if event.reason != "ephemeral":
            return None
        return ContextResult([{"op": "message_hide", "entryId": m.id, **WHY} for m in earlier])

    hooks.on("context", hide)
    server.script(Answer("word " * 1_600, chunk_chars=400), Answer("In Row 12. " * 12))
    turns = [chat(f"Question {number}?", threshold=4_000) for number in range(20)]
    assert result_of(turns[-1]).context["layers"]["L4"]["tokens"] == 0
    watched = CompactionStarted | MessageEnded
    told = [[type(one) for one in events if isinstance(one, watched)] for events in turns]
    compacted = [types for types in told if CompactionStarted in types]
    assert compacted == [[MessageEnded, MessageEnded, CompactionStarted]]


def test_at_the_end_of_a_turn_hooks_shape_the_next_one(chat, server, session, hooks):
    hooks.on("context", system_part("turn_end"))
    chat()
    assert types_of(session)[-1] == "context_transform"
    assert "No secrets." not in server.bodies[0]["messages"][0]["content"]
    chat("And?")
    assert server.bodies[1]["messages"][0]["content"].endswith("No secrets.")


def test_a_hook_that_fails_at_the_end_keeps_the_answer_and_no_patch(chat, session, hooks):
    hooks.on("context", system_part("turn_end"))
    hooks.on("context", lambda event: broken(event) if event.reason == "turn_end" else None, "bad")
    with pytest.raises(ContextHookError, match='"bad" failed at turn_end'):
        chat()
    assert types_of(session) == ["message", "message", "usage"]
    assert session.messages[-1].status == "complete"


def test_a_turn_that_was_stopped_asks_no_hook_about_its_end(chat, server, session, hooks):
    seen, token = [], CancelToken()
    hooks.on("context", lambda event: seen.append(event.reason))
    server.script(lambda _body: token.cancel() or Answer(stall_after=1))
    assert result_of(chat(token=token)).answer.end.status == "interrupted"
    assert seen == ["before_request", "ephemeral"]


def test_a_stop_does_not_wait_for_a_hook(chat, session, hooks):
    token = CancelToken()

    def slow(event):
        token.cancel()
        event.envelope.meta.cancel.wait(30)
        event.envelope.meta.cancel.raise_if_cancelled()

    hooks.on("context", slow)
    with pytest.raises(Cancelled):
        chat(token=token)
    assert types_of(session) == ["message"]


# The start of a turn


def test_a_message_added_at_the_start_stands_behind_the_question(chat, server, session, hooks):
    hooks.on("message", replacing("1234", "…"))
    hooks.on("before_agent_start", lambda e: CustomMessage("note", f"Asked: {e.prompt}", {"a": 1}))
    hooks.on("before_agent_start", broken)
    events = chat("Is it 1234?")
    (question,), (added,) = session.writes[:2]
    assert isinstance(added, CustomMessageEntry)
    assert (added.parent_id, added.custom_type, added.display) == (question.id, "note", {"a": 1})
    (sent,) = server.bodies[0]["messages"][1:]
    assert sent["content"] == "Is it …?\n\nAsked: Is it …?"
    assert warnings_of(events) == ['The hook "broken" failed at the start: no such luck']
    asked = [event.entry_id for event in events if isinstance(event, MessageEnded)]
    assert asked == [question.id, session.messages[-1].id]


def test_what_was_added_is_history_in_the_next_turn(chat, server, session, hooks):
    hooks.on("before_agent_start", lambda event: CustomMessage("note", "By the way."))
    chat()
    chat("And?", is_hooked=False)
    sent = [message["content"] for message in server.bodies[1]["messages"][1:]]
    assert sent == ["Why?\n\nBy the way.", "Understood.", "And?"]


# Without sending


def test_a_dry_run_and_a_preview_run_no_hook(chat, ask, session, hooks):
    hooks.on("context", broken)
    hooks.on("message", broken)
    hooks.on("before_agent_start", broken)
    assert result_of(chat(dry_run=True)).warnings == ()
    hooked = {"customization": Customization(hooks=hooks), "session": session}
    assert preview(ask("Half a quest", mode="chat", **hooked)).messages[-1].text == "Half a quest"
    assert session.writes == []


def test_what_could_not_be_added_is_told_in_every_report(ask, server, session, pause):
    customization = Customization(warnings=("The hook file a.py does not run: oops.",))
    fields = {"mode": "chat", "customization": customization, "session": session}
    events = list(run_turn(ask("Why?", api_base=server.url, pause=pause, **fields)))
    assert warnings_of(events) == list(result_of(events).warnings) == list(customization.warnings)
    assert preview(ask("And?", **fields)).report.warnings == customization.warnings


def test_only_what_stays_is_a_transform_of_the_log(chat, session, hooks):
    def forget(event):
        if event.reason == "ephemeral":
            return ContextResult([WHY | {"op": "system_part_remove", "partName": "chat"}])
        return None

    hooks.on("context", forget)
    result = result_of(chat())
    assert not any(isinstance(entry, TransformEntry) for entry in session.entries)
    assert result.context["transforms"] == []
