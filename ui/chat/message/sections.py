"""`AnswerView` draws an answer, and the sections of notes that one without a model shows.

Each section has a title that opens the note. The lines that answer are lit. Lines that are folded
are behind a link that shows them, and hides them again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtGui import QPainter

from chains.citations.pieces import SectionPiece, cut_pieces, write_piece
from chains.citations.sections import Lines, ShownSection
from ui.markdown.blocks import HeadingLeaf, Leaf, Paragraph, Run, Style
from ui.markdown.embeds import EmbeddedText, EmbedFailure, list_view_sources
from ui.markdown.inline import FOLD, SECTION
from ui.markdown.page.images import Embedded
from ui.markdown.page.lines import SourceLines
from ui.markdown.page.tasks import TaskView
from ui.markdown.stream import MarkdownStream
from ui.widgets.formatting import plural

__all__ = ["AnswerView"]

# Half of an answer may be lit, so its background is quieter than that of one cited passage.
_QUIET = 0.6


class AnswerView(TaskView):
    """Draws an answer: its text, or the sections of notes that it consists of.

    Attributes:
        sections: the sections that are shown, best first. Empty if the text is shown.
        lit: the ranges of lit lines, counted in the Markdown that is drawn.
    """

    def __init__(self) -> None:
        self.sections: tuple[ShownSection, ...] = ()
        self.lit: Sequence[Lines] = ()
        super().__init__(embeds={})
        self._lead = ""
        self._opened: frozenset[str] = frozenset()

    def set_markdown(self, text: str) -> None:
        """Replace the content of the view with complete Markdown text."""
        self.sections, self.lit, self._pointing.hints = (), (), {}
        super().set_markdown(text)

    def show_embed(self, source: str, content: Embedded) -> None:
        """Show a loaded image or embedded note, unless the same note is shown already."""
        is_text = isinstance(content, EmbeddedText | EmbedFailure)
        if self._embeds is None or not is_text or self._embeds.get(source) != content:
            super().show_embed(source, content)

    def refresh_views(self) -> None:
        """Request the results of bases and queries anew, because notes have changed."""
        for source in list_view_sources(self._embeds or ()):
            self.embed_wanted.emit(source)

    def show_sections(self, lead: str, sections: Sequence[ShownSection]) -> None:
        """Show sections of notes in place of the text.

        Args:
            lead: the sentence above the sections.
            sections: the sections, best first.
        """
        self._lead, self.sections, self._opened = lead, tuple(sections), frozenset()
        self._draw()

    def toggle_fold(self, address: str) -> None:
        """Show the lines behind a link if they are folded, or fold them again.

        The focus stays at the link.
        """
        self._opened ^= {address}
        self._draw()
        self.select_link(address)

    def _draw(self) -> None:
        drawn = _draw_sections(self._lead, self.sections, self._opened)
        self.lit, self._pointing.hints = drawn.highlights, drawn.hints
        self.set_leaves(drawn.leaves)

    def _paint_ground(self, painter: QPainter) -> None:
        """Paint the background of the lit lines, as wide as the view."""
        painter.setOpacity(_QUIET)
        places = SourceLines(self.document())
        for lines in self.lit:
            if (band := places.find_band(*lines)) is not None:
                self._decoration_painter.paint_band(
                    painter, self._all_decorations, band, self.width()
                )
        painter.setOpacity(1)


@dataclass
class _Drawn:
    """The blocks of an answer that shows sections.

    Attributes:
        leaves: the blocks, in order. Their lines are counted over the whole answer.
        highlights: the ranges of lines to highlight.
        hints: what a click on each of the links does, by its address.
    """

    leaves: list[Leaf] = field(default_factory=list)
    highlights: list[Lines] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)
    _line: int = 1

    def add_text(self, lines: Sequence[str], highlights: Sequence[Lines] = ()) -> None:
        """Add lines of Markdown, of which some ranges are highlighted."""
        above = self._line - 1
        stream = MarkdownStream()
        stream.feed("\n".join(lines))
        self.leaves += [
            replace(leaf, line=leaf.line + above) if leaf.line else leaf for leaf in stream.finish()
        ]
        self.highlights += [(first + above, last + above) for first, last in highlights]
        self._line += len(lines)

    def add_link(self, text: str, address: str, hint: str, *, is_title: bool = False) -> None:
        """Add a link on a line of its own, which is a heading or a paragraph."""
        runs = (Run(text, Style.NONE, address),)
        leaf = HeadingLeaf(3, runs) if is_title else Paragraph(runs)
        self.leaves.append(replace(leaf, line=self._line))
        self.hints[address] = hint
        self._line += 1


def _draw_sections(lead: str, sections: Sequence[ShownSection], opened: Collection[str]) -> _Drawn:
    """Build the blocks of an answer that shows sections.

    Args:
        lead: the sentence above the sections.
        sections: the sections, best first.
        opened: the addresses of the folds that the user has opened.
    """
    drawn = _Drawn()
    drawn.add_text(lead.split("\n"))
    for at, section in enumerate(sections):
        place = " › ".join(section.names) or section.path
        title = f"{place} · {section.day}" if section.day else place
        first, last = section.lines
        hint = f"Open {section.path} at lines {first:,} to {last:,}"
        drawn.add_link(title, f"{SECTION}{at}", hint, is_title=True)
        if section.is_open:
            _draw_open(drawn, section, at, opened)
        else:
            _draw_closed(drawn, section, at, opened)
    return drawn


def _draw_open(drawn: _Drawn, section: ShownSection, at: int, opened: Collection[str]) -> None:
    """Draw a section with a link for each of its folds."""
    for number, piece in enumerate(cut_pieces(section)):
        address = f"{FOLD}{at}.{number}"
        if piece.is_folded:
            _draw_fold(drawn, address, [piece], address in opened)
        if not piece.is_folded or address in opened:
            drawn.add_text(*write_piece(piece, section.n))


def _draw_closed(drawn: _Drawn, section: ShownSection, at: int, opened: Collection[str]) -> None:
    """Draw the best lines of a section, and one link that shows the whole section."""
    pieces, address = list(cut_pieces(section)), f"{FOLD}{at}"
    for piece in pieces:
        if not piece.is_folded or address in opened:
            drawn.add_text(*write_piece(piece, section.n))
    if folded := [piece for piece in pieces if piece.is_folded]:
        _draw_fold(drawn, address, folded, address in opened)


def _draw_fold(
    drawn: _Drawn, address: str, folded: Sequence[SectionPiece], is_opened: bool
) -> None:
    count = sum(piece.count for piece in folded)
    text = f"Hide {plural(count, 'line')}" if is_opened else f"Show {plural(count, 'more line')}"
    hint = f"{text} of this section, as in the note"
    drawn.add_link(f"{'▾' if is_opened else '▸'} {text}", address, hint)
