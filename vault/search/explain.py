"""Why a note was or was not among the hits: an answer in a sentence or two."""

from collections.abc import Sequence

from vault.search.hits import Hit

__all__ = ["why_not"]


def why_not(
    path: str, state: tuple[str, str] | None, many: Sequence[Hit], shown: Sequence[Hit]
) -> str:
    """Say why a note is, or is not, among the hits that are shown.

    Args:
        path: the note.
        state: its state in the index and the reason; None where the index does not know it.
        many: far more passages for the same query than are shown.
        shown: those hits.
    """
    if state is None:
        return f"{path} is not in the index; it is new, elsewhere, or of a kind that is not read."
    if state[0] != "indexed":
        return f"{path} is {state[0]}: {state[1]}."
    for rank, hit in enumerate(shown, start=1):
        if hit.path == path:
            return f"{path} is shown: its best passage is number {rank}{_describe_signals(hit)}."
    for rank, hit in enumerate(many, start=1):
        if hit.path == path:
            return _describe_rank(hit, rank, shown)
    few = f"the best {len(many)} passages" if many else "any passage"
    return f"{path} shares too little with the search, by words or by meaning, to be among {few}."


def _describe_signals(hit: Hit) -> str:
    said = [
        f"{name} {_format_signal(hit, signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal]
    ]
    return f", {_join_words(said)}"


def _describe_rank(hit: Hit, rank: int, shown: Sequence[Hit]) -> str:
    place = f"The best passage of {hit.path} is number {rank}"
    if not shown:
        return f"{place}."
    said = [
        f"{name} {_format_signal(hit, signal)} against {_format_signal(shown[-1], signal)}"
        for signal, name in _NAMES.items()
        if signal in _ALWAYS or hit.signals[signal] != shown[-1].signals[signal]
    ]
    return f"{place}; beside the last one that is shown it has {_join_words(said)}."


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


def _format_signal(hit: Hit, signal: str) -> str:
    value = hit.signals[signal]
    return "nothing" if value is None else f"{value:.2f}"


def _join_words(said: Sequence[str]) -> str:
    return f"{', '.join(said[:-1])} and {said[-1]}"
