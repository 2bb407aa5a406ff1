"""Build the transcript of a chat from its log.

The transcript follows the active branch. Summaries, hook changes and the divider for dropped turns
are shown where they took effect.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from app.sessions.session import COMPACTION
from app.sessions.transcript import (
    AnswerItem,
    ChatCost,
    ChatTranscript,
    CustomItem,
    DroppedItem,
    HookChangeItem,
    SummaryItem,
    TranscriptItem,
    UserItem,
)
from app.sessions.user_messages import read_mode, read_names, read_selections
from chains.citations.sections import read_sections
from chains.citations.sources import check_answer
from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.turns import (
    MOST_EARLIER,
    TurnSources,
    find_changes,
    gather_evidence,
    list_summaries,
    list_turn_texts,
)
from chains.models import EXTRACTIVE
from chains.request.project import has_note_text, join_texts, list_recorded_notes
from chains.request.usage import ANSWER, READING, REWRITE
from chains.retrieval.listing_query import list_filter_parts
from chains.retrieval.retrieve import read_ways
from chains.tools.registry import ToolRun
from chains.turn.continuation import (
    BrokenAnswer,
    find_broken_answer,
    group_answers,
    join_answers,
    join_thinking,
    sum_seconds,
)
from chains.turn_answer import MOST_STEP_CHARS, AnswerEnd, ToolStep, TurnAnswer
from context.assemble.turn_context import WHERE
from context.compaction import HEAD
from context.exam import SummaryExam
from context.fit.edit import SUMMARY_EDIT, find_edited_summaries
from context.fit.guard_steps import SUMMARY, SUMMARY_HALVED
from context.history.tool_pairing import is_final, list_tool_results
from context.history.turns import LoggedTurn, list_turns
from context.layers import Segment
from context.log.entries import (
    CustomMessageEntry,
    DropEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    PinEntry,
    TransformEntry,
    UsageEntry,
)
from context.log.tree import EntryTree
from context.messages import ToolCallPart, ToolResultPart, list_tool_calls
from context.report.report import Compaction
from vault.edits.plan import NoteChange

_PURPOSES_OF_ANSWERS: Final = frozenset({"", ANSWER, REWRITE, READING})


def build_transcript(
    title: str, log: Sequence[Entry], report: Mapping[str, Any] | None
) -> ChatTranscript:
    """Build the transcript of a chat along its active branch.

    Args:
        title: the chat's title.
        log: all entries of the chat.
        report: the context report of the last request, which lists the turns that are no longer
            sent. If None, they are taken from the log.
    """
    reader = _Reader(log)
    lines = dict(_summaries(reader.path, _find_changed_summaries(report)))
    divider, boundary = _find_dropped(reader.path, report)
    shaped = _find_hook_changes(reader.path)
    items: list[TranscriptItem] = []
    for turn in reader.turns:
        items += [lines.pop(entry) for entry in turn.entry_ids if entry in lines]
        if divider is not None and boundary in turn.entry_ids:
            items.append(divider)
        items += reader.items(turn)
        items += [line for entry in turn.entry_ids for line in shaped.get(entry, ())]
    return ChatTranscript(title, (*items, *lines.values()), cost=_sum_costs(log))


def build_summaries(path: Sequence[Entry]) -> list[SummaryItem]:
    """Return the summaries of a branch as its transcript shows them, oldest first."""
    return [item for _place, item in _summaries(path, {})]


class _Reader:
    """Builds the transcript items of turns."""

    def __init__(self, log: Sequence[Entry]) -> None:
        self._log = log
        self._tree = EntryTree(log)
        self.path = self._tree.path()
        self.turns = list_turns(self.path)
        self._texts: dict[int, tuple[EvidenceText, ...]] = {}
        self._recorded = list_recorded_notes(self.path)

    def items(self, turn: LoggedTurn) -> Iterator[TranscriptItem]:
        if turn.user is not None:
            yield self._question(turn.user, turn.segments)
        for group in group_answers(turn.later_entries):
            if not isinstance(group, CustomMessageEntry):
                yield self._answer(turn, group)
            elif group.display is not False:
                yield CustomItem(group.id, group.message.text, group.timestamp)

    def _question(self, asked: MessageEntry, sent: Sequence[Segment]) -> UserItem:
        return UserItem(
            entry=asked.id,
            text=asked.message.text,
            time=asked.timestamp,
            mode=read_mode(asked),
            attach=read_names(asked),
            selections=read_selections(asked),
            siblings=self._list_versions(asked.id, asked.id),
            label=self._labels.get(asked.id, ""),
            is_pinned=self._pins.get(asked.id, False),
            sent=tuple(sent),
        )

    def _answer(self, turn: LoggedTurn, work: Sequence[MessageEntry]) -> AnswerItem:
        last = work[-1]
        text, broken = join_answers(work), self._broken
        question = "" if turn.user is None else turn.user.message.text
        sources = (*turn.segments, *self._sources(turn))
        known, is_noted = join_texts(question, self._recorded), has_note_text(self._recorded)
        sections = read_sections(last.extra, sources)
        model = next((entry.model for entry in reversed(work) if entry.model), "")
        checked = check_answer(
            text,
            sources,
            known,
            sections,
            has_project_text=is_noted,
            has_model=model != EXTRACTIVE,
        )
        answer = TurnAnswer(
            text,
            model,
            AnswerEnd(_find_status(last, text), last.reason or "", last.error_code or ""),
            sum_seconds(work),
            sources=tuple(part for part in sources if part.number is not None),
            steps=tuple(self._steps(work)),
            checked=checked,
            sections=sections,
            searched_by=read_ways(turn.stored_fields),
            evidence=None if model == EXTRACTIVE else self._gather(turn, last, sources, known),
            thinking=join_thinking(work),
        )
        return AnswerItem(
            last.id,
            last.timestamp,
            answer,
            siblings=self._list_versions(work[0].id, last.id),
            label=self._labels.get(last.id, ""),
            is_pinned=self._pins.get(last.id, False),
            cost=self._find_cost(turn),
            where=str(last.extra.get(WHERE, "")),
            filter_parts=list_filter_parts(turn.stored_fields),
            can_continue=broken is not None and broken.entry == last.id,
        )

    def _gather(
        self, turn: LoggedTurn, last: MessageEntry, sources: Sequence[Segment], known: str
    ) -> ClaimEvidence:
        """Return what the claims of an answer are checked against."""
        can_edit = turn.user is not None and read_mode(turn.user) == "agent"
        changes = self._changes.get(last.id) if can_edit else ()
        sent = TurnSources(sources, known, can_edit, changes)
        at = self._places[turn.entry_ids[0]]
        near = range(max(0, at - MOST_EARLIER), at)
        earlier = (text for place in near for text in self._list_texts(place))
        return gather_evidence(turn, sent, (*self._list_summaries(last.id), *earlier))

    @cached_property
    def _places(self) -> dict[str, int]:
        """The index of each turn, by its first entry."""
        return {turn.entry_ids[0]: at for at, turn in enumerate(self.turns)}

    def _list_summaries(self, answer: str) -> Iterator[EvidenceText]:
        """Yield the summaries that were stored before an answer. A later one may repeat it."""
        end = self._entry_places[answer]
        return (text for at, text in self._summaries if at < end)

    @cached_property
    def _entry_places(self) -> dict[str, int]:
        return {entry.id: at for at, entry in enumerate(self.path)}

    @cached_property
    def _summaries(self) -> list[tuple[int, EvidenceText]]:
        """The summaries of the branch with the indexes of their entries."""
        entries = enumerate(self.path)
        return [(at, text) for at, entry in entries for text in list_summaries((entry,))]

    def _list_texts(self, at: int) -> tuple[EvidenceText, ...]:
        """Return what a turn has sent and said, which several later answers can rest on."""
        if at not in self._texts:
            self._texts[at] = tuple(list_turn_texts(self.turns[at]))
        return self._texts[at]

    @cached_property
    def _changes(self) -> Mapping[str | None, tuple[NoteChange[str], ...]]:
        return find_changes(self._log)

    @cached_property
    def _broken(self) -> BrokenAnswer | None:
        """The chat's last answer, if a model can continue it."""
        broken = find_broken_answer(self.path)
        return None if broken is None or broken.model == EXTRACTIVE else broken

    def _find_cost(self, turn: LoggedTurn) -> float | None:
        """Return the price of a turn, or None if the price of any call is unknown."""
        entries = set(turn.entry_ids)
        costs = [
            call.cost
            for call in self._usage
            if call.parent_id in entries and call.purpose in _PURPOSES_OF_ANSWERS
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None

    @cached_property
    def _usage(self) -> list[UsageEntry]:
        return [entry for entry in self._log if isinstance(entry, UsageEntry)]

    def _sources(self, turn: LoggedTurn) -> Iterator[Any]:
        for entry in turn.answers:
            if (run := self._runs.get(entry.id)) is not None:
                yield from run.sources

    def _steps(self, work: Sequence[MessageEntry]) -> Iterator[ToolStep]:
        results = {
            part.tool_call_id: (entry.id, part)
            for entry in work
            for part in list_tool_results(entry.message)
        }
        for entry in work:
            message_text = entry.message.text.strip()
            for call in list_tool_calls(entry.message):
                place, result = results.get(call.id, ("", None))
                yield _step(call, result, self._runs.get(place), message_text)
                message_text = ""

    def _list_versions(self, entry: str, shown: str) -> tuple[str, ...]:
        """Return the ids that identify the versions of a message in the transcript, in log order.

        Args:
            entry: the id of the log entry of any version.
            shown: the id that identifies this version in the transcript.
        """
        found = self._tree.siblings(entry)
        return tuple(shown if e.id == entry else self._find_shown_id(e) for e in found)

    def _find_shown_id(self, start: MessageEntry) -> str:
        """Return the id that identifies a user message or an answer in the transcript.

        For an answer, this is the id of its last message.
        """
        if start.message.role == "user":
            return start.id
        branch = self._tree.path(self._tree.find_newest_leaf(start.id))
        last = start
        for entry in branch[branch.index(start) + 1 :]:
            if isinstance(entry, MessageEntry):
                if entry.message.role == "user":
                    break
                last = entry
        return last.id

    @cached_property
    def _labels(self) -> dict[str, str]:
        found = (entry for entry in self._log if isinstance(entry, LabelEntry))
        return {entry.target: entry.label or "" for entry in found}

    @cached_property
    def _pins(self) -> dict[str, bool]:
        return {entry.target: entry.on for entry in self.path if isinstance(entry, PinEntry)}

    @cached_property
    def _runs(self) -> dict[str | None, ToolRun]:
        found = ((entry.parent_id, ToolRun.from_entry(entry)) for entry in self._log)
        return {place: run for place, run in found if run is not None}


def _find_status(last: MessageEntry, text: str) -> str:
    """Return the status of an answer, given its last message and its whole text."""
    if not is_final(last.message) or (last.status == "error" and text.strip()):
        return "interrupted"
    return last.status or "complete"


def _is_paid(answer: MessageEntry) -> bool:
    """Return whether a service may charge for an answer. It does not charge for a refusal."""
    return answer.model != EXTRACTIVE and answer.status != "error"


def _sum_costs(log: Sequence[Entry]) -> ChatCost | None:
    """Return the price of all model calls, or None if it is zero or unknown.

    The sum is an estimate if any price or usage is unknown.
    """
    calls = [entry for entry in log if isinstance(entry, UsageEntry)]
    total = sum(entry.cost or 0.0 for entry in calls)
    counted = {entry.parent_id for entry in calls}
    answers = (entry for entry in log if isinstance(entry, MessageEntry) and entry.model)
    is_uncounted = any(entry.id not in counted for entry in answers if _is_paid(entry))
    is_estimate = is_uncounted or any(entry.cost is None for entry in calls)
    return ChatCost(total, is_estimate) if total > 0 else None


def _step(
    call: ToolCallPart, result: ToolResultPart | None, run: ToolRun | None, message_text: str
) -> ToolStep:
    is_well = result is not None and not result.is_error
    return ToolStep(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        status=run.status if run is not None else "ok" if is_well else "error",
        seconds=None if run is None else run.seconds,
        ref_id=None if run is None else run.ref_id,
        text="" if result is None else result.content[:MOST_STEP_CHARS],
        text_before=message_text[:MOST_STEP_CHARS],
    )


def _find_hook_changes(path: Sequence[Entry]) -> dict[str, list[HookChangeItem]]:
    found: dict[str, list[HookChangeItem]] = {}
    above = ""
    for entry in path:
        if isinstance(entry, MessageEntry | CustomMessageEntry):
            above = entry.id
        elif isinstance(entry, TransformEntry) and (item := _build_hook_change(entry)) is not None:
            if entry.transformer_name in {COMPACTION, SUMMARY_EDIT}:
                continue  # not a hook; the transcript shows the summary anyway
            found.setdefault(above, []).append(item)
    return found


def _build_hook_change(entry: TransformEntry) -> HookChangeItem | None:
    shown = entry.display or {}
    title, summary, markdown = (
        text if isinstance(text := shown.get(name), str) else ""
        for name in ("title", "summary", "markdown")
    )
    renderer, props = shown.get("rendererId"), shown.get("rendererProps")
    if not (title + summary + markdown).strip() and props is None:
        return None
    known = renderer if isinstance(renderer, str) else ""
    fields = title, summary, markdown, known, props
    return HookChangeItem(entry.id, entry.transformer_name, *fields)


def _find_changed_summaries(report: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the summaries that the last request left out or shortened, with the reasons.

    The keys are the ids of the log entries that store the compactions. A summary that was shortened
    and then left out has both reasons in the report; the second one holds. The log itself does not
    say this, because each request decides anew.
    """
    dropped = () if report is None else report["dropped"]
    return {
        entry: reason
        for reason in (SUMMARY_HALVED, SUMMARY)
        for item in dropped
        if item["reason"] == reason
        for entry in item["entries"]
    }


def _summaries(
    path: Sequence[Entry], changed: Mapping[str, str]
) -> Iterator[tuple[str, SummaryItem]]:
    """Yield each summary with the id of a log entry, above which the summary is shown.

    A summary is shown above the first entry that was not summarised. If the branch has no such
    entry, the summary is shown above the entry that stores the compaction.

    Args:
        path: the entries of the branch.
        changed: the summaries that the last request changed, with the reasons.
    """
    ids, edited = {entry.id for entry in path}, find_edited_summaries(path)
    transforms = [entry for entry in path if isinstance(entry, TransformEntry)]
    found = [
        (one.id, op) for one in transforms for op in one.patch if op["op"] == "compaction_apply"
    ]
    for entry, op in found:
        kept, is_in_use = op.get("firstKeptEntryId"), entry == found[-1][0]
        item = _summary(entry, op, edited.get(entry))
        item = replace(item, is_in_use=is_in_use, change=changed.get(entry, ""))
        yield str(kept) if kept in ids else entry, item


def _summary(entry: str, op: Mapping[str, Any], edit: Mapping[str, Any] | None) -> SummaryItem:
    after = (edit or op).get("tokensAfter")
    text = op.get("summary", "") if edit is None else edit.get("parts", "")
    exam = SummaryExam.read(op.get("exam"))
    if exam is not None and edit is not None:
        exam = exam.after_edit(str(op.get("summary", "")), str(text))
    kept = op.get("firstKeptEntryId")
    compaction = Compaction(
        entry,
        kept if isinstance(kept, str) else None,
        int(op.get("tokensBefore", 0)),
        after if isinstance(after, int) else None,
        str(op.get("by", "model")),
        edit is not None or op.get("edited") is True,
        exam,
    )
    return SummaryItem(compaction, str(text).removeprefix(HEAD).lstrip("\n"))


def _find_dropped(
    path: Sequence[Entry], report: Mapping[str, Any] | None
) -> tuple[DroppedItem | None, str]:
    """Return the divider for dropped turns, and the id of the log entry above which it is shown.

    The divider is shown above the oldest turn that requests still contain. If no turns were
    dropped, return None and an empty string.
    """
    if report is None:
        return _find_dropped_in_log(path)
    left_out = [item for item in report["dropped"] if item["layer"] == "L4" and item["turns"]]
    gone = {entry for item in left_out for entry in item["entries"]}
    kept = [turn for turn in list_turns(path) if not gone.intersection(turn.entry_ids)]
    if not left_out or not kept:
        return None, ""
    item = DroppedItem(
        turns=sum(item["turns"] for item in left_out),
        tokens=sum(item["tokens"] for item in left_out),
        reason=str(left_out[-1]["reason"]),
    )
    return item, kept[0].entry_ids[0]


def _find_dropped_in_log(path: Sequence[Entry]) -> tuple[DroppedItem | None, str]:
    cuts = [entry for entry in path if isinstance(entry, DropEntry)]
    if not cuts:
        return None, ""
    cut = cuts[-1]
    above = [entry.id for entry in path]
    above = above[: above.index(cut.up_to_entry_id)] if cut.up_to_entry_id in above else []
    n_turns = sum(1 for turn in list_turns(path) if turn.entry_ids[0] in above)
    item = DroppedItem(n_turns, max(0, cut.tokens_before - cut.tokens_after), cut.reason)
    return item, cut.up_to_entry_id
