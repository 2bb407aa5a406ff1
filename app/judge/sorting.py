"""Sort the notes of a scope by what decides about them: a rule, a stored verdict, or a call.

From those that a model has judged, a sample is drawn that another model judges again.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.judge.store import StoredVerdicts
from app.judge.table import JudgeRow, RowOutcome, SampleCheck
from app.pinned.block import blank_blocks
from chains.judge.blocks import make_key, name_note
from chains.judge.rules import QuestionRules
from chains.judge.sample import SampledKind, choose_sample
from chains.judge.verdicts import GIVEN, Verdict
from vault.access import PRIVATE, read_unchanged_text
from vault.errors import NoteExcluded, VaultError
from vault.listing.inventory import Inventory, InventoryNote, find_note_paths, list_inventory
from vault.notes.kinds import MARKDOWN, TEXT, find_kind
from vault.search.query import Query
from vault.vault import Vault

__all__ = ["LostNotes", "SampledNotes", "SortedNotes", "sample_notes", "sort_notes"]

_EMPTY: Final = "the note has no text"
_WRITTEN: Final = "Strata wrote it from other notes"


@dataclass
class LostNotes:
    """What a run has learned of notes that are not as the index knows them.

    Attributes:
        versions: the content of notes that have changed, as a hash, by path.
        hidden: the rules that hide notes which are private or excluded now, by path.
        unreadable: why the other notes could not be read, by path.
    """

    versions: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SortedNotes:
    """The notes of a scope, sorted by what decides about them.

    Attributes:
        rows: a row for each note that models may read.
        waiting: the notes that a model has to judge, the cheapest first.
        judged: the notes that a model has judged, by its verdict.
    """

    rows: tuple[JudgeRow, ...]
    waiting: tuple[InventoryNote, ...]
    private: int
    excluded: int
    judged: Mapping[RowOutcome, Sequence[InventoryNote]] = field(default_factory=dict)


def sort_notes(
    vault: Vault,
    scope: Query,
    rules: QuestionRules,
    stored: StoredVerdicts,
    lost: LostNotes | None = None,
) -> SortedNotes:
    """Sort the notes of a scope.

    Args:
        vault: the notes.
        scope: the filter that chooses the notes.
        rules: what rules decide.
        stored: the verdicts that models have given.
        lost: what a run has learned since the index was updated, or None.
    """
    inventory = (
        vault.read_index(lambda index: list_inventory(index, vault.root, vault.scope, scope))
        or Inventory()
    )
    matching = vault.read_index(lambda index: find_note_paths(index, vault.scope, rules.query))
    unchanged = vault.filter_unchanged({note.path: note.version for note in inventory.allowed})
    sorter = _NoteSorter(
        vault, rules, matching or (), stored.verdicts, lost or LostNotes(), unchanged
    )
    rows = [*sorter.list_rows(inventory.allowed)]
    rows += [
        JudgeRow(vault.name_path(path), "unreadable", reason=reason)
        for path, reason in inventory.failed
    ]
    waiting = sorted(sorter.waiting, key=lambda note: (note.tokens, note.path))
    private = inventory.private + sorter.private
    return SortedNotes(
        tuple(sorted(rows, key=lambda row: row.order)),
        tuple(waiting),
        private,
        inventory.excluded + sorter.excluded,
        sorter.by_verdict,
    )


@dataclass
class _NoteSorter:
    """Sorts notes into rows, and counts those that models may not read by now.

    Attributes:
        unchanged: the notes that need not be read to know that a verdict on them still holds.
    """

    vault: Vault
    rules: QuestionRules
    matching: Collection[str]
    verdicts: Mapping[str, Verdict]
    lost: LostNotes
    unchanged: Collection[str]
    waiting: list[InventoryNote] = field(default_factory=list)
    private: int = 0
    excluded: int = 0
    by_verdict: dict[RowOutcome, list[InventoryNote]] = field(default_factory=dict)
    _last: tuple[InventoryNote, str | None] | None = field(default=None, init=False)

    def list_rows(self, notes: Sequence[InventoryNote]) -> Iterator[JudgeRow]:
        for note in notes:
            version = self.lost.versions.get(note.path, note.version)
            known = note if version == note.version else replace(note, version=version)
            if (rule := self.lost.hidden.get(note.path)) is not None:
                self._count_hidden(rule)
                continue
            try:
                yield self._sort(known)
            except NoteExcluded as error:
                self._count_hidden(error.rule)
            except VaultError as error:
                yield self._make_row(note, "unreadable", str(error))

    def _count_hidden(self, rule: str) -> None:
        is_private = rule == PRIVATE
        self.private += is_private
        self.excluded += not is_private

    def _sort(self, note: InventoryNote) -> JudgeRow:
        rules = self.rules
        if note.path not in self.matching:
            reason = f"not {rules.description}" if rules.description else ""
            return self._by_rule(note, Verdict("no", reason=reason))
        if rules.is_whole and not rules.phrase:
            return self._by_rule(note, Verdict("yes", reason=rules.description))
        if not rules.phrase and self._is_known(note):
            return self._by_model(note)
        if self._is_written(note):
            return self._by_rule(note, Verdict("no", reason=_WRITTEN))
        if rules.phrase and (found := self._decide_literal(note)) is not None:
            return self._by_rule(note, found)
        if not note.tokens and not (self._read(note) or "").strip():
            return self._by_rule(note, Verdict("cannot_tell", reason=_EMPTY))
        return self._by_model(note)

    def _is_known(self, note: InventoryNote) -> bool:
        """Return whether a model has judged the note as it is, so that nothing else decides."""
        is_judged = make_key(name_note(note.path), note.version) in self.verdicts
        return is_judged and self._is_unchanged(note)

    def _is_unchanged(self, note: InventoryNote) -> bool:
        return note.path in self.unchanged and note.path not in self.lost.versions

    def _decide_literal(self, note: InventoryNote) -> Verdict | None:
        text = self._read(note)
        if text is None:
            return None
        return self.rules.decide_literal(name_note(note.path), blank_blocks(text))

    def _is_written(self, note: InventoryNote) -> bool:
        """Return whether a note has nothing but blocks that Strata wrote into it."""
        if find_kind(note.path) not in (MARKDOWN, TEXT):
            return False
        text = self._read(note) or ""
        return bool(text.strip()) and not blank_blocks(text).strip()

    def _by_model(self, note: InventoryNote) -> JudgeRow:
        verdict = self.verdicts.get(make_key(name_note(note.path), note.version))
        if verdict is None and (reason := self.lost.unreadable.get(note.path)):
            return self._make_row(note, "unreadable", reason)
        if verdict is None:
            return self._wait(note)
        is_read = verdict.place is not None or not self._is_unchanged(note)
        text = self._read(note) if is_read else ""
        if text is None:  # the note has changed since it was indexed or judged
            return self._wait(note)
        if verdict.outcome in ("failed", "too_long"):
            return self._make_row(note, verdict.outcome, verdict.reason)
        row = self._make_row(note, verdict.outcome)
        self.by_verdict.setdefault(verdict.outcome, []).append(note)
        if verdict.place is None:
            return replace(row, by="model")
        return replace(row, by="model", quote=verdict.place.cut(text), lines=verdict.place.lines)

    def _wait(self, note: InventoryNote) -> JudgeRow:
        self.waiting.append(note)
        return self._make_row(note, "waiting")

    def _by_rule(self, note: InventoryNote, verdict: Verdict) -> JudgeRow:
        row = self._make_row(note, verdict.outcome, verdict.reason)
        if verdict.place is None or (text := self._read(note)) is None:
            return replace(row, by="rule")
        return replace(row, by="rule", quote=verdict.place.cut(text), lines=verdict.place.lines)

    def _read(self, note: InventoryNote) -> str | None:
        """Return the text of a note, or None if it is not the version that is known.

        The text of the last note is remembered, since several rules may ask for it.

        Raises:
            NoteExcluded: models may not read the note, or not any more.
            VaultError: the note is gone or cannot be read.
        """
        if self._last is not None and self._last[0] is note:
            return self._last[1]
        vault = self.vault
        text = read_unchanged_text(vault.root, note.path, note.version, vault.exclude)
        if text is None:  # what it has become may be private
            vault.read_allowed(vault.name_path(note.path))
        self._last = note, text
        return text

    def _make_row(self, note: InventoryNote, verdict: RowOutcome, reason: str = "") -> JudgeRow:
        return JudgeRow(self.vault.name_path(note.path), verdict, reason=reason)


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
        second_verdicts = [stored.verdicts.get(_make_key(note)) for note in drawn]
        waiting += [note for note, one in zip(drawn, second_verdicts, strict=True) if one is None]
        ended = [one.outcome for one in second_verdicts if one is not None]
        given = [one for one in ended if one in GIVEN]
        failed += len(ended) - len(given)
        agreed += sum(one == outcome for one in given)
        kinds.append(SampledKind(outcome, len(named[outcome]), len(given), given.count("yes")))
    return SampledNotes(
        SampleCheck(model, tuple(kinds), agreed, failed, len(waiting)),
        tuple(sorted(waiting, key=lambda note: (note.tokens, note.path))),
    )


def _make_key(note: InventoryNote) -> str:
    return make_key(name_note(note.path), note.version)
