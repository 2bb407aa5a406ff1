"""States for pictures: the chat with an agent's turn, chips, versions, and its panels."""

from collections.abc import Iterator
from typing import Any

from PySide6.QtWidgets import QTreeView

from chains.events import Mode
from tests.support.models.model_server import Answer
from tests.support.pictures.gallery import Shot
from tests.support.pictures.sample_window import (
    BACKUPS,
    COFFEE,
    INDEX,
    POWER,
    Stage,
    settle,
    wait_until,
)
from tests.support.window.window_pages import find
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer as AnswerWidget
from ui.chat.message.user import UserMessage
from ui.chat.transcript.instructions_bar import InstructionsBar
from ui.widgets.buttons import ButtonText

SET_MODEL = ButtonText("Set a model", "Find a model on this computer")
ASK_VAULT = ButtonText("Ask in Vault mode", "Search all notes of the folder")
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


def show_agent(on: Stage) -> Iterator[Shot]:
    """Show the steps of an agent, folded and open."""
    on.server.script(_work)
    _ask(on, TASK, "agent")
    yield Shot("agent")
    answer = _last(on, AnswerWidget)
    answer.steps.head.click()
    answer.steps.rows[1].line.click()
    settle()
    on.window.transcript.scroller.to_end()
    settle()
    yield Shot("agent-open")


def show_chips(on: Stage) -> Iterator[Shot]:
    """Show attachments in the composer, and the list that completes a name."""
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
    yield Shot("chips")
    composer.set_text("Compare it with ")
    on.window.activateWindow()
    settle()
    composer.completer.begin("@")
    composer.input.insertPlainText("co")
    settle()
    yield Shot("completing")
    composer.set_text("")
    drafting.attachments.replace(())
    settle()


def show_versions(on: Stage) -> Iterator[Shot]:
    """Show a question with two answers, and its editor."""
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
    yield Shot("versions")
    question.edit()
    settle()
    yield Shot("editing")
    question.close_editor()


def show_commands(on: Stage) -> Iterator[Shot]:
    """Show the result of a command, and the composer where a model is missing."""
    composer = on.window.composer
    composer.submitted.emit("/context")
    settle(600)
    composer.set_text("/home")
    composer.submitted.emit("/home")
    settle(600)
    yield Shot("command")
    on.window.composer.set_text("")
    composer.clear_error()
    composer.set_mode("agent")
    composer.set_obstacle(
        "The agent needs a model that can call tools, and no model is set.",
        [(text, settle) for text in (SET_MODEL, ASK_VAULT)],
    )
    settle()
    yield Shot("no-model")
    on.window.controllers.composer.set_mode("vault")


def show_instructions(on: Stage) -> Iterator[Shot]:
    """Show the question about the instructions of a folder."""
    bar = find(on.window, InstructionsBar)
    bar.ask("AGENTS.md", INSTRUCTIONS, "0")
    settle()
    yield Shot("instructions")
    bar.hide()


def show_answers(on: Stage) -> Iterator[Shot]:
    """Show answers in three scripts, from their beginning and from their end, and the panel."""
    for name, question in (("japanese", INDEX), ("arabic", COFFEE), ("long", BACKUPS)):
        on.open(question)
        yield Shot(name, on.window.transcript.scroller.to_end)
    bar = on.window.transcript.scroller.bar
    yield Shot("long-top", lambda: bar.setValue(0))
    on.window.controllers.context.show_last_request()
    settle()

    def open_panel() -> None:
        show_column(on)
        open_layer(on, 4)

    yield Shot("panel", open_panel)


def show_shelf(on: Stage) -> Iterator[Shot]:
    """Show the panels of related notes, of the index and of findings."""
    on.window.show_note("Examples/Home server.md")
    settle(500)
    docking = on.window.docking
    for name, show in (
        ("related", docking.show_related),
        ("index", docking.show_index),
        ("review", docking.show_review),
    ):
        show()
        settle(1_500)
        yield Shot(name, show)
    on.window.run_command("reset_layout")


def show_column(on: Stage) -> None:
    """Show the right column, as a drawer in a narrow window."""
    if not on.window.column.isVisible():
        on.window.run_command("toggle_panel")
        settle(60)


def open_layer(on: Stage, place: int) -> None:
    """Expand a layer's row in the context panel."""
    tree = on.window.column.context.findChild(QTreeView)
    tree.expand(tree.model().index(place, 0))
    settle()


def show_request(on: Stage) -> Iterator[Shot]:
    """Show the text of the last request."""
    on.open(BACKUPS)
    on.window.controllers.context.show_last_request()
    on.window.run_command("show_request")
    wait_until(on.window.controllers.context.request_view.isVisible)
    on.window.controllers.context.request_view.finder.field.setText("backed up")
    settle()
    yield Shot("request")
    on.window.controllers.context.request_view.close()


def _ask(on: Stage, question: str, mode: Mode) -> None:
    on.window.open_session(None)
    on.window.controllers.composer.set_mode(mode)
    on.ask(question)
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
