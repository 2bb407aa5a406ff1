"""Which citations of a text are in doubt: single places, not numbers.

A number may stand for a passage that bears out one quotation and not the next. So a doubt belongs
to the citation beside its quotation; only where that cannot be found, and nothing else was borne
out either, it belongs to all citations of that number.
"""

from collections.abc import Iterable, Iterator, Mapping

from PySide6.QtGui import QTextCursor, QTextDocument

from ui.markdown.page.card import Source
from ui.markdown.page.ink import Pill

__all__ = ["pills_in_doubt"]

_LOOKED_FOR = 120


def pills_in_doubt(
    document: QTextDocument, pills: Iterable[Pill], sources: Mapping[int, Source]
) -> frozenset[int]:
    """Return where the citations begin that are not borne out.

    Args:
        document: the text as it is shown.
        pills: its citations.
        sources: what the numbers stand for, each with the quotations that it does not bear out.
    """
    citing: dict[int, list[Pill]] = {}
    for pill in sorted(pills, key=lambda pill: pill.start):
        for number in pill.numbers:
            citing.setdefault(number, []).append(pill)
    doubted = (
        pill.start
        for number, found in citing.items()
        if (source := sources.get(number)) is not None and source.doubt
        for pill in _meant(document, found, source)
    )
    return frozenset(doubted)


def _meant(document: QTextDocument, pills: list[Pill], source: Source) -> list[Pill]:
    beside: dict[int, Pill] = {}
    for quote in source.doubted:
        for place in _places(document, quote):
            pill = _beside(place, pills)
            beside[pill.start] = pill
    if beside or source.is_verified:
        return list(beside.values())
    return pills


def _places(document: QTextDocument, quote: str) -> Iterator[QTextCursor]:
    words = quote.splitlines()[0][:_LOOKED_FOR] if quote.strip() else ""
    place = document.find(words, 0) if words else QTextCursor()
    while not place.isNull():
        yield place
        place = document.find(words, place)


def _beside(place: QTextCursor, pills: list[Pill]) -> Pill:
    """Return the citation that follows a quotation in its block, else the nearest one."""
    block = place.block()
    after = [
        pill
        for pill in pills
        if place.selectionEnd() <= pill.start < block.position() + block.length()
    ]
    return after[0] if after else min(pills, key=lambda pill: abs(pill.start - place.position()))
