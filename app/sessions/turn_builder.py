"""Build a turn from what the user asks, the settings and the open vault."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.config import secrets
from app.config.settings_file import SettingsStore
from app.customize.customization import UserCustomization
from app.errors import InvalidRequest
from app.library.attachments import Attachments
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.sessions.agent import WHOLE_VAULT, AgentBuilder, AgentScope
from app.sessions.session import Session
from app.spending import Spending
from chains.cancel import CancelToken
from chains.gguf.process import ModelRunner
from chains.ledger import LedgerPort
from chains.llm.port import KeyFor, LearnedPort
from chains.models import EXTRACTIVE
from chains.request.ask import MODES, Ask
from chains.request.session import SessionPort, SessionView
from chains.request.turn import Turn, TurnPorts, TurnSettings
from context.fixes import Fix, Option
from context.history.exclusion import FindExcluded
from context.history.quotes import HiddenNote, HiddenNotes
from context.layers import Segment
from vault.access import find_excluded
from vault.listing.hidden_notes import find_hidden_tags, find_missing, list_hidden_notes
from vault.vault import Vault

if TYPE_CHECKING:
    from chains.turn.calls import ModelCheck


@dataclass(frozen=True)
class CallStores:
    """What is kept about the calls to models.

    Attributes:
        ledger: records each outgoing call before it is made.
        spending: what calls cost, and the limits.
        learned: what services said when they refused a request.
    """

    ledger: LedgerPort
    spending: Spending
    learned: LearnedPort


class TurnBuilder:
    """Builds turns. Thread-safe.

    Attributes:
        agents: builds agents.
        local: runs model files.
    """

    def __init__(
        self,
        settings: SettingsStore,
        vault: OpenVault,
        customization: UserCustomization,
        stores: CallStores,
        agents: AgentBuilder,
        open_attachments: Callable[[], Attachments],
        projects: Projects,
    ) -> None:
        self._stores, self._settings = stores, settings
        self._vault = vault
        self._projects = projects
        self._customization = customization
        self.agents = agents
        self._open_attachments = open_attachments
        self.local = ModelRunner()

    @property
    def attachments(self) -> Attachments:
        """The reader of attachments."""
        return self._open_attachments()

    def build_turn(
        self,
        ask: Ask,
        session: SessionPort | None = None,
        cancel: CancelToken | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> Turn:
        """Build a turn that does not run, with its attachments, notes and tools.

        Args:
            ask: the question and its options.
            session: the chat, or None for a new one.
            cancel: the token that cancels the turn, or None.
            changes: settings to override.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
            InvalidRequest: the mode needs a project, and the chat has none.
            NotFound: the folder of the project does not exist.
        """
        attached = self.attachments.segments(ask.attach, ask.selections)
        turn = self.begin_turn(ask, session, cancel, changes)
        return self.equip_turn(replace(turn, attached=attached))

    def begin_turn(
        self,
        ask: Ask,
        session: SessionPort | None = None,
        cancel: CancelToken | None = None,
        changes: Mapping[str, object] | None = None,
        *,
        may_ask: bool = True,
        calls: int | None = None,
    ) -> Turn:
        """Build a turn without attachments, which take time, and without notes and tools.

        The other arguments are those of `build_turn`.

        Args:
            may_ask: whether the user is asked before a call may pass a spending limit.
            calls: the number of calls at most, if they do not answer a message of the user.
        """
        self._settings.refresh()  # another program may have switched `privacy.offline` on
        values = self._settings.build_values(changes) if changes else self._settings.values
        return Turn(
            ask,
            ask.model or self._find_project_model(ask) or values.chat_model,
            TurnSettings.read(values),
            TurnPorts(
                secrets.key_for,
                resolve=self.attachments.resolve,
                ledger=self._stores.ledger,
                spending=self._stores.spending.open_turn(may_ask=may_ask, calls=calls),
                learned=self._stores.learned,
                local=self.local,
            ),
            session or SessionView(),
            cancel or CancelToken(),
        )

    def equip_turn(self, turn: Turn, runs: bool = False) -> Turn:
        """Add what the mode of a turn brings: prompts and hooks, notes, and tools.

        Args:
            runs: whether the turn is run, with hooks and approvals, and not only shown.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
            InvalidRequest: the mode needs a project, and the chat has none.
            NotFound: the folder of the project does not exist.
        """
        mode, project = turn.mode_rules, turn.ask.project
        inside = project if mode.uses_project else None
        customization = self._customization.collect(runs, inside, offers_skills=mode.calls_tools)
        notes = None if inside is None else self._projects.open(inside)
        if mode.needs == "project" and notes is None:
            raise InvalidRequest(
                "This chat has no project.",
                hint=(
                    Fix("Begin a chat in a project."),
                    Fix("`{}` does it.", Option("--project DIR")),
                ),
            )
        vault = notes or self._vault.vault
        roots = self._list_roots(turn.session, project)
        find_excluded = self._build_exclusion(roots)
        hidden = _build_hidden_notes(roots, self._vault.vault, self._read_patterns)
        ports = replace(turn.ports, find_excluded=find_excluded, hidden_notes=hidden)
        pages = () if inside is None else self._list_pages(inside, find_excluded)
        turn = replace(turn, ports=ports, customization=customization, vault=vault, pages=pages)
        if mode.calls_tools:
            scope = WHOLE_VAULT if inside is None else self._limit_agent(inside)
            scope = replace(scope, tools=self._customization.skills.build_tools(inside))
            session = turn.session.id if runs else ""
            return self.agents.add_tools(turn, notes or self._vault.require_vault(), session, scope)
        if mode.searches:
            return replace(turn, search=partial(self._open_notes, notes))
        return turn

    def _list_pages(self, project: str, find_excluded: FindExcluded) -> tuple[Segment, ...]:
        """Return what a project keeps, without transcripts whose files are excluded by now."""
        pages = [page for page in self._projects.pages(project).list() if page.text]
        excluded = find_excluded(frozenset(page.source for page in pages if page.is_file))
        return tuple(page.segment() for page in pages if page.source not in excluded)

    def _open_notes(self, notes: Vault | None) -> Vault:
        """Return the notes of a project, or those of the vault that is open by now."""
        return notes or self._vault.require_vault()

    def _list_roots(self, chat: SessionPort, project: str | None) -> Sequence[Path]:
        """Return the folders whose notes a chat may hold.

        Paths in the chat are relative to the vault, or to a project outside of the vault. The vault
        is the one that is open, or the one in which the chat began. The project is the present one,
        or any that the chat was moved out of.
        """
        root = self._vault.folder
        folder = None if project is None else self._projects.find_folder(project)
        roots = [] if root is None else [root]
        if folder is not None and (root is None or not folder.is_relative_to(root)):
            roots.append(folder)
        if isinstance(chat, Session):
            first_vault, projects = chat.header.vault, chat.log.list_projects()
            outside = (name for name in projects if name is not None and os.path.isabs(name))
            roots += map(Path, [*filter(None, [first_vault]), *outside])
        return tuple(dict.fromkeys(roots))

    def _read_patterns(self) -> Sequence[str]:
        """Return the exclude patterns as they are now, also while an agent works."""
        return self._settings.values.vault_exclude

    def _build_exclusion(self, roots: Sequence[Path]) -> FindExcluded:
        """Return a function that finds the notes of some folders that models may not read now."""

        def find(paths: frozenset[str]) -> frozenset[str]:
            exclude = self._read_patterns()
            list_moves = self.agents.edits.list_moves
            found = (find_excluded(one, paths, exclude, partial(list_moves, one)) for one in roots)
            return frozenset().union(*found)

        return find

    def check_model(
        self,
        cancel: CancelToken,
        changes: Mapping[str, object] | None = None,
        key_for: KeyFor | None = None,
    ) -> "ModelCheck":
        """Test the configured model with a short call.

        Args:
            cancel: the token that cancels the call.
            changes: settings to override for this test.
            key_for: returns API keys, or None to use the stored ones.
        """
        from chains.turn.calls import check_model  # turns do without it

        turn = self.equip_turn(self.begin_turn(Ask("", "chat"), None, cancel, changes))
        if key_for is not None:
            turn = replace(turn, ports=replace(turn.ports, key_for=key_for))
        return check_model(turn)

    def stop_other_models(self, model: str | None) -> None:
        """Stop the running model file, unless it is the given model or the one for summaries.

        Args:
            model: the model to keep, or None for the configured one.
        """
        values = self._settings.values
        self.local.keep_only((model or values.chat_model, values.chat_summary_model))

    def load_model(self, model: str) -> None:
        """Stop the model files that a turn does not use, and load the client for its model."""
        self.stop_other_models(model)
        if model != EXTRACTIVE:
            from chains.model import warm_up

            warm_up()

    def find_library(self, ask: Ask) -> Library:
        """Return the library of the notes that a turn searches or reads.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
            NotFound: the folder of the project does not exist.
        """
        if ask.project is None or not MODES[ask.mode].uses_project:
            return self._vault.require()
        return self._projects.open_library(ask.project)

    def _limit_agent(self, project: str) -> AgentScope:
        notes, memories = self._projects.open(project), self._customization.find_memories(project)
        return AgentScope(memories, notes.scope.list_edit_patterns())

    def _find_project_model(self, ask: Ask) -> str:
        project = ask.project
        return "" if project is None else self._projects.settings(project).model


def _build_hidden_notes(
    roots: Sequence[Path], vault: Vault | None, read_patterns: Callable[[], Sequence[str]]
) -> HiddenNotes:
    """Build what looks up the notes of some folders that models may not read now.

    Args:
        roots: the folders whose notes a chat may hold.
        vault: the open vault, whose index tells which notes need not be read again, or None.
        read_patterns: returns the current exclude patterns.
    """

    def list_texts(root: Path) -> Iterator[tuple[str, str]]:
        is_open = vault is not None and vault.root == root
        return list_hidden_notes(root, read_patterns(), lambda: _list_allowed(vault, is_open))

    def list_notes() -> tuple[HiddenNote, ...]:
        return tuple(HiddenNote(*note) for root in roots for note in list_texts(root))

    def find_gone(paths: frozenset[str]) -> frozenset[str]:
        gone = (find_missing(root, paths) for root in roots)
        return paths.intersection(*gone) if roots else frozenset()

    def find_tags(tags: frozenset[str]) -> frozenset[str]:
        left = tags - _list_tags(vault)
        found = (find_hidden_tags(left, list_texts(root)) for root in roots if left)
        return frozenset().union(*found)

    return HiddenNotes(list_notes, find_gone, find_tags)


def _list_allowed(vault: Vault | None, is_open: bool) -> frozenset[str]:
    """Return the indexed notes of the open vault that models may read."""
    if vault is None or not is_open:
        return frozenset()
    return vault.filter_allowed([note.path for note in vault.notes() if note.state == "indexed"])


def _list_tags(vault: Vault | None) -> frozenset[str]:
    """Return the tags of the notes that models may read."""
    if vault is None:
        return frozenset()
    allowed = _list_allowed(vault, True)
    return frozenset(tag for tag, paths in vault.tags().items() if allowed.intersection(paths))
