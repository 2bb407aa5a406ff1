"""Build a turn and its chain from a user message, the settings and the open vault."""

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from app.sessions.user_messages import AskRequest, record_names
from chains.cancel import CancelToken
from chains.events import Mode
from chains.gguf.process import ModelRunner
from chains.ledger import LedgerPort
from chains.llm.port import KeyFor, LearnedPort
from chains.models import EXTRACTIVE
from chains.prompts import Customization
from chains.request.chain import Chain
from chains.request.project import ProjectSetup
from chains.request.request import TurnRequest
from chains.request.session import SessionView
from context.history.exclusion import FindExcluded
from vault.access import find_excluded
from vault.vault import Vault

if TYPE_CHECKING:
    from chains.turn.calls import ModelCheck


class TurnBuilder:
    """Builds turns and chains. Thread-safe.

    Attributes:
        agents: builds agents.
        local: runs model files.
    """

    def __init__(
        self,
        settings: SettingsStore,
        vault: OpenVault,
        customization: UserCustomization,
        ledger: LedgerPort,
        learned: LearnedPort,
        agents: AgentBuilder,
        open_attachments: Callable[[], Attachments],
        projects: Projects,
    ) -> None:
        self._ledger, self._learned = ledger, learned
        self._settings = settings
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
        self, request: AskRequest, changes: Mapping[str, object] | None = None
    ) -> TurnRequest:
        """Build a turn with its attachments. See `build_bare_turn`."""
        attached = self.attachments.segments(request.attach, request.selections)
        return replace(self.build_bare_turn(request, changes), attached=attached)

    def build_bare_turn(
        self, request: AskRequest, changes: Mapping[str, object] | None = None
    ) -> TurnRequest:
        """Build a turn without its attachments, because reading them takes time.

        Args:
            request: the user's question and options.
            changes: settings to override.
        """
        self._settings.refresh()  # another program may have switched `privacy.offline` on
        values = self._settings.values_with(changes) if changes else self._settings.values
        return TurnRequest(
            question=request.question,
            mode=request.mode,
            model=request.model or self._find_project_model(request) or values.chat_model,
            api_base=values.chat_api_base,
            threshold=values.auto_compact_threshold,
            max_output_tokens=values.max_output_tokens,
            temperature=None if values.chat_temperature == "" else values.chat_temperature,
            max_seconds=values.chat_max_seconds,
            top_k=values.retrieval_top_k,
            offline=values.privacy_offline,
            trim_at=values.context_trim_at,
            compact_at=values.context_compact_at,
            block_at=values.context_block_at,
            auto_compact=values.context_auto_compact,
            keep_last=values.context_keep_last_assistant_messages,
            clean_after=values.history_clean_tool_output_after_turns,
            summary_model=values.chat_summary_model,
            rewrites=values.retrieval_rewrite,
            local_context=values.chat_local_context,
            image_models=tuple(values.chat_image_models),
            dry_run=request.dry_run,
            named=record_names(request.attach, request.selections),
            reads_whole=request.reads_whole,
        )

    def build_chain(
        self,
        mode: Mode,
        project: str | None,
        runs_hooks: bool = False,
        session: str = "",
    ) -> Chain:
        """Build the chain that answers messages in a mode.

        Args:
            mode: the mode of the turn.
            project: the chat's project, or None.
            runs_hooks: whether to load and run hooks, which must be false for a preview.
            session: the chat id, or an empty string for a preview.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
            InvalidRequest: the mode needs a project, and the chat has none.
            NotFound: the folder of the project does not exist.
        """
        inside = project if mode in ("project", "agent") else None
        chain = self._make_chain(self._customization.collect(runs_hooks, inside), project)
        notes = None if inside is None else self._projects.open(inside)
        if notes is not None:
            chain = replace(chain, vault=notes, project=self._set_up_project(notes))
        if mode == "agent":
            scope = WHOLE_VAULT if inside is None else self._limit_agent(inside)
            notes = notes or self._vault.require_vault()
            return self.agents.add_agent(chain, notes, session, scope)
        if mode == "project":
            if notes is None:
                raise InvalidRequest(
                    "This chat has no project.",
                    hint="Begin a chat in a project. `--project DIR` does it.",
                )
            return replace(chain, prompt="project", search=lambda: notes)
        if mode == "chat":
            return chain
        return replace(chain, prompt="vault_qa", search=self._vault.require_vault)

    def _make_chain(self, customization: Customization, project: str | None) -> Chain:
        """Build a chain without search or tools.

        Args:
            customization: the user's prompts, instructions and hooks for the turn.
            project: the chat's project, or None.
        """
        return Chain(
            "chat",
            secrets.key_for,
            resolve=self.attachments.resolve,
            find_excluded=self._build_exclusion(project),
            customization=customization,
            vault=self._vault.vault,
            ledger=self._ledger,
            learned=self._learned,
            local=self.local,
        )

    def _build_exclusion(self, project: str | None) -> FindExcluded:
        """Return a function that finds the notes of a chat that models may not read now.

        Paths in the chat are relative to the vault, or to a project outside of the vault.
        """
        exclude = self._settings.values.vault_exclude
        root = self._vault.folder
        folder = None if project is None else self._projects.find_folder(project)
        roots = [one for one in (root, folder) if one is not None]
        if root is not None and folder is not None and folder.is_relative_to(root):
            roots = [root]

        def find(paths: frozenset[str]) -> frozenset[str]:
            return frozenset().union(*(find_excluded(one, paths, exclude) for one in roots))

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

        turn = self.build_bare_turn(AskRequest("", "chat"), changes)
        chain = self.build_chain("chat", None)
        if key_for is not None:
            chain = replace(chain, key_for=key_for)
        return check_model(chain, turn, SessionView(), cancel)

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

    def find_library(self, mode: Mode, project: str | None) -> Library:
        """Return the library for turns in a mode.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
            NotFound: the folder of the project does not exist.
        """
        if mode == "vault" or project is None:
            return self._vault.require()
        return self._projects.open_library(project)

    def _limit_agent(self, project: str) -> AgentScope:
        notes, memories = self._projects.open(project), self._customization.find_memories(project)
        return AgentScope(memories, notes.scope.list_edit_patterns())

    def _set_up_project(self, notes: Vault) -> ProjectSetup:
        return ProjectSetup(notes, self._settings.values.project_include_text == "auto")

    def _find_project_model(self, request: AskRequest) -> str:
        project = request.project
        return "" if project is None else self._projects.settings(project).model
