"""Set up a model: find servers, services and model files, test a connection, and store it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.config import secrets
from app.config.model_files import FileOffer, ModelFiles, look_at_file
from app.config.models import (
    FoundServer,
    LearnedLimits,
    ModelChoice,
    describe_choice,
    find_servers,
    list_models_at,
)
from app.config.settings_file import SettingsStore
from app.errors import InvalidRequest, NotFound
from app.log import hide
from chains.cancel import CancelToken
from chains.gguf.process import LocalModels
from chains.ledger import LedgerPort
from chains.llm.port import KeyFor
from chains.models import EXTRACTIVE, describe, list_services
from chains.turn.calls import ModelCheck

__all__ = ["CheckModel", "Connection", "ModelService", "ModelSetup"]

# Calls the model in some changed settings with a few words. The third argument returns keys.
CheckModel = Callable[[CancelToken, Mapping[str, object], KeyFor], ModelCheck]


@dataclass(frozen=True)
class Connection:
    """A model and the address at which it is called.

    Attributes:
        model: the value of `chat.model`.
        api_base: the value of `chat.apiBase`, or an empty string for the model's own service.
    """

    model: str
    api_base: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """The values of both settings, by their keys."""
        return {"chat.apiBase": self.api_base, "chat.model": self.model}


@dataclass(frozen=True)
class ModelService:
    """A provider that needs an API key.

    Attributes:
        name: the provider's name to show.
        key_owner: the provider's id, under which its key is stored.
        models: the models that the provider offers.
    """

    name: str
    key_owner: str
    models: tuple[ModelChoice, ...]


class ModelSetup:
    """Finds models, tests connections and stores the chosen one. The class is thread-safe.

    Args:
        settings: the settings to read and change.
        ledger: records the requests to servers.
        limits: the context lengths that services reported in their errors.
        check: calls a model to test it.
        local: runs the models in files.
        files: the model files that the user opened.
    """

    def __init__(
        self,
        settings: SettingsStore,
        ledger: LedgerPort,
        limits: LearnedLimits,
        check: CheckModel,
        local: LocalModels,
        files: ModelFiles,
    ) -> None:
        self._settings, self._ledger = settings, ledger
        self._limits, self._check = limits, check
        self._local, self._files = local, files

    @property
    def is_set(self) -> bool:
        """Whether a model is set."""
        return self._settings.values.chat_model != EXTRACTIVE

    def find_servers(self) -> tuple[FoundServer, ...]:
        """Return the model servers on this computer that answer. This may take two seconds."""
        return find_servers(self._settings.values, self._ledger, self._limits)

    def list_services(self) -> tuple[ModelService, ...]:
        """Return the providers that need an API key, each with its models."""
        return tuple(
            ModelService(
                service.name,
                service.provider,
                tuple(describe_choice(name, self._limits) for name in service.models),
            )
            for service in list_services()
        )

    def list_models(self, api_base: str, key: str) -> tuple[ModelChoice, ...]:
        """Return the models of the server at an address.

        Returns an empty tuple if it does not answer.
        """
        values = self._settings.values_with({"chat.apiBase": api_base})
        return list_models_at(api_base, key or None, values, self._ledger, self._limits)

    def require_known(self, model: str) -> None:
        """Check a model's name without sending a request to its service.

        Raises:
            NotFound: no known service or server could offer a model with this name.
            InvalidRequest: the name refers to a model file that cannot be used.
        """
        info = describe(model, self._settings.values.chat_api_base)
        if info.problem:
            raise InvalidRequest(info.problem)
        if info.endpoint is None and model != EXTRACTIVE:
            raise NotFound(
                f"No service has a model named {model}.",
                hint=f"Put the service in front of it, as in openai/{model}. /model lists models.",
            )

    def look_at_file(self, path: Path) -> FileOffer:
        """Inspect a model file without loading it, and add it to the list of models.

        Raises:
            InvalidRequest: the file is damaged, or is not a model that can answer.
        """
        offer = look_at_file(path, self._settings.values, self._local)
        self._files.add(offer.choice.name)
        return offer

    def find_key_owner(self, connection: Connection) -> str:
        """Return the provider or address that a connection's API key belongs to.

        The result is empty if the connection needs no key.
        """
        return describe(connection.model or "any", connection.api_base).key_provider or ""

    def has_key(self, owner: str) -> bool:
        """Return whether an API key for a provider or an address is available."""
        return bool(owner) and secrets.key_for(owner) is not None

    def check(self, connection: Connection, key: str, cancel: CancelToken) -> ModelCheck:
        """Test a model with a short call before its connection is stored.

        Args:
            connection: the model and its address.
            key: an API key that is not stored yet; empty means the stored one.
            cancel: stops the call.

        Raises:
            BadSetting: the address is not valid.
            InvalidRequest: the key would be sent unencrypted to another computer.
            ModelError: the model does not answer, or the service refuses the key.
        """
        owner = self.find_key_owner(connection)
        if key:
            secrets.require_private_way(owner)
            hide(key)

        def find_key(asked: str) -> str | None:
            return key if key and asked == owner else secrets.key_for(asked)

        return self._check(cancel, connection.settings, find_key)

    def use(self, connection: Connection, key: str = "") -> None:
        """Store a connection, and its API key unless the key is empty.

        Raises:
            BadSetting: the address or the name is not valid.
            NoKeyring: the system has no keyring, so the key cannot be stored.
            InvalidRequest: the key would be sent unencrypted to another computer.
            StorageFailed: the settings cannot be written.
        """
        self._settings.values_with(connection.settings)
        if key and (owner := self.find_key_owner(connection)):
            secrets.save_key(owner, key)
        for name, value in connection.settings.items():
            self._settings.set(name, value)
