"""Format results for a terminal.

Hidden characters in texts from notes and models are escaped, see `app.hidden_characters`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from app.hidden_characters import escape_text

if TYPE_CHECKING:
    from app.doctor import Check
    from app.library.finding_fixes import FindingFix
    from app.library.review import ReviewResult
    from app.sessions.bin import BinnedChat
    from app.sessions.session_info import SessionInfo
    from app.sessions.transcript import (
        ChatTranscript,
        MessageItem,
        TranscriptItem,
    )
    from chains.citations.check import Citation
    from chains.events import AskResult, RunEdits
    from chains.turn_answer import ToolStep, TurnAnswer
    from context.exam import SummaryExam
    from vault.indexing.indexer import IndexReport
    from vault.review.findings import FindingFilter
    from vault.search.related import RelatedNote
    from vault.search.search import SearchResult
    from vault.search.selftest import SelfTest

_SNIPPET_LINES = 4
STOPPED_EARLY: Final = "Stopped before anything arrived."


def format_count(number: int, noun: str) -> str:
    """Format a count with its noun, such as `1 note` or `349 notes`."""
    from vault.coverage import name_count

    return name_count(number, noun)


def place(path: str, lines: Sequence[int] | None, page: int | None = None) -> str:
    """Format a location as `path:first-last`, or as `path, page N` for files with pages."""
    name = escape_text(path).replace("\n", "\\n")
    if page is not None:
        return f"{name}, page {page}"
    if not lines:
        return name
    first, last = lines
    return f"{name}:{first}" if first == last else f"{name}:{first}-{last}"


def index_report(report: "IndexReport") -> Iterator[str]:
    """Format an indexing report as lines."""
    if not report.is_complete:
        yield "Indexing stopped. Search covers what is done; the next run goes on from here."
    yield from report.warnings
    if not report.notes and not report.failed:
        yield "No notes in this folder yet. Add Markdown files, or choose another folder."
        return
    changes = {
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "renamed": report.renamed,
    }
    summary = ", ".join(f"{n:,} {what}" for what, n in changes.items() if n) or "nothing changed"
    yield f"{format_count(report.notes, 'note')} indexed: {summary}."
    yield (
        f"{format_count(report.chunks, 'passage')}, {report.embedded_chunks:,} of them embedded "
        f"now, in {report.seconds:.1f} s."
    )
    if report.excluded:
        first = ", ".join(
            f"{place(path, None)} ({escape_text(rule)})" for path, rule in report.excluded[:3]
        )
        rest = ", …" if len(report.excluded) > 3 else "."
        yield f"{len(report.excluded):,} excluded by a rule: {first}{rest}"
    for path, reason in report.failed:
        yield f"Could not be read: {place(path, None)}: {escape_text(reason)}"
    for path, reason in report.faulty:
        yield f"{place(path, None)}: {escape_text(reason)}"


def search_result(result: "SearchResult") -> Iterator[str]:
    """Format search hits as lines."""
    from vault.notes.kinds import find_page
    from vault.quotes.lines import choose_lines
    from vault.search.query import parse_query

    words = parse_query(result.query).words
    if not result.hits:
        yield escape_text(result.explain_no_hits())
    for number, hit in enumerate(result.hits, start=1):
        heading = " › ".join(hit.heading) or hit.title
        where = place(hit.path, hit.lines, find_page(hit.path, hit.heading))
        is_named = heading == PurePath(hit.path).stem
        yield f"{number}. {where}" + ("" if is_named else f"  {escape_text(heading)}")
        lines = choose_lines(hit.markdown_text, words, _SNIPPET_LINES)
        yield from (f"   {escape_text(line)}" for line in lines)
        yield ""
    if result.misses_meaning:
        yield "Searched by words only."


def list_notes(result: "SearchResult", offset: int) -> Iterator[str]:
    """Format one page of a note list as lines, followed by the number of notes in the whole list.

    Args:
        result: the notes on the page.
        offset: the zero-based position of the page's first note in the whole list.
    """
    total = result.total or 0
    for hit in result.hits:
        yield f"{place(hit.path, hit.lines)}  {escape_text(hit.title)}: {escape_text(hit.text)}"
    sentence = result.describe_total()
    query = escape_text(result.query)
    yield sentence if total else f'No note fits "{query}": {sentence[0].lower()}{sentence[1:]}'
    if result.hits and (offset or result.next is not None):
        yield f"{offset + 1:,} to {offset + len(result.hits):,} of them are listed here."
    if result.next is not None:
        yield f"Go on with --offset {result.next}."


def list_related(found: "Sequence[RelatedNote]") -> Iterator[str]:
    """Format related notes, one per line."""
    if not found:
        yield "No note is near this one."
    for note in found:
        linked = "  linked" if note.is_linked else ""
        yield f"{note.score:.2f}  {place(note.path, None)}  {escape_text(note.title)}{linked}"
        yield escape_text(f"      {note.why}")


def review(result: "ReviewResult", which: "FindingFilter") -> Iterator[str]:
    """Format the findings of a review: the reason, the places, and the key.

    Args:
        which: what limits the findings.
    """
    from vault.review.findings import FIXED_KINDS

    if not result.findings:
        kind, here = " of this kind" if which.kinds else "", " here" if which.folder else ""
        yield f"No finding{kind}{here} in {format_count(result.notes, 'note')}."
    for finding in result.findings:
        yield escape_text(finding.reason)
        for note in finding.notes:
            lines = (note.first, note.last) if note.first else None
            quote = f"  {note.quote}" if note.quote else ""
            yield escape_text(f"    {place(note.path, lines)}{quote}")
        fix = f"--fix {finding.key}  " if finding.kind in FIXED_KINDS else ""
        yield f"    {fix}--dismiss {finding.key}"
    if result.left_out:
        yield f"{result.left_out:,} more are left out. --folder or --kind lists fewer."
    if result.dismissed:
        yield f"{len(result.dismissed):,} dismissed; --json lists them."


def list_fixes(key: str, fixes: "Sequence[FindingFix]") -> Iterator[str]:
    """Format the fixes of a finding: what each does, its diff, and how to apply it."""
    if not fixes:
        yield "No fix is mechanical here. Open the notes and decide."
    for fix in fixes:
        yield escape_text(f"{fix.label}.")
        yield from (escape_text(f"    {line}") for line in fix.plan.diff.splitlines())
        yield f"    --fix {key} --choice {fix.id}"


def call(step: "ToolStep") -> str:
    """Format a tool call with its arguments."""
    arguments = _list_arguments(step.arguments)
    return escape_text(f"{step.name}: {arguments}" if arguments else step.name)


def _list_arguments(arguments: Mapping[str, object]) -> str:
    from context.messages import show_json

    return ", ".join(map(show_json, arguments.values()))


def sources(result: "AskResult") -> Iterator[str]:
    """Format an answer's sources and unverified claims as lines."""
    from chains.events import CITES_NOTHING
    from chains.models import EXTRACTIVE

    answer, checked = result.answer, result.answer.checked
    has_text = bool(answer.text.strip())
    # Without a model, an answer that quotes nothing says so itself.
    cites = result.mode == "vault" and (answer.model != EXTRACTIVE or bool(checked.citations))
    if cites or answer.sources_sentence:
        yield ""
    if answer.sources_sentence:
        yield answer.sources_sentence
    elif cites and has_text:
        yield "Sources" if checked.citations else CITES_NOTHING
    ordered = sorted(checked.citations, key=lambda citation: citation.n)
    yield from dict.fromkeys(map(_describe_source, ordered))
    for claim in checked.unverified:
        number = "" if claim.n is None else f"[{claim.n}] "
        quote = "" if claim.quote is None else f'"{escape_text(claim.quote)}": '
        yield f"Not verified: {number}{quote}{escape_text(claim.reason)}"
    if answer.end.status == "interrupted":
        yield "Interrupted. What had arrived is kept." if has_text else STOPPED_EARLY
    yield ""
    yield from _list_claims(answer)
    yield f"Chat {result.session} · {escape_text(answer.model)} · {_fill(result.context)}"


def _list_claims(answer: "TurnAnswer") -> Iterator[str]:
    """Yield what of an answer is in what was sent, and the claims that are contradicted."""
    if summary := answer.claims.summary:
        yield f"{summary}."
    for claim in answer.claims.claims:
        if claim.verdict == "contradicted":
            text = escape_text(" ".join(claim.text.split()))
            yield f"Contradicted: {text}: {escape_text(claim.reason)}"


def _describe_source(cited: "Citation") -> str:
    where = place(cited.path, cited.lines, cited.page)
    line = f"[{cited.n}] {where}  {escape_text(' › '.join(cited.heading))}".rstrip()
    sentence = escape_text(" ".join(cited.sentence.split()))
    return f"{line}: {sentence}" if sentence else line


def list_edits(edits: "RunEdits") -> Iterator[str]:
    """List the notes that were changed in a turn, and explain how to undo the changes."""
    yield from ("", "Changed notes:")
    for note in edits.notes:
        was = f" (was {escape_text(note.old_path)})" if note.old_path else ""
        yield f"  {escape_text(note.path)}{' (new)' if note.is_new else was}"
    yield f"Undo with: strata undo --run {edits.run}"


def _fill(context: Mapping[str, Any]) -> str:
    return f"{context['used']:,} of {context['budget']:,} tokens"


def compaction(result: Mapping[str, Any]) -> Iterator[str]:
    """Format a compaction's token counts and summary as lines."""
    warnings = [escape_text(warning) for warning in result.get("warnings", ())]
    if result["entry"] is None:
        yield "Nothing was compacted: before its last turn, the chat has nothing new to sum up."
        yield from warnings
        return
    outline = "outline" if warnings else "outline, no model set"
    from context.exam import SummaryExam

    makers = {"model": "by the model", "outline": outline, "none": "no summary"}
    before, after = result["before_tokens"], result["after_tokens"]
    yield f"Summarised: {before:,} → {after:,} tokens ({makers[result['by']]})"
    yield from warnings
    yield from list_exam(SummaryExam.read(result.get("exam")))
    if result["summary"]:
        yield ""
        yield escape_text(result["summary"])


def list_exam(exam: "SummaryExam | None") -> Iterator[str]:
    """List what a request still says of what a summary replaced, if that is known."""
    yield from map(escape_text, [] if exam is None else exam.list_lines())


def format_summary_mend(mended: Mapping[str, Any], session: str) -> Iterator[str]:
    """Format what was done to a summary, and what requests say by now, as lines."""
    from context.exam import SummaryExam

    yield mended["message"]
    yield from list_exam(SummaryExam.read(mended["exam"]))
    if mended["can_undo"]:
        yield f"Undo with: strata compact --session {session} --undo"


def format_reading_cost(cost: Mapping[str, Any]) -> Iterator[str]:
    """Format the cost of reading attachments part by part, as lines."""
    for part in cost["attachments"]:
        yield (
            f"{place(part['source'], part['lines'])} is too large to be sent: "
            f"about {part['tokens']:,} tokens, to be read in {format_count(part['parts'], 'part')}."
        )
    price = cost["price"]
    dollars = "the model's price is not known" if price is None else f"${price:,.2f} at most"
    yield (
        f"Reading it all takes up to {format_count(cost['calls'], 'call')} of the model: "
        f"{cost['prompt_tokens']:,} tokens sent, {cost['output_tokens']:,} answered at most; "
        f"{dollars}."
    )


def transcript(chat: "ChatTranscript") -> Iterator[str]:
    """Format a chat's transcript as lines."""
    yield escape_text(chat.title)
    for item in chat.items:
        yield ""
        yield from _item(item)


def _item(item: "TranscriptItem") -> Iterator[str]:
    from app.sessions.transcript import (
        AnswerItem,
        CustomItem,
        HookChangeItem,
        SummaryItem,
        UserItem,
    )

    match item:
        case UserItem():
            yield _head("You", item)
            yield escape_text(item.text)
        case AnswerItem():
            yield _head(escape_text(item.answer.model), item)
            yield from _answer(item.answer)
            for changed in item.changed:
                yield escape_text(f"! {changed.sentence}")
                yield from (escape_text(f"    {line}") for line in changed.diff.splitlines()[2:])
        case CustomItem():
            yield f"A program, {item.time}, {item.entry}"
            yield escape_text(item.text)
        case SummaryItem():
            sentence = item.sentence if item.change else "the turns above are sent as a summary"
            yield f"--- {sentence} ({item.entry}) ---"
            yield from list_exam(item.exam)
            yield escape_text(item.summary)
        case HookChangeItem():
            description = ". ".join(filter(None, (item.title, item.summary)))
            yield escape_text(f"--- the hook {item.hook} changed what is sent: {description} ---")
        case _:
            turns = format_count(item.turns, "turn")
            verb = "is" if item.turns == 1 else "are"
            yield f"--- {turns} above {verb} not sent any more ({item.reason}) ---"


def _answer(answer: "TurnAnswer") -> Iterator[str]:
    for step in answer.steps:
        yield from _step(step)
    text, ending = escape_text(answer.shown_text), escape_text(answer.ending)
    yield text or ending or f"({answer.end.status})"
    if text and ending:
        yield ending
    if answer.sources_sentence:
        yield answer.sources_sentence
    for cited in answer.checked.citations:
        yield f"[{cited.n}] {place(cited.path, cited.lines, cited.page)}"
    yield from _list_claims(answer)


def _head(who: str, item: "MessageItem") -> str:
    label = f" [{escape_text(item.label)}]" if item.label else ""
    heading = f"{who}, {item.time}, {item.entry}{label}"
    if len(item.siblings) < 2:
        return heading
    at = item.siblings.index(item.entry) + 1
    others = " ".join(name for name in item.siblings if name != item.entry)
    return f"{heading} ‹ {at}/{len(item.siblings)} › {others}"


def _step(step: "ToolStep") -> Iterator[str]:
    if step.text_before:
        yield escape_text(step.text_before)
    arguments = _list_arguments(step.arguments)
    yield escape_text(f"({step.name}: {arguments}: {step.status})").replace("\n", " ")


def list_settings(listing: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Format settings as lines of text, each with its value, its source and its help text."""
    for item in listing:
        yield f"{item['key']} = {value(item['value']) or 'nothing'}  ({item['source']})"
        yield f"    {item['help']}"


def value(found: object) -> str:
    """Format a setting's value on one line."""
    import json

    return escape_text(found) if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def chats(found: "Sequence[SessionInfo]", is_archive: bool = False) -> Iterator[str]:
    """Yield a line for each chat, or a single message if there are no chats.

    Args:
        found: the chats.
        is_archive: whether archived chats are listed. This changes the message for an empty list.
    """
    if not found:
        yield "No chat is archived." if is_archive else "No chats yet. strata ask begins one."
    for chat in found:
        count = format_count(chat.turns, "turn")
        when = chat.updated[:16].replace("T", " ")
        marks = "".join(f"  ({mark})" for mark in ("pinned", "archived") if getattr(chat, mark))
        yield f"{chat.session}  {when}  {count:>9}  {escape_text(chat.title)}{marks}"


def list_bin(found: "Sequence[BinnedChat]") -> Iterator[str]:
    """Yield a line for each chat in the bin, with the day on which it is deleted for good."""
    if not found:
        yield "The bin is empty."
    for chat in found:
        count = format_count(chat.info.turns, "turn")
        title = escape_text(chat.info.title)
        yield f"{chat.info.session}  until {chat.until[:10]}  {count:>9}  {title}"


def self_test(result: "SelfTest") -> Iterator[str]:
    """Format the results of the search self-test as lines."""
    if not result.questions:
        yield "No questions could be made from your notes, so nothing was measured."
        return
    yield f"{format_count(result.questions, 'question')} made from your notes."
    first, ten = _format_share(result.recall_at_1), _format_share(result.recall_at_10)
    yield f"The right note came first for {first}, and among the first ten hits for {ten}."
    yield f"Mean reciprocal rank {result.mrr:.3f}."
    yield f"A search took {result.p50_ms:.0f} ms, 19 of 20 at most {result.p95_ms:.0f} ms."
    if result.ranking is None:
        yield (
            "The ranking has its usual weights: fitting it to your notes was not tried yet. "
            "The open window does it when nothing else is to be done."
        )
    if (fit := result.ranking) is not None:
        yield (
            f"The ranking was fitted to your notes: nDCG@10 of {fit.questions // 2} questions that "
            f"were kept aside went from {fit.before:.3f} to {fit.after:.3f}."
            if fit.has_changed
            else f"The ranking has its usual weights: on {fit.questions} questions made from your "
            "notes no others were clearly better."
        )
        yield (
            f"Words alone or meaning alone have nDCG@10 {fit.single:.3f} at best, this ranking "
            f"{fit.after:.3f}. They have {_format_share(fit.single_recall)} of the notes among the "
            f"first ten, this ranking {_format_share(fit.recall)}."
        )


def _format_share(share: float) -> str:
    return f"{share * 100:.0f} %"


def checks(found: "Sequence[Check]") -> Iterator[str]:
    """Format the results of `strata doctor`, one per line."""
    for check in found:
        yield f"{'ok  ' if check.ok else 'BAD '} {check.name}: {escape_text(check.detail)}"
