"""Plan the mechanical repairs of notes: of links, figures, conflicts of Git, and copies.

Each plan is an edit like any other: shown as a diff, applied only to the content that it was
planned for, journaled and undone. A copy is not deleted but moved to the vault's `.trash`.
"""

import posixpath
import re
from collections.abc import Collection
from difflib import get_close_matches
from itertools import accumulate, groupby
from typing import Final, Literal

from vault.edits.editor import NoteEditor
from vault.edits.links import list_files, plan_merged_links, write_target
from vault.edits.plan import ContentChange, EditPlan, FileMove, plan_append
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused
from vault.notes.kinds import MARKDOWN, drop_note_suffix, find_kind, note_name
from vault.notes.links import (
    Link,
    LinkResolver,
    LocatedLink,
    fold_link_name,
    list_lines_with_links,
    locate_links,
)
from vault.notes.text.document import Block, Conflict, Document, find_conflicts, parse_document
from vault.notes.text.inline import find_block_names
from vault.notes.text.lines import CODE_KINDS, COMMENT
from vault.paths import printable

__all__ = ["NoteRepairs"]

_TRASH: Final = ".trash"
_MOST_TARGETS: Final = 5
_LEAST_LIKENESS: Final = 0.6
_LEAST_ANCHOR_LIKENESS: Final = 0.3
_WIKI_ANCHOR: Final = re.compile(r"\s*#[^|\]\n]*")
_MARKDOWN_ANCHOR: Final = re.compile(r"#[^)\s>\"]*")
_NOT_IN_ANCHORS: Final = re.compile(r"[\[\]#|^]+")
_NOT_IN_SLUGS: Final = re.compile(r"\W+")


class NoteRepairs:
    """Plans repairs of the notes of a folder. Nothing is written."""

    def __init__(self, editor: NoteEditor) -> None:
        self._editor, self._root = editor, editor.root

    def list_targets(self, path: str, target: str, anchor: str) -> list[Link]:
        """Return the existing targets that are nearest to that of a broken link, the nearest first.

        If the note of the link exists, these are its headings or blocks. Otherwise, these are files
        with a similar name.

        Args:
            path: the note with the link.
            target: the target of the link, as it is written.
            anchor: its heading or `^block`, or an empty string.
        """
        files = sorted(list_files(self._root))
        resolver = LinkResolver((name, ()) for name in files)
        found = resolver.resolve(target, path)
        if found is not None and anchor:
            return [Link(target, near) for near in self._list_anchors(found, anchor)]
        is_note = find_kind(target) is MARKDOWN or "." not in posixpath.basename(target)
        named: dict[str, list[str]] = {}
        for name in files:
            if is_note == (find_kind(name) is MARKDOWN):
                named.setdefault(fold_link_name(name), []).append(name)
        near = get_close_matches(fold_link_name(target), named, _MOST_TARGETS, _LEAST_LIKENESS)
        paths = [name for each in near for name in named[each] if name != path]
        return [Link(name, anchor) for name in paths[:_MOST_TARGETS]]

    def plan_relink(self, path: str, old: Link, new: Link) -> EditPlan:
        """Plan an edit that gives all links of a note with one target another target.

        Args:
            path: the note.
            old: the target and anchor that the links have.
            new: the path of the new target, or its target as written in `old`, with an anchor.

        Raises:
            EditRefused: the note has no such link by now.
            VaultError: the note cannot be read, or a model may not read it.
        """
        path, before = self._editor.read(path)
        note = EditableText.decode(printable(path), before)
        lines = note.text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        names = [note_name(name) for name in list_files(self._root)]
        replacements = []
        for number, line in list_lines_with_links(parse_document(note.text)):
            for found in locate_links(number, line):
                if (found.link.target, found.link.heading) == (old.target, old.heading):
                    is_only = names.count(note_name(new.target)) == 1
                    written, end = _write_link(found, line, path, old, new, is_only)
                    start = starts[number - 1]
                    replacements.append(Replacement(start + found.start, start + end, written))
        if not replacements:
            raise EditRefused(f"{printable(path)} has no link to “{old.target}” any more.")
        after = note.replace(sorted(replacements))
        return EditPlan("edit", path, (ContentChange(path, before, after),))

    def plan_value(self, path: str, line: int, old: str, new: str) -> EditPlan:
        """Plan an edit that replaces a figure in a line.

        Args:
            path: the note.
            line: the number of the line, counted from 1.
            old: the figure, which the line has once.
            new: the new figure.

        Raises:
            EditRefused: the line does not have the figure once.
            VaultError: the note cannot be read, or a model may not read it.
        """
        path, before = self._editor.read(path)
        note = EditableText.decode(printable(path), before)
        lines = note.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", text)]
        if len(places) != 1:
            raise EditRefused(f"Line {line} of {printable(path)} does not say “{old}” once.")
        at = sum(len(above) + 1 for above in lines[: line - 1]) + places[0]
        after = note.replace([Replacement(at, at + len(old), new)])
        return EditPlan("edit", path, (ContentChange(path, before, after),))

    def plan_side(
        self, path: str, side: Literal["ours", "theirs"], shown: Collection[str]
    ) -> EditPlan:
        """Plan an edit that keeps one side of a conflict that Git has left in a note.

        Args:
            path: the note.
            side: `ours` for the lines above the dividing mark, `theirs` for those below it.
            shown: lines of the conflict that the user has seen. One without them is another one.

        Raises:
            EditRefused: the note has no such conflict by now.
            VaultError: the note cannot be read, or a model may not read it.
        """
        path, before = self._editor.read(path)
        note = EditableText.decode(printable(path), before)
        lines = note.text.split("\n")
        conflict = _find_conflict(parse_document(note.text), shown)
        if conflict is None:
            raise EditRefused(f"{printable(path)} does not have this conflict any more.")
        first, last = (
            (conflict.opens, conflict.base)
            if side == "ours"
            else (conflict.divides, conflict.closes)
        )
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        kept = "".join(f"{line}\n" for line in lines[first : last - 1])
        start, end = starts[conflict.opens - 1], min(starts[conflict.closes], len(note.text))
        after = note.replace([Replacement(start, end, kept)])
        return EditPlan("edit", path, (ContentChange(path, before, after),))

    def plan_merge(self, path: str, kept: str) -> EditPlan:
        """Plan an edit that merges a copy into another note, and moves the copy to the trash.

        What only the copy has is added at the end of the other note, below the name of the copy,
        also its title and its properties. Links to the copy lead to the other note.

        Args:
            path: the copy.
            kept: the note that is kept.

        Raises:
            VaultError: a note cannot be read, or a model may not read it.
        """
        path, content = self._editor.read(path)
        kept, before = self._editor.read(kept)
        links = plan_merged_links(self._root, path, kept)
        own = next((change for change in links if change.path == kept), None)
        others = [change for change in links if change is not own]
        after = before if own is None else own.after
        name = note_name(path)
        rest = _list_only(name, _parse(path, content), _parse(kept, before))
        if rest:
            text = f"## From “{name}”\n\n{rest}"
            (change,) = plan_append(kept, after, text).changes
            after = change.after if isinstance(change, ContentChange) else after
        if after != before:
            others.insert(0, ContentChange(kept, before, after))
        move = FileMove(path, self._name_in_trash(path), content)
        return EditPlan("move", path, (*others, move))

    def _list_anchors(self, path: str, anchor: str) -> list[str]:
        document = _parse(*self._editor.read(path))
        if anchor.startswith("^"):
            names = [f"^{name}" for name, _, _ in find_block_names(document.list_prose_lines())]
        else:
            names = [heading.text for heading in document.headings]
        near = get_close_matches(anchor, names, _MOST_TARGETS, _LEAST_ANCHOR_LIKENESS)
        return list(dict.fromkeys(near))

    def _name_in_trash(self, path: str) -> str:
        """Return an unused path in the vault's folder for deleted notes."""
        stem, suffix = posixpath.splitext(posixpath.basename(path))
        name, number = f"{_TRASH}/{stem}{suffix}", 2
        while (self._root / name).exists():
            name, number = f"{_TRASH}/{stem} {number}{suffix}", number + 1
        return name


def _parse(path: str, content: bytes) -> Document:
    return parse_document(EditableText.decode(printable(path), content).text)


def _find_conflict(document: Document, shown: Collection[str]) -> Conflict | None:
    """Return the first conflict with some lines. Those in code and comments are examples.

    Args:
        document: the note.
        shown: lines of the conflict. Of a long one, the index has parts that end with a word.
    """
    numbered = [
        (number, line)
        for number, (line, kind) in enumerate(zip(document.lines, document.kinds, strict=True), 1)
        if kind != COMMENT and kind not in CODE_KINDS
    ]
    for conflict in find_conflicts(numbered):
        inside = [
            f" {line.strip()} "
            for number, line in numbered
            if conflict.opens <= number <= conflict.closes
        ]
        if all(any(f" {part.strip()} " in line for line in inside) for part in shown):
            return conflict
    return None


def _write_link(
    found: LocatedLink, line: str, source: str, old: Link, new: Link, is_only: bool
) -> tuple[str, int]:
    """Return a target with its anchor as a link has it, and where the old one ends in the line.

    Args:
        found: the link, with the position of its target.
        line: the line with the link.
        source: the path of the note with the link.
        old: the target and anchor of the link.
        new: the new ones.
        is_only: whether no other file has the name of the new target.
    """
    pattern = _MARKDOWN_ANCHOR if found.is_markdown else _WIKI_ANCHOR
    match = pattern.match(line, found.end) if old.heading else None
    end = match.end() if match else found.end
    target = new.target
    if target != old.target:
        is_note = find_kind(target) is MARKDOWN
        if found.is_markdown:
            target = posixpath.relpath(target, posixpath.dirname(source) or ".")
        elif is_note:
            target = note_name(target) if is_only else drop_note_suffix(target)
        elif is_only:
            target = posixpath.basename(target)
    anchor = f"#{_write_anchor(new.heading, found)}" if new.heading and match else ""
    return f"{write_target(target, found)}{anchor}", end


def _write_anchor(heading: str, found: LocatedLink) -> str:
    if heading.startswith("^"):
        return heading
    if found.is_markdown:
        return _NOT_IN_SLUGS.sub("-", heading.casefold()).strip("-")
    return " ".join(_NOT_IN_ANCHORS.sub(" ", heading).split())


def _list_only(name: str, copy: Document, kept: Document) -> str:
    """Return the title, the properties and the lines that only a copy has.

    Args:
        name: the name of the copy, under which all this is added to the other note.
        kept: the other note.
    """
    lines = list(copy.lines[copy.body_line - 1 :])
    title = _find_title(copy)
    if title is not None and title.heading is not None:
        lines[title.first - copy.body_line : title.last - copy.body_line + 1] = []
    known = {line.strip() for line in kept.lines[kept.body_line - 1 :]}
    groups = groupby(lines, key=lambda line: bool(line.strip()) and line.strip() not in known)
    only = ["\n".join(group) for is_new, group in groups if is_new]
    others = _list_properties(kept)
    properties = "\n".join(one for one in _list_properties(copy) if one not in others)
    if properties:
        fence = max(["``", *re.findall("`+", properties)], key=len) + "`"
        only.insert(0, f"{fence}yaml\n{properties}\n{fence}")
    if title is not None and title.heading is not None:
        named = {name, *(heading.text for heading in kept.headings)}
        only[:0] = [] if title.heading.text in named else [f"### {title.heading.text}"]
    return "\n\n".join(only)


def _find_title(document: Document) -> Block | None:
    """Return the first heading if it is a title, with the line that underlines it."""
    first = next((block for block in document.blocks if block.heading is not None), None)
    return first if first and first.heading and first.heading.level == 1 else None


def _list_properties(document: Document) -> list[str]:
    """Return the lines of each property in the front matter, without blank ones."""
    properties = list[list[str]]()
    for _, line in document.front_lines:
        if properties and line.startswith((" ", "\t", "-", "#")):
            properties[-1].append(line.rstrip())
        elif line.strip():
            properties.append([line.rstrip()])
    return ["\n".join(lines) for lines in properties]
