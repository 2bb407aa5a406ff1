"""Create a main window's controllers, and pass each one the controllers that it depends on.

Importing the controllers takes longer than the first paint, so `ui.window` imports this module only
when the assistant is ready.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.assistant import Assistant
from ui.controllers.agent.approvals import ApprovalController
from ui.controllers.agent.edits import EditsController
from ui.controllers.agent.memory import MemoryController
from ui.controllers.attachments import AttachmentPicker
from ui.controllers.chats.actions import ChatActionController
from ui.controllers.chats.bin import ChatBinController
from ui.controllers.chats.compaction import CompactionController
from ui.controllers.chats.projects import ProjectController
from ui.controllers.chats.quick_ask import QuickAskController
from ui.controllers.chats.save_note import SaveNoteController
from ui.controllers.chats.versions import VersionsController
from ui.controllers.composer import ComposerController
from ui.controllers.context import ContextController
from ui.controllers.drafts import DraftStore
from ui.controllers.index import IndexController
from ui.controllers.messages import ErrorActionController, MessageController
from ui.controllers.navigation import PaletteController, SessionListController
from ui.controllers.notes import NotesController
from ui.controllers.reading.links import LinkController
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.reading.review import ReviewController
from ui.controllers.reading.tasks import TaskTickController
from ui.controllers.related import ReasonController, RelatedController
from ui.controllers.session import SessionController
from ui.controllers.vault import InstructionsController, VaultController
from ui.first_run.controller import FirstRunController
from ui.frame import WindowFrame
from ui.settings.writer import SettingsFileWatch
from ui.state import load_drafts, save_drafts
from ui.tasks import LatestWriter, TaskRunner

__all__ = ["Controllers", "make_controllers"]


@dataclass(frozen=True)
class Controllers:
    """A main window's controllers, created by `make_controllers`."""

    session: SessionController
    sessions: SessionListController
    drafts: DraftStore
    composer: ComposerController
    context: ContextController
    messages: MessageController
    notes: NotesController
    index: IndexController
    vault: VaultController
    palette: PaletteController
    projects: ProjectController
    approvals: ApprovalController
    chats: ChatActionController
    bin: ChatBinController
    saving: SaveNoteController
    first_run: FirstRunController
    reading: ReadingController
    compaction: CompactionController
    links: LinkController
    versions: VersionsController
    quick_ask: QuickAskController
    review: ReviewController
    settings_file: SettingsFileWatch


def make_controllers(
    assistant: Assistant, runner: TaskRunner, frame: WindowFrame, drafts_file: Path
) -> Controllers:
    """Create the controllers. Each one connects itself to the controllers that it uses.

    Args:
        assistant: the application's use-cases.
        runner: runs the controllers' tasks.
        frame: the main window. Its attribute `navigation` must already be set.
        drafts_file: the file that stores the unsent messages.
    """
    base = (assistant, runner, frame)
    drafts = _open_drafts(drafts_file, frame)
    session = SessionController(*base)
    sessions = SessionListController(*base, session)
    composer = ComposerController(*base, session, drafts)
    context = ContextController(*base, session, composer)
    compaction = CompactionController(*base, session, composer, context)
    _follow_agents(*base, session)
    errors = ErrorActionController(*base, session)
    AttachmentPicker(assistant, runner, frame, composer.attach)
    ReasonController(*base, session)
    related = RelatedController(assistant, runner, frame.column)
    notes = NotesController(*base)
    reading = ReadingController(*base, notes, related, session)
    saving = SaveNoteController(*base, session, notes)
    versions = VersionsController(*base, session)
    messages = MessageController(*base, session, sessions, composer, context, saving)
    index = IndexController(*base, session)
    vault = VaultController(*base, session, composer, index, notes, reading)
    instructions = InstructionsController(*base, session, vault)
    for changed in (errors.hooks_switched, instructions.decided, vault.opened, vault.indexed):
        changed.connect(context.refresh)
    review = ReviewController(*base)
    vault.notes_changed.connect(review.note_changes)
    projects = ProjectController(*base, session, sessions)
    for act in (review.forget, projects.refresh, sessions.end_search, sessions.show_known):
        vault.opened.connect(act)
    palette = PaletteController(frame, session, sessions, projects.choices, notes)
    reading.tag_clicked.connect(palette.open_tagged)
    approvals = ApprovalController(assistant, frame, session)
    bin = ChatBinController(*base, session, sessions)
    chats = ChatActionController(*base, session, sessions, palette, saving, bin)
    quick = QuickAskController(*base, session, sessions)
    first = FirstRunController(*base, session, composer, notes, index)
    TaskTickController(*base, reading)
    made = (session, sessions, drafts, composer, context, messages, notes, index, vault)
    more = (palette, projects, approvals, chats, bin, saving, first, reading, compaction)
    last = (LinkController(*base, reading), versions, quick, review, SettingsFileWatch(*base))
    return Controllers(*made, *more, *last)


def _follow_agents(
    assistant: Assistant, runner: TaskRunner, frame: WindowFrame, session: SessionController
) -> None:
    """Show what agents changed in notes and memories, in the open chat."""
    EditsController(assistant, runner, frame, session)
    MemoryController(assistant, runner, frame, session)


def _open_drafts(file: Path, parent: WindowFrame) -> DraftStore:
    return DraftStore(load_drafts(file), LatestWriter(partial(save_drafts, file)), parent)
