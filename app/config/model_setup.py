"""Set up a model: find candidates, test a connection, and store it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.config import secrets
from app.config.learned import LearnedModels, LearnedShape
from app.config.model_files import FileOffer, RecentModelFiles, look_at_file
from app.config.models import (
    FoundServer,
    ModelChoice,
    describe_choice,
    find_servers,
    list_model_choices,
    list_models_at,
)
from app.config.settings_file import SettingsStore
from app.errors import InvalidRequest, NotFound
from app.secret_text import hide
from chains.cancel import CancelToken
from chains.gguf.process import ModelRunner
from chains.ledger import LedgerPort
from chains.llm.port import KeyFor
from chains.llm.urls import complete_address
from chains.model import warm_up
from chains.models import EXTRACTIVE, look_up_model
from chains.providers import list_services
from chains.turn.calls import ModelCheck

__all__ = ["CheckModel", "Connection", "ModelService", "ModelSetup"]

# Calls the model in some changed settings with a few words. The third argument returns keys.
CheckModel = Callable[[CancelToken, Mapping[str, object], KeyFor], ModelCheck]


@dataclass(frozen=True)
class Connection:
    """A model and its server address.

    Attributes:
        model: the value of `chat.model`.
        api_base: the value of `chat.apiBase`, or an empty string for the provider's own service.
    """

    model: str
    api_base: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """The values of the settings `chat.model` and `chat.apiBase`, by key."""
        return {"chat.apiBase": self.api_base, "chat.model": self.model}


@dataclass(frozen=True)
class ModelService:
    """A provider that requires an API key.

    Attributes:
        name: the display name.
        key_owner: the provider id under which its key is stored.
        models: the provider's models.
    """

    name: str
    key_owner: str
    models: tuple[ModelChoice, ...]


def _list_bases(base: str) -> tuple[str, ...]:
    """Return the addresses at which a server may offer its API: as given, and with `/v1`."""
    has_path = urlsplit(base).path not in {"", "/"}
    return (base,) if has_path else (base, f"{base.rstrip('/')}/v1")


class ModelSetup:
    """Finds models, tests connections and stores the chosen one. Thread-safe.

    Args:
        settings: the settings to read and change.
        ledger: records the requests to servers.
        learned: what services said when they refused a request.
        check: calls a model to test it.
        local: runs the models in files.
        files: the file that lists the model files that the user opened.
    """

    def __init__(
        self,
        settings: SettingsStore,
        ledger: LedgerPort,
        learned: LearnedModels,
        check: CheckModel,
        local: ModelRunner,
        files: Path,
    ) -> None:
        self._settings, self._ledger = settings, ledger
        self._learned, self._check = learned, check
        self._local, self._files = local, RecentModelFiles(files)

    @property
    def is_set(self) -> bool:
        """Whether a model is configured."""
        return self._settings.values.chat_model != EXTRACTIVE

    def warm_up(self) -> None:
        """Load the model client library in the background, if a model is configured."""
        if self.is_set:
            warm_up()

    def list_shapes(self) -> tuple[LearnedShape, ...]:
        """List how requests to models differ from the usual ones, because those were refused."""
        return self._learned.list_shapes()

    def forget_shape(self, owner: str) -> None:
        """Send the usual requests to a model again.

        Args:
            owner: the model with its address, as in `LearnedShape.owner`.
        """
        self._learned.forget_shape(owner)

    def list_choices(self) -> tuple[ModelChoice, ...]:
        """List the models that the user can choose, and the option to use no model.

        These are the configured model, the model files that the user has opened, and the models of
        servers. If `chat.apiBase` is set, only the server at that address is queried. Otherwise,
        the default ports of known model servers on this computer are tried. This may take two
        seconds.
        """
        files = self._files.list_names()
        return list_model_choices(self._settings.values, self._ledger, self._learned, files)

    def find_servers(self) -> tuple[FoundServer, ...]:
        """Find the model servers on this computer. This may take two seconds."""
        return find_servers(self._settings.values, self._ledger, self._learned)

    def list_services(self) -> tuple[ModelService, ...]:
        """List the providers that require an API key, sorted by name, with their models."""
        return tuple(
            ModelService(
                service.name,
                service.provider,
                tuple(describe_choice(name, self._learned) for name in service.models),
            )
            for service in list_services()
        )

    def find_server(self, address: str, key: str) -> FoundServer:
        """Ask the server at an address for its models. If it has no path, `/v1` is tried too.

        If the server lists no models, the result says why. Earlier answers are not used.

        Raises:
            BadSetting: the address is invalid.
        """
        base = complete_address(address)
        values = self._settings.build_values({"chat.apiBase": base})
        found = []
        for tried in _list_bases(base):
            place = tried, key or None, values, self._ledger, self._learned
            found.append(list_models_at(*place, is_fresh=True))
            if found[-1].models or found[-1].problem == "silent":
                return found[-1]
        # A server that wants a key may want it for every page, and `/v1` is the usual one.
        return next((one for one in found[::-1] if one.problem.endswith("_key")), found[0])

    def require_known(self, model: str) -> None:
        """Validate a model name without calling its service.

        Raises:
            NotFound: no known service or server could provide this model.
            InvalidRequest: the name refers to a model file that cannot be used.
        """
        info = look_up_model(model, self._settings.values.chat_api_base)
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
            InvalidRequest: the file is damaged or not a chat model.
        """
        offer = look_at_file(path, self._settings.values, self._local)
        self._files.add(offer.choice.name)
        return offer

    def find_key_owner(self, connection: Connection) -> str:
        """Return the provider or address whose API key a connection needs, or an empty string."""
        return look_up_model(connection.model or "any", connection.api_base).key_provider or ""

    def key_provider(self, model: str) -> str | None:
        """Return the provider or address whose API key a model needs, or None if it needs none."""
        return look_up_model(model, self._settings.values.chat_api_base).key_provider

    def has_key(self, owner: str) -> bool:
        """Return whether the API key of a provider or address is available."""
        return bool(owner) and secrets.key_for(owner) is not None

    def set_key(self, owner: str, key: str, *, allows_plain_http: bool = False) -> None:
        """Store the API key of a provider or address in the keyring. An empty key deletes it.

        Raises:
            NoKeyring: there is no keyring, or it is locked.
            InvalidRequest: the key would be sent unencrypted without the user's consent.
        """
        secrets.save_key(owner, key, allows_plain_http=allows_plain_http)

    def keep_key(self, owner: str, key: str, *, allows_plain_http: bool = False) -> None:
        """Store an API key like `set_key`. Without a keyring, hold it until the program ends.

        Raises:
            InvalidRequest: the key would be sent unencrypted without the user's consent.
        """
        secrets.keep_key(owner, key, allows_plain_http=allows_plain_http)

    def find_key(self, owner: str) -> str | None:
        """Return where an API key is: "memory", "keyring" or "environment", or None."""
        return secrets.find_key(owner) if owner else None

    @property
    def has_keyring(self) -> bool:
        """Whether the system has a keyring that stores keys."""
        return secrets.find_keyring() is not None

    def check(self, connection: Connection, key: str, cancel: CancelToken) -> ModelCheck:
        """Test a model and its server address with a short call, before they are stored.

        Args:
            connection: the model and its address.
            key: an API key that is not stored yet, or an empty string for the stored one.
            cancel: the token that cancels the call.

        Raises:
            BadSetting: the address is invalid.
            InvalidRequest: the key would be sent to another computer unencrypted.
            ModelError: the model does not answer, or the service rejects the key.
        """
        owner = self.find_key_owner(connection)
        if key:
            secrets.require_private_way(owner)
            hide(key)

        def find_key(asked: str) -> str | None:
            return key if key and asked == owner else secrets.key_for(asked)

        return self._check(cancel, connection.settings, find_key)

    def use(self, connection: Connection, key: str = "") -> None:
        """Store a model and its server address, and the API key if one is given.

        Without a keyring, the key is held until the program ends.

        Raises:
            BadSetting: the address or the name is invalid.
            InvalidRequest: the key would be sent to another computer unencrypted.
            StorageFailed: the settings cannot be written.
        """
        self._settings.build_values(connection.settings)
        if key and (owner := self.find_key_owner(connection)):
            secrets.keep_key(owner, key)
        for name, value in connection.settings.items():
            self._settings.set(name, value)
