"""The use-cases of exhaustive answers: plan, judge, read the table, save it as a note."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Final

from app.errors import InvalidRequest
from app.judge.kept import KeptVerdicts
from app.judge.run import AT_ONCE, JudgeRun, PauseSwitch
from app.judge.sorting import LostNotes, SortedNotes, sample_notes, sort_notes
from app.judge.store import StoredVerdicts, VerdictStore
from app.judge.table import (
    JudgeCost,
    JudgeProgress,
    JudgeRequest,
    JudgeTable,
    write_markdown,
)
from app.library.edits import UserEdits
from app.library.library import IndexFinished
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.sessions.turn_builder import TurnBuilder
from chains.cancel import CancelToken
from chains.events import IndexProgressed
from chains.judge.blocks import MOST_NOTES, JudgeSetup
from chains.judge.calls import BlockJudge
from chains.judge.rules import QuestionRules, read_rules
from chains.models import EXTRACTIVE
from chains.prompts import JUDGE_PROMPT, CallSetup
from chains.request.ask import Ask
from chains.request.open_turn import open_model, open_turn
from chains.request.turn import Turn
from vault.errors import VaultError
from vault.listing.inventory import InventoryNote
from vault.notes.dates import find_date_spans
from vault.options import SearchOptions
from vault.search.query import Query, parse_query
from vault.vault import Vault

__all__ = ["FIRST_NOTES", "JudgeFinished", "Judging"]

# The notes that are judged before the others, so that the user can mend the question.
FIRST_NOTES: Final = 10
_MOST_QUESTION_CHARS: Final = 2_000
_OTHER_DAYS: Final = (0, 1, 400)  # on one of them, "this year" and "on Monday" mean other dates
_NOTE_TOKENS: Final = 20  # the tags around a note
_VERDICT_TOKENS: Final = 40
_COUNTED_OTHERWISE: Final = 1.1  # tokens of the index are not those of the model


@dataclass(frozen=True)
class JudgeFinished:
    """The end of a run, with the table."""

    table: JudgeTable


@dataclass(frozen=True)
class _Opened:
    """A request with all that its verdicts depend on."""

    request: JudgeRequest
    question: str
    vault: Vault
    scope: Query
    rules: QuestionRules
    turn: Turn
    setup: JudgeSetup
    store: VerdictStore

    @property
    def model(self) -> str:
        return self.turn.model_name


class Judging:
    """Judges every note of a scope. Thread-safe.

    Each method raises `VaultNotChosen` if no vault is open, `InvalidRequest` if the question is
    blank or the scope is no filter, `NotFound` if there is no such project, and `StorageFailed` if
    verdicts cannot be read or written.
    """

    def __init__(
        self,
        kept: KeptVerdicts,
        vault: OpenVault,
        projects: Projects,
        turns: TurnBuilder,
        edits: UserEdits,
        today: Callable[[], date] = date.today,
    ) -> None:
        """Create the object. Nothing is read yet.

        Args:
            kept: the stored verdicts.
            vault: the open vault.
            projects: opens the notes of projects.
            turns: builds what calls need.
            edits: writes a table into the vault.
            today: returns the day that words such as "yesterday" refer to.
        """
        self._kept, self._vault, self._projects = kept, vault, projects
        self._turns, self._edits, self._today = turns, edits, today

    def read(self, request: JudgeRequest) -> JudgeTable:
        """Return the table as it is known now, with the cost of the rest. No model is called."""
        opened = self._open(request, CancelToken(), dry_run=True)
        stored = opened.store.load()
        return self._make_table(opened, self._sort(opened, stored), stored)

    def update(
        self, request: JudgeRequest, cancel: CancelToken
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index of the notes up to date, and yield the progress.

        Raises:
            VaultError: the update failed. What was indexed before is kept.
        """
        if request.project is None:
            library = self._vault.require()
        else:
            library = self._projects.open_library(self._projects.find_name(request.project))
        yield from library.update(cancel)

    def judge(
        self, request: JudgeRequest, cancel: CancelToken, pause: PauseSwitch | None = None
    ) -> Generator[JudgeProgress | JudgeFinished, None, None]:
        """Judge notes, and yield the progress, ending with `JudgeFinished`.

        Without a model, rules decide what they can, and no call is made. The notes of a project,
        which may be outside of the watched folder, are indexed first. A sample for another model is
        judged by the next call, once no note is left for the first model.

        Args:
            request: the question and its scope.
            cancel: stops the run. Verdicts that were given are kept.
            pause: pauses the run.

        Raises:
            JudgeBusy: the same question is being judged.
            ModelError: a call cannot be made. Verdicts that were given are kept.
            RepliesUnusable: the model's replies have no verdicts.
            CannotRead: the budget is too small for any note.
            Cancelled: the token was cancelled.
        """
        if request.project is not None:
            with suppress(VaultError):  # another program indexes them, or what is indexed counts
                deque(self.update(request, cancel), maxlen=0)
            # Those of the open vault are forgotten when its index or the rules change.
            self._kept.forget_hidden(self._find_vault(request.project))
        pause = pause or PauseSwitch()
        opened = self._open(request, cancel, dry_run=True)
        lost, calls = LostNotes(), 0
        with opened.store.hold():
            if request.retries:
                opened.store.forget_failures()
            stored = opened.store.load()
            found = self._sort(opened, stored)
            chosen = _choose_notes(opened, found.waiting)
            if chosen and opened.model != EXTRACTIVE:
                run = self._build_run(request, cancel, pause, stored, chosen)
                yield from run.run()
                lost, calls, stored = run.lost, run.calls, opened.store.load()
                found = self._sort(opened, stored, lost)
        if not chosen and request.first != 0:  # the price of the sample was shown before
            calls += yield from self._judge_sample(request, found, cancel, pause)
        table = self._make_table(opened, found, stored)
        yield JudgeFinished(replace(table, calls=calls))

    def _judge_sample(
        self,
        request: JudgeRequest,
        found: SortedNotes,
        cancel: CancelToken,
        pause: PauseSwitch,
    ) -> Generator[JudgeProgress, None, int]:
        """Let the other model judge what is left of the sample, and return the number of calls."""
        other = self._open_sample(request, found, cancel)
        if other is None:
            return 0
        with other.store.hold():
            if request.retries:
                other.store.forget_failures()
            stored = other.store.load()
            drawn = sample_notes(found, other.model, request.sample, stored)
            if not drawn.waiting:
                return 0
            notes = drawn.waiting[: request.first]
            run = self._build_run(other.request, cancel, pause, stored, notes)
            yield from run.run()
            return run.calls

    def _open_sample(
        self, request: JudgeRequest, found: SortedNotes, cancel: CancelToken
    ) -> _Opened | None:
        """Open what the other model judges, or return None before the first one has ended."""
        if request.sample_model is None or found.waiting or request.sample < 1:
            return None
        other = replace(request, model=request.sample_model, sample_model=None)
        return self._open(other, cancel, dry_run=True)

    def save(self, table: JudgeTable, path: str | None = None) -> tuple[str, str]:
        """Write a table into the vault as a new note.

        Args:
            path: the path of the note, or None for a name made from the question.

        Returns:
            The path of the note, and the id under which it can be removed again.

        Raises:
            EditRefused: the note already exists, or its path is invalid.
            VaultError: the note cannot be written.
        """
        path = path or f"{_make_name(table.request.question)}.md"
        plan = self._edits.plan_create(path, write_markdown(table))
        return plan.path, self._edits.apply(plan)

    def _open(self, request: JudgeRequest, cancel: CancelToken, *, dry_run: bool) -> _Opened:
        question = " ".join(request.question.split())
        if not question or len(question) > _MOST_QUESTION_CHARS:
            raise InvalidRequest(
                "There is no question to judge notes by."
                if not question
                else f"The question has more than {_MOST_QUESTION_CHARS:,} characters.",
                hint="Write what each note is judged by, in a sentence.",
            )
        vault = self._find_vault(request.project)
        ask = Ask(question, "chat", request.model, project=request.project, dry_run=dry_run)
        new_turn = self._turns.begin_turn(ask, None, cancel, may_ask=False, calls=1)
        turn = open_turn(self._turns.equip_turn(new_turn))
        if request.sample_model == turn.model_name:
            raise InvalidRequest(
                f"{turn.model_name} judges all notes, so it cannot judge the sample too.",
                hint="Name another model for the sample.",
            )
        call = CallSetup(
            JUDGE_PROMPT,
            turn.customization.prompts(JUDGE_PROMPT).sections,
            turn.model_name,
            turn.counter,
            turn.compute_request_budget(),
            turn.lowest_temperature,
        )
        asked = _name_day(question, self._today())
        prompts = (section.render() for section in call.sections)
        address = turn.model.endpoint.api_base if turn.model.endpoint else ""
        seen = "\n\n".join((*prompts, asked, address or ""))
        return _Opened(
            request,
            question,
            vault,
            _read_scope(request.scope),
            read_rules(question),
            turn,
            JudgeSetup(asked, call),
            VerdictStore.locate(self._kept.folder, question, turn.model_name, seen),
        )

    def _find_vault(self, project: str | None) -> Vault:
        if project is not None:
            return self._projects.open_named(project)
        return self._vault.require_vault()

    def _sort(
        self, opened: _Opened, stored: StoredVerdicts, lost: LostNotes | None = None
    ) -> SortedNotes:
        return sort_notes(opened.vault, opened.scope, opened.rules, stored, lost)

    def _build_run(
        self,
        request: JudgeRequest,
        cancel: CancelToken,
        pause: PauseSwitch,
        stored: StoredVerdicts,
        notes: Sequence[InventoryNote],
    ) -> JudgeRun:
        opened = self._open(request, cancel, dry_run=False)
        judge = BlockJudge(opened.setup, partial(open_model, opened.turn), cancel)
        return JudgeRun(
            opened.vault, opened.setup, judge, opened.store, stored, notes, pause, cancel
        )

    def _make_table(
        self, opened: _Opened, found: SortedNotes, stored: StoredVerdicts
    ) -> JudgeTable:
        cost, check = _estimate_cost(opened, found.waiting, stored), None
        other = self._open_sample(opened.request, found, CancelToken())
        if other is not None:
            known = other.store.load()
            drawn = sample_notes(found, other.model, opened.request.sample, known)
            cost, check = _estimate_cost(other, drawn.waiting, known), drawn.check
        return JudgeTable(
            replace(opened.request, question=opened.question),
            opened.model,
            opened.rules.description,
            found.rows,
            found.private,
            found.excluded,
            cost,
            sample=check,
        )


def _name_day(question: str, today: date) -> str:
    """Return a question with the day on which it is asked, if its dates depend on that."""
    spans = {find_date_spans(question, today + timedelta(days)) for days in _OTHER_DAYS}
    return question if len(spans) == 1 else f"{question}\n\nToday is {today:%A}, {today}."


def _read_scope(text: str) -> Query:
    """Parse the filter of a scope.

    Raises:
        InvalidRequest: the text is no filter.
    """
    query = parse_query(text)
    problem = " ".join(query.problems)
    if text.strip() and (query.words.strip() or query.phrases or problem):
        raise InvalidRequest(
            f"“{text}” is not a filter. {problem}".strip(),
            hint="Write filters as in the search box, such as folder:Journal after:2025.",
        )
    return replace(query, words="", phrases=())


def _choose_notes(opened: _Opened, waiting: Sequence[InventoryNote]) -> Sequence[InventoryNote]:
    """Choose the notes of a first run: those that fit the question best, and any others."""
    first = opened.request.first
    if first is None or first >= len(waiting):
        return waiting
    if first < 1:
        return ()
    vault = opened.vault
    found = vault.search(opened.question, first, SearchOptions(by_meaning=False)).hits
    named = {vault.name_path(note.path): note for note in waiting}
    best = dict.fromkeys(named[hit.path] for hit in found if hit.path in named)
    chosen = list(best)[: (first + 1) // 2]
    others = [note for note in sorted(waiting, key=lambda note: note.path) if note not in chosen]
    step = len(others) / (first - len(chosen))
    chosen += [others[int(place * step)] for place in range(first - len(chosen))]
    return sorted(chosen, key=lambda note: (note.tokens, note.path))


def _estimate_cost(
    opened: _Opened, waiting: Sequence[InventoryNote], stored: StoredVerdicts
) -> JudgeCost:
    """Estimate what judging the given notes takes."""
    if not waiting or opened.model == EXTRACTIVE:
        return JudgeCost()
    setup, model = opened.setup, opened.turn.model
    sizes = [int(note.tokens * _COUNTED_OTHERWISE) + _NOTE_TOKENS for note in waiting]
    calls = _count_calls(sizes, setup.block_tokens)
    prompt, output = sum(sizes) + calls * setup.frame_tokens, len(waiting) * _VERDICT_TOKENS
    price = 0.0 if model.is_local else None
    if model.input_price is not None and model.output_price is not None and not model.is_local:
        price = prompt * model.input_price + output * model.output_price
    seconds = None
    if stored.notes:
        seconds = stored.seconds / stored.notes * len(waiting) / AT_ONCE
    return JudgeCost(len(waiting), calls, prompt, output, price, seconds, model.is_local)


def _count_calls(sizes: Sequence[int], most_tokens: int) -> int:
    """Return how many calls notes of the given sizes take, in their order."""
    calls, tokens, notes = 0, 0, 0
    for size in sizes:
        if size > most_tokens:
            calls += -(-size // most_tokens)
        elif notes and notes < MOST_NOTES and tokens + size <= most_tokens:
            tokens, notes = tokens + size, notes + 1
        else:
            calls, tokens, notes = calls + 1, size, 1
    return calls


def _make_name(question: str) -> str:
    """Return a name for a note from a question."""
    plain = "".join(char if char.isalnum() or char in " -'" else " " for char in question)
    return " ".join(plain.split())[:60].strip() or "Judged notes"
