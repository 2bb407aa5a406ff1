"""The Markdown that answers are written in: CommonMark, and what Obsidian adds to it.

HTML is off, so markup in a note or an answer is text. Reference definitions are off too: they
would make a model's `[1]: Backups.md` vanish and turn its `[1]` into links; and what stands
further up could change with every line that arrives.
"""

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from ui.markdown.mathematics import add_mathematics

__all__ = ["CITATION", "parser"]

# One number or several, as in `[1, 2]`; not what a link or a reference's address follows.
CITATION = re.compile(r"\[ ?\d{1,3}(?: ?[,;&–—-] ?\d{1,3}){0,12} ?\](?!\(|:\s{0,3}\S{1,20}//)")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]+))?\]\]")


@cache
def parser() -> MarkdownIt:
    """Return the parser, set up once; it keeps nothing between texts."""
    markdown = MarkdownIt("commonmark", {"html": False, "tasklists": True})
    markdown.enable(["table", "strikethrough"])
    markdown.disable(["reference", "html_block", "html_inline"])
    add_mathematics(markdown)
    footnote_plugin(markdown, inline=False, move_to_end=False, always_match_refs=True)
    gfm_autolink_plugin(markdown)
    markdown.inline.ruler.before("link", "wikilink", _wikilink)
    markdown.inline.ruler.after("wikilink", "citation", _citation)
    return markdown


def _citation(state: StateInline, silent: bool) -> bool:
    """Read `[1]`, the number of a source, or several."""
    match = CITATION.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = match.group()
    state.pos = match.end()
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Read `[[Note#Heading|alias]]` and the embed `![[picture.png]]`."""
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("embed" if match.group(1) else "wikilink", "", 0)
        token.content = match.group(2).strip()
        token.info = (match.group(3) or "").strip()
    state.pos = match.end()
    return True
