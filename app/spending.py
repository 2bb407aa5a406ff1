"""What calls to models cost, and the limits by day and month that hold them back.

Each call with a price, or with a price that is not known, is a line of `spending.log`: written with
the most that it can cost before the call is sent, and followed by a second line with its cost. A
call that was killed in between counts with the most that it can cost. Days are those of the local
time when a call was made. The calls of earlier days are joined to one line a day and model.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any, Final, Literal, TypeGuard

from app.config.settings import MOST_DOLLARS
from app.config.settings_file import SettingsStore
from app.errors import StorageFailed, storage_errors
from app.line_file import LineFile, describe_failure
from chains.cancel import CancelToken
from chains.errors import (
    LedgerFailed,
    SpendingLimitReached,
    SpendingPeriod,
    UnpricedCallHeld,
    format_dollars,
)
from chains.spending import PricedCall
from context.json_codec import Record
from vault.coverage import name_count

__all__ = ["LimitQuestion", "LimitVerdict", "Spending", "SpendingOverview", "TurnSpending"]

# What the user decides about a call that may pass a limit. With "raised", the limit is read again.
LimitVerdict = Literal["send", "raised", "stop"]

MAX_BYTES: Final = 200_000
_LEAST_LIMIT: Final = 0.0001  # a dialog offers no smaller one
# What is beyond is a damaged line. So no sum is infinite.
_MOST_COST: Final = 1e9
_MOST_CALLS: Final = 10**9
_TINY: Final = 1e-9  # below any price, so that a sum of floats does not pass a limit by itself

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpentAmount(Record):
    """What was spent in a period.

    Attributes:
        cost: the sum in dollars. Calls in progress count with the most that they can cost.
        calls: the number of calls with a known price.
        unpriced: the number of calls to models whose price is not known. The sum is without them.
    """

    cost: float = 0.0
    calls: int = 0
    unpriced: int = 0

    json_shape = (
        "cost to 6 digits",
        "calls",
        "unpriced_calls = unpriced",
    )

    def plus(self, line: Mapping[str, Any]) -> "SpentAmount":
        """Add the calls of a line of the file."""
        cost, calls = _read_cost(line), _read_count(line)
        if cost is None:
            return SpentAmount(self.cost, self.calls, self.unpriced + calls)
        return SpentAmount(self.cost + cost, self.calls + calls, self.unpriced)


@dataclass(frozen=True)
class SpendingOverview:
    """What was spent today and this month, beside the limits.

    Attributes:
        day: the day, such as `2026-11-27`.
        today: what was spent on this day.
        month: what was spent in the month of this day.
        models: what was spent in the month, by model, most first.
        day_limit: the limit of a day in dollars, or 0 for none.
        month_limit: the limit of a month in dollars, or 0 for none.
        holds_unpriced: whether calls to models without a known price are held back.
    """

    day: str
    today: SpentAmount
    month: SpentAmount
    models: Mapping[str, SpentAmount]
    day_limit: float
    month_limit: float
    holds_unpriced: bool = False

    def describe(self) -> tuple[str, ...]:
        """Return sentences for the user: the sums of the day and month, and what they lack."""
        lines = [
            _describe_period("Today", self.today, self.day_limit),
            _describe_period("This month", self.month, self.month_limit),
        ]
        names = [name for name, spent in self.models.items() if spent.unpriced]
        if names:
            calls = name_count(self.month.unpriced, "call")
            effect = "they are held back now" if self.holds_unpriced else "no limit holds them back"
            lines.append(
                f"{calls} of this month went to models whose price is not known, and {effect}: "
                f"{', '.join(names)}."
            )
        return tuple(lines)

    def describe_models(self) -> tuple[str, ...]:
        """Return a line for each model with a price, such as `openai/gpt-4o  $0.12, 3 calls`."""
        return tuple(
            f"{name}  {format_dollars(spent.cost)}, {name_count(spent.calls, 'call')}"
            for name, spent in self.models.items()
            if spent.calls
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the overview as a dict for JSON."""
        models = [{"model": name, **spent.to_dict()} for name, spent in self.models.items()]
        return {
            "day": self.day,
            "today": {**self.today.to_dict(), "limit": self.day_limit or None},
            "month": {**self.month.to_dict(), "limit": self.month_limit or None},
            "models": models,
            "holds_unpriced": self.holds_unpriced,
        }


class LimitQuestion:
    """A question to the user about a call that may pass a limit, which waits for its answer.

    Attributes:
        passed: the limit, and what the call can cost.
    """

    def __init__(self, passed: SpendingLimitReached) -> None:
        self.passed = passed
        self._changed = threading.Condition()
        self._verdict: LimitVerdict | None = None

    @property
    def new_limit(self) -> float | None:
        """The round amount to which the limit can be raised so that the call fits, or None."""
        if isinstance(self.passed, UnpricedCallHeld):
            return None
        least = max(self.passed.spent + self.passed.most, self.passed.limit + _TINY, _LEAST_LIMIT)
        if least > MOST_DOLLARS:
            return None
        unit = 10.0 ** math.floor(math.log10(least))
        steps = (round(step * unit, 8) for step in (1, 2, 5, 10))
        return min(next(step for step in steps if step >= least), MOST_DOLLARS)

    @property
    def key(self) -> str:
        """The setting of the limit."""
        return f"spending.{self.passed.period}Limit"

    def answer(self, verdict: LimitVerdict) -> None:
        """Answer the question, from any thread. Only the first answer counts."""
        with self._changed:
            self._verdict = self._verdict or verdict
            self._changed.notify_all()

    def wait(self, cancel: CancelToken) -> LimitVerdict:
        """Wait for the answer, and return it. If the token is cancelled, it is "stop"."""
        forget = cancel.on_cancel(lambda: self.answer("stop"))
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._verdict is not None)
                return self._verdict or "stop"
        finally:
            forget()


# Shows a question to the user. It returns at once, and the question is answered later.
AskAboutLimit = Callable[[LimitQuestion], object]


class Spending:
    """What was spent, and the limits. It can be shared by threads and processes."""

    def __init__(
        self,
        path: Path,
        settings: SettingsStore,
        now: Callable[[], datetime] = lambda: datetime.now(UTC).astimezone(),
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Create the object. Its file is created with the first call.

        Args:
            path: the path of the file.
            settings: the settings with the limits.
            now: returns the local time.
            max_bytes: the size from which on the calls of earlier days are joined.
        """
        self._file = LineFile(path)
        self._settings = settings
        self._now = now
        self._max_bytes = max_bytes
        self._ask: AskAboutLimit | None = None

    def connect(self, ask: AskAboutLimit | None) -> None:
        """Set the function that asks the user about a call that may pass a limit.

        Without it, such a call is refused. It is called in the thread of the call, which then waits
        for the answer.
        """
        self._ask = ask

    def open_turn(self, *, may_ask: bool = True, calls: int | None = None) -> "TurnSpending":
        """Return the limit for the calls of one turn.

        Args:
            may_ask: whether the user is asked. Otherwise, a call that may pass a limit is refused.
            calls: the number of calls at most, if they do not answer a message of the user.
        """
        return TurnSpending(self, self._ask if may_ask else None, calls)

    def summarise(self) -> SpendingOverview:
        """Return what was spent today and this month.

        Raises:
            StorageFailed: the file cannot be read.
        """
        with storage_errors(self._file.path):
            lines = _join_results(self._file.list_lines())
        day, values = self._find_day(), self._settings.values
        models: dict[str, SpentAmount] = {}
        for line in lines:
            if str(line.get("day"))[:7] == day[:7]:
                name = str(line.get("model"))
                models[name] = models.get(name, SpentAmount()).plus(line)
        return SpendingOverview(
            day,
            _sum_period(lines, day),
            _sum_period(lines, day[:7]),
            dict(sorted(models.items(), key=lambda item: -item[1].cost)),
            values.spending_day_limit,
            values.spending_month_limit,
            self._has_limit and values.spending_hold_unpriced,
        )

    def find_passed_limit(
        self, call: PricedCall, calls: int | None = None
    ) -> SpendingLimitReached | None:
        """Return the limit that a call may pass, or so many calls like it together, or None.

        Args:
            calls: the number of calls, or None for one call that answers a message.

        Raises:
            LedgerFailed: what was spent cannot be read.
        """
        if not self._has_limit or (call.most is None and not self._holds_unpriced):
            return None
        try:
            with self._file.hold_lock():
                return self._find_passed(call, self._file.read(), calls)
        except (OSError, StorageFailed) as error:
            raise LedgerFailed(call.host, describe_failure(self._file.path, error)) from error

    def reserve(
        self, call: PricedCall, *, is_allowed: bool, has_message: bool = True
    ) -> "SpendingReservation":
        """Reserve the highest possible cost of a call.

        Args:
            is_allowed: whether the user has allowed it to pass the limits.
            has_message: whether it answers a message of the user.

        Raises:
            SpendingLimitReached: the call may pass a limit, and is not allowed to.
            LedgerFailed: the cost cannot be booked, so the call must not be made.
        """
        id = token_hex(8)
        line = {"id": id, "day": self._find_day(), "model": call.model, "most": call.most}
        try:
            with self._file.hold_lock():
                lines, calls = self._file.read(), None if has_message else 1
                passed = None if is_allowed else self._find_passed(call, lines, calls)
                if passed is not None:
                    raise passed
                if self._file.append(line) > self._max_bytes:
                    self._file.replace(_join_days(self._file.read(), self._find_day()))
        except (OSError, StorageFailed) as error:
            raise LedgerFailed(call.host, describe_failure(self._file.path, error)) from error
        return SpendingReservation(self, id)

    def settle(self, id: str, cost: float) -> None:
        """Book what a call cost, given the id of its line. Errors are only logged."""
        try:
            with self._file.hold_lock():
                self._file.append({"id": id, "cost": cost})
        except (OSError, StorageFailed) as error:
            _log.warning("The cost of a call was not booked, and counts as reserved: %s", error)

    @property
    def _has_limit(self) -> bool:
        values = self._settings.values
        return values.spending_day_limit > 0 or values.spending_month_limit > 0

    @property
    def _holds_unpriced(self) -> bool:
        return self._settings.values.spending_hold_unpriced

    def _find_day(self) -> str:
        return self._now().date().isoformat()

    def _find_passed(
        self, call: PricedCall, lines: Iterable[Mapping[str, Any]], calls: int | None
    ) -> SpendingLimitReached | None:
        if not self._has_limit or (call.most is None and not self._holds_unpriced):
            return None
        joined, day, values = _join_results(lines), self._find_day(), self._settings.values
        limits: tuple[tuple[SpendingPeriod, str, float], ...] = (
            ("day", day, values.spending_day_limit),
            ("month", day[:7], values.spending_month_limit),
        )
        for period, start, limit in limits:
            spent = _sum_period(joined, start).cost
            if limit > 0 and call.most is None:
                return UnpricedCallHeld(
                    call.host,
                    period=period,
                    spent=spent,
                    limit=limit,
                    model=call.model,
                    calls=calls,
                )
            most = None if call.most is None else call.most * (calls or 1)
            if limit > 0 and most is not None and spent + most > limit + _TINY:
                return SpendingLimitReached(
                    call.host, period=period, most=most, spent=spent, limit=limit, calls=calls
                )
        return None


class SpendingReservation:
    """The money that is booked for a call in progress."""

    def __init__(self, spending: Spending, id: str) -> None:
        self._spending, self._id = spending, id

    def settle(self, cost: float | None) -> None:
        """Book what the call cost. See `chains.spending.Reservation`."""
        if cost is not None:
            self._spending.settle(self._id, cost)


class TurnSpending:
    """The limit for the calls of one turn, which the user is asked about at most once.

    It implements `chains.spending.SpendingPort`.

    Attributes:
        calls: the number of calls that are left to make at most, or None if that is not known and
            they answer a message of the user. The user is asked about all of them together.
    """

    def __init__(
        self, spending: Spending, ask: AskAboutLimit | None, calls: int | None = None
    ) -> None:
        self._spending, self._ask, self.calls = spending, ask, calls
        self._lock = threading.Lock()
        self._is_allowed = False

    def check(self, call: PricedCall, cancel: CancelToken) -> float:
        """Ask the user about a call that may pass a limit, and return how long that took.

        Calls beside each other wait for the same decision.
        """
        with self._lock:
            start = monotonic()
            while not self._is_allowed:
                passed = self._spending.find_passed_limit(call, self.calls)
                if passed is None:
                    break
                verdict = "stop" if self._ask is None else _ask_user(self._ask, passed, cancel)
                cancel.raise_if_cancelled()
                if verdict == "stop":
                    self._ask = None
                    raise passed
                self._is_allowed = verdict == "send"
            return monotonic() - start

    def reserve(self, call: PricedCall) -> SpendingReservation:
        """Reserve the highest possible cost of a call. See `chains.spending.SpendingPort`."""
        has_message = self.calls is None
        with self._lock:
            self.calls = None if self.calls is None else max(1, self.calls - 1)
        return self._spending.reserve(call, is_allowed=self._is_allowed, has_message=has_message)


def _ask_user(
    ask: AskAboutLimit, passed: SpendingLimitReached, cancel: CancelToken
) -> LimitVerdict:
    question = LimitQuestion(passed)
    ask(question)
    return question.wait(cancel)


def _describe_period(word: str, spent: SpentAmount, limit: float) -> str:
    of = f" of {format_dollars(limit)}" if limit else ""
    end = "" if limit else " No limit is set."
    return f"{word}: {format_dollars(spent.cost)}{of}, in {name_count(spent.calls, 'call')}.{end}"


def _join_results(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one line for each call, with its cost if it is known."""
    calls: dict[str, dict[str, Any]] = {}
    for line in lines:
        if "day" in line:
            calls[line["id"]] = {**calls.get(line["id"], {}), **line}
        else:  # also if the call is missing, because the file was damaged
            calls.setdefault(line["id"], {"id": line["id"]})["cost"] = line.get("cost")
    return list(calls.values())


def _join_days(lines: Iterable[Mapping[str, Any]], today: str) -> list[dict[str, Any]]:
    """Join the calls of earlier days to one line for each day, model, and kind of price."""
    kept: list[dict[str, Any]] = []
    days: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for line in _join_results(lines):
        day, model, cost = str(line.get("day")), str(line.get("model")), _read_cost(line)
        if day >= today:
            kept.append(line)
            continue
        new = {"id": token_hex(8), "day": day, "model": model, "calls": 0, "most": None}
        total = days.setdefault((day, model, cost is None), new)
        total["calls"] += _read_count(line)
        if cost is not None:
            total["cost"] = total.get("cost", 0.0) + cost
    return [*days.values(), *kept]


def _sum_period(lines: Iterable[Mapping[str, Any]], start: str) -> SpentAmount:
    """Sum the calls of a day, or of a month given as `2026-11`."""
    total = SpentAmount()
    for line in lines:
        if str(line.get("day")).startswith(start):
            total = total.plus(line)
    return total


def _read_cost(line: Mapping[str, Any]) -> float | None:
    """Return the cost of a line, or the most that it can be, or None if neither is known."""
    for key in ("cost", "most"):
        value = line.get(key)
        if _is_number(value) and 0 <= value <= _MOST_COST:
            return float(value)
    return None


def _read_count(line: Mapping[str, Any]) -> int:
    value = line.get("calls", 1)
    return int(value) if _is_number(value) and 0 < value <= _MOST_CALLS else 1


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
