"""The Markdown dialect of answers and notes: CommonMark, mathematics, and Obsidian's additions.

HTML is disabled, so that tags in a note or an answer are shown as text. Reference definitions are
disabled in answers: they would hide a model's `[1]: Backups.md` and turn its `[1]` into a link, and
each new line could change text further up.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkLabel
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from vault.notes.tasks import TASK_MARKERS, find_marker
from vault.notes.text.lines import CODE
from vault.notes.text.scan import scan_kinds

__all__ = [
    "CITATION",
    "Callout",
    "add_mathematics",
    "parse_callout",
    "parser",
    "read_references",
]

# One or several numbers, as in `[1, 2]`, unless a link target or a reference address follows.
CITATION = re.compile(r"\[ ?\d{1,3}(?: ?[,;&–—-] ?\d{1,3}){0,12} ?\](?!\(|:\s{0,3}\S{1,20}//)")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]+))?\]\]")
_HIGHLIGHT = re.compile(r"==(?=[^\s=])(.{0,2000}?[^\s=])==(?!=)", re.DOTALL)
# The tags that `vault` finds: a number alone is not a tag, and a tag does not begin in a word.
_TAG = re.compile(r"#(?!\d+(?:\W|$))[^\s#!\"$%&'()*+,.:;<=>?@\[\\\]^`{|}~]+")
_BEFORE_TAG = " \t\n([,;"
_LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+\s*$")
_OPENING = re.compile(r"(\$\$)(?![\s\d$]+\S)|(\\\[)\s*$")
_INLINE = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_INTERRUPTS = ["paragraph", "blockquote", "list", "footnote_def"]
_HEAD = re.compile(r"^\[!([A-Za-z][\w-]*)(?:\|[^\]\n]*)?\]([+-]?)[ \t]*([^\n]*)(?:\n|$)")
_DETAILS = re.compile(r"(?i)<details(\s+open)?\s*>\s*(?:<summary>(.*?)</summary>)?\s*(.*)$")
_SUMMARY = re.compile(r"(?i)\s*<summary>(.*?)</summary>\s*$")
_END_DETAILS = re.compile(r"(?i)\s*</details>\s*$")
_NAME = r"([^\W\d_][\w \-/]{0,60}?)"  # of a field
_FIELD = re.compile(rf"([*_]{{0,3}}){_NAME}\1::[ \t]+(?=\S)")
# The parser drops what is nested deeper. A list has two levels for each item.
_MOST_NESTING = 100
_TOO_DEEP = 64
_STATUS = re.compile(r"\[([^\s\[\]])\][ \t]")
_BOXED_MARKERS = {"TODO", "DONE", "CANCELLED", "CANCELED"}  # which a checkbox says as well
_BRACKETED = re.compile(rf"\[{_NAME}::[ \t]*")
_HIDDEN = re.compile(r"\(([^\W\d_][\w \-/]{0,60})$")
_MOST_VALUE = 300
_LOOKS = {
    "amber": ("warning caution attention", "warning"),
    "danger": ("danger error failure fail missing important", "warning-octagon"),
    "success": ("success check done", "check-circle"),
}
_ICONS = {
    "info": "info",
    "note": "note-pencil",
    "todo": "check-square",
    "tip": "lightbulb",
    "hint": "lightbulb",
    "abstract": "clipboard-text",
    "summary": "clipboard-text",
    "tldr": "clipboard-text",
    "question": "question",
    "help": "question",
    "faq": "question",
    "example": "list-bullets",
    "quote": "quotes",
    "cite": "quotes",
    "details": "list-bullets",
}


class _NoteMarkdown(MarkdownIt):
    """The parser of notes, in which a link may lead to a file of this computer, unlike in answers.

    What is not allowed after all, by `check_link`, is shown as text.
    """

    def validateLink(self, url: str) -> bool:
        """Return whether a link or image may have an address."""
        return url.lower().startswith("file:") or super().validateLink(url)


@lru_cache(maxsize=4)
def read_references(text: str) -> Mapping[str, object]:
    """Return the addresses that `[name]: address` defines, as the parser of notes keeps them."""
    known: dict[str, Mapping[str, object]] = {}
    parser(has_citations=False).parse(text, known)
    return known.get("references", {})


@cache
def parser(*, has_citations: bool = True) -> MarkdownIt:
    """Return a Markdown parser. It is shared by all texts and keeps no state between them.

    Args:
        has_citations: whether `[1]` is a citation, as in an answer. Notes are parsed differently:
            `[1]` is text, `#server` is a tag, and the ID at the end of a block, such as
            `^schedule`, is left out.
    """
    markdown = (MarkdownIt if has_citations else _NoteMarkdown)(
        "commonmark", {"html": False, "tasklists": True, "maxNesting": _MOST_NESTING}
    )
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["html_block", "html_inline"])
    add_mathematics(markdown)
    footnote_plugin(markdown, inline=False, move_to_end=False, always_match_refs=True)
    gfm_autolink_plugin(markdown)
    markdown.block.ruler.before("table", "too_deep", _keep_as_text)
    markdown.block.ruler.before("paragraph", "details", _details, {"alt": _INTERRUPTS})
    find = partial(_find_statuses, has_citations=has_citations)
    markdown.core.ruler.after("block", "task_status", find)
    markdown.inline.ruler.before("autolink", "line_break", _line_break)
    markdown.inline.ruler.before("link", "wikilink", _wikilink)
    markdown.inline.ruler.before("link", "aside", _aside)
    markdown.inline.ruler.before("emphasis", "highlight", _highlight)
    markdown.block.ruler.at("reference", _reference)
    if has_citations:
        markdown.disable("reference")
        markdown.inline.ruler.after("wikilink", "citation", _citation)
    else:
        markdown.inline.ruler.after("wikilink", "block_id", _skip_block_id)
        markdown.inline.ruler.after("wikilink", "tag", _tag)
        markdown.inline.ruler.before("text", "field", _field)
    return markdown


def _keep_as_text(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Keep what is nested too deeply as text, so that it is not lost.

    Args:
        state: the state of the Markdown parser.
        first: the index of the first line.
        end: the index after the last line that can belong to it.
        silent: whether to only check that it begins in this line.
    """
    if silent or state.level < _TOO_DEEP:
        return False
    state.push("paragraph_open", "p", 1).map = [first, end]
    token = state.push("inline", "", 0)
    token.content = state.getLines(first, end, state.blkIndent, False).strip()
    token.map, token.children = [first, end], []
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _find_statuses(state: StateCore, *, has_citations: bool) -> None:
    """Find the checkboxes with another character than a space or `x`, such as `[/]` and `[-]`.

    The parser knows only the two of GitHub. In notes, a marker such as `TODO` is a checkbox too.

    Args:
        state: the state of the Markdown parser, with the tokens of the blocks.
        has_citations: whether a digit in brackets is a citation.
    """
    tokens, task_line = state.tokens, -1
    for item, paragraph, text in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type != "list_item_open":
            continue
        if item.map is not None and "checked" in item.meta:
            if item.map[0] == task_line:  # only the first checkbox of a line can be ticked
                item.meta = {}
            task_line = item.map[0]
        if paragraph.type != "paragraph_open":
            continue
        if item.map is None or text.map is None or item.map[0] != text.map[0]:
            continue
        match = _STATUS.match(text.content)
        if match is None and not has_citations and item.map[0] != task_line:
            task_line = _find_marked_task(item, text, task_line)
            continue
        if match is None or item.map[0] == task_line or (has_citations and match[1].isdigit()):
            continue
        item.meta["status"], task_line = match[1], item.map[0]
        text.content = text.content[match.end() :]


def _find_marked_task(item: Token, text: Token, task_line: int) -> int:
    """Give the item of a list a checkbox if it begins with a marker, such as `TODO` in Logseq.

    A marker that says more than the checkbox stays, such as `WAITING`.

    Args:
        item: the token of the item.
        text: the token of its first paragraph.
        task_line: the index of the line with the last task.

    Returns:
        The index of the line with the last task.
    """
    marker = find_marker(text.content.partition("\n")[0])
    if not marker or item.map is None or "checked" in item.meta:
        return task_line
    item.meta["status"] = TASK_MARKERS[marker]
    if marker in _BOXED_MARKERS:
        text.content = text.content[len(marker) :].lstrip(" \t")
    return item.map[0]


def _citation(state: StateInline, silent: bool) -> bool:
    """Parse a citation such as `[1]` or `[1, 2]`, and return whether there is one.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the citation without producing a token.
    """
    match = CITATION.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = match.group()
    state.pos = match.end()
    return True


def _skip_block_id(state: StateInline, silent: bool) -> bool:
    """Skip the ID at the end of a block, such as `^schedule`, and return whether there is one.

    Obsidian hides block IDs too.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to only move the position, without changing the output.
    """
    match = _BLOCK_ID.match(state.src, state.pos, state.posMax)
    if match is None or (state.pos > 0 and not state.src[state.pos - 1].isspace()):
        return False
    if not silent:
        state.pending = state.pending.rstrip()
    state.pos = match.end()
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    """Parse highlighted text such as `==this==`, and return whether there is any.

    The highlighted text may contain other inline Markdown.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the text without producing tokens.
    """
    match = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        most = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = match.span(1)
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
        state.posMax = most
    state.pos = match.end()
    return True


def _reference(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Parse a line such as `[name]: address`, unless it is the text of a task, which is shown."""
    start = state.bMarks[first] + state.tShift[first]
    marks = state.src[state.src.rfind("\n", 0, start) + 1 : start]
    return "]" not in marks and reference(state, first, end, silent)


def _aside(state: StateInline, silent: bool) -> bool:
    """Parse a footnote that is written in the text, such as `^[this]`, and return whether it is.

    It stays in its place, in brackets and a quiet colour.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the footnote without producing tokens.
    """
    start = state.pos + len("^[")
    if not state.src.startswith("^[", state.pos) or state.src.find("]", start) < 0:
        return False
    end = parseLinkLabel(state, start - 1)
    if end <= start:
        return False
    if not silent:
        state.push("aside_open", "aside", 1)
        state.push("text", "", 0).content = "("
        _parse_between(state, start, end)
        state.push("text", "", 0).content = ")"
        state.push("aside_close", "aside", -1)
    state.pos = end + 1
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    """Parse a tag such as `#home/server`, and return whether there is one.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the tag without producing a token.
    """
    match = _TAG.match(state.src, state.pos, state.posMax)
    before = state.src[state.pos - 1] if state.pos else " "
    if match is None or before not in _BEFORE_TAG or state.linkLevel:
        return False
    if not silent:
        token = state.push("tag", "", 0)
        token.content = match.group()
    state.pos = match.end()
    return True


def _line_break(state: StateInline, silent: bool) -> bool:
    """Parse the tag `<br>`, and return whether there is one.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the tag without producing a token.
    """
    match = _LINE_BREAK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("line_break", "", 0)
    state.pos = match.end()
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Parse a link or embed in Obsidian's notation, and return whether there is one.

    Examples are `[[Note#Heading|alias]]` and `![[picture.png]]`.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the link without producing a token.
    """
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("embed" if match.group(1) else "wikilink", "", 0)
        token.content = match.group(2).strip()
        token.info = (match.group(3) or "").strip()
    state.pos = match.end()
    return True


def _field(state: StateInline, silent: bool) -> bool:
    """Parse a field of Dataview, such as `due:: today`, `[due:: today]` or `(due:: today)`.

    A field without brackets is alone on its line. Round brackets hide its name.

    Args:
        state: the state of the Markdown parser, with the current position.
        silent: whether to skip the field without producing tokens.
    """
    is_start = state.pos == 0 or state.src[state.pos - 1] == "\n"
    if is_start and (match := _FIELD.match(state.src, state.pos, state.posMax)):
        if not silent:
            state.push("field", "", 0).content = match[2].strip()
        state.pos = match.end()
        return True
    if state.src.startswith("::", state.pos) and not silent:
        return _hidden_field(state)
    match = _BRACKETED.match(state.src, state.pos, state.posMax)
    end = -1 if match is None else _find_closing(state, match.end(), "[]")
    if match is None or end <= match.end() or state.src.startswith("(", end + 1):
        return False
    if not silent:
        state.push("field", "", 0).content = match[1].strip()
        _parse_between(state, match.end(), end)
    state.pos = end + 1
    return True


def _hidden_field(state: StateInline) -> bool:
    """Parse the value of a field in round brackets, whose name has been read as text already."""
    after = state.pos + len("::")
    match = _HIDDEN.search(state.pending)
    if match is None or state.src[after : after + 1] not in {" ", "\t"}:
        return False
    end = _find_closing(state, after, "()")
    if end < 0 or not state.src[after:end].strip():
        return False
    state.pending = state.pending[: match.start()]
    _parse_between(state, after + 1, end)
    state.pos = end + 1
    return True


def _parse_between(state: StateInline, start: int, end: int) -> None:
    text, most = state.src, state.posMax
    state.src, state.pos, state.posMax = text[:end], start, end  # plain text goes on to a mark
    state.md.inline.tokenize(state)
    state.src, state.posMax = text, most


def _find_closing(state: StateInline, start: int, pair: str) -> int:
    """Return where the value of a field ends: at the bracket that is not opened in it, or -1."""
    depth = 0
    for at in range(start, min(state.posMax, start + _MOST_VALUE)):
        char = state.src[at]
        if char == "\n":
            return -1
        depth += (char == pair[0]) - (char == pair[1])
        if depth < 0:
            return at
    return -1


def _details(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Parse `<details>` with its `<summary>`, up to `</details>` or the end of the text.

    Args:
        state: the state of the Markdown parser.
        first: the index of the first line.
        end: the index after the last line that can belong to it.
        silent: whether to only check that it begins in this line.
    """
    if state.is_code_block(first):
        return False
    line = _line(state, first)
    if _END_DETAILS.match(line):  # of what began in an earlier part of the text
        if not silent:
            state.line = first + 1
        return True
    match = _DETAILS.match(line)
    if match is None:
        return False
    if silent:
        return True
    inner, last = first + 1, _find_end_of_details(state, first, end)
    title = match[2]
    if title is None and inner < last and (found := _SUMMARY.match(_line(state, inner))):
        title, inner = found[1], inner + 1
    rest = _END_DETAILS.sub("", match[3] or "").removesuffix("</details>").strip()
    token = state.push("details_open", "details", 1)
    token.map = [first, min(last + 1, end)]
    token.meta = {"title": (title or "Details").strip(), "is_open": bool(match[1]), "text": rest}
    if inner < last:
        state.md.block.tokenize(state, inner, last)
    state.push("details_close", "details", -1)
    state.line = min(last + 1, end) if last > first else first + 1
    return True


def _find_end_of_details(state: StateBlock, first: int, end: int) -> int:
    """Return the index of the line with `</details>`, or the end of the text if there is none."""
    depth, lines = 0, [_line(state, number).lower() for number in range(first, end)]
    kinds = scan_kinds(lines, starts_note=False)
    for number, (line, kind) in enumerate(zip(lines, kinds, strict=True), start=first):
        if kind == CODE:
            continue
        depth += line.count("<details") - line.count("</details>")
        if depth <= 0:
            return number
    return end


def add_mathematics(markdown: MarkdownIt) -> None:
    """Add both notations for mathematics to a parser: dollar signs and backslashes."""
    dollarmath_plugin(
        markdown, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True
    )
    markdown.block.ruler.at("math_block", _block, {"alt": _INTERRUPTS})
    markdown.inline.ruler.before("escape", "tex", _inline)


def _block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    line = _line(state, first)
    opening = _OPENING.match(line)
    if opening is None or state.is_code_block(first):
        return False
    closing = "$$" if opening.group(1) else r"\]"
    rest = line[2:].rstrip()
    if closing in rest and not rest.endswith(closing):
        return False
    if silent:
        return True
    lines, after, is_closed = _collect(state, first, end, closing)
    token = state.push("math_block", "math", 0)
    token.content = "\n".join(lines).strip("\n")
    token.map = [first, after]
    token.meta = {"is_closed": is_closed}
    state.line = after
    return True


def _collect(state: StateBlock, first: int, end: int, closing: str) -> tuple[list[str], int, bool]:
    """Collect the lines of a block up to a closing delimiter.

    Args:
        state: the state of the Markdown parser.
        first: the index of the block's first line.
        end: the index after the last line that can belong to the block.
        closing: the closing delimiter.

    Returns:
        The lines of the block, the index of the next line, and whether the delimiter was found.
    """
    lines: list[str] = []
    for number in range(first, end):
        line = _line(state, number)
        is_outside = number > first and state.sCount[number] < state.blkIndent
        if is_outside or not line.strip():
            return lines, number, False
        body = (line[2:] if number == first else line).rstrip()
        if body.endswith(closing):
            return [*lines, body.removesuffix(closing).rstrip()], number + 1, True
        lines.append(body)
    return lines, end, False


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _inline(state: StateInline, silent: bool) -> bool:
    match = _INLINE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content = (match.group(1) or match.group(2)).strip()
    state.pos = match.end()
    return True


class Callout(NamedTuple):
    """The parsed first line of a callout.

    Attributes:
        tone: the colour: `amber`, `danger`, `success` or `neutral`.
        icon: the name of the icon.
        fold: as in `Box.fold`.
        title: the title in Markdown, or the kind of callout, such as "Note", if no title is
            written.
        rest: the Markdown that follows in the same paragraph.
    """

    tone: str
    icon: str
    fold: str
    title: str
    rest: str


def parse_callout(paragraph: str) -> Callout | None:
    """Parse a callout from the first paragraph of a quote. Return None for a plain quote."""
    match = _HEAD.match(paragraph)
    if match is None:
        return None
    kind = match.group(1).lower()
    tone, icon = _look(kind)
    title = match.group(3).strip() or kind.replace("-", " ").capitalize()
    return Callout(tone, icon, match.group(2), title, paragraph[match.end() :])


def _look(kind: str) -> tuple[str, str]:
    if kind == "bug":
        return "danger", "bug"
    for tone, (kinds, icon) in _LOOKS.items():
        if kind in kinds.split():
            return tone, icon
    return "neutral", _ICONS.get(kind, "info")
