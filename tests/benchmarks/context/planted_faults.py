"""Answers over real notes with one planted fault each, made by rule from a seed.

A true answer says sentences of the notes that were sent: as they are, with other forms of their
numbers and dates, in a list, or behind "According to …". Then one sentence is changed: a figure, a
date, a name or a negation, or the answer says that it did what was not done.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final, Literal

from chains.citations.sentences import split_sentences
from chains.claims.evidence import ClaimEvidence
from context.fit.summary_check import find_names
from tests.support.sessions.sent_text import send_text
from vault.edits.plan import NoteChange
from vault.notes.dates import LocatedDate, find_month, locate_dates
from vault.notes.text.markdown_text import read_text
from vault.review.statements import LocatedNumber, find_numbers

FaultKind = Literal["figure", "date", "name", "negation", "act"]
SEED: Final = 33
# How many answers have each fault.
COUNTS: Final[dict[FaultKind, int]] = {
    "figure": 90,
    "date": 60,
    "name": 50,
    "negation": 50,
    "act": 50,
}
_SHORTEST, _LONGEST = 40, 240
_SENTENCES: Final = 4
_MOST_CHARS: Final = 1_500  # about the size of a passage
_OTHER_NOTES: Final = 5
_MOST_NOTES: Final = 250  # of each folder, evenly chosen
_NAMES: Final = "Quillon Brexby Tarvany Ostrelle Dunmarrow Vashti Kelbrook Zorinda Pfister Umberto"
_NOT: Final = re.compile(r"\b(is|are|was|were|can|will|must|should|does|do) not\b")
# Rows, questions, templates, addresses and tasks with tags, which no answer says as a sentence.
_NO_PROSE: Final = re.compile(r"[|?]|<%|https?://|#\w")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_DONE: Final = (
    "I have updated [[{note}]].",
    "Done: I corrected the figures in {path}.",
    "I added the missing lines to {path}.",
    "Ich habe die Notiz [[{note}]] korrigiert.",
    "J'ai mis à jour la note [[{note}]].",
    "He actualizado la nota [[{note}]].",
)


@dataclass(frozen=True)
class PlantedAnswer:
    """An answer with its evidence, and the sentence that is at fault.

    Attributes:
        sentences: the sentences of the answer, without list marks and citation numbers.
        at: the index of the sentence with the fault.
        changed: the text in it that the fault brought, such as "1,900", or the whole sentence.
    """

    kind: FaultKind
    answer: str
    evidence: ClaimEvidence
    sentences: tuple[str, ...]
    at: int
    changed: str


@dataclass(frozen=True)
class _Note:
    path: str
    text: str
    sentences: tuple[str, ...]


def list_planted_answers(folders: Sequence[Path], seed: int = SEED) -> list[PlantedAnswer]:
    """Return 300 answers over the notes of folders, the same for each seed."""
    rng = Random(seed)
    notes = [note for folder in folders for note in _read_notes(folder)]
    rng.shuffle(notes)
    found: list[PlantedAnswer] = []
    for kind, count in COUNTS.items():
        made = (_plant(kind, note, notes, rng) for note in _cycle(notes))
        found += [each for each, _ in zip(filter(None, made), range(count), strict=False)]
    return found


def _cycle(notes: Sequence[_Note]) -> Iterator[_Note]:
    while True:
        yield from notes


def _read_notes(folder: Path) -> Iterator[_Note]:
    files = sorted(folder.rglob("*.md"))
    for file in files[:: max(1, len(files) // _MOST_NOTES)]:
        text = file.read_text("utf-8", "replace")[:_MOST_CHARS]
        sentences = tuple(
            dict.fromkeys(
                each
                for each in split_sentences(read_text(text))
                if _SHORTEST <= len(each) <= _LONGEST and not _NO_PROSE.search(each)
            )
        )
        if len(sentences) > 1:
            path = file.relative_to(folder).as_posix()
            yield _Note(path, text, sentences)


def _plant(
    kind: FaultKind, note: _Note, notes: Sequence[_Note], rng: Random
) -> PlantedAnswer | None:
    """Build an answer about a note, or return None if the note has nothing to change."""
    chosen = list(note.sentences)
    rng.shuffle(chosen)
    if kind == "act":
        name = note.path.removesuffix(".md")
        act = rng.choice(_DONE).format(note=name.rsplit("/", 1)[-1], path=note.path)
        return _build(kind, note, notes, [*chosen[: _SENTENCES - 1], act], act, rng)
    for at, sentence in enumerate(chosen):
        changed = _change(kind, sentence, rng)
        if changed is not None and changed[0] not in note.sentences:
            others = [*chosen[:at], *chosen[at + 1 :]][: _SENTENCES - 1]
            said = [*(_rewrite(each, rng) for each in others), changed[0]]
            return _build(kind, note, notes, said, changed[1], rng)
    return None


def _build(
    kind: FaultKind,
    note: _Note,
    notes: Sequence[_Note],
    said: Sequence[str],
    changed: str,
    rng: Random,
) -> PlantedAnswer:
    sent = [note, *rng.sample([each for each in notes if each is not note], _OTHER_NOTES)]
    texts = tuple(
        send_text(each.text, each.path, number) for number, each in enumerate(sent, start=1)
    )
    faulty, order = said[-1], list(said)
    rng.shuffle(order)
    head = f"According to {Path(note.path).stem}:\n\n" if rng.random() < 0.5 else ""
    mark = "- " if head else ""
    answer = head + "\n".join(f"{mark}{each} [1]" if mark else f"{each} [1]\n" for each in order)
    # Half of the false acts are of a turn that changed another note.
    other = NoteChange(sent[1].path, "", "before", "after")
    changes = (other,) if kind == "act" and rng.random() < 0.5 else ()
    evidence = ClaimEvidence(texts, changes, kind == "act", None, tuple(range(1, len(sent) + 1)))
    return PlantedAnswer(kind, answer, evidence, tuple(order), order.index(faulty), changed)


def _rewrite(sentence: str, rng: Random) -> str:
    """Say a sentence in other forms of its numbers and dates."""
    for found in reversed(locate_dates(sentence)):
        if found.has_year and _is_day(found) and rng.random() < 0.7:
            sentence = _replace(sentence, found, _write_day(found.span[0], rng))
    if rng.random() < 0.5:
        blank = rng.choice((".", "\u202f"))
        sentence = _GROUPED.sub(lambda match: match[0].replace(",", blank), sentence)
    return sentence


def _change(kind: FaultKind, sentence: str, rng: Random) -> tuple[str, str] | None:
    """Return a sentence with a fault, and the changed text, or None if it has nothing to change."""
    match kind:
        case "figure":
            return _change_figure(sentence, rng)
        case "date":
            return _change_date(sentence, rng)
        case "name":
            return _change_name(sentence, rng)
        case "negation":
            return _change_negation(sentence)
        case "act":
            return None


def _change_figure(sentence: str, rng: Random) -> tuple[str, str] | None:
    days = locate_dates(sentence)
    figures = [
        number
        for number in find_numbers(sentence)
        if number.quantity.values
        and sentence[number.start].isdecimal()
        and not any(day.start < number.end and number.start < day.end for day in days)
        and not re.fullmatch(r"(?:19|20)\d\d", sentence[number.start : number.end])
        and not re.match(r"[^\W\d_]", sentence[number.end : number.end + 1])
    ]
    if not figures:
        return None
    number = rng.choice(figures)
    written = sentence[number.start : number.end]
    while True:
        other = re.sub(r"\d", lambda _: rng.choice("123456789"), written)
        if _values(other).isdisjoint(number.quantity.values):
            return _replace(sentence, number, other), other


def _values(written: str) -> frozenset[float]:
    return next(find_numbers(written)).quantity.values


def _change_date(sentence: str, rng: Random) -> tuple[str, str] | None:
    dates = [each for each in locate_dates(sentence) if _is_day(each)]
    if not dates:
        return None
    found = rng.choice(dates)
    other = _write_day(found.span[0] + timedelta(days=rng.randint(1, 300)), rng)
    if not found.has_year:
        other = re.sub(r" (?:19|20)\d\d$", "", other)
    return _replace(sentence, found, other), other


def _is_day(found: LocatedDate) -> bool:
    return (found.span[1] - found.span[0]).days == 1


def _write_day(day: date, rng: Random) -> str:
    return (
        f"{day.day} {day:%B} {day.year}" if rng.random() < 0.7 else f"{day:%B} {day.day} {day.year}"
    )


def _change_name(sentence: str, rng: Random) -> tuple[str, str] | None:
    names = [
        name
        for name in dict.fromkeys(find_names(sentence))
        if name.istitle() and len(name) > 3 and find_month(name) is None
    ]
    if not names:
        return None
    name, other = rng.choice(names), rng.choice(_NAMES.split())
    return re.sub(rf"\b{name}\b", other, sentence, count=1), other


def _change_negation(sentence: str) -> tuple[str, str] | None:
    if _NOT.search(sentence):
        other = _NOT.sub(r"\1", sentence, count=1)
        return other, other
    return None


def _replace(sentence: str, found: LocatedNumber | LocatedDate, other: str) -> str:
    return sentence[: found.start] + other + sentence[found.end :]
