"""Explain in one or two sentences why a note is or is not among the hits.

The explanation gives the note's state in the index, its rank, or a comparison with the last hit
that was shown.
"""

from collections.abc import Sequence

from vault.records import Records
from vault.search.hits import Hit

__all__ = ["why_not"]

# The words for each signal, in the order in which they are listed.
_NAMES = {
    "words": "words",
    "dense": "meaning",
    "title": "name",
    "tags": "tag or folder",
    "dates": "date",
    "links": "links",
    "rerank": "reranking",
}
_ALWAYS = ("words", "dense")


def why_not(records: Records | None, path: str, many: Sequence[Hit], shown: Sequence[Hit]) -> str:
    """Explain to the user why a note is or is not among the hits of a query.

    Args:
        records: the file records, or None without an index.
        path: the path of the note.
        many: a much longer list of hits for the same query.
        shown: the hits that were shown.
    """
    known = {} if records is None else records.find_files([path])
    if path not in known:
        return f"{path} is not in the index; it is new, elsewhere, or of a kind that is not read."
    if known[path].state != "indexed":
        return f"{path}: {known[path].state} ({known[path].reason})"
    for rank, hit in enumerate(shown, start=1):
        if hit.path == path:
            return f"{path} ranks {_format_ordinal(rank)}{_describe_signals(hit)}."
    for rank, hit in enumerate(many, start=1):
        if hit.path == path:
            return _describe_rank(hit, rank, shown)
    few = f"the best {len(many)} passages" if many else "any passage"
    return f"{path} shares too little with the search, by words or by meaning, to be among {few}."


def _describe_signals(hit: Hit) -> str:
    signals = [
        f"{name} {_format_signal(hit, signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal]
    ]
    return f": {', '.join(signals)}"


def _describe_rank(hit: Hit, rank: int, shown: Sequence[Hit]) -> str:
    """Describe the rank of a hit, and compare its scores with those of the last hit shown."""
    place = f"{hit.path} ranks {_format_ordinal(rank)}."
    if not shown:
        return place
    signals = [
        f"{name} {_format_signal(hit, signal)} ({_format_signal(shown[-1], signal)})"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal] != shown[-1].signals[signal]
    ]
    last = _format_ordinal(len(shown))
    return f"{place} Compared with the {last} result: {', '.join(signals)}."


def _format_ordinal(number: int) -> str:
    """Format a rank as an ordinal number, such as 1st, 12th or 23rd."""
    is_teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _format_signal(hit: Hit, signal: str) -> str:
    """Format a hit's score for a signal, or return "nothing" if the signal was not used."""
    value = hit.signals[signal]
    return "nothing" if value is None else f"{value:.2f}"
