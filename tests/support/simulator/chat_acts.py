"""What is done with chats: questions, edits, forks, compaction, the bin."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from app.assistant import Assistant
from app.errors import AppError, TurnFailed
from app.sessions.file import load_log
from app.sessions.session_info import summarise_log
from app.sessions.transcript import AnswerItem, UserItem
from chains.cancel import CancelToken
from chains.errors import ModelError
from chains.events import Event, Mode, TurnEnded
from chains.request.ask import Ask
from tests.support.simulator.promises import list_sent, read_tree

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["CHAT_ACTS", "forget_chat"]


def _pick(world: "World", program: Assistant) -> str | None:
    files = program.paths.sessions.glob("*.jsonl")
    chats = sorted(path.stem for path in files if path.stem.isalnum())
    return world.chance.choice(chats) if chats else None


def _pick_entry(world: "World", program: Assistant, session: str, role: str) -> str | None:
    items = program.history.transcript(session).items
    kind = UserItem if role == "user" else AnswerItem
    found = [item.entry for item in items if isinstance(item, kind) and item.entry]
    return world.chance.choice(found) if found else None


def _ask(world: "World", program: Assistant) -> None:
    session = _pick(world, program) if world.chance.random() < 0.8 else None
    row = world.provider.choose_row()
    mode: Mode = row.mode if row else world.chance.choice(["chat", "chat", "agent"])
    question = f"How acid is bed {world.chance.randrange(100)}? " * world.chance.choice([1, 40])
    attach = world.chance.choice([(), (), ("Beds.md",), ("Pump.md",)])
    ask = Ask(question, mode, session=session, attach=attach)
    _run_turn(world, program, program.ask(ask, CancelToken()))


def _edit(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) and (
        entry := _pick_entry(world, program, session, "user")
    ):
        world.provider.choose_row()
        events = program.edit(session, entry, "And the other bed?", CancelToken())
        _run_turn(world, program, events)


def _regenerate(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) and (
        entry := _pick_entry(world, program, session, "assistant")
    ):
        world.provider.choose_row()
        _run_turn(world, program, program.regenerate(session, entry, CancelToken()))


def _run_turn(world: "World", program: Assistant, events: Iterator[Event]) -> None:
    """Run a turn to its end. Behind one that met a row of the table, the chat must go on."""
    provider, row = world.provider, world.provider.row
    try:
        session = _follow(world, program, events)
    except TurnFailed as error:
        session = error.session
        if not isinstance(error.reason, ModelError):
            raise
        if row is None:
            world.broken.append(f"a strict server has refused a question: {error}")
    finally:
        provider.meet(None)
    if row is None or session is None:
        return
    second = Ask("And the bed behind it?", row.mode, session=session)
    try:
        _follow(world, program, program.ask(second, CancelToken()))
    except TurnFailed as error:
        if isinstance(error.reason, ModelError):
            world.broken.append(f"behind {row.name!r}, the chat does not go on: {error}")
        raise
    world.reached[f"row: {row.name}"] += 1


def _follow(world: "World", program: Assistant, events: Iterator[Event]) -> str | None:
    """Run a turn to its end, and return its chat. Its model may change notes and add memories."""
    world.before = tree = read_tree(world.notes)
    memories, row = program.customization.memories, world.provider.row
    before = memories.list_memories()
    try:
        *_, last = events
    finally:
        with suppress(AppError), world.disk.show():
            now = memories.list_memories()
            if now != before:
                world.promises.allow_also("memories", *_list_between(before, now))
    assert isinstance(last, TurnEnded)
    if (now := memories.list_memories()) != before:
        world.promises.allow("memories", now)
    if last.result.edits is not None:
        world.undoable = (last.result.edits.run, tree, read_tree(world.notes))
    end = last.result.answer.end
    if row is None and end.status not in ("complete", "limit"):  # an agent's answer may be cut off
        world.broken.append(f"an answer of a strict server is {end.status}: {end.reason}")
    return last.result.session


def _list_between(before: tuple[str, ...], now: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return what memories may be while some are added one by one. The last may not be flushed."""
    added = now[len(before) :] if now[: len(before)] == before else ()
    return [before, *((*before, *added[:count]) for count in range(1, len(added))), now]


def _compact(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) is None:
        _ask(world, program)
        return
    for _ in program.compact(session, CancelToken()):
        pass


def _fork(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) is None:
        _ask(world, program)
        return
    program.branches.fork(session)


def _rename(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) is None:
        _ask(world, program)
        return
    program.branches.rename(session, f"Chat {world.chance.randrange(1000)}")


def _delete(world: "World", program: Assistant) -> None:
    if (session := _pick(world, program)) is None:
        _ask(world, program)
        return
    world.promises.binned.pop(session, None)
    copies = program.paths.sessions.glob(f"{session} *.jsonl")
    uses = [summarise_log(load_log(session, copy.read_bytes())).updated for copy in copies]
    deleted = program.sessions.delete(session)
    # If the clock went back since the last use, a copy beside the chat brings it back.
    if deleted is None or max([deleted.info.updated, *uses]) < deleted.deleted:
        world.promises.binned[session] = True


def _restore(world: "World", program: Assistant) -> None:
    if not (binned := program.sessions.bin.list_chats()):
        _delete(world, program)
        return
    session = world.chance.choice(binned).info.session
    world.promises.binned.pop(session, None)
    program.sessions.bin.restore(session)
    world.promises.binned[session] = False
    world.reached["restored from the bin"] += 1


def forget_chat(world: "World", program: Assistant, session: str) -> None:
    """Delete a chat for good. If that fails or is killed, it may be anywhere, or nowhere."""
    world.promises.lines.pop(session, None)
    world.promises.binned.pop(session, None)
    sent = list_sent(world.promises.chats.get(session, ()))
    program.sessions.delete_for_good(session)
    world.promises.gone.add(session)
    world.promises.gone_sent |= sent


def _purge(world: "World", program: Assistant) -> None:
    if not (binned := program.sessions.bin.list_chats()):
        _delete(world, program)
        return
    forget_chat(world, program, world.chance.choice(binned).info.session)
    world.reached["deleted for good"] += 1


CHAT_ACTS = {
    _ask: 7,
    _edit: 3,
    _regenerate: 2,
    _compact: 5,
    _fork: 4,
    _rename: 9,
    _delete: 8,
    _restore: 8,
    _purge: 5,
}
