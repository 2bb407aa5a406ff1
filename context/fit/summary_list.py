"""Complete a summary by rule: strike what it changed, and list what it lost."""

import re
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from typing import Final

from context.carry_forward import find_sentences
from context.exam import FACT_KINDS, ChangedFact, ChatFact, FactKind, SummaryExam, has_whole
from context.history.outline import format_summary, remove_head
from context.messages import Message
from context.tokens import TokenCounter, count_message

__all__ = ["add_fact", "complete_summary", "strike_changed"]

LIST_HEAD: Final = "Also said:"
_LABELS: Final[dict[FactKind, str]] = {
    "path": "Files:",
    "command": "Commands:",
    "figure": "Figures:",
    "date": "Dates:",
    "name": "Named",  # no colon, behind which a name could be any word at the start of a sentence
    "decision": "Decided:",
    "question": "Still open:",
}
_CUT: Final = "\0"
_AFTER_CUT: Final = re.compile(r"\0[ \t]*")
_MARKER: Final = re.compile(r"\W*(?:\d+[.)])?\W*")
_SEPARATOR: Final = "; "
_NAME_SEPARATOR: Final = ", "


def strike_changed(text: str, changed: Sequence[ChangedFact]) -> str:
    """Return a summary without the sentences in which facts are wrong.

    Other sentences stay, although they may contain the same figure, which is right there.

    Args:
        text: the summary without its head.
        changed: the facts, with their places in this text. A fact whose place is not known any more
            is taken out of all sentences that say it.
    """
    spans = {span for one in changed for span in _locate(text, one)}
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}{_CUT}{text[end:]}"
    tidy = (_tidy(line) for line in text.split("\n"))
    return "\n".join(line for line in tidy if line is not None)


def _locate(text: str, changed: ChangedFact) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of the sentences that say a fact."""
    start, end = changed.start, changed.start + len(changed.passage)
    if changed.passage and text[start:end] == changed.passage:
        yield start, end
        return
    for first, last in find_sentences(text):
        if has_whole(text[first:last], changed.text):
            yield first, last


def _tidy(line: str) -> str | None:
    """Return what is left of a line, or None if only the marker of a list item is."""
    if _CUT not in line:
        return line
    rest = _AFTER_CUT.sub("", line).rstrip()
    return None if _MARKER.fullmatch(rest) else rest


def add_fact(summary: str, fact: ChatFact) -> str:
    """Return a summary with one more line that says a fact."""
    return f"{summary.rstrip()}\n- {fact.line}"


def complete_summary(
    summary: str,
    exam: SummaryExam,
    most_tokens: int,
    counter: TokenCounter,
    sizes: MutableMapping[Hashable, int],
) -> str:
    """Return a summary with a list of what it lost, as far as that fits.

    Files and commands come first, because they are lost first where conversations are summarised.

    Args:
        summary: the summary, as it is sent.
        exam: what it lost.
        most_tokens: the token limit of the whole text.
        counter: counts the tokens.
        sizes: the sizes of facts that were counted before. Those counted now are added.
    """
    body = remove_head(summary)
    left = most_tokens - _count(body, counter) - counter.count(f"\n{LIST_HEAD}\n")
    listed: list[ChatFact] = []
    for fact in (*_sort(exam.gone), *_sort(exam.away)):
        is_first = not any(one.kind == fact.kind for one in listed)
        label = f"- {_LABELS[fact.kind]} \n" if is_first else ""
        text = f"{label}{fact.line}{_SEPARATOR}"
        if (counter, text) not in sizes:
            sizes[counter, text] = counter.count(text)
        size = sizes[counter, text]
        if size <= left:
            listed.append(fact)
            left -= size
    while listed and _count(_write(body, listed), counter) > most_tokens:
        listed.pop()
    return format_summary(_write(body, listed))


def _sort(facts: Sequence[ChatFact]) -> list[ChatFact]:
    """Return facts in the order in which they are listed, the newest of each kind first."""
    return sorted(facts, key=lambda fact: FACT_KINDS.index(fact.kind))


def _count(text: str, counter: TokenCounter) -> int:
    return count_message(Message("user", format_summary(text)), counter)


def _write(body: str, listed: Sequence[ChatFact]) -> str:
    if not listed:
        return body
    return "\n".join([body, LIST_HEAD, *_write_lines(listed)]).lstrip("\n")


def _write_lines(listed: Sequence[ChatFact]) -> Iterator[str]:
    for kind in FACT_KINDS:
        label = _LABELS[kind]
        lines = [fact.line.removeprefix(label).strip() for fact in listed if fact.kind == kind]
        separator = _NAME_SEPARATOR if kind == "name" else _SEPARATOR
        if lines:
            yield f"- {label} {separator.join(lines)}"
