"""Format results as text for a terminal.

Control characters of notes and models are escaped, and so are invisible characters and those that
change the direction of text, except the ones that emoji and some scripts need.
"""

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import regex

if TYPE_CHECKING:
    from app.doctor import Check
    from app.sessions.store import SessionInfo
    from app.sessions.transcript import (
        ChatTranscript,
        MessageItem,
        StepItem,
        TranscriptItem,
    )
    from chains.events import AskResult, ToolStarted
    from vault.indexing.indexer import IndexProgress, IndexReport
    from vault.search.related import RelatedNote
    from vault.search.search import SearchResult
    from vault.search.selftest import SelfTest

_SNIPPET_LINES = 4

# Control characters, default ignorable code points of Unicode (direction marks, zero-width
# characters, tags, variation selectors), line separators and interlinear annotation marks.
_HIDDEN: Final = regex.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]"
)
# The exceptions, which belong to visible text: joiners and variation selectors of emoji, keycaps,
# the three flags made of tags, joiners between joining letters or next to a virama, zero-width
# spaces in scripts without word spaces, and Mongolian variation selectors.
_WRITTEN: Final = regex.compile(
    r"""(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})
    | (?<=\p{Extended_Pictographic})[\ufe0e\ufe0f] | (?<=[0-9\#*])\ufe0f(?=\u20e3)
    | (?<=\U0001f3f4)\U000e0067\U000e0062
      (?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)
      \U000e007f
    | (?<=\p{ccc=9})[\u200c\u200d] | \u200d(?=\p{ccc=9})
    | (?<=[\p{jt=D}\p{jt=L}]\p{Mn}*)\u200c(?=[\p{jt=D}\p{jt=R}])
    | (?<=[\p{jt=D}\p{jt=R}\p{jt=L}]\p{Mn}*)\u200d(?!\u200d)
    | (?<=[\p{Khmer}\p{Lao}\p{Myanmar}\p{Thai}])\u200b(?=[\p{Khmer}\p{Lao}\p{Myanmar}\p{Thai}])
    | (?<=\p{Mongolian})(?<![\u180b-\u180f])[\u180b-\u180f]""",
    regex.VERBOSE,
)
_BESIDE_CHARS: Final = 8  # how far before a hidden character the character that permits it can be


def plain(text: str) -> str:
    """Return a text with invisible characters written as escapes.

    Tabs, line breaks and the invisible characters that emoji and some scripts need are kept.
    """
    return _escape(text, 0)


def _escape(text: str, start: int) -> str:
    """Escape invisible characters from a position on; the text before it is only context."""
    written_to = 0

    def show(match: "regex.Match[str]") -> str:
        nonlocal written_to
        if (written := _WRITTEN.match(text, match.start())) is not None:
            written_to = written.end()
        sign: str = match.group()
        if match.start() < written_to:
            return sign
        return f"\\x{ord(sign):02x}" if sign <= "\xff" else f"\\u{{{ord(sign):x}}}"

    shown: str = _HIDDEN.sub(show, text, pos=start)
    return shown[start:]


class PlainStream:
    """Converts the pieces of a stream to `plain` text; a piece may end within an emoji."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that can be shown now; hidden characters wait for the next piece."""
        text = self._held + piece
        end = len(text)
        while end and _HIDDEN.match(text, end - 1):
            end -= 1
        self._held = text[end:]
        return self._show(text[:end])

    def flush(self) -> str:
        """Return the remaining text at the end of the stream."""
        text, self._held = self._held, ""
        return self._show(text)

    def _show(self, text: str) -> str:
        before, self._before = self._before, (self._before + text)[-_BESIDE_CHARS:]
        return _escape(before + text, len(before))


def place(path: str, lines: Sequence[int] | None, page: int | None = None) -> str:
    """Format a position in a file as `path:first-last`, or by its page."""
    name = plain(path).replace("\n", "\\n")
    if page is not None:
        return f"{name}, page {page}"
    if not lines:
        return name
    first, last = lines
    return f"{name}:{first}" if first == last else f"{name}:{first}-{last}"


class ProgressLine:
    """A progress line on standard error that is overwritten; not shown without a terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._width = 0

    def show(self, text: str) -> None:
        """Replace the line by this text."""
        if self._is_shown:
            room = shutil.get_terminal_size().columns - 1
            line = plain(text).replace("\n", " ")[:room]
            sys.stderr.write(f"\r{line.ljust(self._width)}")
            sys.stderr.flush()
            self._width = len(line)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()
            self._width = 0


def progress(at: "IndexProgress") -> str:
    """Format the progress of indexing, in notes."""
    if at.phase == "store":
        return "Updating the vector store"
    if not at.total:
        return "Reading your notes"
    does = "Reading" if at.phase == "scan" else "Indexing"
    speed = f", {_rate(at.per_s)} a second" if at.phase == "embed" and at.per_s >= 0.05 else ""
    return f"{does}: {at.done:,} of {at.total:,} notes{speed}  {at.path}".rstrip()


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f}" if per_s >= 10 else f"{per_s:.1f}"


def index_report(report: "IndexReport") -> Iterator[str]:
    """Yield the report of an indexing run, line by line."""
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
    said = ", ".join(f"{n:,} {what}" for what, n in changes.items() if n) or "nothing changed"
    yield f"{report.notes:,} notes indexed: {said}."
    yield (
        f"{report.chunks:,} passages, {report.embedded_chunks:,} of them embedded now, "
        f"in {report.seconds:.1f} s."
    )
    if report.excluded:
        yield f"{len(report.excluded):,} left out by a rule."
    for path, reason in report.failed:
        yield f"Could not be read: {place(path, None)}: {plain(reason)}"


def search_result(result: "SearchResult") -> Iterator[str]:
    """Yield the hits, each with its place and its first lines."""
    from vault.notes.kinds import find_page

    if not result.hits:
        yield f'Nothing found for "{plain(result.query)}". Try fewer words.'
    for number, hit in enumerate(result.hits, start=1):
        heading = " › ".join(hit.heading) or hit.title
        where = place(hit.path, hit.lines, find_page(hit.path, hit.heading))
        yield f"{number}. {where}  {plain(heading)}"
        lines = [line for line in plain(hit.text).splitlines() if line.strip()]
        yield from (f"   {line}" for line in lines[:_SNIPPET_LINES])
        yield ""


def list_notes(result: "SearchResult", offset: int) -> Iterator[str]:
    """Yield the notes of one page, one on each line, and the total number."""
    total = result.total or 0
    if not total:
        yield f'No note fits "{plain(result.query)}".'
    for hit in result.hits:
        yield f"{place(hit.path, hit.lines)}  {plain(hit.title)}: {plain(hit.text)}"
    if result.hits and (offset or result.next is not None):
        yield f"{offset + 1:,} to {offset + len(result.hits):,} of {total:,} notes."
    if result.next is not None:
        yield f"Go on with --offset {result.next}."


def list_related(found: "Sequence[RelatedNote]") -> Iterator[str]:
    """Yield the notes related to a note, one on each line."""
    if not found:
        yield "No note is near this one."
    for note in found:
        linked = "  linked" if note.is_linked else ""
        yield f"{note.score:.2f}  {place(note.path, None)}  {plain(note.title)}{linked}"


def call(event: "ToolStarted") -> str:
    """Format a tool call with its arguments."""
    told = ", ".join(str(value) for value in event.arguments.values())
    return plain(f"{event.name}: {told}" if told else event.name)


def sources(result: "AskResult") -> Iterator[str]:
    """Yield the citations of an answer, and the claims that could not be verified."""
    from chains.events import CITES_NOTHING

    if result.mode == "vault":
        yield ""
        yield "Sources" if result.citations else CITES_NOTHING
    shown = dict.fromkeys(
        f"[{c.n}] {place(c.path, c.lines, c.page)}  {plain(' › '.join(c.heading))}".rstrip()
        for c in sorted(result.citations, key=lambda citation: citation.n)
    )
    yield from shown
    for claim in result.unverified:
        number = "" if claim.n is None else f"[{claim.n}] "
        quote = "" if claim.quote is None else f'"{plain(claim.quote)}": '
        yield f"Not verified: {number}{quote}{plain(claim.reason)}"
    if result.status == "interrupted":
        yield "Interrupted. What had arrived is kept."
    yield ""
    yield f"Chat {result.session} · {plain(result.model)} · {_fill(result.context)}"


def list_edits(edits: Mapping[str, Any]) -> Iterator[str]:
    """Yield the notes that an answer changed, and how to undo that."""
    yield from ("", "Changed notes:")
    for note in edits["notes"]:
        was = f" (was {plain(note['old_path'])})" if note["old_path"] else ""
        yield f"  {plain(note['path'])}{' (new)' if note['is_new'] else was}"
    yield f"Undo with: strata undo --run {edits['run']}"


def _fill(context: Mapping[str, Any]) -> str:
    return f"{context['used']:,} of {context['budget']:,} tokens"


def compaction(result: Mapping[str, Any]) -> Iterator[str]:
    """Format the figures of a compaction, and its summary."""
    if result["entry"] is None:
        yield "There is nothing to sum up: the chat has no turn before its last one."
        return
    makers = {"model": "by the model", "outline": "as an outline", "none": "without a summary"}
    before, after = result["before_tokens"], result["after_tokens"]
    yield (
        f"{before:,} → {after:,} tokens, {result['before_messages']:,} → "
        f"{result['after_messages']:,} messages, {makers[result['by']]}"
    )
    if result["summary"]:
        yield ""
        yield plain(result["summary"])


def format_reading_cost(cost: Mapping[str, Any]) -> Iterator[str]:
    """Format the cost of reading attachments whole."""
    for part in cost["attachments"]:
        yield (
            f"{place(part['source'], part['lines'])} is too large to be sent: "
            f"about {part['tokens']:,} tokens, to be read in {part['parts']:,} parts."
        )
    price = cost["price"]
    dollars = "the model's price is not known" if price is None else f"${price:,.2f} at most"
    yield (
        f"Reading it all takes up to {cost['calls']:,} calls of the model: "
        f"{cost['prompt_tokens']:,} tokens sent, {cost['output_tokens']:,} answered at most; "
        f"{dollars}."
    )


def transcript(chat: "ChatTranscript") -> Iterator[str]:
    """Yield the transcript of a chat, line by line."""
    yield plain(chat.title)
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
            yield plain(item.text)
        case AnswerItem():
            yield _head(plain(item.model), item)
            for step in item.steps:
                yield from _step(step)
            yield plain(item.text) or f"({item.status})"
            yield from (f"[{c.n}] {place(c.path, c.lines, c.page)}" for c in item.citations)
            for changed in item.changed:
                yield plain(f"! {changed.sentence}")
                yield from (plain(f"    {line}") for line in changed.diff.splitlines()[2:])
        case CustomItem():
            yield f"A program, {item.time}, {item.entry}"
            yield plain(item.text)
        case SummaryItem():
            yield f"--- the turns above are sent as a summary ({item.entry}) ---"
            yield plain(item.summary)
        case HookChangeItem():
            told = ". ".join(filter(None, (item.title, item.summary)))
            yield plain(f"--- the hook {item.hook} changed what is sent: {told} ---")
        case _:
            yield f"--- {item.turns:,} turns above are not sent any more ({item.reason}) ---"


def _head(who: str, item: "MessageItem") -> str:
    """Format the heading of a message: author, time, entry and other versions."""
    label = f" [{plain(item.label)}]" if item.label else ""
    said = f"{who}, {item.time}, {item.entry}{label}"
    if len(item.siblings) < 2:
        return said
    at = item.siblings.index(item.entry) + 1
    others = " ".join(name for name in item.siblings if name != item.entry)
    return f"{said} ‹ {at}/{len(item.siblings)} › {others}"


def _step(step: "StepItem") -> Iterator[str]:
    if step.said:
        yield plain(step.said)
    told = ", ".join(str(value) for value in step.arguments.values())
    yield plain(f"({step.name}: {told}: {step.status})").replace("\n", " ")


def list_settings(listing: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each setting with its value, its source and its help text."""
    for item in listing:
        yield f"{item['key']} = {value(item['value']) or 'nothing'}  ({item['source']})"
        yield f"    {item['help']}"


def value(found: object) -> str:
    """Format a setting's value on one line."""
    import json

    return plain(found) if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def chats(found: "Sequence[SessionInfo]") -> Iterator[str]:
    """Yield the chats, one on each line."""
    if not found:
        yield "No chats yet. strata ask begins one."
    for chat in found:
        count = "1 turn" if chat.turns == 1 else f"{chat.turns:,} turns"
        when = chat.updated[:16].replace("T", " ")
        yield f"{chat.session}  {when}  {count:>9}  {plain(chat.title)}"


def self_test(result: "SelfTest") -> Iterator[str]:
    """Yield the results of the self-test of search."""
    yield f"{result.questions} questions made from your notes."
    first, ten = f"{result.recall_at_1:.0%}", f"{result.recall_at_10:.0%}"
    yield f"The right note came first for {first}, and among the first ten hits for {ten}."
    yield f"Mean reciprocal rank {result.mrr:.3f}."
    yield f"A search took {result.p50_ms:.0f} ms, 19 of 20 at most {result.p95_ms:.0f} ms."


def checks(found: "Sequence[Check]") -> Iterator[str]:
    """Yield the checks of `strata doctor`, one on each line."""
    for check in found:
        yield f"{'ok  ' if check.ok else 'BAD '} {check.name}: {plain(check.detail)}"
