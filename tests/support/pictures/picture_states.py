"""States of the chat for pictures: an agent's turn, chips, versions, commands."""

from pathlib import Path
from typing import Any

from chains.events import Mode
from tests.support.models.model_server import Answer
from tests.support.pictures.sample_window import BACKUPS, POWER, Stage, save, settle, wait_until
from tests.support.window.window_pages import find
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer as AnswerWidget
from ui.chat.message.user import UserMessage
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.palette import Palette
from ui.widgets.find_bar import FindBar

TASK = "What is backed up, and what would be lost in a fire?"
FOUND = """\
Everything under `/srv/notes` and `/srv/photos` is backed up every night [1]. In a fire you would \
lose what was written since the last Sunday, since the rented machine is filled once a week [1].

- The passphrase is kept at Mira's as well [1]
- Films are not backed up at all
"""
INSTRUCTIONS = """\
# How to work with these notes

Answer in the language of the question. Never suggest deleting a note.
Dates are written as 2026-05-14.
"""


def make_more_states(on: Stage, name: str, folder: Path) -> None:
    """Save pictures of these states in the window's current theme and size."""
    for state in (_agent, _chips, _versions, _commands, _instructions, _palette, _request, _shelf):
        state(on, name, folder)
        on.window.columns.close_drawer()


def _agent(on: Stage, name: str, folder: Path) -> None:
    on.server.script(_work)
    _ask(on, TASK, "agent")
    save(on.window, folder / f"agent-{name}.png")
    answer = _last(on, AnswerWidget)
    answer.steps.head.click()
    answer.steps.rows[1].line.click()
    settle()
    on.window.transcript.scroller.to_end()
    settle()
    save(on.window, folder / f"agent-open-{name}.png")


def _chips(on: Stage, name: str, folder: Path) -> None:
    on.window.open_session(None)
    drafting = on.window.controllers.composer
    drafting.attach(
        [
            Attachment("Examples/Home server.md"),
            Attachment("Examples/Garden log.md", (3, 12)),
            Attachment("#guide"),
            Attachment("Questions worth asking.md"),
        ]
    )
    composer = on.window.composer
    composer.set_text("Draft the mail to Ines that asks for the April restore test")
    wait_until(
        lambda: all(chip.state.problem or chip.state.tokens for chip in composer.chips.chips())
    )
    settle()
    save(on.window, folder / f"chips-{name}.png")
    composer.set_text("Compare it with ")
    on.window.activateWindow()
    settle()
    composer.completer.begin("@")
    composer.input.insertPlainText("co")
    settle()
    save(on.window, folder / f"completing-{name}.png")
    drafting.clear()
    settle()


def _versions(on: Stage, name: str, folder: Path) -> None:
    on.play(POWER)
    on.window.controllers.messages.answer_again()
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle(600)
    question = _last(on, UserMessage)
    on.assistant.branches.label(
        str(on.window.controllers.session.session), question.entry, "to check"
    )
    on.window.controllers.session.load()
    settle(600)
    question.tools.set_seen(True)
    save(on.window, folder / f"versions-{name}.png")
    question.edit()
    settle()
    save(on.window, folder / f"editing-{name}.png")
    question.close_editor()


def _commands(on: Stage, name: str, folder: Path) -> None:
    composer = on.window.composer
    composer.submitted.emit("/context")
    settle(600)
    composer.set_text("/home")
    composer.submitted.emit("/home")
    settle(600)
    save(on.window, folder / f"command-{name}.png")
    on.window.controllers.composer.clear()
    composer.clear_error()
    composer.set_mode("agent")
    composer.set_obstacle(
        "The agent needs a model that can call tools, and no model is set.",
        [("Set a model", settle), ("Ask in Vault mode", settle)],
    )
    settle()
    save(on.window, folder / f"no-model-{name}.png")
    on.window.controllers.composer.set_mode("vault")


def _instructions(on: Stage, name: str, folder: Path) -> None:
    bar = find(on.window, InstructionsBar)
    bar.ask("AGENTS.md", INSTRUCTIONS, "0")
    settle()
    save(on.window, folder / f"instructions-{name}.png")
    bar.hide()


def _palette(on: Stage, name: str, folder: Path) -> None:
    on.window.run_command("palette")
    find(on.window, Palette).field.setText("co")
    settle()
    save(on.window, folder / f"palette-{name}.png")
    on.window.controllers.palette.close()
    on.window.run_command("find")
    _find_bar(on).field.setText("power")
    settle()
    save(on.window, folder / f"finding-{name}.png")
    _find_bar(on).closed.emit()


def _shelf(on: Stage, name: str, folder: Path) -> None:
    on.window.show_note("Examples/Home server.md")
    settle(500)
    on.window.run_command("toggle_related")
    settle(1_000)
    save(on.window, folder / f"related-{name}.png")
    on.window.docking.show_index()
    settle(500)
    save(on.window, folder / f"index-{name}.png")
    on.window.run_command("reset_layout")


def _request(on: Stage, name: str, folder: Path) -> None:
    on.open(BACKUPS)
    on.window.controllers.context.show_last_request()
    on.window.run_command("show_request")
    wait_until(on.window.controllers.context.request_view.isVisible)
    on.window.controllers.context.request_view.finder.field.setText("backed up")
    settle()
    save(on.window.controllers.context.request_view, folder / f"request-{name}.png")
    on.window.controllers.context.request_view.close()


def _ask(on: Stage, question: str, mode: Mode) -> None:
    on.window.open_session(None)
    on.window.controllers.composer.set_mode(mode)
    on.window.controllers.session.ask(question)
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle(600)
    on.window.controllers.composer.set_mode("vault")


def _work(body: dict[str, Any]) -> Answer:
    """Answer as an agent: search twice, read two notes, fail to read a third, then answer."""
    done = sum(message["role"] == "tool" for message in body["messages"])
    if done == 0:
        calls = (
            ("c1", "search_notes", '{"query": "backup of the server"}'),
            ("c2", "search_notes", '{"query": "what is left out of the backup"}'),
        )
        return Answer("", usage=None, calls=calls, finish="tool_calls")
    if done == 2:
        calls = (
            ("c3", "read_note", '{"path": "Examples/Home server.md", "start": 1, "end": 40}'),
            ("c4", "read_note", '{"path": "Examples/Cellar.md"}'),
        )
        return Answer("", usage=None, calls=calls, finish="tool_calls")
    return Answer(FOUND, usage=None)


def _last(on: Stage, kind: type) -> Any:
    rows = on.window.transcript.feed.rows
    return [row.widget for row in rows if isinstance(row.widget, kind)][-1]


def _find_bar(on: Stage) -> FindBar:
    """Return the search bar that is open."""
    (bar,) = (bar for bar in on.window.findChildren(FindBar) if bar.isVisible())
    return bar
