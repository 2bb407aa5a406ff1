"""A request beside the turns of a chat, as the one for a summary; it passes the guard like any."""

from collections.abc import Sequence

from context.accounting import layer_uses
from context.assemble.request import Draft, Preamble, Tail
from context.budget import Room
from context.envelope import ContextEnvelope
from context.errors import ContextOverflow
from context.fit.cache import Continuation, prefix_hash
from context.fit.guard import PreparedRequest, enforce, seal
from context.fit.marks import place_marks
from context.frozen import FrozenMapping
from context.history.measured_turn import MeasuredTurn
from context.history.turn_list import TurnList
from context.layers import Layer
from context.messages import Message
from context.report.report import ContextReport, Prefix


def prepare_call(
    preamble: Preamble,
    history: Sequence[MeasuredTurn],
    question: str,
    room: Room,
    *,
    model: str,
    session: str | None = None,
    temperature: float = 0.0,
    takes_marks: bool = False,
) -> PreparedRequest:
    """Return a request that holds all of this, or none.

    Raises:
        ContextOverflow: it does not fit its budget whole.
    """
    tail = Tail((), Message("user", question), preamble.counter)
    draft = Draft(preamble, TurnList.of(history), tail)
    guarded = enforce(draft, room.budget, tail.total)
    report = _report(draft, room, model, session)
    if not guarded.fits or guarded.left_out:
        raise ContextOverflow(
            f"This call has {draft.used:,} tokens where {room.budget:,} fit.", report
        )
    options = FrozenMapping({"temperature": temperature, "maxTokens": room.reserve})
    envelope = ContextEnvelope(
        system=preamble.system,
        tools=preamble.tools,
        options=options,
    )
    marks = place_marks(draft, model) if takes_marks else ()
    # No request goes on from a call, so that its question is not worth keeping.
    return seal(guarded, envelope, report, tuple(mark for mark in marks if mark.layer != Layer.W))


def _report(draft: Draft, room: Room, model: str, session: str | None) -> ContextReport:
    continued = Continuation(Prefix(prefix_hash(draft)))
    return ContextReport(
        session=session,
        when="last",
        request=1,
        model=model,
        room=room,
        layers=layer_uses(draft, continued),
        prefix=continued.prefix,
        tools=tuple(tool.name for tool in draft.preamble.tools),
    )
