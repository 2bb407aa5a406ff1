"""Find the notes that a sentence names, and what it says was done with each of them.

Only a note that the verb itself is about counts: "I deleted the table in Backup" changes Backup.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from chains.claims.evidence import ClaimEvidence, fold_path
from chains.claims.facts import AnswerSentence
from vault.edits.plan import NoteChange

__all__ = ["ActKind", "NamedNote", "find_named", "is_done"]

ActKind = Literal["deleted", "created", "moved", "changed"]
_VERBS: Final[dict[ActKind, str]] = {
    "deleted": r"deleted|removed|gelöscht|entfernt|supprimée?s?|eliminad[oa]s?|borrad[oa]s?"
    r"|eliminé|borré",
    "created": r"created|erstellt|angelegt|créée?s?|cread[oa]s?|creé",
    "moved": r"moved|renamed|verschoben|umbenannt|déplacée?s?|renommée?s?|movid[oa]s?"
    r"|renombrad[oa]s?|moví|renombré",
}
_KINDS: Final[dict[ActKind, re.Pattern[str]]] = {
    kind: re.compile(rf"\b(?:{verbs})\b", re.IGNORECASE) for kind, verbs in _VERBS.items()
}
# What may stand between the verb and its note, so that the note is what the verb is about.
_BESIDE: Final = re.compile(
    r"(?:\W|\b(?:i|ve|have|has|been|was|were|now|just|also|successfully|already|done|the|a|an|new"
    r"|my|your|empty|note|file|called|named|titled|ich|habe|die|der|das|den|eine|neue|leere"
    r"|notiz|datei|jetzt|nun|erfolgreich|wurde|ist|j|ai|la|le|les|une|nouvelle|note|fichier|a"
    r"|été|bien|fait|he|el|una|nueva|nota|archivo|ha|sido|hecho|md)\b)*",
    re.IGNORECASE,
)
# What stands between two notes of a list.
_BETWEEN: Final = re.compile(
    r"(?:\.md)?[\s*_`\"”\])]*(?:,|&|,? ?\b(?:and|und|et|y|e)\b)[\s*_`\"“\[(]*", re.IGNORECASE
)
_EDGES: Final = " \t*_`\"'“”„«»,.;:!?()"


@dataclass(frozen=True)
class NamedNote:
    """A note that a sentence names.

    Attributes:
        name: the note as the answer names it.
        is_in_list: whether it is one of several notes in a list, as in "Backups and Boiler".
        kind: what is said to have been done with it.
    """

    name: str
    is_in_list: bool = False
    kind: ActKind = "changed"

    def is_of(self, note: NoteChange[str]) -> bool:
        """Return whether a changed note is the one that is named, by its new or its old path."""
        named = fold_path(self.name)
        paths = (fold_path(note.path), fold_path(note.old_path))
        return any(path == named or path.endswith(f"/{named}") for path in paths if path)


def find_named(sentence: AnswerSentence, evidence: ClaimEvidence) -> list[NamedNote]:
    """Return the notes that a sentence names: by a path, a link, or a title that was sent."""
    text = sentence.text
    names = [path.strip(_EDGES) for path in sentence.list_paths()]
    names += [name for name in evidence.note_names if _is_named(name, text)]
    places: dict[tuple[int, int], str] = {}
    for name in sorted(filter(None, names), key=len, reverse=True):
        start = text.find(name)
        span = (start, start + len(name))
        if start >= 0 and not any(s < span[1] and span[0] < e for s, e in places):
            places[span] = name
    spans = sorted(places)
    listed = set[tuple[int, int]]()
    for one, other in pairwise(spans):
        if _BETWEEN.fullmatch(text[one[1] : other[0]]):
            listed |= {one, other}
    found: list[NamedNote] = []
    for span in spans:
        kind = _find_kind(text, *span)
        if kind == "changed" and span in listed and found and found[-1].is_in_list:
            kind = found[-1].kind
        found.append(NamedNote(places[span], span in listed, kind))
    return found


def _is_named(name: str, text: str) -> bool:
    """Return whether a text names a note as a whole word, as it is written."""
    is_there = name in text  # which few names are, and which is found much faster than its edges
    return is_there and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _find_kind(clause: str, start: int, end: int) -> ActKind:
    """Return what a clause says was done with the note that it names at an offset."""
    for kind, verbs in _KINDS.items():
        for verb in verbs.finditer(clause):
            if verb.end() <= start and _BESIDE.fullmatch(clause, verb.end(), start):
                return kind
            is_before = _BESIDE.fullmatch(clause, 0, start)
            if is_before and end <= verb.start() and _BESIDE.fullmatch(clause, end, verb.start()):
                return kind
    return "changed"


def is_done(kind: ActKind, note: NoteChange[str]) -> bool:
    """Return whether a changed note was changed in this way."""
    if kind == "deleted":
        return note.after is None
    if kind == "created":
        return note.before is None
    # A note may be moved by writing it anew and deleting the old one.
    is_anew = note.before is None or note.after is None
    return kind == "changed" or is_anew or note.old_path not in ("", note.path)
