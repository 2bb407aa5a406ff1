"""States for pictures: answers that fail, wait, or ask the user for an approval."""

from collections.abc import Iterator
from typing import Any

from app.errors import ErrorInfo
from chains.tool import ApprovalRequest, Proposal
from context.fixes import make_hint
from tests.support.models.model_server import Answer, Failure, Silence
from tests.support.pictures.gallery import Shot
from tests.support.pictures.picture_states import show_column
from tests.support.pictures.sample_window import (
    BACKUPS,
    COFFEE,
    LONG,
    POWER,
    Stage,
    settle,
    wait_until,
)
from vault.edits.diff import build_diff, list_hunks

_BEFORE = "# Backups\n\nEvery night.\n\n## Restore tests\n\nGarage: March\nRented box: never\n" + (
    "A line between.\n" * 12
)
_AFTER = _BEFORE.replace("Rented box: never", "Rented box: planned for 2026-12-05, Ines")
_TWICE = _AFTER.replace("Every night.", "Every night at 02:30.") + "\nSee also [[Offsite]].\n"
_ADDRESS = "https://www.example.org/a/long/way/" + "to-the-page/" * 14 + "?key=value&q=backup"
_CODES = (
    ("missing_key", "OpenAI needs a key, or refused the one it has.", None),
    ("rate_limited", "OpenAI asks to wait 30 s.", "Your message is kept."),
    (
        "model_unavailable",
        "The model at localhost:11434 does not answer.",
        "Your message is kept. Start it and try again, or choose another model.",
    ),
    ("hook_failed", "The hook shorten failed: it took 5 s. Nothing was sent.", None),
    ("offline", "Offline is on. api.openai.com was not called.", None),
    ("internal", "Something in Strata failed. Your notes and this chat are safe.", None),
)


def show_errors(on: Stage) -> Iterator[Shot]:
    """Show errors in place of answers: one after another, then one after half an answer."""
    transcript = on.window.transcript
    on.server.script(Failure.saying(500, "The model is being loaded"))
    on.ask(POWER)
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle()
    yield Shot("error")
    for code, message, hint in _CODES:
        transcript.live.begin(BACKUPS if code == "offline" else POWER)
        transcript.live.fail(ErrorInfo(code, message, make_hint(hint)))
    settle()
    yield Shot("errors")
    on.server.script(Answer(LONG[:300], break_after=12))
    on.window.open_session(None)
    on.ask(BACKUPS)
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle()
    yield Shot("interrupted")


def show_waiting(on: Stage) -> Iterator[Shot]:
    """Show an answer before anything has arrived, half of it, and what is left when stopped."""
    on.server.script(Silence())
    on.ask(POWER)
    settle(1_500)
    yield Shot("waiting")
    on.stop()
    settle()
    yield Shot("stopped")
    on.play_half(BACKUPS)
    on.window.composer.set_text("And what about the films?")
    yield Shot("answering")
    on.window.composer.set_text("")
    on.stop()


def show_overflow(on: Stage) -> Iterator[Shot]:
    """Show a message that does not fit, and a chat with a message that waits."""
    on.play(POWER)
    composer = on.window.composer
    composer.set_text("List each failed run in this log: " + "2026-11-02 02:30 borg create. " * 900)
    settle(1_500)
    composer.submitted.emit(composer.text())
    settle(1_500)
    yield Shot("overflow")
    yield Shot("overflow-panel", lambda: show_column(on))
    composer.set_text("")
    composer.clear_error()


def show_approvals(on: Stage) -> Iterator[Shot]:
    """Show each kind of approval in a chat of its own."""
    on.play_half(COFFEE)
    cards: list[tuple[str, ApprovalRequest]] = [
        ("edit", _edit(build_diff("Home server/Backups.md", _BEFORE, _AFTER))),
        ("hunks", _edit("", tuple(one.diff for one in list_hunks(_BEFORE, _TWICE)))),
        ("web", _fetch(_ADDRESS)),
        ("server", _server("Files: npx -y @modelcontextprotocol/server-filesystem /home/me/notes")),
        ("tool", _use({"query": "backup", "options": {"limit": 20, "paths": ["a", "b"] * 20}})),
    ]
    for name, request in cards:
        card = on.window.transcript.show_approval(request)
        settle(700)
        card.refuse.setFocus()
        yield Shot(f"approval-{name}", on.window.transcript.scroller.to_end)
        on.window.transcript.remove_approval(card)
    on.stop()


def _edit(diff: str, hunks: tuple[str, ...] = ()) -> ApprovalRequest:
    proposal = _propose("Home server/Backups.md, line 8.", diff=diff, hunks=hunks)
    return ApprovalRequest("a1", "c1", "edit_note", {}, proposal)


def _fetch(address: str) -> ApprovalRequest:
    warnings = ("The address has words of your notes in it: backup",)
    proposal = _propose(address, session_scope="www.example.org", warnings=warnings)
    return ApprovalRequest("a1", "c1", "fetch_url", {"url": address}, proposal)


def _server(command: str) -> ApprovalRequest:
    return ApprovalRequest("a1", "c1", "start_server", {"command": command}, _propose(command))


def _use(arguments: dict[str, Any]) -> ApprovalRequest:
    proposal = _propose("search_everything of files", session_scope="search_everything")
    return ApprovalRequest("a1", "c1", "files__search_everything", arguments, proposal)


def _propose(summary: str, **fields: Any) -> Proposal:
    return Proposal("write", summary, lambda: "", **fields)
