"""Read the notes that a note or an answer embeds, and convert them to leaves.

The notes that an embedded note embeds are part of its leaves, to a depth of two. What is read for
one embedded note is limited, since notes can embed themselves and each other.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from app.errors import NotFound, describe
from app.library.embedded_notes import EmbeddedNotes
from app.library.images import VaultImages
from app.sessions.session_info import one_line
from ui.controllers.reading.views import MOST_VIEW_ROWS, draw_block, draw_inline
from ui.markdown.blocks import (
    Embed,
    HeadingLeaf,
    Leaf,
    Missing,
    Paragraph,
    QuietRow,
    Run,
    TableRows,
    plain,
)
from ui.markdown.embeds import (
    INLINE,
    EmbeddedText,
    EmbedFailure,
    draw_embed,
    list_runs,
    replace_inline,
    split_view_target,
)
from ui.markdown.inline import NOTE
from ui.markdown.note_parts import NotePart, find_references, read_part
from vault.embeds import EmbeddedPart
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.notes.kinds import BASE, note_name
from vault.notes.links import split_link_target
from vault.notes.text.data import DRAWING_PROPERTY, hide_drawing

__all__ = ["EmbedExpander"]

_DEPTH: Final = 2
_MOST_CHARS: Final = 20_000
_MOST_EMBEDS: Final = 40
_NAME_CHARS: Final = 120
_MORE: Final = "Further embedded notes are not opened here."

# A part of a note: its path and lines.
_Place = tuple[str, tuple[int, int] | None]


class EmbedExpander:
    """Reads one embedded note, with the notes that it embeds.

    Args:
        notes: finds and reads the notes.
        images: finds the images in them.
        rows: the most rows of each view of a base or query.
    """

    def __init__(
        self, notes: EmbeddedNotes, images: VaultImages, rows: int = MOST_VIEW_ROWS
    ) -> None:
        self._notes, self._images, self._rows = notes, images, rows
        self._chars, self._embeds = _MOST_CHARS, _MOST_EMBEDS
        self._has_told = False

    def read(
        self, target: str, source: str, above: tuple[_Place, ...] = ()
    ) -> EmbeddedText | EmbedFailure:
        """Return the text of an embedded note, or the reason why it is not shown.

        Args:
            target: the name or path as written, with a heading or `^block` after `#`, or a base or
                query as in `ui.markdown.embeds`.
            source: the path of the note that embeds it, or as for a link in an answer.
            above: the parts of notes around the embedded note, from the outside in, except the note
                that is shown.
        """
        self._embeds -= 1
        view = split_view_target(target)
        return self._read_note(target, source, above) if view is None else self._draw(view, source)

    def _draw(
        self, view: tuple[str, str], source: str, name: str = ""
    ) -> EmbeddedText | EmbedFailure:
        """Return what is shown in place of a base or query.

        Args:
            view: its language and its text.
            source: the path of the note that contains it.
            name: the name of the only view that is shown, or an empty string for all.
        """
        if view[0] == INLINE:
            return draw_inline(self._notes.compute_inline(view[1], source))
        computed = self._notes.compute_view(*view, source, self._rows)
        return draw_block(computed, *view, name)

    def _read_note(
        self, target: str, source: str, above: tuple[_Place, ...]
    ) -> EmbeddedText | EmbedFailure:
        name, anchor = split_link_target(target)
        path = self._notes.resolve(name, source)
        if path is None:
            return self._explain_missing(name, source)
        link = f"{NOTE}{target if path.startswith('/') else _join(path, anchor)}"
        title = _describe(path, anchor)
        if len(above) >= _DEPTH:
            return EmbedFailure(f"Not opened here: {title}", "file-text", link)
        if not anchor and path in {source, *(place for place, _ in above)}:
            return EmbedFailure(f"{title} embeds itself here.", "arrows-clockwise", link)
        try:
            part = self._notes.read(path, anchor)
        except NoteExcluded as error:
            return _explain_excluded(error, title, link)
        except (NoteUnreadable, UnsafePath) as error:
            return EmbedFailure(describe(error).message, "file-x")
        if part is None:
            return _explain_no_part(path, anchor)
        if (path, part.lines) in above:
            return EmbedFailure(f"{title} embeds itself here.", "arrows-clockwise", link)
        leaves = tuple(
            self._draw_base(part, anchor, source or path)
            if part.note.kind is BASE
            else self._expand(part, path, link, (*above, (path, part.lines)))
        )
        if leaves and isinstance(leaves[0], HeadingLeaf) and plain(leaves[0].runs) == title:
            leaves = leaves[1:]  # the title above says it already
        return EmbeddedText(title, link, leaves)

    def _draw_base(self, part: EmbeddedPart, name: str, source: str) -> Iterator[Leaf]:
        """Yield what an embedded base finds. In it, `this` is the note that embeds it."""
        for leaf in read_part(NotePart(1, _cut_text(part))):
            view = split_view_target(leaf.target) if isinstance(leaf, Embed) else None
            if isinstance(leaf, Embed) and view is not None:
                yield from draw_embed(leaf, self._draw(view, source, name), can_load=False)

    def _expand(
        self, part: EmbeddedPart, path: str, link: str, above: tuple[_Place, ...]
    ) -> Iterator[Leaf]:
        text = _cut_text(part)
        shown = text if len(text) <= self._chars else _shorten(text, self._chars)
        self._chars -= len(shown)
        references = find_references(part.note.text.split("\n"), part.note.kinds)
        for leaf in read_part(NotePart(1, shown, references=references)):
            if not isinstance(leaf, Embed):
                find = partial(self._find_inline, path)
                yield self._rebase(replace_inline(leaf, find), path)
            elif self._embeds > 0 and self._chars > 0:
                yield from draw_embed(leaf, self.read(leaf.target, path, above), can_load=False)
            elif not self._has_told:
                self._has_told = True
                yield QuietRow(_MORE, "dots-three", Run("Open note", link=link), leaf.boxes)
        if len(shown) < len(text):
            yield QuietRow("The rest is in the note.", "dots-three", Run("Open note", link=link))

    def _find_inline(self, path: str, expression: str) -> tuple[Run, ...] | None:
        """Return the result of an inline query in an embedded note, or None if it stays source."""
        self._embeds -= 1
        value = self._notes.compute_inline(expression, path) if self._embeds > 0 else None
        return list_runs(draw_inline(value))

    def _rebase(self, leaf: Leaf, path: str) -> Leaf:
        """Return a leaf of an embedded note whose links work in the note that shows it."""
        match leaf:
            case Paragraph() | HeadingLeaf():
                return replace(leaf, runs=self._rebase_runs(leaf.runs, path))
            case TableRows():
                rows = tuple(
                    tuple(self._rebase_runs(cell, path) for cell in row) for row in leaf.rows
                )
                return replace(leaf, rows=rows)
            case Missing() if leaf.source:
                return replace(leaf, source=self._rebase_image(leaf.source, path))
        return leaf

    def _rebase_runs(self, runs: tuple[Run, ...], path: str) -> tuple[Run, ...]:
        return tuple(
            replace(run, link=self._rebase_link(run.link, path))
            if run.link.startswith(NOTE)
            else run
            for run in runs
        )

    def _rebase_link(self, link: str, path: str) -> str:
        name, anchor = split_link_target(link.removeprefix(NOTE))
        found = self._notes.resolve(name, path)
        return link if found is None else NOTE + _join(found, anchor)

    def _rebase_image(self, source: str, path: str) -> str:
        name, mark, page = source.partition("#")
        try:
            return "/" + self._images.find(name, path).lstrip("/") + mark + page
        except NotFound:
            return source

    def _explain_missing(self, name: str, source: str) -> EmbedFailure:
        shown = one_line(name, _NAME_CHARS)
        try:
            self._images.find(name, source)
        except NotFound:
            return EmbedFailure(f"There is no note named {shown}.", "file-x")
        return EmbedFailure(f"{shown} is not shown: it is neither a note nor an image.", "file")


def _join(path: str, anchor: str) -> str:
    return f"{path}#{anchor}" if anchor else path


def _describe(path: str, anchor: str) -> str:
    heading = "" if anchor.startswith("^") else anchor.replace("#", " › ")
    return f"{note_name(path)} › {heading}" if heading else note_name(path)


def _explain_excluded(error: NoteExcluded, title: str, link: str) -> EmbedFailure:
    if error.rule == "private":
        return EmbedFailure(f"{title} is private, so it is not shown here.", "lock", link)
    return EmbedFailure(f"{title} is excluded by the rule {error.rule}.", "eye-slash", link)


def _explain_no_part(path: str, anchor: str) -> EmbedFailure:
    kind = "block" if anchor.startswith("^") else "heading"
    return EmbedFailure(f"{note_name(path)} has no {kind} {anchor}.", "file-x", NOTE + path)


def _cut_text(part: EmbeddedPart) -> str:
    """Return the Markdown of a part of a note, without front matter and comments."""
    note = part.note
    markdown = note.markdown
    if markdown is not None and DRAWING_PROPERTY in note.properties:
        markdown = replace(markdown, lines=tuple(hide_drawing(markdown.lines)))
    lines = note.text.split("\n") if markdown is None else markdown.hide_comments()
    first, last = part.lines or (note.body_line, len(lines))
    return "\n".join(lines[first - 1 : last])


def _shorten(text: str, most: int) -> str:
    end = text.rfind("\n", 0, most)
    return text[: end if end > 0 else most]
