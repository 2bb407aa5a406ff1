"""Qt's character and block formats for each kind of text, made from the theme."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat

from ui.markdown.blocks import Run, Style
from ui.theme import Theme
from ui.widgets.texts import has_tall_letters, is_rtl

__all__ = ["AT_LEAST", "DOUBT", "FIXED", "Formats"]

_DIGITS = re.compile(r"(\d+)")
FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
AT_LEAST = QTextBlockFormat.LineHeightTypes.MinimumHeight.value


# The suffix after the number in the address of an unverified citation.
DOUBT = "!"


class Formats:
    """The Qt formats for the theme that is active when the object is created."""

    def __init__(self) -> None:
        self._theme = Theme.current()
        self._made: dict[tuple[str, str, Run], QTextCharFormat] = {}
        self._numbers: dict[tuple[str, str, bool], QTextCharFormat] = {}

    def text(self, role: str, tone: str, run: Run, href: str = "") -> QTextCharFormat:
        """Return the character format for a run of text.

        Args:
            role: the role of the text in the theme, such as `body`. The role `cell`, for tables, is
                the role `ui` with digits of equal width.
            tone: the name of a theme colour.
            run: the run, of which only the style is used.
            href: the address that a click reports, or an empty string if the run is not a link.
        """
        key = (role, tone, Run("", run.style, "link" if href else ""))
        if key not in self._made:
            self._made[key] = self._make(role, tone, run.style, bool(href))
        made = QTextCharFormat(self._made[key])
        if href:
            _set_anchor(made, href, is_plain=bool(run.style & Style.SAME))
        return made

    def mark_link(self, made: QTextCharFormat, *, is_missing: bool) -> None:
        """Show in the format of a link whether the note that it leads to does not exist."""
        lines = QTextCharFormat.UnderlineStyle
        made.setForeground(self._theme.color("text.tertiary" if is_missing else "text.link"))
        made.setUnderlineStyle(lines.DashUnderline if is_missing else lines.SingleUnderline)

    def numbers(self, text: str, *, is_doubtful: bool) -> list[tuple[str, QTextCharFormat]]:
        """Split a citation such as `[1]` or `[1, 2]` into pieces, and choose a format for each.

        The brackets have the same colour as their background, so only the numbers are visible.
        Copied text and the text for screen readers contain the brackets.

        Args:
            text: the citation.
            is_doubtful: whether the citation is unverified.
        """
        parts = [part for part in _DIGITS.split(text) if part]
        known = [part for part in parts if part.isdigit()]
        mark = DOUBT if is_doubtful else ""
        formats, href = [], f"cite:{int(known[0])}{mark}"
        for part in parts:
            href = f"cite:{int(part)}{mark}" if part.isdigit() else href
            formats.append((part, self._number(href, part, is_doubtful)))
        return formats

    def _number(self, href: str, part: str, is_doubtful: bool) -> QTextCharFormat:
        key = (href, part, is_doubtful)
        if key not in self._numbers:
            self._numbers[key] = self._make_number(*key)
        return self._numbers[key]

    def _make_number(self, href: str, part: str, is_doubtful: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(self._theme.font("chip", weight=600))
        soft, text = ("amber.soft", "amber.text") if is_doubtful else _CITED
        is_bracket = part.strip() in {"[", "]"}
        made.setForeground(self._theme.color(soft if is_bracket else text))
        if is_doubtful and "]" in part:
            # Leaves space for the question mark that is painted there.
            made.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
            made.setFontLetterSpacing(self._theme.px(9))
        _set_anchor(made, href)
        return made

    def code(self, color: str) -> QTextCharFormat:
        """Return the character format for code, given the name of its syntax colour."""
        return self.text("code", f"syntax.{color}", _PLAIN)

    def block(self, role: str, text: str = "", *, top: float = 0) -> QTextBlockFormat:
        """Return the format of a text block: its line height, direction and top margin.

        Args:
            role: the role of the text in the theme, such as `body`, which sets the line height.
            text: the text of the block, which decides its direction.
            top: the space above the block in pixels.
        """
        made = QTextBlockFormat()
        is_tall = has_tall_letters(text)
        made.setLineHeight(
            self._theme.line("ui" if role == "cell" else role), AT_LEAST if is_tall else FIXED
        )
        made.setTopMargin(top)
        right_to_left = is_rtl(text)
        made.setLayoutDirection(_RTL if right_to_left else _LTR)
        made.setAlignment(_LEADING)
        return made

    def spacer(self, *, top: float = 0, height: float = 1) -> QTextBlockFormat:
        """Return the format of an empty block that only takes up space, for example around a table.

        Args:
            top: the space above the block in pixels.
            height: the height of the block in pixels.
        """
        made = QTextBlockFormat()
        made.setLineHeight(height, FIXED)
        made.setTopMargin(top)
        return made

    def _make(self, role: str, tone: str, style: Style, is_link: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(self._font(role, style))
        if style & Style.QUIET:
            tone = "text.secondary"
        is_lit = is_link and not style & Style.SAME
        made.setForeground(self._theme.color("text.link" if is_lit else tone))
        made.setFontStrikeOut(bool(style & Style.STRIKE))
        if style & Style.MARK:
            made.setBackground(self._theme.color("diff.mark_bg"))
            made.setForeground(self._theme.color("text.link" if is_link else "diff.mark_text"))
        if style & Style.RAISED:
            made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        return made

    def _font(self, role: str, style: Style) -> QFont:
        weight = 600 if style & Style.BOLD else 0
        italic = bool(style & Style.ITALIC)
        if style & (Style.CODE | Style.TEX):
            mono = "code_inline" if role in {"body", "h1", "h2", "h3"} else "code"
            return self._theme.font(mono, weight=weight, italic=italic)
        if role == "cell":
            return self._theme.font("ui", numbers=True, weight=weight, italic=italic)
        return self._theme.font(role, weight=weight, italic=italic)


def _set_anchor(made: QTextCharFormat, href: str, *, is_plain: bool = False) -> None:
    made.setAnchor(True)
    made.setAnchorHref(href)
    if not is_plain and not href.startswith("cite:"):
        made.setFontUnderline(True)


_PLAIN = Run("")
_CITED = ("accent.soft", "accent.soft_text")
_RTL = Qt.LayoutDirection.RightToLeft
_LTR = Qt.LayoutDirection.LeftToRight
_LEADING = Qt.AlignmentFlag.AlignLeading
