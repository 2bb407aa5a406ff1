"""Update links when a note is moved, so that they still lead to the same note.

As in Obsidian, links that still work are not changed. Other links keep their form if possible: a
name stays a name, and a relative path stays relative. Labels and headings are kept.
"""

import json
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote, unquote

from vault.edits.files import read_file
from vault.edits.plan import ContentChange
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused, VaultError
from vault.exclude.rules import ExcludeRules
from vault.notes.kinds import CANVAS, MARKDOWN, drop_note_suffix, find_kind
from vault.notes.links import (
    LinkResolver,
    LocatedLink,
    fold_link_name,
    fold_link_path,
    list_lines_with_links,
    locate_links,
)
from vault.notes.note import parse_note
from vault.notes.text.document import parse_document

__all__ = ["list_files", "plan_link_changes", "plan_merged_links", "write_target"]

LinkForm = Literal["name", "relative", "absolute"]
_NOT_IN_URLS: Final = re.compile(r"[\s<>()\"%#?\\^`{}|]")
_ALIAS: Final = b"alias"
_FRONT_BYTES: Final = 16_384
_CARD_TEXT: Final = re.compile(r'"text"\s*:\s*"((?:[^"\\]|\\.)*)"')
# A character in a JSON string. A pair of surrogates is one character.
_JSON_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.",
    re.DOTALL,
)


def plan_link_changes(root: Path, path: str, to: str) -> list[ContentChange]:
    """Plan the changes to all links that would break if a note were moved.

    Links in excluded and private notes are updated too.

    Args:
        root: the vault's folder.
        path: the note to move.
        to: the new path. The result lists the note's own changes under this path.
    """
    files = _read_files(root, path, to)
    attachments = ExcludeRules.load(root).attachment_folder
    moved = {path: to}
    before = LinkResolver(sorted(files.aliases.items()), attachments)
    renamed = {moved.get(name, name): aliases for name, aliases in files.aliases.items()}
    move = _Move(path, to, before, LinkResolver(sorted(renamed.items()), attachments))
    changes = (move.plan_change(name, data) for name, data in sorted(files.candidates.items()))
    found = [change for change in changes if change is not None]
    return [*found, *_plan_canvas_changes(root, move)]


def plan_merged_links(root: Path, path: str, kept: str) -> list[ContentChange]:
    """Plan the changes to all links to a copy, so that they lead to the note that is kept.

    Args:
        root: the vault's folder.
        path: the copy, which is going to be removed.
        kept: the note that is kept.
    """
    files = _read_files(root, path, kept)
    attachments = ExcludeRules.load(root).attachment_folder
    before = LinkResolver(sorted(files.aliases.items()), attachments)
    left = {name: aliases for name, aliases in files.aliases.items() if name != path}
    move = _Move(path, kept, before, LinkResolver(sorted(left.items()), attachments))
    others = sorted((name, data) for name, data in files.candidates.items() if name != path)
    found = [change for name, data in others if (change := move.plan_change(name, data))]
    return [*found, *_plan_canvas_changes(root, move)]


@dataclass(frozen=True)
class _Files:
    """The data of a vault's files that is needed to update links when a note is moved.

    Attributes:
        aliases: the aliases of each file, keyed by path.
        candidates: the content of each note whose links may need changes, keyed by path.
    """

    aliases: dict[str, Sequence[str]] = field(default_factory=dict)
    candidates: dict[str, bytes] = field(default_factory=dict)


def _read_files(root: Path, path: str, to: str) -> _Files:
    files = _Files()
    names = {fold_link_name(name) for name in (path, to)}
    for name in list_files(root):
        files.aliases[name] = ()
        if find_kind(name) is MARKDOWN and name.lower().endswith(MARKDOWN.suffixes):
            try:
                data = read_file(root, name)
            except VaultError:
                continue
            if data is not None and len(data) <= MARKDOWN.max_bytes:
                files.aliases[name] = _read_aliases(name, data)
                if name == path or _may_link_to(data, names):
                    files.candidates[name] = data
    return files


def _plan_canvas_changes(root: Path, move: "_Move") -> Iterator[ContentChange]:
    """Yield the changes to canvases that show the moved note, or have links in text cards."""
    old = {json.dumps(move.path), json.dumps(move.path, ensure_ascii=False)}
    shown = re.compile(rf'"file"\s*:\s*({"|".join(map(re.escape, old))})')
    new = json.dumps(move.to, ensure_ascii=False)
    for name in list_files(root):
        if find_kind(name) is CANVAS:
            with suppress(VaultError):
                text = EditableText.decode(name, read_file(root, name) or b"")
                places = [match.span(1) for match in shown.finditer(text.text)]
                replaced = [Replacement(start, end, new) for start, end in places]
                for card in _CARD_TEXT.finditer(text.text):
                    replaced += move.plan_card(name, card)
                if replaced:
                    yield ContentChange(name, text.data, text.replace(sorted(replaced)))


def list_files(root: Path) -> Iterator[str]:
    """Yield the paths of all files in a vault that are not hidden."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        relative = os.path.relpath(folder, root)
        prefix = "" if relative == "." else f"{relative}/"
        yield from (f"{prefix}{name}" for name in sorted(names) if not name.startswith("."))


def _read_aliases(path: str, data: bytes) -> Sequence[str]:
    if _ALIAS not in data[:_FRONT_BYTES].lower().replace(b"\0", b""):
        return ()
    try:
        return parse_note(path, data)[0].aliases
    except VaultError:
        return ()


def _may_link_to(data: bytes, names: set[str]) -> bool:
    """Return whether a note may contain a link to one of the given names.

    Links in code blocks count too, because the note is not parsed.

    Args:
        data: the content of the note.
        names: the names, normalized by `fold_link_name`.
    """
    if b"[" not in data:
        return False
    try:
        lines = EditableText.decode("", data).text.split("\n")
    except EditRefused:
        return False
    return any(
        fold_link_name(found.link.target) in names
        for line in lines
        for found in locate_links(0, line)
    )


@dataclass(frozen=True)
class _Move:
    path: str
    to: str
    resolver: LinkResolver
    new_resolver: LinkResolver

    def plan_change(self, source: str, data: bytes) -> ContentChange | None:
        """Plan the changes to the links of one note, or return None if none are needed.

        Args:
            source: the path of the note before the move.
            data: the content of the note.
        """
        new_source = self._map(source)
        try:
            text = EditableText.decode(source, data)
        except EditRefused:
            return None
        replacements = self._list_replacements(source, text.text)
        if not replacements:
            return None
        return ContentChange(new_source, data, text.replace(replacements))

    def plan_card(self, source: str, card: re.Match[str]) -> Iterator[Replacement]:
        """Yield the changes to the links in the text card of a canvas.

        Nothing else of the JSON string changes, such as how its characters are escaped.

        Args:
            source: the path of the canvas.
            card: the match of the text, as a JSON string without its quotation marks.
        """
        try:
            text = json.loads(f'"{card[1]}"')
        except ValueError:
            return
        starts = [found.start() for found in _JSON_CHARACTER.finditer(card[1])]
        starts.append(len(card[1]))
        for start, end, target in self._list_replacements(source, text):
            written = json.dumps(target, ensure_ascii="\\u" in card[1])[1:-1]
            yield Replacement(card.start(1) + starts[start], card.start(1) + starts[end], written)

    def _list_replacements(self, source: str, text: str) -> list[Replacement]:
        """List the changes to the links of a text, in order.

        Args:
            source: the path of the file with the text before the move.
            text: the text, in Markdown.
        """
        lines = text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return [
            Replacement(starts[number - 1] + found.start, starts[number - 1] + found.end, target)
            for number, line in list_lines_with_links(parse_document(text))
            for found in sorted(locate_links(number, line), key=lambda found: found.start)
            if (target := self._find_new_target(found, lines, source)) is not None
        ]

    def _map(self, path: str) -> str:
        return self.to if path == self.path else path

    def _find_new_target(self, found: LocatedLink, lines: Sequence[str], source: str) -> str | None:
        """Return the new target of a link, or None if the link is not changed.

        Args:
            found: the link and its position.
            lines: the lines of the note that contains the link.
            source: the path of that note before the move.
        """
        link = found.link
        written = lines[link.line - 1][found.start : found.end]
        is_plain = (unquote(written) if found.is_markdown else written) == link.target
        old = self.resolver.resolve(link.target, source) if link.target and is_plain else None
        if old is None:
            return None
        new, new_source = self._map(old), self._map(source)
        form = _find_form(found, source, old)
        if self.new_resolver.resolve(link.target, new_source) == new and _has_form(
            form, link.target, new_source, new
        ):
            return None
        for target in _list_targets(form, link.target, new_source, new):
            if self.new_resolver.resolve(target, new_source) == new:
                return write_target(target, found)
        return None


def _find_form(found: LocatedLink, source: str, path: str) -> LinkForm:
    """Return whether a link's target is a name, a relative path or an absolute path.

    Args:
        found: the link.
        source: the path of the note that contains the link.
        path: the path of the note that the link leads to.
    """
    target = found.link.target
    if not found.is_markdown and "/" not in target:
        return "name"
    forms: tuple[LinkForm, ...] = ("relative", "absolute")
    if not (found.is_markdown or target.startswith(".")):
        forms = ("absolute", "relative")
    return next((form for form in forms if _has_form(form, target, source, path)), "name")


def _has_form(form: LinkForm, target: str, source: str, path: str) -> bool:
    if form == "name":
        return True
    folder = posixpath.dirname(source) if form == "relative" else ""
    written = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
    is_fit = form == "absolute" or not target.startswith("/")
    return is_fit and fold_link_path(written) == fold_link_path(path)


def _list_targets(form: LinkForm, target: str, source: str, path: str) -> Iterator[str]:
    """Yield possible new targets for a link, starting with the one most similar to the old target.

    Args:
        form: the form of the old target.
        target: the old target as written.
        source: the path of the note that contains the link, after the move.
        path: the path of the note that the link leads to, after the move.
    """
    is_whole = target.lower().endswith(MARKDOWN.suffixes)
    whole = path if is_whole else drop_note_suffix(path)
    if form == "name" and "/" not in target:
        yield posixpath.basename(whole)
    if form == "relative":
        relative = posixpath.relpath(whole, posixpath.dirname(source) or ".")
        yield f"./{relative}" if target.startswith("./") and relative[:2] != ".." else relative
    yield f"/{whole}" if target.startswith("/") else whole


def write_target(target: str, found: LocatedLink) -> str:
    """Return a target as it is written in a link, percent-encoded if the link needs it."""
    if not found.is_markdown:
        return target
    if found.is_quoted:
        return re.sub(r"[%<>#]", lambda match: quote(match[0]), target)
    return _NOT_IN_URLS.sub(lambda match: quote(match[0]), target)
