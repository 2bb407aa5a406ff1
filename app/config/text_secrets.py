"""Find secrets within texts: in the arguments of programs and in the queries of addresses.

A `SecretPlace` is known by the name in front of it, such as `--api-key`. It is found again when its
secret was replaced with a placeholder, since the name decides.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.log import redact

__all__ = [
    "KEPT",
    "SecretPlace",
    "fill_arguments",
    "fill_text",
    "find_argument_slots",
    "find_query_slots",
    "has_password",
    "is_secret_name",
    "remove_query_secrets",
]

# Stands for a secret that is in the keyring.
KEPT: Final = "${KEYRING}"
# Names of headers, variables, options and parameters whose values are secret, such as X-Api-Key,
# DB_PASSWORD, GITHUB_PAT and --token.
_SECRET_NAME: Final = re.compile(
    r"(?:.*[-_.]|.*(?<=[a-z])(?=[A-Z]))?"
    r"(?i:authorization|bearer|cookie|credentials?|jwt|key|pass|passphrase|passwd|pat|psk|pwd"
    r"|secret|token)"
    r"|(?i:.*(?:apikey|accesskey|secretkey|accesstoken|authtoken|password))"
)
# In the query of an address only.
_SIGNATURE: Final = re.compile(r"sig|signature|x-amz-signature", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"://[^/?#\s:@]*:(?P<value>[^/?#\s]+)@")
_OPTION: Final = re.compile(r"-{1,2}(?P<name>[A-Za-z][\w.-]*)")
_NAMED: Final = re.compile(r"-{0,2}(?P<name>[A-Za-z_][\w.-]*)=(?P<value>.*)", re.DOTALL)
_HEADER: Final = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>[^\s/].*)", re.DOTALL)
_PARAMETER: Final = re.compile(r"(?<=[?&;])(?P<name>[^=&;#?\s]+)=(?P<value>[^&;#\s]*)")


@dataclass(frozen=True)
class SecretPlace:
    """A place for a secret in a text.

    Attributes:
        name: the name of the secret, unique in the texts that were searched.
        value: the present value, which may be a placeholder.
        start: the index of the value in its text.
        at: the index of the text.
    """

    name: str
    value: str
    start: int
    at: int = 0

    @property
    def is_secret(self) -> bool:
        """Whether the value is a secret, and neither empty nor a placeholder."""
        return bool(self.value.strip()) and "${" not in self.value


def is_secret_name(name: str) -> bool:
    """Return whether values with a name are secret."""
    return _SECRET_NAME.fullmatch(name) is not None


def has_password(text: str) -> bool:
    """Return whether a text has an address with a password."""
    return _PASSWORD.search(text) is not None


def find_argument_slots(arguments: Sequence[str]) -> list[SecretPlace]:
    """Return the places for secrets in the arguments of a program.

    These are `--token X`, `--token=X`, `TOKEN=X`, `Authorization: X`, passwords and parameters in
    addresses, and whatever looks like a key.
    """
    found: list[SecretPlace] = []
    before = ""
    for at, argument in enumerate(arguments):
        found += (
            SecretPlace(name, value, start, at) for name, value, start in _search(before, argument)
        )
        before = argument
    return _number(found)


def find_query_slots(address: str) -> list[SecretPlace]:
    """Return the places for secrets in the query of an address."""
    return _number([SecretPlace(*found) for found in _search_query(address)])


def remove_query_secrets(address: str) -> tuple[str, str]:
    """Return an address without the secrets in its query, and the first of them or ""."""
    slots = [slot for slot in find_query_slots(address) if slot.is_secret]
    bare = address
    for slot in reversed(slots):
        start = bare.rindex(slot.name.partition("#")[0], 0, slot.start)
        rest = bare[slot.start + len(slot.value) :]
        if rest.startswith(("&", ";")):
            rest = rest[1:]
        else:
            start -= 1  # the sign in front of the last parameter
        bare = bare[:start] + rest
    return bare, slots[0].value if slots else ""


def fill_text(text: str, slots: Sequence[SecretPlace], find: Callable[[SecretPlace], str]) -> str:
    """Return a text with the values of some places replaced.

    Args:
        text: the text.
        slots: the places in it.
        find: returns the new value of a place.
    """
    for slot in sorted(slots, key=lambda slot: -slot.start):
        text = text[: slot.start] + find(slot) + text[slot.start + len(slot.value) :]
    return text


def fill_arguments(
    arguments: Sequence[str], slots: Sequence[SecretPlace], find: Callable[[SecretPlace], str]
) -> list[str]:
    """Return arguments with the values of some places replaced, as `fill_text` does."""
    return [
        fill_text(argument, [slot for slot in slots if slot.at == at], find)
        for at, argument in enumerate(arguments)
    ]


def _search(before: str, argument: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name, the value and the start of each secret in an argument."""
    option = _OPTION.fullmatch(before)
    if option and is_secret_name(option["name"]) and not argument.startswith("-"):
        yield option["name"], argument, 0
        return
    for pattern in (_NAMED, _HEADER):
        named = pattern.fullmatch(argument)
        if named and is_secret_name(named["name"]):
            yield named["name"], named["value"], named.start("value")
            return
    found = [(m["name"], m["value"], m.start("value")) for m in _find_parameters(argument)]
    found += (("password", m["value"], m.start("value")) for m in _PASSWORD.finditer(argument))
    if found:
        yield from found
    elif argument == KEPT or redact(argument) != argument:
        yield "argument", argument, 0


def _search_query(address: str) -> Iterator[tuple[str, str, int]]:
    for match in _find_parameters(address):
        yield match["name"], match["value"], match.start("value")


def _find_parameters(text: str) -> Iterator[re.Match[str]]:
    if "://" not in text:
        return
    for match in _PARAMETER.finditer(text):
        if is_secret_name(match["name"]) or _SIGNATURE.fullmatch(match["name"]):
            yield match


def _number(slots: Sequence[SecretPlace]) -> list[SecretPlace]:
    """Return places with unique names: the second one of a name gets a number."""
    counts: dict[str, int] = {}
    numbered = []
    for slot in slots:
        count = counts[slot.name] = counts.get(slot.name, 0) + 1
        name = slot.name if count == 1 else f"{slot.name}#{count}"
        numbered.append(SecretPlace(name, slot.value, slot.start, slot.at))
    return numbered
