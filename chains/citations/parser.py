"""Parse the citations and quotations of an answer.

Code, links and footnotes are skipped. A quotation is paired with the citation that follows it in
the same sentence, or with the one before it. A block quotation can also be paired with a citation
next to the block.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vault.notes.text.inline import find_inline_code
from vault.notes.text.markdown_text import read_text
from vault.notes.text.sentences import find_sentence_ends

__all__ = ["HIDDEN", "Claim", "NumberGroup", "ParsedAnswer", "mask_non_prose", "parse_answer"]

LONGEST_RANGE: Final = 50
LONGEST_QUOTE: Final = 4_000
# The maximum distance of a number after and before a block quotation that it belongs to.
BEHIND_BLOCK_CHARS: Final = 40
BEFORE_BLOCK_CHARS: Final = 200


@dataclass(frozen=True)
class NumberGroup:
    """Adjacent citation numbers, written like `[1][2]`, `[1, 2]` or `[1]–[3]`."""

    numbers: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Claim:
    """A quotation with the citations that may belong to it, most likely first."""

    quote: str
    start: int
    numbers: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ParsedAnswer:
    """The citations and quotations of an answer, in order."""

    numbers: tuple[NumberGroup, ...]
    claims: tuple[Claim, ...]


def parse_answer(answer: str) -> ParsedAnswer:
    """Parse all citations and quotations of an answer."""
    text = mask_non_prose(answer)
    numbers = _Groups(tuple(_list_groups(text)))
    claims: list[Claim] = []
    for block in _split_blocks(text):
        if block.is_quotation:
            claims.extend(_list_block_claims(answer, block, numbers))
        else:
            claims.extend(_list_sentence_claims(answer, text, block, numbers))
    return ParsedAnswer(numbers.all, tuple(claims))


class _Groups:
    """The citations of an answer, searchable by offset."""

    def __init__(self, groups: tuple[NumberGroup, ...]) -> None:
        self.all = groups
        self._starts = [group.start for group in groups]

    def list_within(self, start: int, end: int) -> Sequence[NumberGroup]:
        return self.all[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def find_first(self, start: int, end: int) -> NumberGroup | None:
        at = bisect_left(self._starts, start)
        found = self.all[at] if at < len(self.all) else None
        return found if found and found.start < end else None

    def find_last(self, start: int, end: int) -> NumberGroup | None:
        at = bisect_left(self._starts, end)
        found = self.all[at - 1] if at else None
        return found if found and found.end > start else None


_BRACKETS: Final = re.compile(
    r"(?<!\\)\[ {0,2}(\d{1,3}(?: {0,2}[,;&–—-] {0,2}\d{1,3}){0,40}) {0,2}\](?!:\s{0,3}\S{1,20}//)"
)
_ITEM: Final = re.compile(r"(\d{1,3})(?: {0,2}[–—-] {0,2}(\d{1,3}))?")
_BETWEEN: Final = re.compile(r"\s{0,3}(?:[,;&]|[–—-]|and|und|et|y)?\s{0,3}")
_WORD_BEFORE: Final = re.compile(r"[A-Za-z_$][\w$.]*\Z", re.ASCII)
_CODE_NAME: Final = re.compile(r"[_$\d]|\w\w\.\w\w|[a-z][A-Z]")
_CODE_BEHIND: Final = re.compile(r"\s?=[^=]|\.\w|\(|\[\D")


def _list_groups(text: str) -> Iterator[NumberGroup]:
    group: NumberGroup | None = None
    index_end = -1
    for match in _BRACKETS.finditer(text):
        if match.start() == index_end or _is_index(text, match):
            index_end = match.end()
            continue
        numbers = _expand_numbers(match[1])
        between = text[group.end : match.start()] if group else ""
        if group and len(between) <= 8 and _BETWEEN.fullmatch(between):
            gap: tuple[int, ...] = ()
            if between.strip() in {"–", "—", "-"}:
                gap = _expand_range(group.numbers[-1], numbers[0])
            joined = dict.fromkeys((*group.numbers, *gap, *numbers))
            group = NumberGroup(tuple(joined), group.start, match.end())
            continue
        if group:
            yield group
        group = NumberGroup(numbers, match.start(), match.end())
    if group:
        yield group


def _is_index(text: str, match: re.Match[str]) -> bool:
    """Return whether a bracketed number is an array index, as in `row[1]`."""
    found = _WORD_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if found is None:
        return False
    word = found.group()
    return (
        len(word) <= 2
        or _CODE_NAME.search(word) is not None
        or _CODE_BEHIND.match(text, match.end()) is not None
    )


def _expand_numbers(inner: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in _ITEM.finditer(inner):
        first = int(item[1])
        numbers.append(first)
        if item[2]:
            numbers.extend((*_expand_range(first, int(item[2])), int(item[2])))
    return tuple(dict.fromkeys(numbers))


def _expand_range(first: int, last: int) -> tuple[int, ...]:
    """Return the numbers strictly between two citation numbers.

    If there are too many, for example in `[1]–[900]`, the result is an empty tuple.
    """
    return tuple(range(first + 1, last)) if last - first <= LONGEST_RANGE else ()


@dataclass(frozen=True)
class _Block:
    """Adjacent lines of an answer that are all quoted or all unquoted."""

    start: int
    end: int
    is_quotation: bool


_CALLOUT: Final = re.compile(r"[ \t]{0,3}>[ \t]{0,3}\[!\w")


def _split_blocks(text: str) -> Iterator[_Block]:
    start = place = 0
    kind: bool | None = None
    for line in text.splitlines(keepends=True):
        quoted = line.lstrip(" \t").startswith(">") if line.strip() else None
        if quoted != kind:
            if kind is not None:
                yield _build_block(text, start, place, kind)
            start, kind = place, quoted
        place += len(line)
    if kind is not None:
        yield _build_block(text, start, place, kind)


def _build_block(text: str, start: int, end: int, quoted: bool) -> _Block:
    return _Block(start, end, quoted and not _CALLOUT.match(text, start))


_LINE_START: Final = re.compile(r"^[ \t]{0,3}>[ \t>]*", re.MULTILINE)
_ATTRIBUTION: Final = re.compile(r"\n\s{0,8}(?:—|–|―|--)[^\n]*\Z")
_WRAPPING: Final = '"“”„«»「」 \n\t'


def _list_block_claims(answer: str, block: _Block, groups: _Groups) -> Iterator[Claim]:
    inside = groups.list_within(block.start, block.end)
    place = block.start
    for group in inside:
        yield from _list_quoted_lines(answer, place, group.start, (group.numbers,))
        place = group.end
    numbers = (inside[-1].numbers,) if inside else _find_beside(block, groups)
    yield from _list_quoted_lines(answer, place, block.end, numbers)


def _list_quoted_lines(
    answer: str, start: int, end: int, numbers: tuple[tuple[int, ...], ...]
) -> Iterator[Claim]:
    lines = _LINE_START.sub("", answer[start:end]).rstrip()
    quote = _ATTRIBUTION.sub("", f"\n{lines}").strip(_WRAPPING)
    if any(char.isalnum() for char in quote):
        yield Claim(quote, start, numbers)


def _find_beside(block: _Block, groups: _Groups) -> tuple[tuple[int, ...], ...]:
    behind = groups.find_first(block.end, block.end + BEHIND_BLOCK_CHARS)
    before = groups.find_last(block.start - BEFORE_BLOCK_CHARS, block.start)
    return tuple(group.numbers for group in (behind, before) if group)


_CLOSERS: Final = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "‟": "”",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
}
_MARKS: Final = re.compile('["“”„‟«»「」『』]')


def _find_quotes(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    marks = [match.start() for match in _MARKS.finditer(text, block.start, block.end)]
    unclosed: set[str] = set()
    at = 0
    while at < len(marks):
        start, mark = marks[at], text[marks[at]]
        at += 1
        if mark in unclosed or mark not in _CLOSERS or not _can_open(text, start):
            continue
        closer = next((i for i in range(at, len(marks)) if _closes(text, marks[i], mark)), None)
        if closer is None:
            unclosed.add(mark)  # nor for a later one: this limits the number of searches
            continue
        if 1 < marks[closer] - start <= LONGEST_QUOTE:
            yield start + 1, marks[closer]
        at = closer + 1


def _can_open(text: str, at: int) -> bool:
    behind = text[at + 1 : at + 2]
    if text[at] in "«「『":
        return True
    before = text[at - 1 : at] if at else ""
    return not before.isalnum() and bool(behind) and not behind.isspace()


def _closes(text: str, at: int, opener: str) -> bool:
    if text[at] not in _CLOSERS[opener]:
        return False
    return opener != '"' or (not text[at - 1].isspace() and not text[at + 1 : at + 2].isalnum())


# The end of the line before a list item, a heading or a table row.
_LINE_END: Final = re.compile(r"\n(?=[ \t]{0,20}(?:[-*+•] |\d{1,3}[.)] |#|\|))")


def _list_sentence_claims(
    answer: str, text: str, block: _Block, groups: _Groups
) -> Iterator[Claim]:
    quotes = list(_find_quotes(text, block))
    if not quotes:
        return
    ends = _find_sentence_ends(text, block, quotes, groups)
    for start, end in quotes:
        inside = groups.list_within(start, end)
        if inside:
            words = answer[start : inside[0].start] + answer[inside[-1].end : end]
            yield Claim(words.strip(), start, tuple(group.numbers for group in inside))
        else:
            sentence = bisect_right(ends, start)
            first = ends[sentence - 1] if sentence else block.start
            last = ends[sentence] if sentence < len(ends) else block.end
            near = (groups.find_first(end, last), groups.find_last(first, start))
            numbers = tuple(group.numbers for group in near if group)
            yield Claim(answer[start:end].strip(), start, numbers)


def _find_sentence_ends(
    text: str, block: _Block, quotes: Sequence[tuple[int, int]], groups: _Groups
) -> list[int]:
    """Return the offsets at which the sentences of a block end.

    A citation number right after a sentence belongs to the sentence.

    Args:
        text: the text of the answer.
        block: the block of adjacent lines.
        quotes: the offsets at which each quotation in the block starts and ends.
        groups: the citations of the answer.
    """
    pieces, place = [], block.start
    for start, end in quotes:
        pieces += [text[place:start], HIDDEN * (end - start)]
        place = end
    outside = "".join((*pieces, text[place : block.end]))
    ends = [block.start + end for end, _ in find_sentence_ends(outside)]
    ends += [block.start + match.end() for match in _LINE_END.finditer(outside)]
    ends += [end + 1 for _, end in quotes if _ends_sentence(text, end)]
    return sorted(_move_behind_number(text, end, groups) for end in ends)


def _ends_sentence(text: str, end: int) -> bool:
    """Return whether the quotation that ends at `end` also ends the sentence.

    In `"Yes." But no`, it does, because a capital letter follows.
    """
    if text[end - 1] not in ".!?…。！？؟":
        return False
    behind = text[end + 1 : end + 9].lstrip()
    return not behind or not behind[0].islower()


def _move_behind_number(text: str, end: int, groups: _Groups) -> int:
    group = groups.find_first(end, end + 9)
    return group.end if group and not text[end : group.start].strip(" \t(—–-") else end


HIDDEN: Final = "\x00"

_SIGNS_OF_CODE: Final = ("```", "~~~", "    ", "\t")
_LINK_END: Final = re.compile(r"\]\([^()\n]{0,2000}\)")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*(?=\n)")


def mask_non_prose(text: str) -> str:
    """Blank out code and link targets. All other characters keep their offsets."""
    text = _mask_code(text)
    text = _hide(text, _inline_code(text))
    return _LINK_END.sub(lambda match: HIDDEN * len(match.group()), text)


def _mask_code(text: str) -> str:
    """Replace the lines of code blocks with spaces, except for the marks of quotations."""
    if not any(sign in text for sign in _SIGNS_OF_CODE):
        return text  # parsing takes time, and all answers of a chat are checked when it is opened
    passage = read_text(text)
    return "\n".join(
        _blank(line, passage.strip_quotes(at)) if passage.is_code(at) else line
        for at, line in enumerate(passage.lines)
    )


def _blank(line: str, code: str) -> str:
    """Replace the code at the end of a line with spaces."""
    return line[: len(line) - len(code)] + " " * len(code)


def _inline_code(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for blank in (*(match.start() for match in _BLANK_LINE.finditer(text)), len(text)):
        for start, end in find_inline_code(text[at:blank]):
            yield at + start, at + end
        at = blank


def _hide(text: str, spans: Iterator[tuple[int, int]]) -> str:
    pieces, place = [], 0
    for start, end in spans:
        pieces += [text[place:start], re.sub(r"[^\n]", HIDDEN, text[start:end])]
        place = end
    return "".join((*pieces, text[place:]))
