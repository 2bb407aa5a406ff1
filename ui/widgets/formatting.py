"""Format numbers, sizes, prices and times as text in the user's locale."""

from datetime import UTC, date, datetime, timedelta

from PySide6.QtCore import QDate, QLocale

__all__ = [
    "ago",
    "convert_to_local",
    "count",
    "duration",
    "format_minutes",
    "money",
    "name_period",
    "percent",
    "plural",
    "share",
    "size",
    "span",
]

_SPACE = "\N{NO-BREAK SPACE}"


def count(number: int) -> str:
    """Format a whole number with a thousands separator, such as `48,298`."""
    return _locale().toString(number)


def rate(per_s: float) -> str:
    """Format a rate per second, such as `45` or `0.4`."""
    return count(round(per_s)) if per_s >= 10 else _locale().toString(per_s, "f", 1)


def percent(fraction: float) -> str:
    """Format a fraction as a whole percentage, such as `39 %`, or `<1 %` below one percent."""
    if 0 < fraction < 0.01:
        return f"<1{_SPACE}%"
    return f"{count(round(fraction * 100))}{_SPACE}%"


def share(part: int, whole: int) -> str:
    """Format a share of the token budget: `25 %`, `<1 %` below one percent, or `–` for nothing.

    Args:
        part: the number of tokens in the share.
        whole: the number of tokens in the budget.
    """
    return "–" if part <= 0 or whole <= 0 else percent(part / whole)


def money(dollars: float) -> str:
    """Format a price to about two significant digits, such as `$0.0042`, `$0.12` or `$3.40`."""
    if dollars < 0.0001:
        return f"<${_locale().toString(0.0001, 'f', 4)}"
    places = 4 if dollars < 0.01 else 3 if dollars < 0.1 else 2
    return f"${_locale().toString(dollars, 'f', places)}"


def plural(number: int, one: str, many: str = "") -> str:
    """Format a count with its noun, such as `1 note` or `349 notes`.

    Args:
        number: the count.
        one: the singular noun.
        many: the plural noun. If empty, an "s" is added to the singular noun.
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def size(octets: int) -> str:
    """Format a number of bytes, such as `12.4 MB`."""
    si = QLocale.DataSizeFormat.DataSizeSIFormat
    return _locale().formattedDataSize(octets, 1 if octets >= 1000 else 0, si)


def span(seconds: float) -> str:
    """Format an approximate duration, such as `about 3 minutes` or `less than a minute`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 90:
        return f"about {plural(minutes, 'minute')}"
    return f"about {plural(round(minutes / 60), 'hour')}"


def duration(seconds: float) -> str:
    """Format a measured duration, such as `12 s`, `2 min 5 s`, or `<1 s`."""
    whole = round(seconds)
    if whole < 1:
        return f"<1{_SPACE}s"
    minutes, rest = divmod(whole, 60)
    parts = [f"{count(minutes)}{_SPACE}min"] if minutes else []
    parts += [f"{rest}{_SPACE}s"] if rest or not minutes else []
    return " ".join(parts)


def convert_to_local(stamp: str) -> datetime:
    """Convert an ISO 8601 time to a `datetime` in the local time zone.

    A time without a time zone is read as UTC.
    """
    parsed = datetime.fromisoformat(stamp)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone()


def format_minutes(stamp: str) -> str:
    """Format an ISO 8601 time as the local time of day, such as `14:03`."""
    return convert_to_local(stamp).strftime("%H:%M")


def name_moment(stamp: str, now: datetime | None = None) -> str:
    """Format a time for a sentence: `at 20:02`, or with the date if it was on another day.

    Args:
        stamp: the time in ISO 8601.
        now: the current time, or None to read the clock.
    """
    moment = convert_to_local(stamp)
    is_today = moment.date() == (now or datetime.now(UTC)).astimezone().date()
    clock = f"at {format_minutes(stamp)}"
    return clock if is_today else f"on {name_day(moment.date())} {clock}"


def ago(stamp: str, now: datetime | None = None) -> str:
    """Format a time relative to now, such as `5 minutes ago`, or as a date after 24 hours.

    Args:
        stamp: the time in ISO 8601.
        now: the current time, or None to read the clock.
    """
    seconds = ((now or datetime.now(UTC)) - convert_to_local(stamp)).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        minutes = int(seconds // 60)
        return "a minute ago" if minutes == 1 else f"{minutes} minutes ago"
    if seconds < 86_400:
        hours = int(seconds // 3600)
        return "an hour ago" if hours == 1 else f"{hours} hours ago"
    return f"on {name_day(convert_to_local(stamp).date())}"


def name_period(stamp: str, today: date | None = None) -> str:
    """Return the heading under which a chat is listed, such as `Today`, `Last week` or `June 2024`.

    Args:
        stamp: the time of the chat in ISO 8601.
        today: the current local date, or None to read the clock.
    """
    day = convert_to_local(stamp).date()
    today = today or datetime.now().astimezone().date()
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=8):
        return "Last week"
    month = _locale().standaloneMonthName(day.month)
    return month if day.year == today.year else f"{month} {day.year}"


def name_day(day: date) -> str:
    """Format a date in the user's short form, such as `26/11/2026`."""
    return _locale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat)


def _locale() -> QLocale:
    """Return the user's locale, or British English if the user has set none (the C locale)."""
    locale = QLocale()
    if locale.language() == QLocale.Language.C:
        return QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom)
    return locale
