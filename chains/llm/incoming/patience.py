"""Limit how long a server may keep its client waiting.

The limits are about what a server says, not about its bytes: comments, blank lines and empty deltas
do not count. All of them are measured on one clock, which tests replace.

- Before the first word, a server of the user's own may read, and a model that reasons may think,
  for `FIRST_WORD_S`: a slow processor reads a long prompt for minutes, and services hide thinking.
- Otherwise, `SILENCE_S` without a word ends the answer, and so does a trickle: less than
  `TRICKLE_CHARS` in `TRICKLE_S`.
- Behind its finish reason, an answer ends after `AFTER_FINISH_S` without a word: only token counts
  should follow. Some servers send the reason with every word. Therefore a word behind it withdraws
  it, and this limit holds no more; and the reason that comes with the very first word is in doubt,
  so that the answer ends after `AFTER_DOUBT_S` only.
- `most_s` limits all of it, if the user has set a limit.
"""

import threading
from dataclasses import dataclass
from time import monotonic
from typing import Final

__all__ = ["MonotonicClock", "Patience", "WaitLimits"]

FIRST_WORD_S: Final = 600.0
SILENCE_S: Final = 120.0
TRICKLE_S: Final = 120.0
TRICKLE_CHARS: Final = 40  # 20 characters a minute
AFTER_FINISH_S: Final = 2.0
AFTER_DOUBT_S: Final = 20.0


class MonotonicClock:
    """The clock of the operating system."""

    def now(self) -> float:
        """Return the time in seconds, which never goes back."""
        return monotonic()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait until a condition is notified, or for at most the given time.

        The caller holds the condition.
        """
        condition.wait(timeout_s)


@dataclass(frozen=True)
class WaitLimits:
    """The limits of one answer.

    Attributes:
        first_word_s: how long a server may be silent before its first word.
        most_s: how long an answer may take in all, or 0 for no limit.
    """

    first_word_s: float = FIRST_WORD_S
    most_s: float = 0.0


class Patience:
    """Decides how much longer to wait for the next piece of an answer.

    Attributes:
        reason: why the wait has ended, or an empty string.
    """

    def __init__(self, limits: WaitLimits, clock: MonotonicClock, started_s: float) -> None:
        """Begin to wait.

        Args:
            limits: the limits of the answer.
            clock: the clock to measure with.
            started_s: the time on the clock from which `most_s` counts.
        """
        self.reason = ""
        self._limits, self._clock = limits, clock
        self._end_s = started_s + limits.most_s if limits.most_s else None
        self._since_s = self._window_s = clock.now()
        self._window_chars = 0
        self._has_words = False
        self._finish_ends_s: float | None = None
        self._is_withdrawn = False

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait until a condition is notified, or for at most the given time."""
        self._clock.wait(condition, timeout_s)

    def allows_pause(self, pause_s: float) -> bool:
        """Return whether any time is left for the answer after a pause."""
        return self._end_s is None or self._clock.now() + pause_s < self._end_s

    def note(self, chars: int, *, has_finish: bool = False, is_whole: bool = False) -> None:
        """Note what the server has said.

        Args:
            chars: the number of characters that say something.
            has_finish: whether a finish reason came with them.
            is_whole: whether they are a document with the whole answer.
        """
        now_s, is_first = self._clock.now(), not self._has_words
        if chars:
            self._is_withdrawn = self._is_withdrawn or self._finish_ends_s is not None
            self._finish_ends_s, self._since_s = None, now_s
            if is_first:
                self._has_words, self._window_s = True, now_s
            self._window_chars += chars
        if has_finish and self._finish_ends_s is None and not self._is_withdrawn:
            is_doubtful = bool(chars) and is_first and not is_whole
            self._finish_ends_s = now_s + (AFTER_DOUBT_S if is_doubtful else AFTER_FINISH_S)

    def measure_rest(self) -> float:
        """Return how many seconds are left until the wait ends. If none are, `reason` says why."""
        now_s = self._clock.now()
        if now_s >= self._window_s + TRICKLE_S and self._window_chars >= TRICKLE_CHARS:
            self._window_s, self._window_chars = now_s, 0
        until_s, reason = min(self._list_ends())
        if now_s >= until_s:
            self.reason = self.reason or reason
        return until_s - now_s

    def _list_ends(self) -> list[tuple[float, str]]:
        """Return when each limit ends the wait, with the reason."""
        ends = []
        if self._end_s is not None:
            most_s = f"{self._limits.most_s:,.0f}"
            ends.append((self._end_s, f"it took longer than {most_s} s (chat.maxSeconds)"))
        if self._finish_ends_s is not None:
            ends.append((self._finish_ends_s, "the answer is complete"))
        silence_s = SILENCE_S if self._has_words else self._limits.first_word_s
        reason = f"it said nothing for {silence_s:,.0f} s"
        ends.append((self._since_s + silence_s, reason))
        if self._has_words:
            slow = f"it sent less than {TRICKLE_CHARS} characters in {TRICKLE_S:,.0f} s"
            ends.append((self._window_s + TRICKLE_S, slow))
        return ends
