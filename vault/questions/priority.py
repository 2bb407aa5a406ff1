"""Write the priorities of tasks that a question names as filters, as "high priority" and "urgent".

A note may have a property with the name of a priority too. Only in a question for tasks, theirs is
meant.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from vault.notes.tasks import TASK_PRIORITIES
from vault.questions.links import MARKS
from vault.questions.vocabulary import NameKind, VaultNames
from vault.questions.words import find_phrases, find_roles, list_priority_words, split_words
from vault.search.filter_kinds import list_priorities

__all__ = ["write_priorities"]

_Words = Mapping[str, Sequence[str]]

# What a level means that is told in words: "high" includes the highest one.
_LEVELS: Final = {
    "highest": "highest",
    "high": ">=high",
    "medium": "medium",
    "none": "none",
    "low": "<=low",
    "lowest": "lowest",
}
# Words that tell a level without one of the names of a priority. Of the most urgent tasks no level
# is told, so those with any are listed in their order.
_WITHOUT_NAME: Final = {
    "sorted": ">=lowest",
    "most": ">=medium",
    "least": "<=low",
    "urgent": ">=high",
}
_MARK: Final = "*"
_THINGS: Final[frozenset[NameKind]] = frozenset(("tag", "folder", "note", "value"))
_BEFORE_NAMES: Final = frozenset((*MARKS, "mention"))
# The words of a name that may stand before a priority in it, or behind it.
_MOST_AROUND: Final = 4


def write_priorities(text: str, vocabulary: VaultNames) -> tuple[str, bool]:
    """Return a question for tasks with the priorities that it names as filters.

    What has a name in the vault is kept, such as a tag "urgent".

    Args:
        text: the question.
        vocabulary: the names in the vault.

    Returns:
        The question, and whether the priority is told by a word such as "urgent", which may be
        meant in another way.
    """
    if not any("tasks" in phrase.roles for phrase in find_phrases(split_words(text))):
        return text, False
    found = [(_find_only(pattern, text), words) for pattern, words in _read_patterns()]
    matches = [(match, words) for match, words in found if match is not None]
    longest = max(matches, key=lambda each: len(each[0][0]), default=None)
    if longest is None or _is_name(longest[0], vocabulary):
        return text, False
    match, values = longest[0], _read_values(*longest)
    if not values:
        return text, False
    filters = " ".join(f"task-priority:{value}" for value in values)
    written = f"{text[: match.start()]}{filters}{text[match.end() :]}"
    return written, _find_kind(match) in ("most", "least", "urgent")


def _find_only(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the only priority in a text. Of several, nothing can be said."""
    found = list(pattern.finditer(text))
    return found[0] if len(found) == 1 else None


def _is_name(match: re.Match[str], vocabulary: VaultNames) -> bool:
    """Return whether something is named by what was found, as in "the tag urgent".

    It may be a part of the name, as in "the Important Project".
    """
    before = split_words(match.string[: match.start()])[-1:]
    if any(find_roles(word.text) & _BEFORE_NAMES for word in before):
        return True
    spans = _list_spans(match)
    return any(name.kind in _THINGS for words in spans for name in vocabulary.find_exactly(words))


def _list_spans(match: re.Match[str]) -> Iterator[list[str]]:
    """Yield the words of what was found, alone and with some of those before and behind it."""
    text, (start, end) = match.string, match.span("own")
    before, own, behind = (
        [word.folded for word in split_words(part)]
        for part in (text[:start], text[start:end], text[end:])
    )
    before, behind = before[-_MOST_AROUND:], behind[:_MOST_AROUND]
    for first in range(len(before) + 1):
        for last in range(len(behind) + 1):
            yield [*before[first:], *own, *behind[:last]]


def _find_kind(match: re.Match[str]) -> str:
    return next((kind for kind in _WITHOUT_NAME if match[kind]), "")


def _read_values(match: re.Match[str], words: _Words) -> list[str]:
    """Return the values of filters for what was found, or an empty list if no filter says it."""
    kind = _find_kind(match)
    found = [_WITHOUT_NAME[kind]] if kind else list(_read_levels(match, words))
    if not found:
        found = [_MARK] if match["not"] or match["with"] else []
    if match["not"] is None:
        return found
    return _negate(found[0]) if len(found) == 1 and kind in ("", "urgent") else []


def _read_levels(match: re.Match[str], words: _Words) -> Iterator[str]:
    """Yield the levels before or behind a word such as "priority", with "or higher" behind them."""
    named = match["before"] or match["behind"] or ""
    for level in re.split(rf"\s+(?:{_match_joins(words)})\s+", named):
        found = (
            key for key in _LEVELS if re.fullmatch(_match_any(words[key]), level, re.IGNORECASE)
        )
        key = next(found, "")
        if key and match["upwards"]:
            yield f">={key}"
        elif key:
            yield f"<={key}" if match["downwards"] else _LEVELS[key]


def _negate(value: str) -> list[str]:
    """Return the values for all priorities that a value does not mean."""
    if value == _MARK:
        return ["none"]
    meant = list_priorities(value)
    first, last = (TASK_PRIORITIES.index(meant[at]) for at in (0, -1))
    below = [f"<={TASK_PRIORITIES[first - 1]}"] if first else []
    above = [f">={each}" for each in TASK_PRIORITIES[last + 1 : last + 2]]
    return [*below, *above]


@cache
def _read_patterns() -> tuple[tuple[re.Pattern[str], _Words], ...]:
    return tuple((_compile(words), words) for words in list_priority_words())


def _compile(words: _Words) -> re.Pattern[str]:
    """Return a pattern for the priorities that are told in one language."""
    level = _match_any(phrase for key in _LEVELS for phrase in words[key])
    levels = rf"(?:{level})(?:\s+(?:{_match_joins(words)})\s+(?:{level}))*"
    before = rf"(?:(?P<before>{levels})[\s-]+)?(?:{_match_any(words['names'])})"
    behind = rf"(?:\s*[:=]?\s*(?:(?:{_match_any(words['is'])})\s+)?(?P<behind>{levels}))?"
    ways = "|".join(rf"(?P<{way}>{_match_any(words[way])})" for way in ("upwards", "downwards"))
    without_name = "|".join(rf"(?P<{kind}>{_match_any(words[kind])})" for kind in _WITHOUT_NAME)
    lead = "|".join(rf"(?P<{kind}>{_match_any(words[kind])})" for kind in ("not", "with"))
    priority_pattern = rf"(?P<own>{without_name}|{before}{behind}(?:\s+(?:{ways}))?)"
    return re.compile(
        rf"(?<![\w\[#/:\"“„«-])(?:(?:{lead})\s+)?{priority_pattern}(?![\w/:-])", re.IGNORECASE
    )


def _match_joins(words: _Words) -> str:
    return _match_any((*words["or"], *words["and"]))


def _match_any(phrases: Iterable[str]) -> str:
    """Return a pattern for any of several phrases, also with an apostrophe or a hyphen in them."""
    longest_first = sorted(phrases, key=len, reverse=True)
    split = (re.split(r"[\s']", phrase) for phrase in longest_first)
    return "|".join(r"[\s'’-]".join(map(re.escape, words)) for words in split)
