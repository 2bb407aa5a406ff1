"""Explain why a note is or is not among the hits of a query, in a sentence or two.

The explanation is based on the note's state in the index, on its rank, or on a comparison of the
signals of its best passage with those of the last hit shown.
"""

from collections.abc import Sequence

from vault.records import Records
from vault.search.hits import Hit

__all__ = ["why_not"]

# The words for each signal, in the order in which they are listed.
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
    """Explain why a note is or is not among the hits shown.

    Args:
        records: the index's records of files; None if there is no index.
        path: the path of the note.
        many: many more hits of the same query than are shown.
        shown: the hits shown.
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
    """Describe the signals by which a shown hit was found."""
    said = [
        f"{name} {_format_signal(hit, signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal]
    ]
    return f", {_join_words(said)}"


def _describe_rank(hit: Hit, rank: int, shown: Sequence[Hit]) -> str:
    """Describe the rank of a hit that is not shown, compared with the last one shown."""
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
    """Return a hit's score for a signal as text, or "nothing" if the signal was not used."""
    value = hit.signals[signal]
    return "nothing" if value is None else f"{value:.2f}"


def _join_words(said: Sequence[str]) -> str:
    return f"{', '.join(said[:-1])} and {said[-1]}"
