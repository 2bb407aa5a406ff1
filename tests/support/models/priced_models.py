"""Let a scripted server on this computer stand for a service with prices."""

from dataclasses import replace
from functools import wraps

import pytest

import chains.models
from chains.llm.port import Endpoint

__all__ = ["charge_for_calls"]


def charge_for_calls(patch: pytest.MonkeyPatch, key_owner: str = "openai") -> None:
    """Let every server on this computer cost what the service of `key_owner` charges.

    With an address as `key_owner`, its prices are not known.
    """
    describe = chains.models.describe_endpoint

    @wraps(describe)
    def describe_priced(wire_name: str, provider: str, api_base: str) -> Endpoint:
        endpoint = describe(wire_name, provider, api_base)
        return replace(endpoint, is_local=False, key_owner=key_owner)

    patch.setattr(chains.models, "describe_endpoint", describe_priced)
