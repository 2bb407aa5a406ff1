"""Find inline syntax in notes: tags, inline fields, block names, comments, mathematics.

Most functions take numbered lines of a note without its code. All functions run in linear time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

Line = tuple[int, str]

# A tag of several words, as in Bear, ends with a `#`, which must not be that of "C#".
TAG_OF_WORDS = r"[^\W\d_][\w'’/&+-]*+(?:[ ][\w'’/&+-]++){1,6}+(?<=\w\w)(?=#(?![\w#]))"
_TAG = re.compile(
    rf"(?:^|(?<=[\s(\[,;]))#({TAG_OF_WORDS}|[^\s#!\"$%&'()*+,.:;<=>?@\[\\\]^`{{|}}~]+)"
)
_PRIVATE = re.compile(r"(?<![\w/#&])#private(?![\w-])", re.I)
_LINK_TARGET = re.compile(r"\[\[[^\[\]\n]{0,1500}\]\]|\]\([^()\n]{0,1000}\)")
# A link with its address, or with the name of one that is defined elsewhere: `[text][name]`.
_INLINE_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,100}\])")
_EMPHASIS = re.compile(r"(\*\*|__|~~|==|[*`])(?=\S)(.{1,500}?)(?<=\S)\1")
HEADING_MARKS = r"#{1,6}(?=[ \t]|$)"  # the marks before the text of a heading
ITEM = r"[ \t>]{0,200}(?:[-*+]|\d{1,9}[.)])[ \t]{1,8}"
# Accents and vowel signs that are characters of their own, for a class of characters in a name.
MARKS = r"\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e\u3099\u309a"
_NAME = rf"([^\W\d_][\w{MARKS} \t/-]{{0,99}})"
_FIELD_LINE = re.compile(
    rf"(?:{ITEM}(?:\[.\][ \t]+)?|[ \t>]{{0,200}})[*_~]{{0,3}}{_NAME}[*_~]{{0,3}}::(?:[ \t](.*))?$"
)
_FIELD_IN_BRACKETS = re.compile(rf"[\[(]{_NAME}::[ \t]*([^\[\]()\n]{{0,1000}})[\])]")
_BLOCK_NAME = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]{1,100})[ \t]*$")
# An embedded note or image. Repetitions are limited, so that the search takes little time.
_EMBED = re.compile(
    r"[ \t]{0,20}!\[\[[^\[\]\n]{0,300}\]\]"
    r"|[ \t]{0,20}!\[[^\[\]\n]{0,300}\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,1000}\)"
)
_BACKTICKS = re.compile(r"`+")
_NOT_LINE_END = re.compile(r"[^\n]")
_COMMENT = re.compile(r"%%|<!--|-->")
# Formulas, as the window shows them: a block from a line that begins or ends with `$$`, and
# formulas in a line. Sums such as "$5 or $6" and a `$$` before a blank are none. Each part ends at
# the next dollar sign, so the search is linear.
_MATHEMATICS = re.compile(
    r"(?:^[ \t>]{0,200}\$\$(?![ \t\d$]+\S)|\$\$[ \t]*$)(?:[^$]|\$(?!\$))*\$\$"
    r"|\$\$[^$\n]+\$\$|(?<![\\\d$])\$(?=[^\s$])(?:\\.|[^$\\\n])*(?<=\S)\$(?![\d$])",
    re.MULTILINE,
)


def find_tags(lines: Iterable[Line]) -> tuple[str, ...]:
    """Find the distinct `#tags` in lines of a note.

    Numbers, `#heading` links and what stands in a formula are skipped.
    """
    found: dict[str, None] = {}
    for _, line in _blank_spans(list(lines), _find_mathematics):
        if "#" in line:
            for tag in _TAG.findall(_LINK_TARGET.sub(" ", line)):
                if not tag.isdigit():
                    found.setdefault(tag.strip("/"))
    return tuple(tag for tag in found if tag)


def has_private_tag(lines: Iterable[Line]) -> bool:
    """Return whether the tag `#private` occurs in any of the lines."""
    return any(
        "#" in line and _PRIVATE.search(_LINK_TARGET.sub(" ", line)) is not None
        for _, line in lines
    )


def find_fields(lines: Iterable[Line], source: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Find inline fields of the form `key:: value`, and yield the line, key and value of each.

    A field may be a separate line, a list item, or a text in brackets.

    Args:
        lines: the lines with code and comments blanked out.
        source: the original lines, from which values are taken.
    """
    for number, line in lines:
        if "::" not in line:
            continue
        whole = _FIELD_LINE.match(line)
        for match in [whole] if whole else _FIELD_IN_BRACKETS.finditer(line):
            value = source[number - 1][match.start(2) : match.end(2)]
            yield number, " ".join(match[1].split()).lower(), value.strip()


def find_block_names(lines: Iterable[Line]) -> Iterator[tuple[str, int, bool]]:
    """Yield each block's `^name`, its line number, and whether the name is alone on that line."""
    for number, line in lines:
        if "^" in line and (match := _BLOCK_NAME.search(line)):
            yield match[1], number, not line[: match.start()].strip(" \t>")


def blank_comments(lines: Sequence[Line]) -> list[Line]:
    """Replace `%%comments%%` and `<!-- comments -->` with spaces.

    A comment that is not closed counts as plain text.
    """
    return _blank_spans(lines, find_comments)


def _blank_spans(
    lines: Sequence[Line], find: Callable[[str], Iterator[tuple[int, int]]]
) -> list[Line]:
    """Replace parts of a text with spaces.

    Args:
        lines: the numbered lines of the text.
        find: yields the start and end offset of each part, in the joined lines.
    """
    text = "\n".join(line for _, line in lines)
    pieces, at = [], 0
    for start, end in find(text):
        pieces += [text[at:start], _NOT_LINE_END.sub(" ", text[start:end])]
        at = end
    blanked = "".join([*pieces, text[at:]]).split("\n") if pieces else (line for _, line in lines)
    return [(number, line) for (number, _), line in zip(lines, blanked, strict=True)]


def _find_mathematics(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each formula in a text without code."""
    return (match.span() for match in _MATHEMATICS.finditer(text)) if "$" in text else iter(())


def find_comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each comment in a text without code."""
    opened: re.Match[str] | None = None
    for mark in _COMMENT.finditer(text):
        if opened is None:
            opened = mark if mark[0] != "-->" else None
        elif mark[0] == ("%%" if opened[0] == "%%" else "-->"):
            yield opened.start(), mark.end()
            opened = None


def may_have_comments(lines: Iterable[str]) -> bool:
    """Return whether any of the lines has the mark that begins a comment."""
    return any("%%" in line or "<!--" in line for line in lines)


def remove_comments(line: str) -> str:
    """Return a line without the comments that begin and end in it. Marks in inline code stay."""
    if "%%" not in line and "<!--" not in line:
        return line
    return _cut(line, find_comments(blank_inline_code(line)))


def remove_embeds(line: str) -> str:
    """Return a line without embedded notes and images. Marks in inline code stay."""
    if "![" not in line:
        return line
    return _cut(line, (match.span() for match in _EMBED.finditer(blank_inline_code(line))))


def remove_block_name(line: str) -> str:
    """Return a line without the `^name` of its block at the end."""
    match = _BLOCK_NAME.search(line) if "^" in line else None
    return line if match is None else line[: match.start()]


def _cut(line: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces.append(line[at:start])
        at = end
    return "".join([*pieces, line[at:]])


def blank_inline_code(text: str) -> str:
    """Replace inline code with spaces, so that the length of the text stays the same.

    Args:
        text: the text of one paragraph.
    """
    if "`" not in text:
        return text
    pieces, at = [], 0
    for start, end in find_inline_code(text):
        pieces += [text[at:start], _NOT_LINE_END.sub(" ", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def find_inline_code(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each piece of inline code in a paragraph, in linear time.

    A backtick behind a backslash opens none. It can close one, as a backslash in code is text.
    """
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for index in reversed(range(len(runs))):
        later.setdefault(runs[index][1] - runs[index][0], []).append(index)
    index = behind = 0
    while index < len(runs):
        start, end = runs[index]
        before = text[behind:start]
        start += (len(before) - len(before.rstrip("\\"))) % 2
        closers = later.get(end - start, [])
        while closers and closers[-1] <= index:
            closers.pop()
        if closers:
            index = closers[-1]
            behind = runs[index][1]
            yield start, behind
        index += 1


def plain_text(markdown: str) -> str:
    """Convert a line of Markdown to plain text, without the syntax of links and emphasis."""
    text = re.sub(r"!?\[\[([^\[\]\n]{0,500})\]\]", _wikilink_label, markdown)
    text = _INLINE_LINK.sub(r"\1", text)
    return " ".join(_EMPHASIS.sub(r"\2", text).split())


def _wikilink_label(match: re.Match[str]) -> str:
    return match[1].rpartition("|")[2]
