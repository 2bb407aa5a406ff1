"""Set up litellm so that it contacts no host but the one that a request is for.

By itself, the library downloads tables and tokenizers, asks a model hub for chat templates, looks
for credentials at addresses of cloud machines, and opens clients of its own. Only `chains.model`
imports it, and passes it to these functions.
"""

import logging
import os
import re
from typing import Any, Final

from chains.llm.http import open_client
from vault.workers.process import OFFLINE_ENVIRONMENT

__all__ = ["configure_library", "ignore_foreign_addresses", "prepare_environment"]

# Variables with addresses and headers that litellm or a provider's client reads.
_FOREIGN_ADDRESSES: Final = re.compile(
    r".*_(API_BASE|BASE_URL|API_URL)(_[A-Z]+)?|AWS_ENDPOINT_URL(_\w+)?|(WATSONX|WX|WML)_URL"
    r"|(AWS_BEDROCK_RUNTIME|AWS_STS|DATAROBOT|GRADIENT_AI_AGENT)_ENDPOINT|AZURE_AUTHORITY_HOST"
    r"|(OPENAI|ANTHROPIC)_CUSTOM_HEADERS"
)
# The client is the third argument of litellm's handler of requests, and may be given by its place.
_CLIENT_PLACE: Final = 3


def ignore_foreign_addresses() -> None:
    """Remove service addresses from the environment, because only the settings may define them.

    Proxy variables are kept, because they apply to all programs.
    """
    for name in [name for name in os.environ if _FOREIGN_ADDRESSES.fullmatch(name)]:
        del os.environ[name]


def prepare_environment() -> None:
    """Set the variables that litellm reads when it is imported."""
    os.environ.update(
        OFFLINE_ENVIRONMENT,
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS="True",
        # Otherwise it reads a `.env` file from the current folder, which may be a vault.
        LITELLM_MODE="PRODUCTION",
    )
    # Without a key for Bedrock, Amazon's library would look for a cloud machine around it.
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")


def configure_library(litellm: Any) -> None:
    """Turn off what litellm logs, stores and looks up, and give it the client of model calls."""
    litellm.telemetry = False
    # To count tokens, it would otherwise download tokenizers.
    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    # Some services require a tool definition with every tool call, so litellm adds one.
    litellm.modify_params = True
    litellm.disable_streaming_logging = True
    litellm.callbacks = []
    litellm.client_session = open_client()
    _use_one_client(litellm)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        # Its log lines may contain text of notes, and are written to standard error.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _use_one_client(litellm: Any) -> None:
    """Make litellm send every request through `open_client`, except for look-ups of its own.

    Some of its adapters open a client themselves, whatever client the caller passes. Its look-ups,
    such as the context length of an Ollama model at the usual address, are refused.
    """
    import httpx

    handler = litellm.llms.custom_httpx.http_handler.HTTPHandler
    build = handler.__init__

    def build_with_our_client(self: Any, *arguments: Any, **options: Any) -> None:
        if len(arguments) < _CLIENT_PLACE and options.get("client") is None:
            options["client"] = open_client()
        build(self, *arguments, **options)

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"{request.url.host} is not in the settings", request=request)

    handler.__init__ = build_with_our_client
    refusing = httpx.Client(transport=httpx.MockTransport(refuse))
    litellm.module_level_client = handler(client=refusing)
