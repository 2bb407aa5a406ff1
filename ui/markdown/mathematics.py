r"""Mathematics between `$$` or `\[ … \]` on lines of its own, and `\( … \)` within a line.

It is read forwards only: a block that is opened stays one until it is closed or a blank line
comes (TeX allows none there), so that nothing above changes when its end arrives.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin

__all__ = ["add_mathematics"]

_OPENING = re.compile(r"(\$\$)(?![\s\d$]+\S)|(\\\[)\s*$")
_INLINE = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_INTERRUPTS = ["paragraph", "blockquote", "list", "footnote_def"]


def add_mathematics(markdown: MarkdownIt) -> None:
    """Teach the parser the two ways in which mathematics is written."""
    dollarmath_plugin(markdown, allow_labels=False, allow_space=False, allow_digits=False)
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
    """Return the lines of the block, the line after it, and whether it was closed."""
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
