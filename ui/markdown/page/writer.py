"""Write blocks of Markdown into a document: final blocks once, changing ones at each update."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
)

from ui.markdown.blocks import (
    Box,
    CodeLines,
    Embed,
    FormulaLeaf,
    HeadingLeaf,
    Leaf,
    Missing,
    Paragraph,
    QuietRow,
    Rule,
    Run,
    Style,
    TableRows,
    plain,
)
from ui.markdown.code_colors import Line as CodeLine
from ui.markdown.code_colors import list_plain_lines
from ui.markdown.embeds import (
    EmbeddedText,
    EmbedFailure,
    draw_embed,
    list_runs,
    make_embed_source,
    make_inline_source,
    point_more,
    replace_inline,
)
from ui.markdown.inline import NOTE
from ui.markdown.page.callout_folds import Folds, FoldsState
from ui.markdown.page.code import CodeHighlighter, color_line
from ui.markdown.page.decorations import (
    BoxDecorations,
    Decorations,
    Panel,
    Pill,
    ReplacedPart,
    Rows,
    RuleLine,
    Span,
)
from ui.markdown.page.formats import AT_LEAST, Formats
from ui.markdown.page.formulas import FormulaPainter
from ui.markdown.page.images import Embedded, ImageFailure, find_action, insert_picture
from ui.markdown.page.lines import NO_LINE, find_row_line
from ui.markdown.page.spacing import (
    CODE_PADDING,
    EMBED_HANG,
    compute_inset,
    compute_padding_below,
    measure_gap_above,
)
from ui.markdown.page.table import (
    build_cell_format,
    build_table_format,
    choose_size,
    find_alignment,
    measure_columns,
    reverse_rtl_columns,
    set_table_size,
)
from ui.theme import Theme
from ui.widgets.texts import END_ISOLATE, ISOLATE, has_rtl

__all__ = ["OUTDENT", "DocumentWriter"]

OUTDENT = 16
_MOST_FORMULAS = 1_000


@dataclass(slots=True)
class _EmbedPlace:
    """Where an embedded note, base or query stands in the final text.

    Attributes:
        leaf: the embedded note as written.
        first: the text position where it begins.
        last: the text position where it ends.
        above: the leaf above it, or None if it is the first.
        end: its last leaf.
        below: the leaf below it, or None if it is the last.
        before, after: the state of the folds above and below it.
    """

    leaf: Embed
    first: int
    above: Leaf | None
    before: FoldsState
    last: int = -1
    end: Leaf | None = None
    below: Leaf | None = None
    after: FoldsState | None = None

    def can_hold(self, leaves: Sequence[Leaf], after: FoldsState) -> bool:
        """Return whether other leaves in this place leave all that is below as it is."""
        if self.end is None or self.after is None or not leaves:
            return False
        if (after.seen, after.embeds) != (self.after.seen, self.after.embeds):
            return False
        if self.below is None:
            return True
        gaps = [measure_gap_above(self.below, leaf) for leaf in (self.end, leaves[-1])]
        return gaps[0] == gaps[1]


class DocumentWriter:
    """Writes one document from top to bottom.

    Attributes:
        final: the decorations of the final text.
        tail: the decorations of the leaves at the end that the next call of `write` replaces.
        written: the number of final leaves (blocks of Markdown) that have been written.
        recoloring: the highlighter for long code, which works in steps.
        doubtful: the start positions of the unverified citations.
        shown: maps the sources of images and embedded notes to what is shown, or to the reason why
            it is not. Others are shown as placeholders, and so are all if this is None.
        sources: the sources of the images and embedded notes of the document.
        wanted: the sources that are drawn as placeholders and missing in `shown`, in order.
        folds: the callouts that the user has folded or opened.
        is_missing: returns whether the note that a link leads to does not exist.
        missing: the addresses of the links that were written as leading to no note.
        picture_width: the width of the text in pixels, which no image exceeds.
    """

    def __init__(self, document: QTextDocument, formats: Formats, formulas: FormulaPainter) -> None:
        self._formats = formats
        self._document = document
        self.recoloring = CodeHighlighter(document, formats)
        self._cursor = QTextCursor(document)
        self._previous: Leaf | None = None
        self._is_fresh = True
        self._boxes = BoxDecorations()
        self._is_first = True
        self._first = self._line = 0
        self._code: Panel | None = None
        self._code_end = 0
        self._tail_at = 0
        self._tail_format = QTextBlockFormat()
        self._kept: tuple[Leaf | None, bool, Panel | None] = (None, True, None)
        self._has_tail = False
        self._places: list[_EmbedPlace] = []
        self._inner: set[str] = set()  # the sources of those in lists, quotations and callouts
        self._decorations = self.final = Decorations()
        self.tail = Decorations()
        self.written = 0
        self.doubtful: frozenset[int] = frozenset()
        self.shown: Mapping[str, Embedded] | None = None
        self.sources: set[str] = set()
        self.wanted: dict[str, None] = {}
        self.folds = Folds()
        self._formulas, self._formulas_count = formulas, 0
        self.picture_width = 0
        self.is_missing: Callable[[str], bool] = lambda _target: False
        self.missing: set[str] = set()

    @property
    def open_code(self) -> Panel | None:
        """The background of an unfinished code block at the end of the text, if there is one."""
        return self._code

    @property
    def padding_below(self) -> float:
        """The padding in pixels between the last block's text and the end of its background."""
        return compute_padding_below(self._previous) if self._previous else 0

    def write(self, final: Sequence[Leaf], tail: Sequence[Leaf] = ()) -> None:
        """Write final blocks, then the blocks in `tail`, which the next call replaces."""
        self._cursor.beginEditBlock()
        try:
            self._remove_tail()
            for leaf in self._expand(final):
                if self._places and self._places[-1].below is None:
                    self._places[-1].below = leaf
                self._write(leaf)
            self.written += len(final)
            if tail:
                self._write_tail(tail)
        finally:  # an edit that is never ended leaves the document without a layout
            self._cursor.endEditBlock()

    def set_doubtful(self, starts: frozenset[int]) -> None:
        """Format the citations at these positions as unverified, and all others as verified."""
        changed = starts ^ self.doubtful
        self.doubtful = starts
        self._cursor.beginEditBlock()
        for pill in (*self.final.pills, *self.tail.pills):
            if pill.start in changed:
                self._reformat(pill)
        self._cursor.endEditBlock()

    def _reformat(self, pill: Pill) -> None:
        cursor = QTextCursor(self._document)
        cursor.setPosition(pill.start)
        cursor.setPosition(pill.end, _KEEP)
        is_doubtful = pill.start in self.doubtful
        at = pill.start
        for part, look in self._formats.numbers(cursor.selectedText(), is_doubtful=is_doubtful):
            cursor.setPosition(at)
            at += len(part)
            cursor.setPosition(at, _KEEP)
            cursor.setCharFormat(look)

    def _write_tail(self, tail: Sequence[Leaf]) -> None:
        self._tail_at = self._cursor.position()
        self.folds.begin_tail()
        self._tail_format = self._cursor.blockFormat()
        self._kept = (self._previous, self._is_fresh, self._code)
        self._code_end = self._code.last if self._code else 0
        self._decorations = self.tail = Decorations()
        self._has_tail = True
        for leaf in self._expand(tail):
            self._write(leaf)
        self._decorations = self.final

    def _expand(self, leaves: Sequence[Leaf]) -> Iterator[Leaf]:
        """Yield the leaves to write: with embedded notes, without what is folded."""
        for leaf in leaves:
            if not isinstance(leaf, Embed):
                is_formula = isinstance(leaf, FormulaLeaf)
                written = leaf if is_formula else replace_inline(leaf, self._find_inline)
                drawn = self._settle(written) if isinstance(written, FormulaLeaf) else written
                yield from self._open(drawn)
            elif leaf.boxes or self._decorations is self.tail:
                self._inner.add(make_embed_source(leaf))
                yield from self._draw_embed(leaf)
            else:
                yield from self._place_embed(leaf)

    def _find_inline(self, expression: str) -> tuple[Run, ...] | None:
        """Return the result of an inline query, or None if it is not known or stays source."""
        return list_runs(self._find(make_inline_source(expression)))

    def _open(self, leaf: Leaf) -> Iterator[Leaf]:
        """Yield a leaf with the chosen tab opened, or nothing of it if it is folded."""
        shown = (self.folds.apply(one) for one in self.folds.open_page(leaf))
        return (one for one in shown if one is not None)

    def _place_embed(self, leaf: Embed) -> Iterator[Leaf]:
        """Yield the leaves of an embedded note, and remember where they are written."""
        first = 0 if self._is_fresh else self._cursor.position() + 1
        place = _EmbedPlace(leaf, first, self._previous, self.folds.copy_state())
        yield from self._draw_embed(leaf)
        place.last, place.end = self._cursor.position(), self._previous
        place.after = self.folds.copy_state()
        self._places.append(place)

    def _draw_embed(self, leaf: Embed) -> Iterator[Leaf]:
        """Yield the leaves of an embedded note, base or query."""
        self.folds.begin_embed()
        source = make_embed_source(leaf)
        found = self._find(source)
        shown = found if isinstance(found, EmbeddedText | EmbedFailure) else None
        for one in draw_embed(leaf, shown, can_load=self.shown is not None):
            for opened in self._open(one):
                yield point_more(opened, source)

    def replace_embed(self, source: str) -> list[ReplacedPart] | None:
        """Write only an embedded note, base or query anew, wherever the document has it.

        Return what was replaced, in order, or None if the whole document has to be written anew.

        Args:
            source: the source, as from `make_embed_source`.
        """
        if self._has_tail or self.recoloring.is_waiting or source in self._inner:
            return None
        places = [one for one in self._places if make_embed_source(one.leaf) == source]
        return _gather(map(self._replace_embed, places)) if places else None

    def _replace_embed(self, place: _EmbedPlace) -> ReplacedPart | None:
        kept = self.folds.copy_state()
        self.folds.restore_state(place.before)
        leaves = list(self._draw_embed(place.leaf))
        after = self.folds.copy_state()
        self.folds.restore_state(kept)
        if not place.can_hold(leaves, after):
            return None
        length = self._document.characterCount()
        decorations = self._rewrite_place(place, leaves)
        part = ReplacedPart(place.first, place.last, self._document.characterCount() - length)
        self.final.replace_part(part, decorations)
        self.doubtful = frozenset(part.move(one) for one in self.doubtful if not part.contains(one))
        for other in self._places:
            other.first, other.last = part.move(other.first), part.move(other.last)
        place.last, place.end = part.last + part.by, leaves[-1]
        return part

    def _rewrite_place(self, place: _EmbedPlace, leaves: Sequence[Leaf]) -> Decorations:
        """Write other leaves in the place of an embedded note, and return their decorations."""
        kept, is_last = (self._previous, self._code), place.below is None
        self._decorations, self._previous, self._code = Decorations(), place.above, None
        self._cursor.beginEditBlock()
        try:
            self._empty(place)
            for leaf in leaves:
                self._write(leaf)
        finally:
            self._cursor.endEditBlock()
        decorations, self._decorations = self._decorations, self.final
        if not is_last:
            self._previous, self._code = kept
        _to_end(self._cursor)
        return decorations

    def _empty(self, place: _EmbedPlace) -> None:
        """Remove the text of an embedded note, and put the cursor where it began."""
        self._is_fresh = not place.first
        self._cursor.setPosition(max(0, place.first - 1))
        block, state = self._cursor.blockFormat(), self._cursor.block().userState()
        self._cursor.setPosition(place.last, _KEEP)
        self._cursor.removeSelectedText()
        # If the block above is empty, Qt gives it the format of the removed text.
        self._cursor.setBlockFormat(block)
        self._cursor.block().setUserState(state)

    def _find(self, source: str) -> Embedded | None:
        """Return what is shown for a source, and remember the source if it is not loaded yet."""
        if self.shown is None or not source:
            return None
        self.sources.add(source)
        if source not in self.shown:
            self.wanted[source] = None
        return self.shown.get(source)

    def _remove_tail(self) -> None:
        if not self._has_tail:
            return
        self.folds.end_tail()
        self._cursor.setPosition(self._tail_at)
        _to_end(self._cursor, _KEEP)
        self._cursor.removeSelectedText()
        # If the last final block is empty, Qt gives it the format of the removed text.
        self._cursor.setBlockFormat(self._tail_format)
        self._previous, self._is_fresh, self._code = self._kept
        if self._code:
            self._code.last = self._code_end
        self._boxes.forget()
        self.tail = Decorations()
        self._has_tail = False

    def _write(self, leaf: Leaf) -> None:
        top = measure_gap_above(leaf, self._previous)
        self._is_first, self._line = True, leaf.line
        match leaf:
            case Paragraph():
                self._write_paragraph(leaf, top)
            case HeadingLeaf():
                self._write_heading(leaf, top)
            case CodeLines():
                self._write_code(leaf, top)
            case TableRows():
                self._write_table(leaf, top)
            case Missing():
                self._write_missing(leaf, top)
            case FormulaLeaf():
                self._write_formula(leaf, top)
            case QuietRow():
                self._write_quiet(leaf, top)
            case Rule():
                self._begin(self._formats.spacer(top=top), leaf.boxes)
                self._decorations.rules.append(RuleLine(self._cursor.position()))
        if not isinstance(leaf, CodeLines):
            self._code = None
        self._boxes.follow(
            self._decorations, leaf, self._previous, self._first, self._last_position(leaf)
        )
        self._previous = leaf

    def _last_position(self, leaf: Leaf) -> int:
        """Return a text position in the last line of a block, or in the last cell of a table."""
        is_table = isinstance(leaf, TableRows)
        return self._decorations.tables[-1].start if is_table else self._cursor.position()

    def _write_paragraph(self, leaf: Paragraph, top: float) -> None:
        kinds = {box.kind for box in leaf.boxes}
        role = "ui" if "footnote" in kinds else "body"
        tone = "text.secondary" if kinds & {"quote", "footnote"} else "text.primary"
        if leaf.is_title and leaf.boxes[-1].kind == "embed":
            self._write_embed_title(leaf, top)
        elif leaf.is_title:
            runs = tuple(_bold(run) for run in leaf.runs)
            self._write_runs(runs, leaf.boxes, role, _title_tone(leaf.boxes), top)
        else:
            self._write_runs(leaf.runs, leaf.boxes, role, tone, top)

    def _write_embed_title(self, leaf: Paragraph, top: float) -> None:
        block = self._formats.block("label", plain(leaf.runs), top=top)
        inset = compute_inset(leaf.boxes)
        hang = Theme.current().px(EMBED_HANG)
        is_rtl = block.layoutDirection() == _RTL
        block.setLeftMargin(inset.end if is_rtl else inset.start + hang)
        block.setRightMargin(inset.start + hang if is_rtl else inset.end)
        self._next_block(block, self._formats.text("label", "text.secondary", Run("")))
        self._insert(self._cursor, leaf.runs, "label", "text.secondary")

    def _write_heading(self, leaf: HeadingLeaf, top: float) -> None:
        role = f"h{min(leaf.level, 3)}"
        block = self._formats.block(role, plain(leaf.runs), top=top)
        block.setHeadingLevel(leaf.level)
        self._begin(block, leaf.boxes, self._formats.text(role, "text.primary", Run("")))
        self._insert(self._cursor, leaf.runs, role, "text.primary")

    def _write_runs(
        self, runs: tuple[Run, ...], boxes: tuple[Box, ...], role: str, tone: str, top: float
    ) -> None:
        block = self._formats.block(role, plain(runs), top=top)
        self._begin(block, boxes, self._formats.text(role, tone, Run("")))
        self._insert(self._cursor, runs, role, tone)

    def _write_code(self, leaf: CodeLines, top: float) -> None:
        if not leaf.is_continued:
            self._code = None
        for line in leaf.lines:
            block = self._formats.block("code", top=0 if self._code else top)
            inset = compute_inset(leaf.boxes)
            block.setLeftMargin(inset.start + CODE_PADDING)
            block.setRightMargin(inset.end + CODE_PADDING)
            block.setNonBreakableLines(True)
            self._next_block(block, self._formats.code("plain"))
            self._line += bool(self._line)
            if self._code is None:
                here = self._cursor.position()
                self._code = Panel("code", here, here, inset.start, inset.end)
                self._code.language = leaf.language
                self._decorations.panels.append(self._code)
            for color, text in line:
                char = self._formats.code(color)
                if leaf.hint:
                    char.setToolTip(leaf.hint)
                self._cursor.insertText(text, char)
            self._code.last = self._cursor.position()
        if leaf.whole and self._code:
            self._recolor(self._code, leaf.whole)
        if leaf.later and self._code and self._decorations is not self.tail:
            self.recoloring.add(self._code.first, leaf.later, leaf.language)

    def _recolor(self, panel: Panel, lines: Sequence[CodeLine]) -> None:
        """Apply the final colours to the lines of a closed code block."""
        block = self._document.findBlock(panel.first)
        for line in lines:
            color_line(block, line, self._formats)
            block = block.next()

    def _write_table(self, leaf: TableRows, top: float) -> None:
        if not leaf.is_continued or self._is_fresh:
            self._begin(self._formats.spacer(top=0 if leaf.is_continued else top), leaf.boxes)
        leaf = reverse_rtl_columns(leaf)
        inset = compute_inset(leaf.boxes)
        lengths = measure_columns(leaf.columns)
        size = choose_size(lengths, inset, self.picture_width)
        format_ = build_table_format(leaf, inset.start)
        set_table_size(format_, size, lengths, leaf.columns.shares)
        table = self._cursor.insertTable(len(leaf.rows), len(leaf.columns.shares), format_)
        for number, row in enumerate(leaf.rows):
            is_header = number == 0 and leaf.has_header and not leaf.is_continued
            for column, runs in enumerate(row):
                cell = table.cellAt(number, column)
                align = find_alignment(leaf.columns, column)
                at = cell.firstCursorPosition()
                at.block().setUserState(find_row_line(leaf, number))
                char = self._write_cell(at, runs, align, is_header)
                cell.setFormat(build_cell_format(leaf.columns, column, char))
        self._decorations.tables.append(
            Rows(
                table.lastPosition(),
                table,
                table.firstPosition(),
                leaf.columns.shares,
                lengths,
                inset.start,
                inset.end,
                size,
                is_continued=leaf.is_continued,
                is_rtl=leaf.columns.is_rtl,
            )
        )
        self._cursor.setPosition(table.lastPosition() + 1)
        self._cursor.setBlockFormat(self._formats.spacer())

    def _write_cell(
        self,
        cursor: QTextCursor,
        runs: tuple[Run, ...],
        align: Qt.AlignmentFlag,
        is_header: bool,
    ) -> QTextCharFormat:
        role, tone = ("label", "text.secondary") if is_header else ("cell", "text.primary")
        block = self._formats.block(role, plain(runs))
        block.setAlignment(align)
        cursor.setBlockFormat(block)
        self._insert(cursor, runs, role, tone)
        return self._formats.text(role, tone, Run(""))

    def _write_missing(self, leaf: Missing, top: float) -> None:
        picture = self._find(leaf.source)
        if isinstance(picture, QImage):
            self._begin(self._formats.spacer(top=top), leaf.boxes)
            href = self._href(Run("", link=NOTE + leaf.source))
            insert_picture(self._cursor, leaf, picture, self.picture_width, href)
            return
        failure = picture if isinstance(picture, ImageFailure) else None
        is_loading = self.shown is not None and leaf.source and failure is None
        state = "Loading image" if is_loading else "Image not loaded"
        words = f"{state}: {leaf.where}" if failure is None else failure.message
        action = None if is_loading else find_action(leaf, failure)
        self._write_quiet(QuietRow(words, "image-square", action, leaf.boxes), top)

    def _settle(self, leaf: FormulaLeaf) -> FormulaLeaf | CodeLines:
        """Return a formula that stands alone as it is, or as code if it cannot be drawn."""
        char = self._formats.text("body", "text.primary", Run(""))
        reason = self._explain_formula(leaf.tex, char, is_display=True)
        if not reason:
            return leaf
        lines = list_plain_lines(leaf.tex)
        return CodeLines("TeX", lines, leaf.boxes, line=leaf.line, hint=reason)

    def _write_formula(self, leaf: FormulaLeaf, top: float) -> None:
        """Write a formula that stands alone, in the middle of the line."""
        block = self._formats.block("body", top=top)
        block.setLineHeight(Theme.current().line("body"), AT_LEAST)
        block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        char = self._formats.text("body", "text.primary", Run(""))
        self._begin(block, leaf.boxes, char)
        inset = compute_inset(leaf.boxes)
        beside = inset.start + inset.end + 2 * OUTDENT
        self._formulas.insert(self._cursor, leaf.tex, char, is_display=True, inset=beside)

    def _explain_formula(self, tex: str, char: QTextCharFormat, *, is_display: bool) -> str:
        """Return why a formula stays as TeX, or "" if it is drawn, now or later."""
        self._formulas_count += 1
        if self._formulas_count > _MOST_FORMULAS:
            return f"Only the first {_MOST_FORMULAS:,} formulas of a text are drawn."
        return self._formulas.explain(tex, char, is_display=is_display)

    def _insert_formula(self, cursor: QTextCursor, run: Run, role: str, tone: str) -> None:
        """Insert a formula within a line, or its TeX with the reason in the tooltip."""
        style = run.style & ~Style.TEX
        char = self._formats.text(role, tone, Run("", style, run.link), self._href(run))
        reason = self._explain_formula(run.text, char, is_display=False)
        if reason:
            shown = self._formats.text(role, tone, run)
            shown.setToolTip(reason)
            cursor.insertText(run.text, shown)
        else:
            self._formulas.insert(cursor, run.text, char, is_display=False)

    def _write_quiet(self, leaf: QuietRow, top: float) -> None:
        block = self._formats.block("ui", leaf.words, top=top)
        inset = compute_inset(leaf.boxes)
        block.setLeftMargin(inset.start + CODE_PADDING + 24)
        block.setRightMargin(inset.end + CODE_PADDING)
        self._next_block(block, self._formats.text("ui", "text.secondary", Run("")))
        here = self._cursor.position()
        panel = Panel("missing", here, here, inset.start, inset.end, icon=leaf.icon)
        self._decorations.panels.append(panel)
        runs = [Run(leaf.words)]
        if leaf.action:
            runs += [Run("   "), leaf.action]
        self._insert(self._cursor, runs, "ui", "text.secondary")
        panel.last = self._cursor.position()

    def _begin(
        self,
        block: QTextBlockFormat,
        boxes: tuple[Box, ...],
        char: QTextCharFormat | None = None,
    ) -> None:
        """Begin a new text block. The boxes around it determine its indentation."""
        inset = compute_inset(boxes)
        is_rtl_block = block.layoutDirection() == _RTL
        block.setLeftMargin(inset.end if is_rtl_block else inset.start)
        block.setRightMargin(inset.start if is_rtl_block else inset.end)
        self._next_block(block, char or QTextCharFormat())

    def _next_block(self, block: QTextBlockFormat, char: QTextCharFormat) -> None:
        if self._is_fresh:
            self._is_fresh = False
            self._set_top(block)
            self._cursor.setBlockFormat(block)
            self._cursor.setBlockCharFormat(char)
        else:
            self._cursor.insertBlock(block, char)
        self._cursor.block().setUserState(self._line or NO_LINE)
        if self._is_first:
            self._is_first = False
            self._first = self._cursor.position()

    def _set_top(self, block: QTextBlockFormat) -> None:
        """Set the page margins. Qt ignores the first block's top margin, so the page gets it."""
        root = self._document.rootFrame()
        page = QTextFrameFormat(root.frameFormat().toFrameFormat())
        if page.topMargin() != block.topMargin() or page.leftMargin() != OUTDENT:
            page.setTopMargin(block.topMargin())
            page.setLeftMargin(OUTDENT)
            page.setRightMargin(OUTDENT)
            root.setFrameFormat(page)

    def _insert(self, cursor: QTextCursor, runs: Sequence[Run], role: str, tone: str) -> None:
        for run in runs:
            start = cursor.position()
            if run.cites:
                self._insert_number(cursor, run)
                continue
            if run.style & Style.TEX:
                self._insert_formula(cursor, run, role, tone)
                continue
            cursor.insertText(run.text, self._choose_look(run, role, tone))
            if run.style & (Style.CODE | Style.CHOSEN):
                ground = "bg.selected" if run.style & Style.CHOSEN else "bg.raised"
                self._decorations.spans.append(Span(start, cursor.position(), ground))

    def _choose_look(self, run: Run, role: str, tone: str) -> QTextCharFormat:
        look = self._formats.text(role, tone, run, self._href(run))
        if run.link.startswith(NOTE) and self.is_missing(run.link.removeprefix(NOTE)):
            self.missing.add(run.link)
            self._formats.mark_link(look, is_missing=True)
        return look

    def _insert_number(self, cursor: QTextCursor, run: Run) -> None:
        # In right-to-left text, the brackets would be separated from the number.
        needs_isolation = has_rtl(cursor.block().text())
        if needs_isolation:
            cursor.insertText(ISOLATE)
        start = cursor.position()
        for part, look in self._formats.numbers(run.text, is_doubtful=start in self.doubtful):
            cursor.insertText(part, look)
        self._decorations.pills.append(Pill(start, cursor.position(), run.cites))
        if needs_isolation:
            cursor.insertText(END_ISOLATE)

    def _href(self, run: Run) -> str:
        if not run.link:
            return ""
        before = 0 if self._decorations is self.final else len(self.final.targets)
        self._decorations.targets.append(run.link)
        return f"link:{before + len(self._decorations.targets) - 1}"


def _to_end(
    cursor: QTextCursor, mode: QTextCursor.MoveMode = QTextCursor.MoveMode.MoveAnchor
) -> None:
    cursor.movePosition(QTextCursor.MoveOperation.End, mode)


def _gather(parts: Iterable[ReplacedPart | None]) -> list[ReplacedPart] | None:
    """Return all parts, or None if one of them is None. The others are not asked for then."""
    gathered = []
    for part in parts:
        if part is None:
            return None
        gathered.append(part)
    return gathered


def _bold(run: Run) -> Run:
    return Run(run.text, run.style | Style.BOLD, run.link, run.cites)


def _title_tone(boxes: tuple[Box, ...]) -> str:
    tone = boxes[-1].tone
    return "text.primary" if tone == "neutral" else f"{tone}.text"


_KEEP = QTextCursor.MoveMode.KeepAnchor
_RTL = Qt.LayoutDirection.RightToLeft
