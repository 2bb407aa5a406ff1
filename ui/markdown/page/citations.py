"""Handle hover, focus and clicks on citations and links. Find unverified citations."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCursor, QGuiApplication, QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QMenu, QTextBrowser, QToolTip

from chains.citations.answer_sources import Source
from chains.citations.quotes import normalize_text
from ui.markdown.inline import FOOTNOTE, FOOTNOTE_MARK, MORE, NOTE
from ui.markdown.page.card import CitationCard, describe_source
from ui.markdown.page.decorations import Pill
from ui.markdown.page.formats import DOUBT
from ui.notify import announce
from ui.theme import Theme
from ui.widgets.texts import read_selection

__all__ = ["LinkHandler", "choose_claim", "find_unverified_pills"]

_LOOKED_FOR = 120
_CLAIM_IS_WITHIN = 2000


class LinkHandler(QObject):
    """Handles hover, focus and clicks on the links and citations in one view.

    Signals:
        citation_clicked: the number of the clicked citation.
        citation_pointed: the number of the hovered citation, or 0 when the hover ends.
        source_opened: the source of the clicked citation, with the lines of its claim.
        link_clicked: the permitted address of the clicked link.

    Attributes:
        sources: the source of each citation number.
        hints: what a click on a link of Strata's own does, by its address.
        is_missing: returns whether the note that a link leads to does not exist.
        fold_hints: the same for the titles of callouts that can be folded.

    Args:
        view: the view whose links and citations are handled.
        targets: a function that returns the addresses of all links in the view.
        find_pills: a function that takes a number and returns the citations with this number, each
            with its rectangles, one for each line.
    """

    citation_clicked = Signal(int)
    citation_pointed = Signal(int)
    source_opened = Signal(object)
    link_clicked = Signal(str)

    def __init__(
        self,
        view: QTextBrowser,
        targets: Callable[[], list[str]],
        find_pills: Callable[[int], dict[Pill, list[QRect]]],
    ) -> None:
        super().__init__(view)
        self._view, self._targets, self._find_pills = view, targets, find_pills
        self.sources: Mapping[int, Source] = {}
        self.hints: Mapping[str, str] = {}
        self.fold_hints: Mapping[str, str] = {}
        self.is_missing: Callable[[str], bool] = lambda _target: False
        self._card: CitationCard | None = None
        self._href = ""
        self._pill: Pill | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._show_card)
        view.anchorClicked.connect(self._on_clicked)
        view.highlighted.connect(self.point_at)
        view.installEventFilter(self)

    @property
    def card(self) -> CitationCard | None:
        """The card that shows a citation's source, or None until a card has been shown."""
        return self._card

    def point_at(self, url: QUrl) -> None:
        """Behave as if the pointer hovered over a link or citation.

        Args:
            url: the address of the link or citation, or an empty address to end the hover.
        """
        self.hide_card()
        href = url.toString()
        number = _number(href)
        self.citation_pointed.emit(number)
        if number:
            self._href = href
            self._pill = self._find_pill(number, self._view.cursorForPosition(self._pointer))
            self._timer.start(Theme.current().duration("hover_card_delay"))
        elif target := self._target(href):
            hint = escape(self._describe(target) or target)
            QToolTip.showText(QCursor.pos(), f"<qt>{hint}</qt>", self._view)

    def focus(self, href: str) -> None:
        """Behave as if a link or citation were hovered, and announce its source to screen readers.

        If the focus has left the view, the hover ends.

        Args:
            href: the address of the link, or `cite:1` for a citation.
        """
        if self._view.window().focusWidget() is not self._view:
            href = ""  # Qt reports the last link's Tab as handled, and its cursor stays at the link
        self.point_at(QUrl(href))
        self._pill = self._find_pill(_number(href), self._view.textCursor())
        if source := self._source(href, self._pill):
            announce(self._view, describe_source(source))
        elif hint := self._describe(self._target(href)):
            announce(self._view, hint)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hide the card with Escape, and when the focus leaves the view."""
        is_shown = self._card is not None and self._card.isVisible()
        if event.type() == QEvent.Type.FocusOut:
            self.hide_card()
        elif is_shown and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()  # Escape is a shortcut of the window too
            if event.type() == QEvent.Type.KeyPress:
                self.hide_card()
            return True
        return super().eventFilter(watched, event)

    def hide_card(self) -> None:
        """Hide the card that shows a citation's source, or cancel one that is about to appear."""
        self._timer.stop()
        if self._card:
            self._card.hide()

    def find_nearest(self, rects: Iterable[QRect]) -> QRect:
        """Return the rectangle in the view that is nearest to the pointer."""
        at = self._pointer
        return min(rects, key=lambda r: (r.center() - at).manhattanLength(), default=QRect())

    def menu(self, href: str) -> QMenu:
        """Build the context menu for a position in the view.

        Args:
            href: the address of the link at the position, or an empty string if there is none.
        """
        view, target = self._view, self._target(href)
        menu = QMenu(view)
        copy = menu.addAction("Copy", view.copy)
        copy.setEnabled(view.textCursor().hasSelection())
        if target and not self._find_hint(target):
            menu.addAction(
                "Copy address", lambda: QGuiApplication.clipboard().setText(_written(target))
            )
        menu.addAction("Select all", view.selectAll)
        return menu

    def _show_card(self) -> None:
        source = self._source(self._href, self._pill)
        if source is None or self._pill is None:
            return
        if self._card is None:
            self._card = CitationCard(self._view)
        place = self.find_nearest(self._find_pills(_number(self._href)).get(self._pill, ()))
        corner = self._view.viewport().mapToGlobal(place.topLeft())
        self._card.show_source(source, QRect(corner, place.size()))

    def _on_clicked(self, url: QUrl) -> None:
        self.hide_card()
        href = url.toString()
        if number := _number(href):
            self.citation_pointed.emit(0)  # if the note covers the text, no hover event follows
            self.citation_clicked.emit(number)
            if source := self._source(href, self._find_pill(number, self._view.textCursor())):
                self.source_opened.emit(source)
        elif target := self._target(href):
            self.link_clicked.emit(target)

    @property
    def _pointer(self) -> QPoint:
        return self._view.viewport().mapFromGlobal(QCursor.pos())

    def _find_pill(self, number: int, cursor: QTextCursor) -> Pill | None:
        """Return the citation with a number that is nearest to the start of a cursor."""
        at, pills = cursor.selectionStart(), self._find_pills(number)
        return min(pills, key=lambda pill: max(pill.start - at, at - pill.end), default=None)

    def _source(self, href: str, pill: Pill | None) -> Source | None:
        source = self.sources.get(_number(href))
        if source is None or not source.is_verified:
            return source
        if href.endswith(DOUBT):
            return replace(source, is_verified=False)
        if pill is not None:
            source = choose_claim(self._view.document(), pill, source)
        return replace(source, doubt="")

    def _find_hint(self, target: str) -> str:
        """Return what a click on a link of Strata's own does, or "" for any other link."""
        if target.startswith(FOOTNOTE):
            return "Go to the footnote"
        if target.startswith(FOOTNOTE_MARK):
            return "Back to the text"
        if target.startswith(MORE):
            return "Show more rows"
        return self.hints.get(target) or self.fold_hints.get(target, "")

    def _describe(self, target: str) -> str:
        """Return what a click does, or a sentence about a note that does not exist, or ""."""
        name = _written(target)
        if not target.startswith(NOTE) or not self.is_missing(name):
            return self._find_hint(target)
        return f"There is no note named {name}. A click creates it, or finds another one."

    def _target(self, href: str) -> str:
        kind, _, number = href.partition(":")
        return self._targets()[int(number)] if kind == "link" else ""


def choose_claim(document: QTextDocument, pill: Pill, source: Source) -> Source:
    """Return a source with the lines of the claim that one citation supports.

    This is the last claim before the citation. If none is found there, return the source as it is.

    Args:
        document: the document that the view shows.
        pill: the citation.
        source: the source, which may be cited for several claims.
    """
    if not source.by_claim:
        return source
    cursor = QTextCursor(document)
    cursor.setPosition(max(0, pill.start - _CLAIM_IS_WITHIN))
    cursor.setPosition(pill.start, QTextCursor.MoveMode.KeepAnchor)
    before = normalize_text(read_selection(cursor))
    ends = [normalize_text(each.claim)[-_LOOKED_FOR:] for each in source.by_claim]
    places = [before.rfind(end) + len(end) if end in before else -1 for end in ends]
    best = max(range(len(places)), key=places.__getitem__)
    return source.by_claim[best] if places[best] >= 0 else source


def _number(href: str) -> int:
    return int(href[5:].removesuffix(DOUBT)) if href.startswith("cite:") else 0


def _written(target: str) -> str:
    return target.removeprefix(NOTE)


def find_unverified_pills(
    document: QTextDocument, pills: Iterable[Pill], sources: Mapping[int, Source]
) -> frozenset[int]:
    """Return the start positions of unverified citations.

    Args:
        document: the document that the view shows.
        pills: the citations in the text.
        sources: the source of each citation number, with the quotations that were not found in it.
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
            pill = _find_pill(place, pills)
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


def _find_pill(place: QTextCursor, pills: list[Pill]) -> Pill:
    """Return the citation that a quotation probably belongs to.

    This is the next citation after the quotation in the same paragraph, or else the nearest one.

    Args:
        place: a cursor that selects the quotation.
        pills: the citations of the quotation's source, in text order.
    """
    block = place.block()
    after = [
        pill
        for pill in pills
        if place.selectionEnd() <= pill.start < block.position() + block.length()
    ]
    return after[0] if after else min(pills, key=lambda pill: abs(pill.start - place.position()))
