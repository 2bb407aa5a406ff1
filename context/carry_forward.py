"""Shorten the attachments of earlier turns, which are repeated in later requests.

No model is called, so that the result depends only on the text. `context.fit` uses the same
functions to shorten other long texts.

Reasons: ARCHITECTURE.md, "Attachments".
"""

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

# The names of the request's tools; None if not known.
Tools = Collection[str] | None

VERBATIM_CHARS: Final = 5_000
PREVIEW_CHARS: Final = 500
MOST_SECTIONS: Final = 20
UNSTRUCTURED_PREVIEWS: Final = 4

SENTENCE_FROM: Final = 0.5
WORD_FROM: Final = 0.8
# Where a text may be cut, as agreed with programs that use these functions.
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)")
# Where a sentence ends, in all scripts.
_ANY_SENTENCE_END: Final = re.compile(r"[.!?…؟।]+(?=\s|\Z)|[。！？\n]")
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?=\s|$)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
# A line in Markdown: other separators, such as a form feed, do not end it.
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def truncate_with_ellipsis(text: str, max_chars: int) -> str:
    """Shorten text to about `max_chars` characters, and append an ellipsis.

    The text is cut at the end of a sentence, a paragraph or a word, in this order of preference, or
    else exactly at the limit. The ellipsis is not counted. Shorter text is returned unchanged.
    """
    if len(text) <= max_chars:
        return text
    max_chars = max(0, max_chars)
    head = text[:max_chars]
    sentence = max((match.end() for match in _SENTENCE_END.finditer(head)), default=0)
    if sentence > max_chars * SENTENCE_FROM:
        return head[:sentence] + " ..."
    paragraph = max((match.start() for match in _BLANK_LINE.finditer(head)), default=0)
    if paragraph > max_chars * SENTENCE_FROM:
        return head[:paragraph] + "\n\n..."
    word = head.rfind(" ")
    if word > max_chars * WORD_FROM:
        return head[:word] + " ..."
    return head + "..."


def split_sentences(text: str) -> list[str]:
    """Return the lines of a text, split at the ends of sentences, without their marks."""
    return [sentence.strip() for sentence in _ANY_SENTENCE_END.split(text)]


def find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text begins and ends. Its end mark belongs to it."""
    start = 0
    for end in (*(match.end() for match in _ANY_SENTENCE_END.finditer(text)), len(text)):
        piece = text[start:end]
        if bare := piece.strip():
            first = start + piece.index(bare)
            yield first, first + len(bare)
        start = end


def compact_by_section(
    text: str, preview_chars: int = PREVIEW_CHARS, max_sections: int = MOST_SECTIONS
) -> str:
    """Shorten Markdown to its headings and the start of each section.

    Text before the first heading counts as a section. Text with a single section is truncated as a
    whole.

    Args:
        text: the text in Markdown.
        preview_chars: the maximum number of characters kept of each section.
        max_sections: the number of sections to keep. The following sections are omitted.
    """
    sections = _split_sections(text)
    if len(sections) < 2:
        return truncate_with_ellipsis(text, UNSTRUCTURED_PREVIEWS * preview_chars)
    max_sections = max(0, max_sections)
    kept = "".join(section.shorten(preview_chars) for section in sections[:max_sections])
    omitted = len(sections) - max_sections
    if omitted > 0:
        return f"{kept.rstrip()}\n\n[... {omitted} more sections omitted ...]"
    return kept


def prior_context(source: str, kind: str, text: str, tools: Tools = None) -> str:
    """Format an attachment of an earlier turn for a later request.

    Texts of up to 5,000 characters are kept completely. Longer texts are reduced to headings and
    previews, and end with a line that explains how to read the full text. The result is escaped.

    Args:
        source: the path or URL of the attachment.
        kind: the kind of source, such as `note` or `url`.
        text: the text of the attachment, not escaped.
        tools: the names of the available tools, or None if unknown.
    """
    content = html.escape(shorten_carried_text(source, kind, text, tools), quote=False)
    return wrap_prior(source, kind, content)


def shorten_carried_text(source: str, kind: str, text: str, tools: Tools = None) -> str:
    """Shorten the text of an attachment that is repeated in later requests, if it is long.

    Unlike `prior_context`, this function neither escapes the text nor wraps it in an XML element.

    Args:
        source: the path or URL of the attachment.
        kind: the kind of source, such as `note` or `url`.
        text: the text of the attachment.
        tools: the names of the available tools, or None if unknown.
    """
    is_short = len(text) <= VERBATIM_CHARS
    return text if is_short else shorten_text(source, kind, text, tools=tools)


def shorten_text(
    source: str,
    kind: str,
    text: str,
    preview_chars: int = PREVIEW_CHARS,
    max_sections: int = MOST_SECTIONS,
    tools: Tools = None,
) -> str:
    """Reduce text to headings and previews, and explain how to read the full text.

    The last line names the tool to use. If the tool is not available, the line tells the model to
    ask the user. When text is shortened again, the line is not repeated.

    Args:
        source: the path or URL of the text.
        kind: the kind of source, such as `note` or `url`.
        text: the text in Markdown.
        preview_chars: the maximum number of characters kept of each section.
        max_sections: the number of sections to keep.
        tools: the names of the available tools, or None if unknown.
    """
    name, argument = ("fetch_url", "url") if kind in ("url", "youtube") else ("read_note", "path")
    by_tool = f'[Shortened. For the full text use the "{name}" tool with {argument}="{source}".]'
    by_user = f'[Shortened. For the full text ask the user to attach "{source}" again.]'
    whole = text.removesuffix(by_tool).removesuffix(by_user).rstrip()
    line = by_tool if tools is None or name in tools else by_user
    return f"{compact_by_section(whole, preview_chars, max_sections).rstrip()}\n\n{line}"


def wrap_prior(source: str, kind: str, content: str) -> str:
    """Wrap the escaped text of an earlier attachment in an XML element that names its source.

    Args:
        source: the path or URL of the attachment.
        kind: the kind of source, such as `note` or `url`.
        content: the escaped text.
    """
    attributes = f'source="{html.escape(source)}" type="{html.escape(kind)}"'
    return f"<prior_context {attributes}>\n{content}\n</prior_context>"


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of a Markdown text: a heading line and the text below the heading.

    The text before the first heading is a section with an empty heading.
    """

    heading: str
    body: str

    def shorten(self, preview_chars: int) -> str:
        body = self.body.strip()
        if len(body) <= preview_chars:
            return self.heading + self.body
        return f"{self.heading}{truncate_with_ellipsis(body, preview_chars)}\n\n"


def _split_sections(text: str) -> list[_Section]:
    """Split a Markdown text into sections at its headings.

    The text before the first heading is a section too, unless it is blank.
    """
    sections: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in _LINE.findall(text):
        if not fence and _HEADING.match(line):
            sections.append((line, []))
            continue
        fence = update_fence(line, fence)
        sections[-1][1].append(line)
    found = [_Section(heading, "".join(lines)) for heading, lines in sections]
    return found if found[0].body.strip() else found[1:]


def update_fence(line: str, fence: str) -> str:
    """Return the code fence that is open after a line, or an empty string if none is open.

    A closing code fence has at least as many characters as the opening one, and the same kind.

    Args:
        line: the next line of the text.
        fence: the code fence that is open before the line, or an empty string.
    """
    match = _FENCE.match(line)
    if match is None:
        return fence
    marks, rest = match.group(1), line[match.end() :].strip()
    if not fence:
        is_inline_code = marks.startswith("`") and "`" in rest
        return "" if is_inline_code else marks
    return "" if marks.startswith(fence) and not rest else fence
