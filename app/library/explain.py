"""Why a note is, or is not, among what an answer was given: in words, for whoever asks."""

from typing import Final

from app.library.library import Library
from chains.request.request import SEARCHED
from chains.request.session import ChatPort
from chains.retrieval.follow_up import notes_in_play
from context.history.turns import turns

__all__ = ["NOT_ASKED", "why_sent"]

NOT_ASKED: Final = "Nothing was asked in this chat yet."


def why_sent(library: Library, chat: ChatPort, path: str, k: int) -> str:
    """Say why a note was, or was not, among the passages for the last question of a chat.

    The search is made again, over the notes as they are now.

    Args:
        library: the open notes.
        chat: its last question counts.
        path: the note.
        k: how many passages a question is given.

    Raises:
        VaultError: the index cannot be searched.
    """
    asked = turns(chat.path())
    while asked and asked[-1].user is None:
        asked = asked[:-1]
    if not asked or (last := asked[-1]).user is None:
        return NOT_ASKED
    attached = [segment for segment in last.segments if segment.kind != "passage"]
    if any(segment.source == path for segment in attached):
        return f"{path} was attached to the question."
    query = str(last.noted.get(SEARCHED) or last.user.message.text)
    return library.why_not_sent(path, query, k, notes_in_play(asked[:-1], attached))
