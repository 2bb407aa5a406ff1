"""Build a turn and its chain from a user message, the settings and the open vault."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from app.config import secrets
from app.config.settings_file import SettingsStore
from app.customize.customization import UserCustomization
from app.errors import VaultNotChosen
from app.library.attachments import Attachments, WebPages
from app.library.library import read_texts
from app.library.open_vault import OpenVault
from app.sessions.agent import AgentBuilder
from app.sessions.user_messages import AskRequest, record_names
from chains.cancel import CancelToken
from chains.events import Mode
from chains.ledger import LedgerPort
from chains.request.chain import Chain
from chains.request.request import TurnRequest
from context.layers import Segment
from vault.search.adhoc import search_texts
from vault.search.hits import Hit
from vault.search.search import SearchResult


class TurnBuilder:
    """Builds turns and chains; every method may be called from any thread."""

    def __init__(
        self,
        settings: SettingsStore,
        vault: OpenVault,
        customization: UserCustomization,
        ledger: LedgerPort,
        agents: AgentBuilder,
        pages: WebPages,
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._vault = vault
        self._customization = customization
        self._agents = agents
        self._pages = pages

    @property
    def attachments(self) -> Attachments:
        """The reader of attachments, which uses the open vault if there is one."""
        return Attachments(self._vault.library, self._pages)

    def build_turn(
        self, request: AskRequest, changes: Mapping[str, object] | None = None
    ) -> TurnRequest:
        """Build a turn with its attachments."""
        attached = self.attachments.segments(request.attach, request.selections)
        return replace(self.build_bare_turn(request, changes), attached=attached)

    def build_bare_turn(
        self, request: AskRequest, changes: Mapping[str, object] | None = None
    ) -> TurnRequest:
        """Build a turn without its attachments, which take time to read.

        Args:
            request: the user's question and its options.
            changes: settings by key that replace the current ones.
        """
        values = self._settings.values_with(changes) if changes else self._settings.values
        return TurnRequest(
            question=request.question,
            mode=request.mode,
            model=request.model or values.chat_model,
            api_base=values.chat_api_base,
            threshold=values.auto_compact_threshold,
            max_output_tokens=values.max_output_tokens,
            temperature=values.chat_temperature,
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
            dry_run=request.dry_run,
            named=record_names(request.attach, request.selections),
            reads_whole=request.reads_whole,
        )

    def build_chain(
        self,
        mode: Mode,
        runs_hooks: bool = False,
        session: str = "",
        cancel: CancelToken | None = None,
    ) -> Chain:
        """Build the chain of a mode.

        Args:
            mode: the mode of the turn.
            session: the id of the chat, or empty for a request that is only shown.
            runs_hooks: whether hooks may run; False for a turn that is not sent, so no hook code is
                loaded.
            cancel: the token of the turn; None for a request that is only shown.

        Raises:
            VaultNotChosen: the mode needs a vault, and none is open.
        """
        library = self._vault.library or NoLibrary()
        chain = Chain(
            "chat",
            secrets.key_for,
            resolve=self.attachments.resolve,
            customization=self._customization.collect(runs_hooks),
            within=library,
            ledger=self._ledger,
        )
        if mode == "agent":
            token = cancel or CancelToken()
            return self._agents.add_agent(chain, self._vault.require(), session, token)
        return chain if mode == "chat" else replace(chain, prompt="vault_qa", search=library)


class NoLibrary:
    """A replacement for the library while no vault is open, which only searches attachments."""

    def search(
        self,
        query: str,  # noqa: ARG002 (the port's arguments)
        k: int,  # noqa: ARG002
        *,
        in_play: Collection[str] = (),  # noqa: ARG002
        reranks: bool = True,  # noqa: ARG002
    ) -> SearchResult:
        """Raise `VaultNotChosen`."""
        raise VaultNotChosen

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:  # noqa: ARG002
        """Raise `VaultNotChosen`."""
        raise VaultNotChosen

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the best `k` passages in attachments."""
        return search_texts(read_texts(segments), query, k)
