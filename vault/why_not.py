"""Why a note was not among the hits: an answer in one sentence."""

from collections.abc import Sequence

from vault.hits import Hit, SearchResult

__all__ = ["why_not"]


def why_not(
    path: str, state: tuple[str, str] | None, result: SearchResult, shown: Sequence[Hit]
) -> str:
    """Say why a note is not among the hits that are shown.

    Args:
        path: the note.
        state: its state in the index and the reason; None where the index does not know it.
        result: many more passages for the same query than are shown.
        shown: those hits.
    """
    if state is None:
        return f"{path} is not in the index; it is new, elsewhere, or of a kind that is not read."
    if state[0] != "indexed":
        return f"{path} is {state[0]}: {state[1]}."
    for rank, hit in enumerate(shown, start=1):
        if hit.path == path:
            return f"{path} is shown: its best passage is number {rank}."
    for rank, hit in enumerate(result.hits, start=1):
        if hit.path == path:
            return _placed(hit, rank, shown[-1])
    few = f"the best {len(result.hits)} passages" if result.hits else "any passage"
    return f"{path} shares too little with the search, by words or by meaning, to be among {few}."


def _placed(hit: Hit, rank: int, last: Hit) -> str:
    said = " and ".join(
        f"{name} {_of(hit.signals[signal])} against {_of(last.signals[signal])}"
        for signal, name in _NAMES.items()
    )
    place = f"The best passage of {hit.path} is number {rank}"
    return f"{place}; beside the last one that is shown it has {said}."


_NAMES = {"words": "for its words", "dense": "for its meaning"}


def _of(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.2f}"
