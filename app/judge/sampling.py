"""Draw the sample of judged notes that another model judges again, and read what came of it."""

from dataclasses import dataclass

from app.judge.sorting import SortedNotes
from app.judge.store import StoredVerdicts
from app.judge.table import SampleCheck
from chains.judge.blocks import make_key, name_note
from chains.judge.sample import SampledKind, choose_sample
from chains.judge.verdicts import Verdict
from vault.listing.inventory import InventoryNote

__all__ = ["SampledNotes", "sample_notes"]


@dataclass(frozen=True)
class SampledNotes:
    """The sample of the judged notes.

    Attributes:
        check: what is known by it.
        waiting: the notes of the sample that the other model has not judged, the cheapest first.
    """

    check: SampleCheck
    waiting: tuple[InventoryNote, ...]


def sample_notes(
    found: SortedNotes, model: str, count: int, stored: StoredVerdicts
) -> SampledNotes:
    """Draw the sample, and compare its verdicts.

    Args:
        found: the notes, of which none is waiting for the first model.
        model: the other model.
        count: the size of the sample.
        stored: the verdicts of the other model.
    """
    named = {
        outcome: {f"{_make_key(note)} {note.path}": note for note in notes}
        for outcome, notes in found.judged.items()
    }
    kinds: list[SampledKind] = []
    waiting: list[InventoryNote] = []
    agreed = failed = 0
    for outcome, drawn in choose_sample(named, count).items():
        given = [stored.verdicts.get(_make_key(note)) for note in drawn]
        waiting += [note for note, one in zip(drawn, given, strict=True) if one is None]
        usable = [one.outcome for one in given if one is not None and _is_usable(one)]
        failed += sum(one is not None and not _is_usable(one) for one in given)
        agreed += usable.count(outcome)  # type: ignore[arg-type]
        kinds.append(SampledKind(outcome, len(named[outcome]), len(usable), usable.count("yes")))
    return SampledNotes(
        SampleCheck(model, tuple(kinds), agreed, failed, len(waiting)),
        tuple(sorted(waiting, key=lambda note: (note.tokens, note.path))),
    )


def _is_usable(verdict: Verdict) -> bool:
    return verdict.outcome in ("yes", "no", "cannot_tell")


def _make_key(note: InventoryNote) -> str:
    return make_key(name_note(note.path), note.version)
