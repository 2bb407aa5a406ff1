"""What is written and attached in each chat and not sent yet; it comes back with its chat."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer

from ui.chat.composer.attachment import Attachment

__all__ = ["Drafts", "Written"]

_SAVED_AFTER_MS = 1_000
Kept = dict[str, dict[str, object]]


@dataclass(frozen=True)
class Written:
    """A message that was not sent.

    Attributes:
        reads_whole: whether what is too large of what is attached is to be read.
        waiting: the parts of a message that was split which follow this one.
        parts: how many there were; 0 where none was split.
    """

    text: str = ""
    attached: tuple[Attachment, ...] = ()
    reads_whole: bool = False
    waiting: tuple[str, ...] = ()
    parts: int = 0

    def before(self, later: "Written") -> "Written":
        """Return this message with what was written after it, which it is not to take away."""
        if later.parts:
            waiting = (later.text, *later.waiting) if later.text.strip() else later.waiting
            return replace(self, waiting=waiting, parts=later.parts)
        text = f"{self.text}\n\n{later.text}" if later.text.strip() else self.text
        others = (item for item in later.attached if item not in self.attached)
        return replace(self, text=text, attached=(*self.attached, *others))

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON."""
        attached = [{"target": item.target, "lines": item.lines} for item in self.attached]
        more = {"reads_whole": self.reads_whole, "waiting": self.waiting, "parts": self.parts}
        return {"text": self.text, "attached": attached} | {
            name: value for name, value in more.items() if value
        }


class Drafts(QObject):
    """The drafts of all chats, kept also over a crash.

    Args:
        kept: those of the last time, by chat; empty names the one that has not begun.
        save: writes them down.
        parent: as in Qt.
    """

    def __init__(self, kept: Kept, save: Callable[[Kept], object], parent: QObject) -> None:
        super().__init__(parent)
        self._written = {session: _read(draft) for session, draft in kept.items()}
        self._save = save
        self._session = ""
        self._timer = QTimer(self, singleShot=True, interval=_SAVED_AFTER_MS)
        self._timer.timeout.connect(self.save)

    def open(self, session: str | None) -> Written:
        """Return what was written in a chat; from now on what is noted belongs to it."""
        self._session = session or ""
        return self._written.get(self._session, Written())

    def begun(self, session: str) -> None:
        """Take over what is noted for the chat that had not begun: it has now."""
        if not self._session:
            self._written.pop("", None)
            self._session = session

    def note(self, written: Written) -> None:
        """Remember what is written in the open chat."""
        if written == self._written.get(self._session, Written()):
            return
        if written == Written():
            self._written.pop(self._session, None)
        else:
            self._written[self._session] = written
        self._timer.start()

    def give_back(self, session: str | None, written: Written) -> None:
        """Remember a message in another chat than the open one, before what is written there."""
        later = self._written.get(session or "", Written())
        self._written[session or ""] = written.before(later)
        self._timer.start()

    def save(self) -> None:
        """Write them down now."""
        self._timer.stop()
        self._save({session: written.to_dict() for session, written in self._written.items()})


def _read(draft: dict[str, object]) -> Written:
    text, found = draft.get("text"), draft.get("attached")
    items = found if isinstance(found, list) else []
    read = (_attachment(item) for item in items if isinstance(item, dict))
    waiting, parts = draft.get("waiting"), draft.get("parts")
    return Written(
        text if isinstance(text, str) else "",
        tuple(item for item in read if item is not None),
        draft.get("reads_whole") is True,
        tuple(map(str, waiting)) if isinstance(waiting, list) else (),
        parts if isinstance(parts, int) else 0,
    )


def _attachment(item: dict[str, object]) -> Attachment | None:
    target, lines = item.get("target"), item.get("lines")
    if not isinstance(target, str) or not target:
        return None
    if not isinstance(lines, list) or len(lines) != 2:
        return Attachment(target)
    first, last = lines
    is_range = isinstance(first, int) and isinstance(last, int)
    return Attachment(target, (first, last)) if is_range else None
