"""Draw formulas in a child process, which runs `ui.formula_worker`.

The window stays smooth, and a formula that takes too long ends only that process.
"""

import threading
from dataclasses import dataclass
from time import monotonic
from typing import Final

from vault.errors import ChildDied, ChildRefused
from vault.workers.process import ChildOnDemand

__all__ = ["DrawnFormula", "FormulaDrawer", "UndrawnFormula"]

_WORKER: Final = "ui.formula_worker"
_ANSWER_S: Final = 30.0  # until a child that does not answer is killed, on a busy machine too
_LIMIT_S: Final = 1.0  # of processor time for one formula
_FEW_S: Final = 0.5  # after some formulas in a row that took too long
_MOST_SLOW: Final = 8
_PAUSE_S: Final = 30.0  # before a child that could not be started is tried again
_TOO_LONG: Final = "The formula is not drawn: it takes too long to draw."


@dataclass(frozen=True, slots=True)
class DrawnFormula:
    """A formula as a vector picture.

    Attributes:
        svg: the picture.
        width: the width in pixels.
        ascent: the height in pixels above the baseline.
        descent: the height in pixels below the baseline.
    """

    svg: bytes
    width: float
    ascent: float
    descent: float


class UndrawnFormula(Exception):
    """A formula cannot be drawn. The message says why, as a sentence.

    Attributes:
        is_lasting: whether the formula is the cause, so that trying it again would be in vain.
    """

    def __init__(self, reason: str, *, is_lasting: bool) -> None:
        super().__init__(reason)
        self.is_lasting = is_lasting


class FormulaDrawer:
    """Draws formulas in a child process that is started on demand.

    Thread-safe, but draws one formula at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = ChildOnDemand(_WORKER)
        self._has_answered = False
        self._slow_count = 0
        self._pause_until_s = 0.0
        self._reason = ""

    def draw(self, tex: str, *, is_display: bool, size_px: int, color: str) -> DrawnFormula:
        """Draw a formula.

        Args:
            tex: the formula in TeX, without dollar signs.
            is_display: whether it stands alone, so that sums and fractions are larger.
            size_px: the size of the font of the text around it.
            color: the colour of the text as `#rrggbb`.

        Raises:
            UndrawnFormula: the formula cannot be read or takes too long, or the child process
                cannot be started.
        """
        header = {"tex": tex, "is_display": is_display, "size_px": size_px, "color": color}
        with self._lock:
            if monotonic() < self._pause_until_s:
                raise UndrawnFormula(self._reason, is_lasting=False)
            return self._draw(header)

    def close(self) -> None:
        """Stop the child process. The next formula starts a new one."""
        with self._lock:
            self._child.close()

    def _draw(self, header: dict[str, object]) -> DrawnFormula:
        limit_s = _LIMIT_S if self._slow_count < _MOST_SLOW else _FEW_S
        try:
            answer = self._child.request({**header, "limit_s": limit_s}, b"", _ANSWER_S)
        except ChildDied as error:
            raise self._explain_end(error) from error
        except (ChildRefused, OSError) as error:
            raise self._pause(error) from error
        self._has_answered = True
        if "failure" in answer.header:
            is_slow = bool(answer.header.get("is_slow"))
            self._slow_count += is_slow
            is_lasting = not is_slow or limit_s == _LIMIT_S
            raise UndrawnFormula(answer.header["failure"], is_lasting=is_lasting)
        self._slow_count = 0
        sizes = (float(answer.header[name]) for name in ("width", "ascent", "descent"))
        return DrawnFormula(answer.payload, *sizes)

    def _explain_end(self, error: ChildDied) -> UndrawnFormula:
        """Return the failure of a formula during which the child process ended."""
        if not self._has_answered:
            return self._pause(error)
        self._has_answered = False  # a child that now dies at its first formula cannot be started
        return UndrawnFormula(_TOO_LONG, is_lasting=True)

    def _pause(self, error: Exception) -> UndrawnFormula:
        """Start no child process for a while, because the last one could not be started."""
        self._pause_until_s = monotonic() + _PAUSE_S
        self._reason = f"Formulas are not drawn: their program cannot be started ({error})."
        return UndrawnFormula(self._reason, is_lasting=False)
