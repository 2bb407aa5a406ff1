"""Explain why a note is or is not among the hits of a query, in a sentence or two.

The reasons are its state in the index, its rank, or the signals of its best passage against those
of the last hit that is shown.
"""

from collections.abc import Sequence

from vault.records import Records
from vault.search.hits import Hit

__all__ = ["why_not"]

# The words for each signal, in the order in which they are said.
_NAMES = {
    "words": "for its words",
    "dense": "for its meaning",
    "title": "for its name",
    "tags": "for its tag or folder",
    "dates": "for its day",
    "links": "for its links",
    "rerank": "by the second model",
}
_ALWAYS = ("words", "dense")


def why_not(records: Records | None, path: str, many: Sequence[Hit], shown: Sequence[Hit]) -> str:
    """Explain why a note is, or is not, among the hits that are shown.

    Args:
        records: what the index knows of each file; None where there is no index.
        path: the note.
        many: far more passages for the same query than are shown.
        shown: those hits.
    """
    known = {} if records is None else records.find_files([path])
    if path not in known:
        return f"{path} is not in the index; it is new, elsewhere, or of a kind that is not read."
    if known[path].state != "indexed":
        return f"{path} is {known[path].state}: {known[path].reason}."
    for rank, hit in enumerate(shown, start=1):
        if hit.path == path:
            return f"{path} is shown: its best passage is number {rank}{_describe_signals(hit)}."
    for rank, hit in enumerate(many, start=1):
        if hit.path == path:
            return _describe_rank(hit, rank, shown)
    few = f"the best {len(many)} passages" if many else "any passage"
    return f"{path} shares too little with the search, by words or by meaning, to be among {few}."


def _describe_signals(hit: Hit) -> str:
    """Name the signals that a hit that is shown was found by."""
    said = [
        f"{name} {_format_signal(hit, signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal]
    ]
    return f", {_join_words(said)}"


def _describe_rank(hit: Hit, rank: int, shown: Sequence[Hit]) -> str:
    """Compare a hit that is not shown with the last one that is."""
    place = f"The best passage of {hit.path} is number {rank}"
    if not shown:
        return f"{place}."
    said = [
        f"{name} {_format_signal(hit, signal)} against {_format_signal(shown[-1], signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal] != shown[-1].signals[signal]
    ]
    return f"{place}; beside the last one that is shown it has {_join_words(said)}."


def _format_signal(hit: Hit, signal: str) -> str:
    """Return a signal's score of a hit; a signal that was not used has none."""
    value = hit.signals[signal]
    return "nothing" if value is None else f"{value:.2f}"


def _join_words(said: Sequence[str]) -> str:
    return f"{', '.join(said[:-1])} and {said[-1]}"
