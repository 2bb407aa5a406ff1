"""The providers of models: names, hosts and keys, and the models that they are known to have.

The models are listed in a table that ships with litellm and is read without importing it.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from chains.llm.port import Endpoint
from chains.llm.server import LOCAL_SERVERS
from chains.llm.urls import is_loopback, parse_host, parse_origin, parse_place, split_query

__all__ = [
    "IMAGES",
    "KEYLESS",
    "LOCAL_BASES",
    "NEED_TOOLS",
    "TAKE_MARKS",
    "TOOLS",
    "Service",
    "describe_endpoint",
    "find_entry",
    "find_provider",
    "list_services",
    "name_service",
    "remove_prefix",
]

# The display name and the host of known providers.
_SERVICES: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("Anthropic", "api.anthropic.com"),
    "cohere_chat": ("Cohere", "api.cohere.com"),
    "deepseek": ("DeepSeek", "api.deepseek.com"),
    "gemini": ("Google Gemini", "generativelanguage.googleapis.com"),
    "groq": ("Groq", "api.groq.com"),
    "mistral": ("Mistral", "api.mistral.ai"),
    "openai": ("OpenAI", "api.openai.com"),
    "openrouter": ("OpenRouter", "openrouter.ai"),
    "together_ai": ("Together AI", "api.together.ai"),
    "xai": ("xAI", "api.x.ai"),
}
LOCAL_BASES: Final[Mapping[str, str]] = {
    **LOCAL_SERVERS,
    "ollama_chat": LOCAL_SERVERS["ollama"],
}
# Models for other purposes, and dated or preview versions of a model that has a plain name.
_SPECIAL: Final = re.compile(
    r"^ft:|audio|beta|computer-use|exp|latest|preview|realtime|robotics|search|-\d{4}(?:\d{4}|-|$)"
)
# Providers that authenticate in another way than with a single key, or need no key.
KEYLESS: Final = frozenset(
    {
        *("bedrock", "custom_openai", "gguf", "hosted_vllm", "sagemaker", "sagemaker_chat"),
        *("vertex_ai", "vllm"),
    }
)
# Fields of the table that say what a model supports.
TOOLS: Final = "supports_function_calling"
IMAGES: Final = "supports_vision"
_ABOVE: Final = re.compile(r"_above_(\d+)k_tokens")
_INPUT: Final = "input_cost_per_token"
_OUTPUT: Final = "output_cost_per_token"
_CACHED: Final = "cache_creation_input_token_cost"
# Providers that refuse a request with tool calls in its history, but without tools.
NEED_TOOLS: Final = frozenset({"anthropic", "bedrock"})
# Providers that accept cache marks. Others may reject a request that has them.
TAKE_MARKS: Final = frozenset({"anthropic", "bedrock", "openrouter", "vertex_ai"})


def name_service(provider: str) -> str:
    """Return the display name of a provider, such as `OpenAI`."""
    return _SERVICES.get(provider, (provider, ""))[0]


@dataclass(frozen=True)
class Service:
    """A provider that requires an API key.

    Attributes:
        provider: the name in litellm, which prefixes the model names.
        name: the display name.
        models: the chat models, as in the setting `chat.model`, newest version first.
    """

    provider: str
    name: str
    models: tuple[str, ...]


def list_services() -> tuple[Service, ...]:
    """List the known providers, sorted by name, with their chat models that support tools."""
    found: dict[str, set[str]] = {provider: set() for provider in _SERVICES}
    for name, entry in _load_table().items():
        provider = str(entry.get("litellm_provider"))
        bare = name.removeprefix(f"{provider}/")
        is_chat = entry.get("mode") == "chat" and bool(entry.get(TOOLS))
        if provider in found and is_chat and not _SPECIAL.search(bare):
            found[provider].add(f"{provider}/{bare}")
    services = (
        Service(provider, name_service(provider), _sort_newest_first(names))
        for provider, names in found.items()
    )
    return tuple(sorted(services, key=lambda service: service.name.casefold()))


def _sort_newest_first(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names in reverse natural order, so that `model-10` comes before `model-9`."""

    def split(name: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"\d+|\D+", name)
        return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]

    return tuple(sorted(names, key=split, reverse=True))


def remove_prefix(name: str) -> str:
    """Remove the prefix of a known provider, such as `openai/`, from a model's name."""
    prefix, _, bare = name.strip().partition("/")
    return bare if bare and prefix in _list_providers() else name.strip()


def find_provider(name: str, api_base: str) -> str:
    """Return the provider of a model, or an empty string if it is not known.

    Args:
        name: the name of the model, with or without its provider's prefix.
        api_base: the address of the user's own server, or an empty string.
    """
    prefix = name.split("/", 1)[0] if "/" in name else ""
    if prefix in _list_providers():
        return prefix
    if api_base:
        return "openai"
    provider = str(_load_table().get(name, {}).get("litellm_provider", ""))
    # Model families of a provider have their own names, such as `vertex_ai-mistral_models`.
    return provider.split("-", maxsplit=1)[0]


def describe_endpoint(wire_name: str, provider: str, api_base: str) -> Endpoint:
    """Describe where requests to a model are sent, and whose key they need.

    Args:
        wire_name: the name of the model in requests.
        provider: the name of the provider in litellm.
        api_base: the address of the user's own server, or an empty string.
    """
    base, query = split_query(api_base or LOCAL_BASES.get(provider, ""))
    service, host = _SERVICES.get(provider, (provider, ""))
    if base:
        host = parse_host(base)
        service = parse_place(base) or base
    is_local = is_loopback(host)
    return Endpoint(
        wire_name=wire_name,
        provider=provider,
        api_base=base,
        host=host,
        service=service,
        is_local=is_local,
        needs_key=not base and provider not in KEYLESS,
        key_owner=_find_key_owner(base, provider),
        query=query,
    )


def _find_key_owner(base: str, provider: str) -> str:
    """Return whose key a request needs: a provider, or the origin of another server."""
    if not base:
        return provider
    origin = parse_origin(base)
    known = {f"https://{host}": name for name, (_, host) in _SERVICES.items()}
    return known.get(origin, origin)


def find_entry(wire_name: str, provider: str) -> Mapping[str, Any]:
    """Return a model's row of the table, or an empty mapping if the table does not list it."""
    bare = wire_name.removeprefix(f"{provider}/")
    entry: Mapping[str, Any] = _load_table().get(wire_name) or _load_table().get(bare) or {}
    return entry if str(entry.get("litellm_provider", "")).startswith(provider) else {}


def price_call(
    endpoint: Endpoint, prompt_tokens: int, answer_tokens: int, is_marked: bool
) -> float | None:
    """Return the most that a call can cost in dollars, or None if its price is not known.

    A call to a model on this computer costs nothing.

    Args:
        endpoint: the address of the model.
        prompt_tokens: the tokens of the request.
        answer_tokens: the most tokens of the answer.
        is_marked: whether the service is asked to cache a part of the request, which costs more.
    """
    if endpoint.is_local:
        return 0.0
    if endpoint.api_base and "://" in endpoint.key_owner:
        return None  # the prices of an unknown server
    prices = find_entry(endpoint.wire_name, endpoint.provider)
    into = _find_price(prices, _INPUT, prompt_tokens)
    if is_marked:
        into = max(into, _find_price(prices, _CACHED, prompt_tokens))
    cost = prompt_tokens * into + answer_tokens * _find_price(prices, _OUTPUT, prompt_tokens)
    return cost or None  # no service is free, so its price is missing


def _find_price(prices: Mapping[str, Any], field: str, prompt_tokens: int) -> float:
    """Return the highest price of a token that holds for a request of a size, or 0."""
    found = [0.0]
    for name, price in prices.items():
        if not isinstance(price, int | float) or not name.startswith(field):
            continue
        above = _ABOVE.fullmatch(name, len(field))
        if name == field or (above is not None and prompt_tokens > int(above[1]) * 1_000):
            found.append(float(price))
    return max(price for price in found if math.isfinite(price))


@cache
def _load_table() -> Mapping[str, Any]:
    from chains.model import load_packaged_data

    return load_packaged_data("model_prices_and_context_window_backup.json")


@cache
def _list_providers() -> frozenset[str]:
    from chains.model import load_packaged_data

    listed = load_packaged_data("provider_endpoints_support_backup.json").get("providers", {})
    named = {str(entry.get("litellm_provider")) for entry in _load_table().values()}
    return frozenset(listed) | frozenset(named) | frozenset(LOCAL_BASES) | frozenset(_SERVICES)
