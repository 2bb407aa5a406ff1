"""Have a model judge blocks of notes, and ask once more for each note without a verdict.

A reply that is cut, is no JSON or misses a note is never completed by a guess: each such note is
asked about once more alone, and fails if there is no verdict then.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chains.cancel import CancelToken
from chains.errors import BadRequest
from chains.judge.blocks import JudgePiece, JudgeSetup
from chains.judge.verdicts import Verdict, read_reply
from chains.llm.incoming.answer_reader import collect_answer
from chains.llm.port import ModelPort
from chains.request.usage import CallUsage
from context.errors import ContextOverflow
from context.layers import Segment

__all__ = ["BlockJudge", "JudgedPieces"]

_CUT: Final = "the reply was cut off"
_TOO_LONG_REPLY: Final = "the reply was cut off at the length limit"
_TOO_LONG: Final = "the service calls it too long"

OpenModel = Callable[[Sequence[Segment]], ModelPort]


@dataclass(frozen=True)
class JudgedPieces:
    """The verdicts of one call, to be stored before the next call is made.

    Attributes:
        verdicts: the verdicts by key.
        seconds: how long the call took.
        usage: the tokens that the service counted, or None.
    """

    verdicts: Mapping[str, Verdict]
    seconds: float
    usage: CallUsage | None = None


@dataclass(frozen=True)
class BlockJudge:
    """Judges blocks of notes with a model. It can be used from several threads.

    Attributes:
        open_model: opens the model for a call, given the notes in it for the ledger.
    """

    setup: JudgeSetup
    open_model: OpenModel
    cancel: CancelToken
    clock: Callable[[], float] = field(default=time.monotonic)

    def judge(self, block: Sequence[JudgePiece]) -> Iterator[JudgedPieces]:
        """Judge a block, and yield the verdicts of each call as it ends.

        Raises:
            ModelError: no call can be made now, such as without a key or over a spending limit.
            Cancelled: the token was cancelled.
        """
        judged = self._ask(block)
        good = {key: one for key, one in judged.verdicts.items() if one.outcome != "failed"}
        yield JudgedPieces(good, judged.seconds, judged.usage)
        for piece in block:
            if piece.key not in good:
                yield self._ask([piece])

    def _ask(self, block: Sequence[JudgePiece]) -> JudgedPieces:
        """Make one call. A note without a usable verdict has failed."""
        port = self.open_model([piece.build_segment() for piece in block])
        began = self.clock()
        try:
            request = self.setup.prepare(block)
            answer = collect_answer(port.stream(request, self.cancel))
        except (BadRequest, ContextOverflow) as error:
            # The service refuses what is in the block, and takes other blocks.
            reason = _TOO_LONG if isinstance(error, ContextOverflow) else str(error)
            return self._fail(block, reason, began)
        ended = answer.ended
        if ended.status == "interrupted" or ended.finish == "length":
            reason = _TOO_LONG_REPLY if ended.finish == "length" else _CUT
            verdicts = [Verdict("failed", reason=reason)] * len(block)
        else:
            verdicts = read_reply(answer.text, block)
        usage = None if ended.usage is None else CallUsage(request.report, ended.usage)
        named = {piece.key: one for piece, one in zip(block, verdicts, strict=True)}
        return JudgedPieces(named, self.clock() - began, usage)

    def _fail(self, block: Sequence[JudgePiece], reason: str, began: float) -> JudgedPieces:
        failed = Verdict("failed", reason=reason)
        return JudgedPieces({piece.key: failed for piece in block}, self.clock() - began)
