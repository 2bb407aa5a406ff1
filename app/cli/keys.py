"""Keys of services and servers from the command line: entered, removed, and where they come from.

A key is read from standard input, so that it is in no list of processes and no shell's history.
"""

import argparse
import getpass
import sys

from app.assistant import Assistant
from app.cli.output import Output
from app.config import secrets
from app.errors import InvalidRequest
from chains.llm.http import origin_of


def run(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Do what `strata keys` was told to do, and return the exit code."""
    if args.action == "show":
        return _show(assistant, output)
    owner = _find_owner(args.owner, assistant)
    if args.action == "set":
        key = _read_key(owner, allows_plain_http=args.plain_http)
        assistant.set_key(owner, key, allows_plain_http=args.plain_http)
        said = f"The key for {owner} is in the system's keyring."
    else:
        assistant.set_key(owner, "")
        said = f"The system's keyring has no key for {owner} any more."
    output.show(lambda: {"owner": owner}, [said])
    return 0


def _show(assistant: Assistant, output: Output) -> int:
    owner = assistant.key_provider(assistant.settings.values.chat_model)
    source = None if owner is None else secrets.find_key(owner)
    said = "The model that is set takes no key."
    if owner is not None:
        said = {
            "keyring": f"The key for {owner} is in the system's keyring.",
            "environment": f"The key for {owner} comes from the environment.",
        }.get(source or "", f"There is no key for {owner}.")
    output.show(lambda: {"owner": owner, "source": source}, [said])
    return 0


def _find_owner(named: str | None, assistant: Assistant) -> str:
    """Return whose key is meant: a service, or an address without its path."""
    if named is not None:
        owner = origin_of(named) if secrets.is_address(named) else named
        if not owner or not owner.isprintable():
            raise InvalidRequest(f"{named} is not an address.")
        return owner
    owner = assistant.key_provider(assistant.settings.values.chat_model) or ""
    if not owner:
        raise InvalidRequest(
            "The model that is set takes no key.", hint="Name a service or an address."
        )
    return owner


def _read_key(owner: str, *, allows_plain_http: bool) -> str:
    """Return the key that is typed or piped in.

    Raises:
        InvalidRequest: there is none, or it may not be kept for this address.
    """
    if not allows_plain_http:
        secrets.require_private_way(owner)
    prompt = f"Key for {owner}: "
    key = getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise InvalidRequest("No key was entered.", hint="It is read from standard input.")
    return key.strip()
