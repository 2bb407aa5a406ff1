"""Let a model write a chat's title after the first answer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.config.settings_file import SettingsStore
from app.errors import SessionBusy, SessionMissing
from app.sessions.session import Session
from app.sessions.session_info import TITLE, has_title_entry
from app.sessions.store import SessionStore
from app.sessions.turn_builder import TurnBuilder
from chains.cancel import CancelToken
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from chains.request.usage import TITLE as TITLE_CALL
from chains.request.usage import build_usage_entry
from chains.turn.calls import ChatTitle, write_title
from context.history.exclusion import hide_in_last_turn
from context.history.turns import LoggedTurn, list_turns
from context.log.entries import Entry, OtherEntry

__all__ = ["ChatTitles"]

_log = logging.getLogger(__name__)
MOST_TURNS: Final = 3  # a later title would replace words by which the user knows the chat
BY_MODEL: Final = "model"


@dataclass(frozen=True)
class _Opening:
    """A chat's first turn, and the model that answered last."""

    model: str
    turn: LoggedTurn


class ChatTitles:
    """Writes chat titles with a model. Thread-safe.

    A title set by the user is never replaced. If no model is configured, the setting `chat.titles`
    is off or the call fails, the title remains the beginning of the chat's first question.
    """

    def __init__(
        self, settings: SettingsStore, sessions: SessionStore, builder: TurnBuilder
    ) -> None:
        self._settings, self._sessions, self._builder = settings, sessions, builder

    def write(self, session: str, cancel: CancelToken) -> str:
        """Write a chat's title after the first answer, and return it.

        Return an empty string if no title was written. The chat is not locked during the model
        call. If the chat is busy when the title is ready, the title is discarded, and a new one is
        generated after the next answer.

        Raises:
            StorageFailed: the title cannot be written.
            Cancelled: the call was cancelled.
        """
        try:
            chat = self._sessions.read(session)
            opening = _find_opening(chat) if self._settings.values.chat_titles else None
            made = None if opening is None else self._call(chat, opening, cancel)
            return "" if made is None else self._store(session, made)
        except (SessionBusy, SessionMissing) as error:
            _log.info("The chat %s gets no title now: %s", session, error)
            return ""

    def _call(self, chat: Session, opening: _Opening, cancel: CancelToken) -> ChatTitle | None:
        ask = Ask("", "chat", opening.model)
        turn = self._builder.equip_turn(self._builder.begin_turn(ask, chat, cancel, may_ask=False))
        first, rules = opening.turn, turn.note_rules
        if rules is not None:  # a note may have been excluded since the answer
            first = hide_in_last_turn((first,), rules, turn.counter)
        answers = [one.message.text for one in first.answers if one.message.role == "assistant"]
        question = "" if first.user is None else first.user.message.text
        return write_title(turn, question, answers[-1])

    def _store(self, session: str, made: ChatTitle) -> str:
        data = {"type": "custom", "customType": TITLE, "content": made.text, "by": BY_MODEL}
        with self._sessions.open(session) as chat:
            if has_title_entry(chat.log):  # the user has given a title meanwhile
                return ""
            leaf = chat.tree.leaf
            usage = [build_usage_entry(chat, "", one, purpose=TITLE_CALL) for one in made.calls]
            title = OtherEntry(chat.new_id(), leaf, chat.now(), "custom", data)
            entries: Sequence[Entry] = [*usage, title]
            chat.append(entries)
        return made.text


def _find_opening(chat: Session) -> _Opening | None:
    """Return the first turn of a chat that needs a title, otherwise None."""
    turns = list_turns(chat.path())
    if has_title_entry(chat.log) or not 1 <= len(turns) <= MOST_TURNS:
        return None
    first = turns[0]
    models = [entry.model for turn in turns for entry in turn.answers if entry.model]
    if first.user is None or not first.is_complete or not models or models[-1] == EXTRACTIVE:
        return None
    return _Opening(models[-1], first)
