"""Two chats of sixty turns in which everything happens, checked request by request.

Chat, vault, project and agent questions take turns; notes are attached, edited, made private,
excluded by a rule and read in pieces; messages are pinned, edited and answered again; the program
is started anew. Whatever happens: what the panel shows is what was sent, no summary is lost while
there is room, each change of the beginning of a request has a reason, and no request holds a note
while it is private or excluded.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import ContextPrepared, Event, Mode
from chains.request.ask import Ask
from context.history.tool_pairing import is_final
from context.log.entries import MessageEntry, TransformEntry
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.servers.mcp_server import settings_entry
from tests.support.sessions.turns import result_of
from tests.support.vaults.image_files import draw
from vault.embedder import Embedder

TURNS: Final = 60
MODES: Final[tuple[Mode, ...]] = ("chat", "vault", "project", "agent")
SECRET: Final = "The passphrase is zebra-7391."
DRAFT: Final = "The beans of the draft go under the willow-4418."
RULE: Final = "Garden/Drafts/"
SUMMARY: Final = (
    "- Decisions: the beans of Garden/Beds.md are in row 12, as Question {number} said."
)
ANSWER: Final = "The beans want warm soil, and the barrel holds two hundred litres. " * 9
Call = tuple[str, dict[str, Any]]
# What the agent does, question by question; its calls are made one after the other.
PLANS: Final[tuple[tuple[Call, ...], ...]] = (
    (("tool_search", {"query": "look up number"}), ("test__look_up_3", {"query": "beans"})),
    (
        ("read_note", {"path": "Garden/Long.md"}),
        ("list_folder", {}),
        ("read_note", {"path": "Garden/Drafts/Beans.md"}),
    ),
    tuple(("read_note", {"path": f"Garden/Row {number}.md"}) for number in range(1, 6)),
    (("update_memory", {"facts_add": ["The beans are in row 12."]}),),
    (
        ("append_to_note", {"path": "Log.md", "text": "Watered."}),
        ("search_notes", {"query": "soil"}),
    ),
    (("update_progress", {"currentObjective": "Sow the beans"}), ("read_note", {"path": "Log.md"})),
)


def is_for_summary(body: Body) -> bool:
    return "has to be remembered" in json.dumps(body["messages"][-1])


def write_notes(folder: Path) -> Path:
    notes = {
        "Garden/Beds.md": "# Beds\nThe beans are in row 12, the peas in row 13.\n" * 12,
        "Garden/Long.md": "".join(f"Line {n} of the long note on soil.\n" for n in range(400)),
        "Garden/Water.md": "# Water\nThe barrel holds 200 litres. See [[Beds]].\n" * 20,
        **{f"Garden/Row {row}.md": f"A bean of row {row} is sown.\n" * 130 for row in range(1, 6)},
        "Log.md": "# Log\nSown on 12 May.\n",
        "Garden/Drafts/Beans.md": f"# Beans\n{DRAFT}\n",
        "Secret.md": f"# Secret\n{SECRET}\n",
    }
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (folder / "Plan.png").write_bytes(draw(64, 48))
    return folder


@dataclass
class ScriptedModel:
    """Answers questions, makes the calls of an agent's plan, and writes summaries."""

    number: int = 0
    _calls: Iterator[Call] = field(default_factory=lambda: iter(()))
    _made: int = 0

    def begin(self, number: int, plan: Sequence[Call]) -> None:
        """Begin a turn, in which the calls of a plan are made one after the other."""
        self.number, self._calls = number, iter(plan)

    def __call__(self, body: Body) -> Answer:
        if is_for_summary(body):
            return Answer(SUMMARY.format(number=self.number))
        call = next(self._calls, None) if body.get("tools") else None
        if call is None:
            return Answer(f"Answer {self.number}. {ANSWER}", chunk_chars=400)
        self._made += 1
        return Answer("", calls=((f"c{self._made}", call[0], json.dumps(call[1])),))


@dataclass(frozen=True)
class Sent:
    """A request as the server received it, with its report."""

    body: Body
    report: Mapping[str, Any]

    @property
    def question(self) -> int:
        """The index of the user message that it asks."""
        asked = (at for at, m in enumerate(self.body["messages"]) if "Question " in json.dumps(m))
        users = [at for at in asked if self.body["messages"][at]["role"] == "user"]
        return users[-1]

    def begins(self, later: "Sent", *, is_same_turn: bool) -> bool:
        """Return whether a later request repeats all of this one that stays in the chat."""
        old, new = strip_marks(self.body), strip_marks(later.body)
        stable = self.question
        if is_same_turn:
            stable = len(old["messages"]) - bool(self.report["uncached"])
        same_start = [old.get(key) == new.get(key) for key in ("tools", "system")]
        return all(same_start) and old["messages"][:stable] == new["messages"][:stable]


def strip_marks(value: Any) -> Any:
    """Remove the cache marks, which move from request to request."""
    if isinstance(value, dict):
        return {key: strip_marks(one) for key, one in value.items() if key != "cache_control"}
    return [strip_marks(one) for one in value] if isinstance(value, list) else value


@dataclass
class LongChat:
    """A chat whose requests are checked, each with the one before it on its path.

    Attributes:
        start: starts the program on the same folders.
        sent: what was sent last for each question, by the id of its entry.
        hidden: the texts of the notes that are private or excluded now.
        with_draft: for each request in turn, whether it holds the note that a rule excludes later.
    """

    start: Callable[[], Assistant]
    server: ModelServer
    model: ScriptedModel
    assistant: Assistant = field(init=False)
    session: str = ""
    sent: dict[str, Sent] = field(default_factory=dict)
    reports: list[Mapping[str, Any]] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    with_draft: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.assistant = self.start()

    @property
    def messages(self) -> list[MessageEntry]:
        path = self.assistant.sessions.read(self.session).path()
        return [entry for entry in path if isinstance(entry, MessageEntry)]

    @property
    def questions(self) -> list[str]:
        return [entry.id for entry in self.messages if entry.message.role == "user"]

    @property
    def answers(self) -> list[str]:
        return [entry.id for entry in self.messages if is_final(entry.message)]

    def restart(self) -> None:
        self.assistant.close()
        self.assistant = self.start()

    def ask(self, number: int, mode: Mode, attach: Sequence[str] = ()) -> None:
        self.model.begin(number, PLANS[number // 4 % len(PLANS)] if mode == "agent" else ())
        place = {"session": self.session} if self.session else {"project": "Garden"}
        question = f"Question {number}, what of the beans?"
        asked = Ask(question, mode, attach=tuple(attach), **place)
        self._run(self.assistant.ask(asked, CancelToken()))

    def edit(self, number: int) -> None:
        """Ask the last question in other words."""
        self.model.begin(number, ())
        last = self.questions[-1]
        self._run(self.assistant.edit(self.session, last, f"Question {number}?", CancelToken()))

    def answer_again(self, number: int) -> None:
        self.model.begin(number, ())
        self._run(self.assistant.regenerate(self.session, self.answers[-1], CancelToken()))

    def compact(self) -> None:
        list(self.assistant.compact(self.session, CancelToken()))

    def _run(self, turn: Iterator[Event]) -> None:
        first = len(self.server.bodies)
        events = list(turn)
        result = result_of(events)
        assert result.answer.end.status == "complete", result.warnings
        self.session = str(result.session)
        bodies = [body for body in self.server.bodies[first:] if not is_for_summary(body)]
        prepared = [e.report.to_dict() for e in events if isinstance(e, ContextPrepared)]
        reports = prepared[:-1]  # the last request is reported again when it is answered
        requests = [Sent(*pair) for pair in zip(bodies, reports, strict=True)]
        # A question that is answered again is compared with its first answer's request.
        known = [self.sent[one] for one in self.questions[-2:] if one in self.sent]
        before, is_same_turn = known[-1] if known else None, False
        for request in requests:
            self._check(request, before, is_same_turn)
            before, is_same_turn = request, True
        self.sent[self.questions[-1]] = requests[-1]
        self.reports += reports
        shown = self.assistant.history.read_last_context(self.session, full=True)
        assert shown is not None
        assert (shown["wire"], shown["rebuilt"]) == (bodies[-1], False)
        assert shown["layers"] == reports[-1]["layers"]

    def _check(self, request: Sent, before: Sent | None, is_same_turn: bool) -> None:
        report, prefix = request.report, request.report["prefix"]
        assert report["used"] <= report["budget"]
        assert report["used"] == sum(layer["tokens"] for layer in report["layers"].values())
        assert prefix["changed"] == bool(prefix["reasons"])
        if before is not None and not before.begins(request, is_same_turn=is_same_turn):
            assert prefix["reasons"], (before.body, request.body)
        self._check_summary(request)
        assert not [text for text in self.hidden if text in json.dumps(request.body)]
        self.with_draft.append(DRAFT in json.dumps(request.body))

    def _check_summary(self, request: Sent) -> None:
        """Check that the summary in use is sent whole, unless nothing else but one turn is sent.

        What it quotes of notes that are excluded by now is left out, too.
        """
        report = request.report
        made = [one["entry"] for one in report["compactions"] if one["by"] != "none"]
        if not made:
            return
        entry = self.assistant.sessions.read(self.session).list_path_to(made[-1])[-1]
        assert isinstance(entry, TransformEntry)
        text = str(entry.patch[-1]["summary"])
        reasons = {one["reason"] for one in report["dropped"]}
        if json.dumps(text, ensure_ascii=False)[1:-1] not in dump(request.body):
            withheld = [one["entries"] for one in report["dropped"] if one["reason"] == "withheld"]
            if any(entry.id in entries for entries in withheld):
                return
            assert reasons & {"summary", "summary_shortened"}, report["dropped"]
            assert report["layers"]["L4"]["items"] <= 2


def dump(body: Body) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def begin(
    server: ModelServer, embedder: Embedder, tmp_path: Path
) -> Iterator[Callable[[str, int], LongChat]]:
    """Begin a chat with a model and a threshold, with notes, a project and sixty tools."""
    vault, chats = write_notes(tmp_path / "vault"), list[LongChat]()

    def start() -> Assistant:
        assistant = build(Paths.find(), embedder=embedder)
        assistant.open_vault(vault, remember=False)
        assistant.agents.connect(None, "all")
        return assistant

    def begin_chat(model: str, threshold: int) -> LongChat:
        scripted = ScriptedModel()
        server.script(scripted)
        chat = LongChat(start, server, scripted)
        chats.append(chat)
        values = {
            "chat.apiBase": server.url,
            "chat.model": model,
            "autoCompactThreshold": threshold,
            "maxOutputTokens": 1_024,
            "mcp.servers": {"test": settings_entry(tmp_path)},
        }
        for name, value in values.items():
            chat.assistant.settings.set(name, value)
        return chat

    yield begin_chat
    for chat in chats:
        chat.assistant.close()


def hide_secret(chat: LongChat, vault: Path) -> None:
    (vault / "Secret.md").write_text(f"---\nprivate: true\n---\n{SECRET}\n", "utf-8")
    chat.hidden.add(SECRET)


def exclude_draft(chat: LongChat) -> None:
    """Exclude the folder of a draft that was attached, read by a tool, and part of a project."""
    assert chat.with_draft[-1], "the draft is in the chat when the rule comes"
    last = chat.sent[chat.questions[-1]]
    assert DRAFT in json.dumps(last.body["messages"][: last.question]), "what a tool read in it too"
    chat.assistant.settings.set("vault.exclude", [RULE])
    chat.hidden.add(DRAFT)


def allow_draft(chat: LongChat) -> None:
    """Remove the rule, after which the draft can be sent again."""
    assert not chat.with_draft[-1]
    chat.assistant.settings.set("vault.exclude", [])
    chat.hidden.discard(DRAFT)


def go_back(chat: LongChat) -> None:
    """Go on from the answer before the last five."""
    chat.assistant.branches.select_leaf(chat.session, chat.answers[-6])


def pin(chat: LongChat, on: bool, pinned: list[str]) -> None:
    if on:
        pinned.append(chat.answers[-2])
    chat.assistant.branches.pin(chat.session, pinned[-1], on)


ATTACHED: Final[Mapping[int, tuple[str, ...]]] = {
    2: ("Secret.md",),
    6: ("Garden/Water.md",),
    7: ("Garden/Water.md", "Garden/Beds.md"),
    8: ("Garden/Drafts/Beans.md",),
    10: ("Plan.png",),
    30: ("Garden/Beds.md",),
    41: ("Plan.png",),
    50: ("Garden/Drafts/Beans.md",),
}
SOAK: Final = pytest.mark.soak


@pytest.mark.parametrize(
    ("model", "threshold"),
    [
        ("gpt-4o", 8_000),
        ("anthropic/claude-sonnet-4-5", 16_000),
        pytest.param("gpt-4o", 16_000, marks=SOAK),
        pytest.param("anthropic/claude-sonnet-4-5", 8_000, marks=SOAK),
    ],
)
def test_sixty_turns_are_what_the_panel_says_and_lose_no_summary(
    begin: Callable[[str, int], LongChat],
    server: ModelServer,
    tmp_path: Path,
    model: str,
    threshold: int,
) -> None:
    chat, pinned = begin(model, threshold), list[str]()
    happens: dict[int, Callable[[], object]] = {
        9: lambda: pin(chat, True, pinned),
        10: lambda: exclude_draft(chat),
        14: chat.restart,
        19: lambda: hide_secret(chat, tmp_path / "vault"),
        23: lambda: go_back(chat),
        27: chat.restart,
        31: lambda: pin(chat, False, pinned),
        44: chat.restart,
        47: lambda: allow_draft(chat),
        52: chat.compact,
    }
    for number in range(TURNS):
        happens.get(number, lambda: None)()
        if number in (17, 48):
            chat.edit(number)
        elif number in (33, 55):
            chat.answer_again(number)
        else:
            chat.ask(number, MODES[number % len(MODES)], ATTACHED.get(number, ()))
    check_coverage(chat)


def check_coverage(chat: LongChat) -> None:
    """Check that what the chat is about has really happened."""
    reports = chat.reports
    assert any(report["compactions"] for report in reports)
    assert any(report["offloaded"] for report in reports)
    assert any(report["deferred_tools"] for report in reports)
    assert any(report["memory"]["facts"] for report in reports)
    assert any(report["pins"] for report in reports)
    reasons = {reason for report in reports for reason in report["prefix"]["reasons"]}
    assert "the history was compacted" in reasons
    assert "tool promoted" in reasons
    assert any(chat.with_draft[-20:]), "the draft comes back when the rule has gone"
    assert len(chat.sent) >= TURNS - 2
