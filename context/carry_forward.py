"""Longer text made shorter without a model, always the same way."""

import re
from typing import Final

SENTENCE_FROM: Final = 0.5
WORD_FROM: Final = 0.8
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)")
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")


def truncate_with_ellipsis(text: str, max_chars: int) -> str:
    """Shorten to about `max_chars` characters at a sentence, else a paragraph, else a word.

    The place is looked for in the first `max_chars` characters, and the ellipsis comes on top. A
    text that fits comes back unchanged.

    Source: "Token Budget Enforcement", 2.1.
    """
    if len(text) <= max_chars:
        return text
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
