"""Find the model's thinking in its text, while the text arrives.

Servers should send thinking in a field of its own. Many let it through as text between marks of the
model's template, such as `<think>…</think>`. An opening mark counts only at the start of an answer.
A closing mark without one means that the template has opened the thinking before the answer began:
what stands before the mark was thinking. That happens once in an answer, and not within code, nor
where the opening mark stands in the text, nor in an answer whose thinking has a field of its own.

Some marks are words that an answer may begin with, such as `[think]`. Where one of them is never
closed, all of it was the answer. A closing mark in inline code within thinking does not end it,
unless none follows. Both are decided at the end of the answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Final, Literal

from vault.notes.text.markdown_text import read_text

__all__ = ["Said", "ThinkingSplitter"]

# The opening and closing marks, in lower case.
_PAIRS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<antthinking>", "</antthinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|think|>", "<|/think|>"),
)
_OPENING: Final = dict(_PAIRS)
# Marks as people write them too, unlike the tokens of templates.
_PROSE: Final = frozenset(
    (
        "<thinking>",
        "<thought>",
        "<thoughts>",
        "<reasoning>",
        "<reason>",
        "<antthinking>",
        "[think]",
    )
)
# The harmony format of a server that removed its marks: the names of the channels remain, run
# together with the text, as in "analysisWe look.assistantfinalHere it is."
_BARE_ANALYSIS: Final = "analysis"
_BARE_FINAL: Final = "assistantfinal"
_BARE_START: Final = re.compile(r"analysis(?=[A-Z\d\"'“(\[*#`])")
_SPAN_CHARS: Final = 80  # the longest inline code in which a mark is looked for
_CLOSING: Final = tuple(_OPENING.values())
_OPENING_OF: Final = {closing: opening for opening, closing in _PAIRS}
# The header of a message in the harmony format: a channel such as analysis, commentary or final.
_HEADER: Final = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>([^<]{0,80})(?:<\|constrain\|>[^<]{0,40})?<\|message\|>",
    re.IGNORECASE,
)
_HEADER_STARTS: Final = ("<|start|>assistant", "<|channel|>")
_LONGEST_HEADER: Final = 200
_CHANNEL_ENDS: Final = ("<|end|>", "<|return|>", "<|call|>", *_HEADER_STARTS)
# Marks that end a message. At the end of an answer they say nothing.
_LAST_MARKS: Final = (
    "<|end|>",
    "<|return|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<end_of_turn>",
)
_WATCHED: Final = (*_CLOSING, *_LAST_MARKS, *_HEADER_STARTS)
_TO_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_MARK_STARTS: Final = frozenset(mark[0] for mark in _WATCHED)


@dataclass(frozen=True)
class Said:
    """A part of an answer.

    Attributes:
        kind: `text`, `thought`, or `retracted` if all the text so far was thinking.
    """

    kind: Literal["text", "thought", "retracted"]
    text: str = ""


class ThinkingSplitter:
    """Splits the text of an answer into text and thinking, however it is cut into pieces.

    The start of a possible mark is held back until the next piece.
    """

    def __init__(self) -> None:
        self._held = ""
        self._shown: list[str] = []
        self._closing: tuple[str, ...] = ()  # the marks that end the current thinking
        # What is the answer if the current thinking never ends, or None if nothing is.
        self._answer: list[str] | None = None
        self._ticks = _CodeTicks()
        self._is_at_start = True
        self._has_thought = False
        self._has_own_field = False

    def note_own_field(self) -> None:
        """Note that thinking arrives in a field of its own, so that text is never taken back."""
        self._has_own_field = True

    def add(self, piece: str) -> Iterator[Said]:
        """Add a piece of text, and yield the parts that are now certain."""
        self._held += piece
        yield from self._split(is_last=False)

    def end(self, *, is_cut: bool = False) -> Iterator[Said]:
        """End the answer, and yield what was held back.

        Args:
            is_cut: whether the answer is incomplete, so that its thinking may have no end either.
        """
        yield from self._split(is_last=True)
        if self._closing and self._answer is not None and not is_cut:
            text, self._answer = "".join(self._answer), None
            if text.strip():
                yield Said("text", text)

    def _split(self, *, is_last: bool) -> Iterator[Said]:
        """Yield parts until the rest cannot be decided without the next piece."""
        before: object = None
        while self._held and (state := (len(self._held), self._is_at_start)) != before:
            before = state
            if self._is_at_start:
                yield from self._read_start(is_last)
            elif self._closing:
                yield from self._read_thought(is_last)
            else:
                yield from self._read_text(is_last)

    def _read_start(self, is_last: bool) -> Iterator[Said]:
        """Decide whether an answer, or what follows its thinking, begins with a mark."""
        start = self._held.lstrip()
        lower = _lower(start)
        if not start:
            if is_last or self._has_thought:  # an answer of blanks is none
                self._held = ""
            return
        if header := _HEADER.match(start):
            self._open_channel(header.group(1), start[header.end() :])
        elif mark := next((mark for mark in _OPENING if lower.startswith(mark)), ""):
            self._open(start[len(mark) :], (_OPENING[mark],), start[: len(mark)])
        elif not self._has_thought and (bare := _BARE_START.match(start)):
            self._open(start[bare.end() :], (_BARE_FINAL,), bare.group())
        elif mark := self._find_stray(lower):
            self._held, self._has_thought = start[len(mark) :], True
        elif is_last or not (_may_begin_mark(lower) or _BARE_ANALYSIS.startswith(start)):
            self._held = start if self._has_thought else self._held
            self._is_at_start = False
        yield from ()

    def _find_stray(self, lower: str) -> str:
        """Return a closing mark that nothing stands before."""
        return next((mark for mark in _CLOSING if lower.startswith(mark)), "")

    def _open_channel(self, channel: str, rest: str) -> None:
        if channel.strip().lower().startswith("final"):
            self._held, self._is_at_start = rest.lstrip(), not rest.strip()
            self._has_thought = True
        else:
            self._open(rest, _CHANNEL_ENDS)

    def _open(self, rest: str, closing: tuple[str, ...], mark: str = "") -> None:
        """Begin thinking behind an opening mark."""
        self._held, self._closing = rest, closing
        self._is_at_start, self._has_thought = False, True
        self._answer = [mark] if mark in _PROSE or mark == _BARE_ANALYSIS else None
        self._ticks = _CodeTicks()

    def _read_thought(self, is_last: bool) -> Iterator[Said]:
        lower = _lower(self._held)
        found = [(at, mark) for mark in self._closing if (at := lower.find(mark)) >= 0]
        if not found:
            keep = 0 if is_last else _count_begun(lower, self._closing)
            yield from self._take("thought", len(self._held) - keep)
            return
        at, mark = min(found)
        yield from self._take("thought", at)
        is_end = self._is_end(mark, is_last)
        if is_end:
            if mark not in _HEADER_STARTS:  # a header begins the next message
                self._held = self._held[len(mark) :]
            self._closing, self._is_at_start, self._answer = (), True, None
        elif is_end is not None:
            yield from self._take("thought", len(mark))
            if mark != _BARE_FINAL:
                self._answer = [] if self._answer is None else self._answer

    def _is_end(self, mark: str, is_last: bool) -> bool | None:
        """Return whether a mark that the held text begins with ends the thinking.

        Returns:
            Whether it does, or None if what follows has to decide that.
        """
        rest = self._held[len(mark) :]
        if mark == _BARE_FINAL:
            is_word = not self._held.startswith(mark) or rest[:1].islower()
            return None if not rest and not is_last else not is_word
        if mark in _CHANNEL_ENDS or not self._ticks.is_open:
            return True
        if re.match(rf"[^`\n]{{0,{_SPAN_CHARS}}}`", rest):
            return False
        is_decided = is_last or "\n" in rest or len(rest) > _SPAN_CHARS
        return True if is_decided else None

    def _read_text(self, is_last: bool) -> Iterator[Said]:
        if not _MARK_STARTS.intersection(lower := _lower(self._held)):
            yield from self._take("text", len(self._held))
            return
        at, mark = self._find_mark(lower)
        if mark:
            yield from self._take("text", at)
            yield from self._read_unopened(mark, is_last)
        elif not is_last:
            keep = max(_count_begun(lower, _WATCHED), _count_last_marks(lower))
            yield from self._take("text", len(self._held) - keep)
        else:
            last = _count_last_marks(lower)
            whole, self._held = self._held, self._held[: len(self._held) - last]
            yield from self._take("text", len(self._held) if self._held.strip() else 0)
            self._held = "" if last or whole.strip() else self._held
            yield from self._take("text", len(self._held))

    def _find_mark(self, lower: str) -> tuple[int, str]:
        """Find a mark that ends thinking which no mark has opened."""
        if self._has_thought or self._has_own_field:
            return -1, ""
        found = [(at, mark) for mark in _CLOSING if (at := lower.find(mark)) >= 0]
        header = _HEADER.search(self._held)
        if header and header.group(1).strip().lower().startswith("final"):
            found.append((header.start(), header.group(0)))
        return min(found, default=(-1, ""))

    def _read_unopened(self, mark: str, is_last: bool) -> Iterator[Said]:
        """Read a closing mark that no mark has opened, and which the rest begins with."""
        rest = self._held[len(mark) :]
        if self._is_code(mark) or self._is_opened(mark):
            yield from self._take("text", len(mark))
        elif rest.strip():
            self._held = rest
            self._shown.clear()
            self._is_at_start = self._has_thought = True
            yield Said("retracted")
        elif is_last:  # what stands before the mark is all there is
            self._held = ""

    def _is_code(self, mark: str) -> bool:
        """Return whether a mark behind the text so far is within code."""
        passage = read_text("".join((*self._shown, mark)))
        return passage.is_code(-1) or passage.lines[-1].count("`") % 2 == 1

    def _is_opened(self, mark: str) -> bool:
        """Return whether the text so far names the opening mark of a closing one."""
        opening = _OPENING_OF.get(mark)
        return opening is not None and opening in _lower("".join(self._shown))

    def _take(self, kind: Literal["text", "thought"], length: int) -> Iterator[Said]:
        text, self._held = self._held[:length], self._held[length:]
        if text:
            if kind == "thought":
                self._ticks.add(text)
                if self._answer is not None:
                    self._answer.append(text)
            elif not self._has_thought:
                self._shown.append(text)
            yield Said(kind, text)


class _CodeTicks:
    """Tells whether a text that arrives in pieces ends within inline code.

    Inline code ends on its line, and only short one is looked for.
    """

    def __init__(self) -> None:
        self._runs = self._chars = 0  # runs of backticks in the line, and characters behind them
        self._ends_in_run = False

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends within inline code."""
        return self._runs % 2 == 1 and self._chars <= _SPAN_CHARS

    def add(self, text: str) -> None:
        """Add a piece that is not empty."""
        _, line_end, line = text.rpartition("\n")
        if line_end:
            self._runs, self._ends_in_run = 0, False
        runs = len(re.findall("`+", line))
        self._runs += runs - (self._ends_in_run and line.startswith("`"))
        behind = len(line) - line.rfind("`") - 1
        self._chars = behind if runs else self._chars + len(line)
        self._ends_in_run = line.endswith("`")


def _lower(text: str) -> str:
    """Return a text with lower-case ASCII letters. Unlike `str.lower`, this keeps its length."""
    return text.translate(_TO_LOWER)


def _may_begin_mark(lower: str) -> bool:
    """Return whether a text may be the beginning of a mark that has not arrived completely."""
    marks = (*_OPENING, *_CLOSING, *_HEADER_STARTS)
    if any(mark.startswith(lower) for mark in marks):
        return True
    return lower.startswith(_HEADER_STARTS) and len(lower) < _LONGEST_HEADER


def _count_begun(lower: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end of a text may be the beginning of a mark."""
    first = max(0, len(lower) - max(map(len, marks)) + 1)
    mark_starts = (
        start
        for start in range(first, len(lower))
        if any(mark.startswith(lower[start:]) for mark in marks)
    )
    at = min(filter(lambda at: at >= 0, map(lower.find, _HEADER_STARTS)), default=-1)
    is_header = at >= 0 and len(lower) - at < _LONGEST_HEADER and "<|message|>" not in lower[at:]
    return len(lower) - min(next(mark_starts, len(lower)), at if is_header else len(lower))


def _count_last_marks(lower: str) -> int:
    """Return the length of the marks at the end of a text that end a message."""
    rest = lower.rstrip()
    while mark := next((mark for mark in _LAST_MARKS if rest.endswith(mark)), ""):
        rest = rest[: -len(mark)].rstrip()
    is_marked = rest != lower.rstrip()
    return len(lower) - len(rest) if is_marked else 0
