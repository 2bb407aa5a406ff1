"""Look up a model's endpoint, input limit, abilities and prices.

The properties of known models are read from the table in `providers`. For models on the user's own
server, the server is queried.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from chains.gguf.file import ModelFile, find_path, read_model_file
from chains.gguf.header import BadModelFile
from chains.ledger import LedgerPort
from chains.llm.port import Endpoint, KeyFor
from chains.llm.server import (
    Abilities,
    ServedModel,
    ask_abilities,
    ask_context_length,
    find_server_kind,
    list_served_models,
)
from chains.llm.urls import find_ollama_root, is_loopback, parse_host
from chains.providers import (
    IMAGES,
    KEYLESS,
    LOCAL_BASES,
    NEED_TOOLS,
    TAKE_MARKS,
    TOOLS,
    describe_endpoint,
    find_entry,
    find_provider,
    remove_prefix,
)

__all__ = [
    "EXTRACTIVE",
    "HERE",
    "ModelInfo",
    "is_listed",
    "look_up_model",
]

EXTRACTIVE: Final = "extractive"
HERE: Final = "this computer"

OLLAMA: Final = frozenset({"ollama", "ollama_chat"})
# The default context length, in tokens, to request from a server that loads a model on demand.
LOCAL_CONTEXT: Final = 16_384


@dataclass(frozen=True)
class ModelInfo:
    """The properties of a model: endpoint, limits, prices and abilities.

    Attributes:
        name: the name in the setting `chat.model`.
        endpoint: the address of the model, or None for `extractive` and unknown models.
        input_limit: the maximum size of a request in tokens, or None if unknown.
        input_price: dollars per prompt token, or None if unknown.
        output_price: dollars per answer token, or None if unknown.
        cached_price: dollars per cached prompt token, or None if unknown.
        takes_tools: whether the model supports tools, or None if unknown.
        sees: whether the model accepts images, or None if unknown.
        reported_limit: the limit that the model table, the server or the settings state, or None.
            It exceeds `input_limit` if the service has rejected a smaller request as too long.
        file: the model file, or None if there is none or it cannot be used.
        problem: why the model file cannot be used, or an empty string.
    """

    name: str
    endpoint: Endpoint | None
    input_limit: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    cached_price: float | None = None
    takes_tools: bool | None = None
    sees: bool | None = None
    reported_limit: int | None = None
    file: ModelFile | None = None
    problem: str = ""

    @property
    def is_local(self) -> bool:
        """Whether the model runs on this computer."""
        if self.endpoint is None:
            return self.name == EXTRACTIVE or bool(self.problem)
        return self.endpoint.is_local

    @property
    def key_provider(self) -> str | None:
        """The provider or address whose key the model needs, or None if it needs no key."""
        endpoint = self.endpoint
        if endpoint is None or (not endpoint.api_base and endpoint.provider in KEYLESS):
            return None
        return endpoint.key_owner

    @property
    def takes_marks(self) -> bool:
        """Whether the service supports cache marks, which say how much of a request to cache."""
        return self.endpoint is not None and self.endpoint.provider in TAKE_MARKS

    @property
    def needs_tools(self) -> bool:
        """Whether the service refuses requests without tools if the history has tool calls."""
        endpoint = self.endpoint
        is_claude = endpoint is not None and "claude" in endpoint.wire_name
        return endpoint is not None and (
            endpoint.provider in NEED_TOOLS or (endpoint.provider == "vertex_ai" and is_claude)
        )

    @property
    def learned_owner(self) -> str:
        """The key for remembering what the service said when it refused a request."""
        if self.endpoint is None:
            return ""
        return f"{self.endpoint.api_base or self.endpoint.provider} {self.endpoint.wire_name}"

    @property
    def host(self) -> str:
        """The host that requests are sent to, or an empty string if there is none."""
        return self.endpoint.host if self.endpoint else ""

    @property
    def where(self) -> str:
        """The host that requests are sent to, or "this computer"."""
        return HERE if self.is_local else self.host


def look_up_model(
    name: str,
    api_base: str = "",
    *,
    key_for: KeyFor | None = None,
    offline: bool = False,
    local_context: int = LOCAL_CONTEXT,
    image_models: Collection[str] = (),
    ledger: LedgerPort | None = None,
) -> ModelInfo:
    """Look up the properties of a model.

    Args:
        name: the name of the model, with or without its provider's prefix.
        api_base: the setting `chat.apiBase`.
        key_for: returns the key for the server at `api_base`, or None to skip the server. The
            server is queried with a timeout of two seconds, and its response is cached.
        offline: whether to query only servers on this computer.
        local_context: the setting `chat.localContext`, for servers that load a model with the
            requested context length. If it is not the default, it also limits requests to servers
            that report no limit.
        image_models: the names of models that accept images, whatever their servers report.
        ledger: records requests to the server.

    Raises:
        LedgerFailed: a request could not be recorded, so it was not sent.
    """
    if name == EXTRACTIVE:
        return ModelInfo(name, None, sees=False)
    if (path := find_path(name)) is not None:
        return _describe_file(name, path, local_context)
    if not (provider := find_provider(name, api_base)):
        return ModelInfo(name, None)
    asked = _ask_properties(name, provider, api_base, key_for, offline, local_context, ledger)
    return replace(asked, sees=True) if is_listed(name, image_models) else asked


def is_listed(name: str, names: Collection[str]) -> bool:
    """Return whether a list contains a model's name, with or without its provider's prefix."""
    return remove_prefix(name) in {remove_prefix(listed) for listed in names}


def _ask_properties(
    name: str,
    provider: str,
    api_base: str,
    key_for: KeyFor | None,
    offline: bool,
    local_context: int,
    ledger: LedgerPort | None,
) -> ModelInfo:
    """Return the properties of a model from the table of known models and from its server.

    Apart from `provider`, the parameters are the same as for `look_up_model`.
    """
    host = parse_host(api_base or LOCAL_BASES.get(provider, ""))
    asks = key_for if not offline or is_loopback(host) else None
    may_be_ollama = provider == "openai" and bool(api_base) and asks is not None
    kind = find_server_kind(api_base, ledger) if may_be_ollama else "other"
    if provider in OLLAMA or kind == "ollama":
        return _describe_ollama(name, provider, api_base, asks, local_context, ledger)
    wire_name = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
    endpoint, served = describe_endpoint(wire_name, provider, api_base), None
    if endpoint.api_base and asks is not None and kind != "silent":
        served = _find_served(endpoint, asks(endpoint.key_owner), ledger)
    by_hand = local_context if endpoint.api_base and local_context != LOCAL_CONTEXT else None
    table = find_entry(wire_name, provider)
    model = _describe_known(ModelInfo(name, endpoint), {} if api_base else table, served, by_hand)
    # A model sees the same at another address, while its limit and price may differ there.
    return model if model.sees is not None else replace(model, sees=table.get(IMAGES))


def _describe_file(name: str, path: Path, local_context: int) -> ModelInfo:
    try:
        file = read_model_file(path)
    except BadModelFile as error:
        return ModelInfo(name, None, problem=f"{path} {error}.")
    limit = min(file.context_length, local_context)
    return ModelInfo(
        name,
        file.endpoint,
        input_limit=limit,
        takes_tools=file.takes_tools,
        sees=False,
        reported_limit=limit,
        file=file,
    )


def _describe_known(
    model: ModelInfo, known: Mapping[str, Any], served: ServedModel | None, by_hand: int | None
) -> ModelInfo:
    """Describe a model, using the model table (`known`), its server and the settings."""
    limit = known.get("max_input_tokens") or known.get("max_tokens")
    if served is not None:
        limit = served.input_limit
    limit = limit or by_hand
    return replace(
        model,
        input_limit=limit,
        input_price=known.get("input_cost_per_token"),
        output_price=known.get("output_cost_per_token"),
        cached_price=known.get("cache_read_input_token_cost"),
        takes_tools=_find_ability(known, TOOLS, served.abilities.takes_tools if served else None),
        sees=_find_ability(known, IMAGES, served.abilities.sees if served else None),
        reported_limit=limit,
    )


def _find_ability(known: Mapping[str, Any], field: str, served: bool | None) -> bool | None:
    """Return whether a model has an ability. The server's answer overrides the model table."""
    if served is not None:
        return served
    return bool(known.get(field)) if known else None


def _describe_ollama(
    name: str,
    provider: str,
    api_base: str,
    key_for: KeyFor | None,
    local_context: int,
    ledger: LedgerPort | None,
) -> ModelInfo:
    """Describe an Ollama model. Its endpoint is `/api/chat`, because `/v1` ignores `num_ctx`."""
    bare = name.removeprefix(f"{provider}/")
    base = find_ollama_root(api_base or LOCAL_BASES["ollama"])
    endpoint = describe_endpoint(f"ollama_chat/{bare}", "ollama_chat", base)
    limit, abilities = None, Abilities()
    if key_for is not None:
        place = base, bare, key_for(endpoint.key_owner), ledger
        limit = ask_context_length(*place)
        abilities = ask_abilities(*place)
    known = find_entry(f"ollama/{bare}", "ollama")
    limit = min(limit or known.get("max_input_tokens") or local_context, local_context)
    return ModelInfo(
        name,
        endpoint,
        input_limit=limit,
        takes_tools=_find_ability(known, TOOLS, abilities.takes_tools),
        sees=_find_ability(known, IMAGES, abilities.sees),
        reported_limit=limit,
    )


def _find_served(
    endpoint: Endpoint, key: str | None, ledger: LedgerPort | None
) -> ServedModel | None:
    query = f"?{endpoint.query}" if endpoint.query else ""
    models = list_served_models(f"{endpoint.api_base}{query}", key, ledger).models
    named = [m for m in models if f"{endpoint.provider}/{m.name}" == endpoint.wire_name]
    # A server with a single model uses it whatever name is requested.
    chosen = named or (models if len(models) == 1 else ())
    return chosen[0] if chosen else None
