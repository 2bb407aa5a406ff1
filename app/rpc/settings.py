"""Serve requests about settings and the state of the program: spending, calls, updates."""

from typing import Any

from app.assistant import Assistant
from app.library.known_vaults import list_vaults
from app.rpc.client import Client
from app.rpc.entries import find_leaf
from app.rpc.jobs import Jobs
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow
from app.rpc.wire import Json
from chains.cancel import CancelToken
from chains.events import Mode

__all__ = ["SettingsRequests"]


class GetState(RpcRequest):
    """Get the state of the server."""


class SetMode(RpcRequest):
    """Set the mode for later questions."""

    mode: Mode


class SetModel(RpcRequest):
    """Set the model for later questions."""

    model: str


class SetSetting(RpcRequest):
    """Change a setting and save it.

    Attributes:
        base: the value from which a list or table was made. What others have changed since stays.
            Without it, that is what this server knows.
    """

    key: str
    value: Any
    base: Any = None


class ListVaults(RpcRequest):
    """List the folder of notes in the settings, and the vaults that Obsidian knows."""


class ListCalls(RpcRequest):
    """List every call that left Strata, and the notes in it."""


class GetSpending(RpcRequest):
    """Get what was spent today and this month, and the limits."""


class CheckUpdates(RpcRequest):
    """Look for a newer version of Strata, at the address of the setting `updates.address`."""


class SettingsRequests:
    """Serves the requests about settings and the state of the program. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, client: Client, jobs: Jobs) -> None:
        """Create the functions.

        Args:
            assistant: has the settings.
            client: has the current chat, mode and model.
            jobs: the running turns.
        """
        self._assistant, self._client, self._jobs = assistant, client, jobs
        self.handlers: Handlers = {
            "check_updates": Slow(CheckUpdates, self._check_updates),
            "get_spending": Quick(GetSpending, self._show_spending),
            "get_state": Quick(GetState, self._show_state),
            "ledger": Quick(ListCalls, self._list_calls),
            "list_vaults": Quick(ListVaults, self._list_vaults),
            "set_mode": Quick(SetMode, self._set_mode),
            "set_model": Quick(SetModel, self._set_model),
            "set_setting": Quick(SetSetting, self._set_setting),
        }

    def _show_state(self, request: GetState) -> Json:
        session, values = request.session, self._assistant.settings.values
        library = self._assistant.library
        return {
            "session": session,
            "leaf": None if session is None else find_leaf(self._assistant.sessions.read(session)),
            "model": self._client.used_model,
            "mode": self._client.mode,
            "vault": self._client.vault,
            "busy": self._jobs.is_busy(session),
            "indexing": library is not None and library.is_updating,
            "auto_compaction": values.context_auto_compact,
            "read_only": self._assistant.why_read_only or None,
        }

    def _set_mode(self, request: SetMode) -> Json:
        self._client.mode = request.mode
        return {"mode": self._client.mode}

    def _set_model(self, request: SetModel) -> Json:
        self._client.choose_model(request.model)
        return {"model": self._client.model}

    def _set_setting(self, request: SetSetting) -> Json:
        value = self._assistant.settings.set(request.key, request.value, request.base)
        library = self._assistant.library
        if request.key == "vault.exclude" and library is not None:
            library.vault.look_again()
        return {"key": request.key, "value": value}

    def _list_vaults(self, _request: ListVaults) -> Json:
        return {"vaults": list_vaults(self._assistant.settings.values.vault_path)}

    def _list_calls(self, _request: ListCalls) -> Json:
        return {"calls": self._assistant.ledger.list_calls()}

    def _show_spending(self, _request: GetSpending) -> Json:
        return self._assistant.spending.summarise().to_dict()

    def _check_updates(self, _request: CheckUpdates, cancel: CancelToken) -> Json:
        return self._assistant.look_for_update(cancel).to_dict()
