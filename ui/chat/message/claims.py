"""The checked claims of an answer: one line below it, which unfolds to a row for each claim."""

from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from chains.claims.report import AnswerClaim, ClaimReport, ClaimVerdict
from ui.chat.message.fold_head import FoldHead
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import draw_text, escape_tooltip, make_wrapped_label, one_line, paint_focus
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import make_column
from ui.widgets.lists import paint_text
from ui.widgets.surfaces import AccessibleFrame
from ui.widgets.texts import from_left

__all__ = ["ClaimCheck"]

_ROW: Final = 24
_MOST_ROWS: Final = 60
_ORDER: Final[tuple[ClaimVerdict, ...]] = (
    "contradicted",
    "unsupported",
    "unchecked",
    "supported",
)
_WORDS: Final[dict[ClaimVerdict, str]] = {
    "contradicted": "contradicted",
    "unsupported": "not in what was sent",
    "unchecked": "not checkable",
    "supported": "supported",
}
_ICONS: Final[dict[ClaimVerdict, tuple[str, str]]] = {
    "contradicted": ("warning", "amber.graphic"),
    "unsupported": ("minus", "text.tertiary"),
    "unchecked": ("question", "text.tertiary"),
    "supported": ("check", "text.tertiary"),
}
_MEANING: Final = (
    "Each figure, date and name was looked up alone. Whether it is of the thing that you asked "
    "about, only a reader sees."
)
_MIDDLE: Final = Qt.AlignmentFlag.AlignVCenter


class ClaimCheck(AccessibleFrame):
    """The line below an answer that says what of it is in what was sent, and a row for each claim.

    It is hidden if no claim could be checked.

    Signals:
        place_chosen: the path and line range of the place of a claim that was chosen, or 1 and 1 if
            the lines are not known.

    Attributes:
        head: the line.
    """

    place_chosen = Signal(str, int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self.head = FoldHead("claims")
        self.head.clicked.connect(self._on_head)
        self._report = ClaimReport()
        self._rows: list[ClaimRow] = []
        self._list = QWidget()
        self._column = make_column(
            margins=(OUTDENT + 20, 0, OUTDENT, 8), spacing=0, parent=self._list
        )
        self._list.hide()
        make_column(self.head, self._list, margins=0, spacing=0, parent=self)
        self.hide()

    @property
    def rows(self) -> "list[ClaimRow]":
        """The rows of the claims, which are none until the line is unfolded for the first time."""
        return list(self._rows)

    @property
    def is_open(self) -> bool:
        """Whether the rows are shown."""
        return not self._list.isHidden()

    def show_report(self, report: ClaimReport) -> None:
        """Show the checked claims of an answer."""
        if report == self._report:
            return
        self._report = report
        self._clear()
        words, contradicted = report.findings, report.accusation
        self.head.show_words(words, contradicted, "amber.text" if contradicted else "text.tertiary")
        self.setAccessibleName(f"Claim check: {report.summary}")
        self.setVisible(bool(report.summary))
        if self.is_open:
            self._fill()

    def _on_head(self) -> None:
        keep_place(self)
        if not self._rows:
            self._fill()
        self._list.setVisible(self._list.isHidden())
        self.head.set_open(self.is_open)

    def _fill(self) -> None:
        claims = sorted(self._report.claims, key=lambda claim: _ORDER.index(claim.verdict))
        for claim in claims[:_MOST_ROWS]:
            row = ClaimRow(claim)
            row.place_chosen.connect(self.place_chosen)
            self._rows.append(row)
            self._column.addWidget(row)
        more = f"And {len(claims) - _MOST_ROWS:,} more." if len(claims) > _MOST_ROWS else ""
        text = " ".join(filter(None, (more, self._report.coverage.describe(), _MEANING)))
        if text:
            label = make_wrapped_label(text, "caption", "tertiary")
            label.setContentsMargins(4, 4, 4, 0)
            self._column.addWidget(label)

    def _clear(self) -> None:
        self._rows = []
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()


class ClaimRow(PressedByEnter, QAbstractButton):
    """The row of a claim: what the answer says, and why it is supported or not.

    A click opens the place of the claim, if it is in a note.

    Attributes:
        claim: the claim.
    """

    place_chosen = Signal(str, int, int)

    def __init__(self, claim: AnswerClaim) -> None:
        super().__init__()
        self.claim = claim
        place = next((each for each in claim.places if each.path), None)
        self._place = place
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        text = one_line(claim.text)
        opens = "" if place is None else f"\nOpen {place.describe()}"
        self.setText(text)
        self.setToolTip(escape_tooltip(f"{text}: {claim.reason}{opens}"))
        self.setAccessibleName(f"{text}, {_WORDS[claim.verdict]}, {claim.reason}")
        if place is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._on_clicked)

    def sizeHint(self) -> QSize:
        """Return the height of one line and a small width, because the text can be elided."""
        return QSize(160, Theme.current().px(_ROW))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the icon of the verdict, the claim, and the reason."""
        theme, painter = Theme.current(), begin_painting(self)
        if self.underMouse() and self._place is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("bg.hover"))
            painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
        side = theme.px(14)
        icon, tone = _ICONS[self.claim.verdict]
        paint_icon(painter, QRect(4, (self.height() - side) // 2, side, side), icon, tone)
        rest = self.rect().adjusted(side + 12, 0, -6, 0)
        painter.setFont(theme.font("ui"))
        metrics = QFontMetrics(painter.font())
        width = min(metrics.horizontalAdvance(self.text()) + 2, rest.width() // 2)
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, QRect(rest.left(), 0, width, self.height()), from_left(self.text()))
        is_amber = self.claim.verdict == "contradicted"
        painter.setPen(theme.color("amber.text" if is_amber else "text.secondary"))
        rest.setLeft(rest.left() + width + 10)
        reason = metrics.elidedText(
            from_left(self.claim.reason), Qt.TextElideMode.ElideRight, rest.width()
        )
        draw_text(painter, rest, _MIDDLE, reason)
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _on_clicked(self) -> None:
        if self._place is not None:
            first, last = self._place.lines or (1, 1)
            self.place_chosen.emit(self._place.path, first, last)
