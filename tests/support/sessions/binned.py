"""Let time pass for chats in the bin, by moving every time that they have into the past."""

import os
import re
from datetime import UTC, datetime, timedelta

from app.sessions.store import SessionStore

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def let_pass(store: SessionStore, session: str, days: float) -> None:
    """Make a chat in the bin older, and the bin one that was checked a moment ago."""
    store.bin.remove_expired()
    make_older(store, session, days)


def make_older(store: SessionStore, session: str, days: float) -> None:
    """Make a chat in the bin older, without a check of the bin."""
    (file,) = store.bin.find_files(session)
    past = timedelta(days=days)

    def shift(match: "re.Match[str]") -> str:
        at = datetime.fromisoformat(match[0]) - past
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    changed_s = file.stat().st_mtime - past.total_seconds()
    file.write_text(_TIME.sub(shift, file.read_text("utf-8")), "utf-8")
    os.utime(file, (changed_s, changed_s))
    (chat,) = (one for one in store.bin.folder.list_files() if one.session == session)
    until = None if chat.put_off_until is None else chat.put_off_until - past
    rename_deleted(store, session, chat.deleted - past, until)


def rename_deleted(
    store: SessionStore, session: str, at: datetime, until: datetime | None = None
) -> None:
    """Let the name of a chat's file in the bin say that it was deleted at a time.

    If a second time is given, the removal was put off until then.
    """
    (file,) = store.bin.find_files(session)
    stamps = (f"{one.year:04}{one:%m%dT%H%M%S%fZ}" for one in (at, until) if one)
    file.rename(file.with_name(".".join([session, *stamps, "jsonl"])))


def set_checked(store: SessionStore, days: float) -> None:
    """Let the bin have been checked some days ago; a negative number is in the future."""
    at_s = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    os.utime(store.bin.folder.path / ".strata-checked", (at_s, at_s))
