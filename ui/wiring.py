"""Create a main window's controllers, and pass each one the controllers that it depends on.

Importing the controllers takes longer than the first paint, so `ui.window` imports this module only
when the assistant is ready.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.assistant import Assistant
from ui.controllers.agent.approvals import ApprovalController
from ui.controllers.agent.edits import EditsController
from ui.controllers.agent.memory import MemoryController
from ui.controllers.agent.spending import SpendingController
from ui.controllers.attachments import AttachmentPicker
from ui.controllers.chats.actions import ChatActionController
from ui.controllers.chats.bin import ChatBinController
from ui.controllers.chats.compaction import CompactionController
from ui.controllers.chats.projects import ProjectController
from ui.controllers.chats.quick_ask import QuickAskController
from ui.controllers.chats.rehearsal import RehearsalController
from ui.controllers.chats.save_note import SaveNoteController
from ui.controllers.chats.versions import VersionsController
from ui.controllers.composer import ComposerController
from ui.controllers.context import ContextController
from ui.controllers.drafts import DraftStore
from ui.controllers.index import IndexController
from ui.controllers.judging import JudgeController
from ui.controllers.messages import ErrorActionController, MessageController
from ui.controllers.navigation import PaletteController, SessionListController
from ui.controllers.notes import NotesController
from ui.controllers.pinned import PinnedController
from ui.controllers.reading.finding_fixes import FindingFixController
from ui.controllers.reading.links import LinkController
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.reading.review import ReviewController
from ui.controllers.reading.tasks import TaskTickController
from ui.controllers.related import ReasonController, RelatedController
from ui.controllers.session import Collaborators, SessionController
from ui.controllers.updates import UpdateController
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
    fixes: FindingFixController
    versions: VersionsController
    quick_ask: QuickAskController
    review: ReviewController
    pinned: PinnedController
    judging: JudgeController
    updates: UpdateController
    rehearsal: RehearsalController
    settings_file: SettingsFileWatch


def make_controllers(
    assistant: Assistant, runner: TaskRunner, frame: WindowFrame, drafts_file: Path
) -> Controllers:
    """Create the controllers. Each one connects itself to the controllers that it uses.

    Args:
        assistant: the application's use-cases.
        runner: runs the controllers' tasks.
        frame: the views of the main window.
        drafts_file: the file that stores the unsent messages.
    """
    shared = Collaborators(assistant, runner, frame)
    drafts, session = _open_drafts(drafts_file, frame.window), SessionController(shared)
    chat_list = (shared, session, sessions := SessionListController(shared, session))
    composer = ComposerController(shared, session, drafts)
    context = ContextController(shared, session, composer)
    compaction = CompactionController(shared, session, composer, context)
    _follow_agents(shared, session)
    errors = ErrorActionController(shared, session)
    AttachmentPicker(shared, composer.attach)
    ReasonController(shared, session)
    notes, related = NotesController(shared), _make_related(shared, session)
    reading = ReadingController(shared, session, notes, related)
    saving = SaveNoteController(shared, session, notes)
    versions = VersionsController(shared, session)
    messages = MessageController(shared, session, sessions, composer, context, saving)
    index = IndexController(shared, session)
    rehearsal = RehearsalController(shared, session, context)
    vault = VaultController(shared, session, composer, index, notes, reading)
    instructions = InstructionsController(shared, session, vault)
    projects, indexed = ProjectController(*chat_list), (vault.opened, vault.indexed)
    for changed in (errors.hooks_switched, instructions.decided, projects.changed, *indexed):
        changed.connect(context.refresh)
    review = _make_review(shared, session, vault)
    for act in (review.forget, projects.refresh, sessions.end_search, sessions.show_known):
        vault.opened.connect(act)
    palette = PaletteController(shared, session, sessions, projects.choices, notes)
    reading.tag_clicked.connect(palette.open_tagged)
    approvals, noted = ApprovalController(shared, session), (shared, session, vault)
    bin, quick = ChatBinController(*chat_list), QuickAskController(*chat_list)
    chats = ChatActionController(*chat_list, palette, saving, bin)
    first = FirstRunController(shared, session, composer, notes, index)
    TaskTickController(assistant, runner, frame, reading)
    made = (session, sessions, drafts, composer, context, messages, notes, index, vault)
    more = (palette, projects, approvals, chats, bin, saving, first, reading, compaction)
    links, fixes = LinkController(shared, reading, palette), FindingFixController(shared, reading)
    pinned, judging = PinnedController(*noted, versions), JudgeController(*noted)
    last = (links, fixes, versions, quick, review, pinned, judging, UpdateController(shared))
    watch = SettingsFileWatch(assistant, runner, frame.window)
    return Controllers(*made, *more, *last, rehearsal, watch)


def _follow_agents(shared: Collaborators, session: SessionController) -> None:
    """Show what agents changed in notes and memories, and ask before a limit is passed."""
    EditsController(shared, session)
    MemoryController(shared, session)
    SpendingController(shared)


def _make_review(
    shared: Collaborators, session: SessionController, vault: VaultController
) -> ReviewController:
    review = ReviewController(shared)
    vault.notes_changed.connect(review.note_changes)
    for changed in (session.loaded, session.session_changed):
        changed.connect(lambda *_: review.set_project(session.project))
    return review


def _make_related(shared: Collaborators, session: SessionController) -> RelatedController:
    """Create the controller of related notes, which stay in the project of the open chat."""
    related = RelatedController(shared.assistant, shared.runner, shared.frame.column)
    for changed in (session.loaded, session.session_changed):
        changed.connect(lambda *_: related.set_project(session.project))
    return related


def _open_drafts(file: Path, parent: QObject) -> DraftStore:
    return DraftStore(load_drafts(file), LatestWriter(partial(save_drafts, file)), parent)
