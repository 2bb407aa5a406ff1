"""Quiet colours for Markdown that is read as it is written: marks recede, headings stand out."""

import re

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ui.theme import Theme

__all__ = ["MarkdownColors"]

_TEXT, _FRONT_MATTER, _CODE = 0, 1, 2
_HEADING = re.compile(r"#{1,6} ")
_INLINE = (
    (re.compile(r"`[^`\n]+`"), "code"),
    (re.compile(r"!?\[\[[^\]\n]+\]\]|\[[^\]\n]*\]\([^)\n]*\)|https?://\S+"), "link"),
    (re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"), "strong"),
    (re.compile(r"(?<!\S)#[^\W\d][\w/-]*"), "quiet"),
    (re.compile(r"^\s*(?:[-*+]|\d+[.)])(?= )|^\s*>+"), "quiet"),
)


class MarkdownColors(QSyntaxHighlighter):
    """Colours one document, line by line; the text itself is never changed."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._is_note_start = True

    def begin(self, *, is_note_start: bool) -> None:
        """Say whether the text about to be shown begins where the note begins."""
        self._is_note_start = is_note_start

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        before = self.previousBlockState()
        is_first = before == -1
        if is_first and self._is_note_start and text == "---":
            self._whole(text, "quiet", _FRONT_MATTER)
        elif before == _FRONT_MATTER:
            self._whole(text, "quiet", _TEXT if text in {"---", "..."} else _FRONT_MATTER)
        elif text.lstrip().startswith(("```", "~~~")):
            self._whole(text, "code_fence", _TEXT if before == _CODE else _CODE)
        elif before == _CODE:
            self._whole(text, "code", _CODE)
        else:
            self._text(text)

    def _text(self, text: str) -> None:
        self.setCurrentBlockState(_TEXT)
        if _HEADING.match(text):
            self.setFormat(0, len(text), _format("strong"))
        for pattern, kind in _INLINE:
            for match in pattern.finditer(text):
                self.setFormat(match.start(), match.end() - match.start(), _format(kind))

    def _whole(self, text: str, kind: str, state: int) -> None:
        self.setCurrentBlockState(state)
        self.setFormat(0, len(text), _format(kind))


def _format(kind: str) -> QTextCharFormat:
    theme, made = Theme.current(), QTextCharFormat()
    if kind == "strong":
        made.setFontWeight(QFont.Weight.DemiBold)
    elif kind == "link":
        made.setForeground(theme.color("text.link"))
    elif kind == "code":
        made.setFontFamilies(theme.font("code").families())
        made.setForeground(theme.color("text.secondary"))
    else:
        made.setForeground(theme.color("text.tertiary"))
    return made
