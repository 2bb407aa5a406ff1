"""The examples on the page about hooks, saved as it says and run in real turns."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from context.hooks import HOOK_KINDS
from context.log.entries import EphemeralEntry, MessageEntry
from context.patches import _APPLIERS
from context.report.markdown import format_envelope
from resources import read_text
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder

PAGE = read_text("vault/Guide/Hooks.md")
EXAMPLES = dict(
    re.findall(r"^Save this as `(\w+\.py)`.*?\n\n```python\n(.*?)^```$", PAGE, re.M | re.S)
)
SECRET = "sk-abcdef123456"


@pytest.fixture
def server():
    with ModelServer(Answer("Understood.")) as server:
        yield server


@pytest.fixture
def hooked(server: ModelServer, strata_home: Path, embedder: Embedder):
    """An assistant that runs some of the examples."""
    assistants = []

    def start(*names: str) -> Assistant:
        folder = Paths.find().hooks
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_text(EXAMPLES[name], "utf-8")
        assistant = build(Paths.find(), {"hooks.enabled": True}, embedder)
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistants.append(assistant)
        return assistant

    yield start
    for assistant in assistants:
        assistant.close()


def test_the_page_has_its_three_examples() -> None:
    assert list(EXAMPLES) == ["marker.py", "redaction.py", "reminder.py"]


def test_the_page_names_every_kind_of_hook_and_every_operation() -> None:
    assert all(f'| `"{kind}"` |' in PAGE for kind in HOOK_KINDS)
    told = set(re.findall(r"`(\w+)`", PAGE.split("## Operations")[1].split("## When")[0]))
    assert _APPLIERS.keys() - told == {"compaction_apply"}  # which is the app's own


def test_the_marker_puts_the_date_behind_each_question_for_good(
    hooked: Callable[..., Assistant], server: ModelServer
) -> None:
    assistant = hooked("marker.py")
    first = result_of(ask(assistant, "When?", mode="chat"))
    marked = f"When?\n\n[asked on {date.today().isoformat()}]"
    sent = server.bodies[-1]["messages"][-1]["content"]
    assert (sent if isinstance(sent, str) else sent[0]["text"]) == marked
    assert first.warnings == ()
    (told,) = first.context["transforms"]
    assert (told["name"], told["title"], told["reasons"]) == (
        "marker",
        "Date",
        ["the date of the question"],
    )
    (Paths.find().hooks / "marker.py").unlink()
    ask(assistant, "And?", mode="chat", session=first.session)
    history = [message["content"] for message in server.bodies[-1]["messages"][1:]]
    assert str(history[0]).count("asked on") == 1
    assert history[-1] == "And?"
    assert assistant.history.transcript(str(first.session)).items[0].text == "When?"


def test_the_marker_works_beside_notes_that_were_attached(
    hooked: Callable[..., Assistant], server: ModelServer, small_vault: Path
) -> None:
    assistant = hooked("marker.py")
    assistant.open_vault(small_vault, remember=False)
    ask(assistant, "When?", mode="chat", attach=("Watering.md",))
    *_, question = server.bodies[-1]["messages"][-1]["content"]
    assert question["text"].startswith("When?\n\n[asked on ")


def test_the_redaction_covers_what_is_asked_answered_and_found_before_it_is_stored(
    hooked: Callable[..., Assistant],
    server: ModelServer,
    small_vault: Path,
    strata_home: Path,
) -> None:
    assistant = hooked("redaction.py")
    note = f"# Keys\n\nThe key is {SECRET}.\n\nPassword: hunter2\n" + "More of it.\n" * 500
    (small_vault / "Keys.md").write_text(note)
    assistant.open_vault(small_vault, remember=False)
    call = ("c1", "read_note", json.dumps({"path": "Keys.md"}))
    server.script(Answer("", calls=(call,)), Answer(f"It is {SECRET}, you know."))
    result = result_of(ask(assistant, f"Is {SECRET} right?", mode="agent", update_index=False))
    assert result.answer.text == "It is [redacted], you know."
    assert "changed this answer" in result.warnings[0]
    sent = "".join(received.raw.decode() for received in server.received)
    assert "The key is [redacted]." in sent
    assert SECRET not in sent
    assert "hunter2" not in sent
    (step,) = result.answer.steps
    kept = assistant.sessions.read(str(result.session)).load_result(str(step.ref_id))
    assert kept is not None
    assert "The key is [redacted].\n\n[redacted]\nMore" in kept
    log = assistant.sessions.file(str(result.session)).read_text("utf-8")
    context = json.dumps(assistant.history.read_last_context(str(result.session), full=True))
    assert SECRET not in log + context
    assert "hunter2" not in log + context


def test_the_reminder_goes_with_each_request_and_is_never_history(
    hooked: Callable[..., Assistant], server: ModelServer
) -> None:
    assistant = hooked("reminder.py")
    first = result_of(ask(assistant, "When?", mode="chat"))
    ask(assistant, "And?", mode="chat", session=first.session)
    reminder = "Answer in at most three sentences."
    for body in server.bodies:
        *_, last = body["messages"]
        assert last["content"][-1] == {"type": "text", "text": reminder}
        assert str(body["messages"]).count(reminder) == 1
    entries = assistant.sessions.read(str(first.session)).log.entries
    assert sum(isinstance(entry, EphemeralEntry) for entry in entries) == 2
    said = [entry.message.text for entry in entries if isinstance(entry, MessageEntry)]
    assert said == ["When?", "Understood.", "And?", "Understood."]
    found = assistant.history.read_last_context(str(first.session), full=True)
    assert found is not None
    end = format_envelope(found, found["request_body"]).split("## Ephemeral")[1]
    assert end.count("**user** — Answer in at most three sentences.") == 2


def test_the_examples_get_on_with_each_other(
    hooked: Callable[..., Assistant], server: ModelServer
) -> None:
    assistant = hooked(*EXAMPLES)
    result = result_of(ask(assistant, f"Is {SECRET} right?", mode="chat"))
    *_, asked = server.bodies[-1]["messages"]
    *_, question, reminder = (part["text"] for part in asked["content"])
    assert question.startswith("Is [redacted] right?\n\n[asked on")
    assert reminder == "Answer in at most three sentences."
    assert result.warnings == ()
