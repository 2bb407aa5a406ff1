"""List the models that the user can choose.

API keys are read from the keyring or environment on demand, and not cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.config import secrets
from app.config.learned import LearnedModels
from app.config.settings import Settings
from chains.gguf.file import find_path, format_size, shorten_name
from chains.ledger import LedgerPort
from chains.llm.server import ServedModel, find_local_servers, list_served_models
from chains.llm.server_queries import ServerProblem
from chains.llm.urls import parse_place
from chains.models import EXTRACTIVE, ModelInfo, is_listed, look_up_model
from context.json_codec import Record

__all__ = [
    "FoundServer",
    "ModelChoice",
    "describe_choice",
    "describe_file_choice",
    "find_servers",
    "list_model_choices",
    "list_models_at",
    "name_model",
]

_MILLION: Final = 1_000_000
_SERVER_NAMES: Final = {
    "ollama": "Ollama",
    "lm_studio": "LM Studio",
    "llamafile": "llama.cpp",
    "hosted_vllm": "vLLM",
}


@dataclass(frozen=True)
class ModelChoice(Record):
    """A model that the user can choose.

    Attributes:
        info: the model: its name in the setting `chat.model`, limits, prices and abilities.
        label: the display name.
        is_set: whether this is the configured model.
    """

    info: ModelInfo
    label: str
    is_set: bool

    json_shape = (
        "name",
        "where",
        "local = info.is_local",
        "context = info.input_limit",
        "input_price",
        "output_price",
        "tools = info.takes_tools",
        "vision = info.sees",
        "memory_bytes",
        "problem = info.problem or null",
        "set = is_set",
    )

    @property
    def name(self) -> str:
        """The value for the setting `chat.model`."""
        return self.info.name

    @property
    def where(self) -> str:
        """The text "this computer", or the host that requests are sent to."""
        return self.info.where

    @property
    def memory_bytes(self) -> int | None:
        """The memory that a model file needs, or None."""
        file, limit = self.info.file, self.info.input_limit
        return file.count_needed_bytes(limit) if file and limit else None

    @property
    def input_price(self) -> float | None:
        """The price of a million prompt tokens in dollars, or None if unknown."""
        return _price_million(self.info.input_price)

    @property
    def output_price(self) -> float | None:
        """The price of a million tokens of an answer in dollars, or None if unknown."""
        return _price_million(self.info.output_price)

    @property
    def summary(self) -> str:
        """A one-line description of the model for the user.

        It lists the context length, required memory, price, support for tools and images, and where
        the model runs. For a model file that cannot be used, it only says why.
        """
        info = self.info
        if info.problem:
            return info.problem
        parts = []
        if info.input_limit is not None:
            longest = info.file.context_length if info.file else 0
            more = f" of {longest:,}" if longest > info.input_limit else ""
            parts.append(f"{info.input_limit:,}{more} tokens")
        if self.memory_bytes is not None:
            parts.append(f"{format_size(self.memory_bytes)} of memory")
        if info.input_price is not None and info.output_price is not None:
            into, out = info.input_price * _MILLION, info.output_price * _MILLION
            parts.append(f"${into:,.2f} in, ${out:,.2f} out per million")
        parts += [word for word, has in (("tools", info.takes_tools), ("images", info.sees)) if has]
        return " · ".join((*parts, self.where))


def _price_million(price: float | None) -> float | None:
    return None if price is None else round(price * _MILLION, 6)


@dataclass(frozen=True)
class FoundServer:
    """A model server that responded.

    Attributes:
        name: the display name, such as "Ollama", or the host for the server at `chat.apiBase`.
        api_base: the value of `chat.apiBase` for this server, or an empty string for its usual
            address.
        models: the models that it offers.
        problem: why it lists no models, or an empty string.
    """

    name: str
    api_base: str
    models: tuple[ModelChoice, ...]
    problem: ServerProblem = ""

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this computer."""
        return all(model.info.is_local for model in self.models)


def find_servers(
    values: Settings, ledger: LedgerPort, learned: LearnedModels
) -> tuple[FoundServer, ...]:
    """Ask the model servers on this computer and at `chat.apiBase` for their models.

    Args:
        values: the settings.
        ledger: records the requests.
        learned: what services said when they refused a request.

    Raises:
        LedgerFailed: a request could not be recorded, so it was not sent.
    """
    bare = values.model_copy(update={"chat_api_base": ""})
    found = [
        FoundServer(
            _SERVER_NAMES.get(server.provider, server.provider),
            "",
            tuple(
                _choice(f"{server.provider}/{model.name}", bare, model, learned)
                for model in server.models
            ),
        )
        for server in find_local_servers(ledger, is_fresh=True)
    ]
    base = values.chat_api_base
    place = base, None, values, ledger, learned
    server = list_models_at(*place, is_fresh=True) if base else None
    return (*found, server) if server is not None and server.models else tuple(found)


def list_models_at(
    base: str,
    key: str | None,
    values: Settings,
    ledger: LedgerPort,
    learned: LearnedModels,
    *,
    is_fresh: bool = False,
) -> FoundServer:
    """List the models of a server, or say why it lists none.

    Args:
        base: the address.
        key: the API key to send, or None for the stored one.
        values: the settings. With `privacy.offline`, only servers on this computer are queried.
        ledger: records the requests.
        learned: what services said when they refused a request.
        is_fresh: whether to ask the server even if its answer is known.
    """
    name = parse_place(base) or base
    server_settings = values.model_copy(update={"chat_api_base": base})
    server = look_up_model("any", base)  # the kind of server does not depend on the model
    if values.privacy_offline and not server.is_local:
        return FoundServer(name, base, (), "silent")
    if key is None and server.key_provider is not None:
        key = secrets.key_for(server.key_provider)
    found = list_served_models(base, key, ledger, is_fresh=is_fresh)
    models = tuple(_choice(model.name, server_settings, model, learned) for model in found.models)
    return FoundServer(name, base, models, found.problem)


def list_model_choices(
    values: Settings, ledger: LedgerPort, learned: LearnedModels, files: Sequence[str] = ()
) -> tuple[ModelChoice, ...]:
    """List the models that the user can choose, and the option to use no model.

    These are the configured model, the model files that the user has opened, and the models of
    servers. If `chat.apiBase` is set, only the server at that address is queried. Otherwise, the
    default ports of known model servers on this computer are tried, with a timeout of two seconds
    each.

    Args:
        values: the settings.
        ledger: records the requests.
        learned: what services said when they refused a request.
        files: the names of the model files that the user has opened.

    Raises:
        LedgerFailed: a request could not be recorded, so it was not sent.
    """
    served = _name_as_set(values, _list_served(values, ledger))
    names = dict.fromkeys((EXTRACTIVE, values.chat_model, *files, *served))
    return tuple(_choice(name, values, served.get(name), learned) for name in names)


def _list_served(values: Settings, ledger: LedgerPort) -> dict[str, ServedModel]:
    """Map model names to the models that the servers offer.

    The names have the format of the setting `chat.model`.
    """
    base = values.chat_api_base
    if not base:
        found = find_local_servers(ledger)
        return {f"{one.provider}/{model.name}": model for one in found for model in one.models}
    # The kind of server does not depend on the model, so any name without a prefix works.
    server = look_up_model("any", base)
    if values.privacy_offline and not server.is_local:
        return {}
    key = None if server.key_provider is None else secrets.key_for(server.key_provider)
    return {model.name: model for model in list_served_models(base, key, ledger).models}


def _name_as_set(values: Settings, served: dict[str, ServedModel]) -> dict[str, ServedModel]:
    """Rename the server's model that `chat.model` names with another spelling, such as its prefix.

    Otherwise, one model would be listed twice.
    """
    base, name = values.chat_api_base, values.chat_model
    if name == EXTRACTIVE or name in served or find_path(name) is not None:
        return served
    owner = look_up_model(name, base).learned_owner
    return {
        name if owner and look_up_model(other, base).learned_owner == owner else other: model
        for other, model in served.items()
    }


def describe_choice(name: str, learned: LearnedModels) -> ModelChoice:
    """Describe the model of a service without calling the service."""
    return _choice(name, Settings(), None, learned)


def describe_file_choice(name: str, values: Settings) -> ModelChoice:
    """Describe a model file from its header.

    Args:
        name: the value for the setting `chat.model`.
        values: the settings, including the context length.
    """
    info = look_up_model(name, local_context=values.chat_local_context)
    path = find_path(name)
    label = info.file.name if info.file else path.stem if path else name
    return ModelChoice(info, label, is_set=name == values.chat_model)


def _choice(
    name: str, values: Settings, served: ServedModel | None, learned: LearnedModels
) -> ModelChoice:
    if find_path(name) is not None:
        return describe_file_choice(name, values)
    info = look_up_model(
        name,
        values.chat_api_base,
        local_context=values.chat_local_context,
        image_models=values.chat_image_models,
    )
    limit, reported = info.input_limit, info.reported_limit
    if served is not None and served.input_limit is not None:
        limit = reported = served.input_limit
    tools, sees = info.takes_tools, info.sees
    if served is not None:
        tools = tools if served.abilities.takes_tools is None else served.abilities.takes_tools
        is_said = served.abilities.sees is None or is_listed(name, values.chat_image_models)
        sees = sees if is_said else served.abilities.sees
    limit = learned.find_limit(info.learned_owner, reported) or limit
    info = replace(info, input_limit=limit, takes_tools=tools, sees=sees)
    return ModelChoice(info, name_model(name), is_set=name == values.chat_model)


def name_model(name: str) -> str:
    """Return a model's display name. For a llama.cpp model, this is the name of its file."""
    if name == EXTRACTIVE:
        return "No model: quoted passages"
    return shorten_name(name)
