"""Find the notes that are related to a note, by their vectors and links.

No model is loaded, because only stored vectors are compared.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault.catalog import Catalog
from vault.notes.links import fold_link_name
from vault.notes.name_days import NameDays
from vault.records import Records
from vault.scope import WHOLE, Scope
from vault.search.passages import Passages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["RelatedNote", "find_related_notes"]

_CANDIDATES = 200
_LINK_LIFT = 0.15
_NOTES_FOR_A_DAY = 5  # of so many related notes, at most one is a note of a day

Nearest = Callable[["Vector", int, Collection[bytes] | None], list[tuple[bytes, float]]]


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note that is related to a given note.

    Attributes:
        score: the rank among the related notes, from 0 to 1: the similarity, raised by a link.
        is_linked: whether there is a link between the two notes, in either direction.
        tags: the tags that both notes have.
        is_link_target: whether the given note links to the related note.
        similarity: how alike the notes are in meaning, from 0 to 1, or None if this is not known.
        is_link_source: whether the related note links to the given note.
    """

    path: str
    title: str
    score: float
    is_linked: bool
    tags: tuple[str, ...] = ()
    is_link_target: bool = False
    similarity: float | None = None
    is_link_source: bool = False

    json_shape = (
        "path",
        "title",
        "score",
        "similarity",
        "is_linked",
        "is_link_target",
        "is_link_source",
        "tags",
        "why",
    )

    @property
    def why(self) -> str:
        """A sentence that says why the note is related: its meaning, links, tags of both."""
        found = []
        if self.similarity is not None and (share := round(self.similarity * 100)) > 0:
            found.append(f"is {share} % alike in meaning")
        if self.is_link_target:
            found.append("is linked from this note")
        if self.is_link_source:
            found.append("links to this note")
        if self.tags:
            noun = "tag" if len(self.tags) == 1 else "tags"
            found.append(f"has the {noun} {_join([f'#{tag}' for tag in self.tags])} too")
        return f"It {_join(found or ['has little in common with this note'])}."


def _join(parts: Sequence[str]) -> str:
    """Join the parts of a list, such as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def find_related_notes(
    catalog: Catalog,
    nearest: Nearest,
    path: str,
    k: int,
    attachments: str = "/",
    scope: Scope = WHOLE,
) -> list[RelatedNote]:
    """Return the `k` notes most closely related to a note, best first.

    Args:
        catalog: the catalog of the index.
        nearest: returns the hashes and cosine similarities of the texts nearest to a vector.
        path: the path of the note to find related notes for.
        k: the maximum number of notes.
        attachments: the attachment folder that is set in Obsidian.
        scope: the part of the vault in which notes are looked for.
    """
    vector = _compute_mean_vector(catalog, path)
    scores: dict[str, float] = {}
    if vector is not None:
        scores = _score_by_meaning(catalog, dict(nearest(vector, _CANDIDATES, None)))
    targets, sources = _find_linked(catalog, path, attachments)
    linked = targets | sources
    titles = _read_titles(catalog, {*scores, *linked} - {path})
    tags = _find_shared_tags(catalog, path)
    found = []
    for other, title in titles.items():
        if not scope.covers(other):
            continue
        is_linked, similarity = other in linked, scores.get(other)
        score = _add_link_boost(similarity or 0.0, is_linked)
        found.append(
            RelatedNote(
                other,
                title,
                round(score, 4),
                is_linked,
                tuple(tags.get(other, ())),
                other in targets,
                None if similarity is None else round(max(similarity, 0.0), 4),
                other in sources,
            )
        )
    ranked = sorted(found, key=lambda note: (-note.score, note.path))
    return _limit_days(ranked, Records(catalog).load_name_days())[:k]


def _limit_days(ranked: Sequence[RelatedNote], days: NameDays) -> list[RelatedNote]:
    """Leave out notes of days that are not linked, but for one in five.

    A diary tells a little of everything, so its notes would crowd out those about one subject.
    """
    is_daily = {note.path: not note.is_linked and days.is_daily(note.path) for note in ranked}
    if all(is_daily.values()):
        return list(ranked)
    kept: list[RelatedNote] = []
    count = 0
    for note in ranked:
        if is_daily[note.path] and count * _NOTES_FOR_A_DAY > len(kept):
            continue
        count += is_daily[note.path]
        kept.append(note)
    return kept


def _add_link_boost(score: float, is_linked: bool) -> float:
    return (max(score, 0.0) + (_LINK_LIFT if is_linked else 0.0)) / (1.0 + _LINK_LIFT)


def _compute_mean_vector(catalog: Catalog, path: str) -> "Vector | None":
    import numpy as np

    rows = catalog.rows(
        "SELECT vector FROM chunks JOIN vectors USING (hash) JOIN files ON files.id = file_id"
        " WHERE path = ?",
        (path,),
    )
    if not rows:
        return None
    mean = np.mean([np.frombuffer(row[0], "<f4") for row in rows], axis=0, dtype="f4")
    length = float(np.linalg.norm(mean))
    return mean / length if length else None


def _score_by_meaning(catalog: Catalog, near: Mapping[bytes, float]) -> dict[str, float]:
    """Return the cosine similarity of each note's nearest passage, keyed by path.

    Args:
        catalog: the catalog of the index.
        near: the cosine similarities of the nearest texts, keyed by text hash.
    """
    hashes = Passages(catalog).find_by_hash(near)
    rows = catalog.rows(
        "SELECT chunks.id, path FROM chunks JOIN files ON files.id = file_id"
        " WHERE chunks.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(hashes)),),
    )
    scores: dict[str, float] = defaultdict(float)
    for number, path in rows:
        scores[path] = max(scores[path], near[hashes[number]])
    return scores


def _find_linked(catalog: Catalog, path: str, attachments: str) -> tuple[set[str], set[str]]:
    records = Records(catalog)
    own = records.list_names(path)
    links = catalog.rows("SELECT path, target FROM links JOIN files ON files.id = file_id")
    outgoing = {target for source, target in links if source == path and target}
    incoming = [(source, target) for source, target in links if fold_link_name(target) in own]
    names = own | {fold_link_name(target) for target in outgoing}
    resolver = records.resolve_links_among(names, attachments)
    sources = {source for source, target in incoming if resolver.resolve(target, source) == path}
    return {other for target in outgoing if (other := resolver.resolve(target, path))}, sources


def _find_shared_tags(catalog: Catalog, path: str) -> dict[str, list[str]]:
    rows = catalog.rows(
        "SELECT DISTINCT path, tag FROM tags JOIN files ON files.id = file_id WHERE tag IN"
        " (SELECT tag FROM tags JOIN files ON files.id = file_id WHERE path = ?)"
        " ORDER BY path, tag",
        (path,),
    )
    found: dict[str, list[str]] = defaultdict(list)
    for other, tag in rows:
        found[other].append(tag)
    return found


def _read_titles(catalog: Catalog, paths: Iterable[str]) -> dict[str, str]:
    wanted = set(paths)
    rows = catalog.rows("SELECT path, title FROM notes JOIN files ON files.id = file_id")
    return {path: title for path, title in rows if path in wanted}
