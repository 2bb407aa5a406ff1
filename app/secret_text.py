"""Recognise secrets in texts: in messages, addresses, arguments of programs and settings.

A secret is known by what it looks like (`ghp_…`), by the name in front of it (`--api-key`), or by
its place in an address. Some names, such as `key`, are also those of harmless values: with them,
the value decides too. What is recognised here is hidden in the log, moved to the keyring and left
out of backups.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

__all__ = [
    "Secret",
    "find_argument_secrets",
    "find_secrets",
    "find_value_secrets",
    "hide",
    "is_secret_name",
    "redact",
    "redact_arguments",
    "redact_value",
    "remove_parameters",
    "replace_secrets",
]

HIDDEN: Final = "[key]"
# Names end with one of these words, such as DB_PASSWORD, GITHUB_PAT and --token.
_WORDS: Final = frozenset(
    [
        "authorization",
        "bearer",
        "cookie",
        "credential",
        "credentials",
        "jwt",
        "pass",
        "passcode",
        "passphrase",
        "passwd",
        "password",
        "pat",
        "psk",
        "pwd",
        "secret",
        "token",
    ]
)
# The names of secrets whose words are written together, such as apikey and PGPASSWORD.
_JOINED: Final = re.compile(
    r".*(?:(?:api|access|secret|private|auth|service|account)key|(?:access|auth|api)token"
    r"|password|passwd|passphrase|secret)"
)
# With these words in front of it, a key is no secret.
_PLAIN_KEYS: Final = frozenset(
    [
        "cache",
        "cluster",
        "column",
        "dedup",
        "field",
        "foreign",
        "group",
        "hot",
        "idempotency",
        "index",
        "join",
        "lookup",
        "map",
        "object",
        "order",
        "partition",
        "primary",
        "public",
        "range",
        "routing",
        "row",
        "schema",
        "search",
        "shard",
        "shortcut",
        "sort",
    ]
)
# With these names, the value must look like a secret.
_WEAK: Final = frozenset(("key", "auth"))
_WEAK_PARAMETERS: Final = frozenset(("code", "sid", "session"))
_SIGNATURES: Final = frozenset(("sig", "signature", "x-amz-signature", "key"))
# In place of a password, where the user name is the secret.
_NO_PASSWORDS: Final = frozenset(("", "x-oauth-basic"))
_USERS: Final = frozenset(("u", "user", "auth", "basic-auth", "proxy-user", "login"))
_NO_SECRETS: Final = frozenset(
    [
        "0",
        "1",
        "auto",
        "basic",
        "bearer",
        "default",
        "digest",
        "env",
        "false",
        "file",
        "keyring",
        "nil",
        "no",
        "none",
        "null",
        "oauth",
        "oauth2",
        "off",
        "on",
        "optional",
        "prompt",
        "required",
        "stdin",
        "true",
        "yes",
    ]
)
# The value of a name needs this length in running text, where a name may also be a word.
_LEAST_CHARS: Final = 6
_LEAST_WEAK_CHARS: Final = 8
_LEAST_RANDOM_CHARS: Final = 24
_LEAST_RANDOM_CHANGES: Final = 6

# So many names in front of a value are looked at, as in --env=A=B.
_MOST_NAMES: Final = 4

_WORD_BREAK: Final = re.compile(r"[-_.\s]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d+$)")
_PLACEHOLDER: Final = re.compile(r"\$\{[^{}]*\}")
_SCHEME: Final = re.compile(r"(?i:bearer|basic|token|digest)\s+")
_TEMPLATE: Final = re.compile(r"\$[A-Za-z_]\w*|%\w+%|<[^<>]*>|\{[^{}]*\}|\[key\]|[*x•.…-]+")
_PLAIN: Final = re.compile(r"[A-Za-z]{1,7}|[A-Za-z]+(?:[-_.:,/ ][A-Za-z]+)+|\d{1,6}")
# A path: more than one name, or one that cannot start a key. Keys may begin with a slash as well.
_PATH: Final = re.compile(
    r"(?:[.~]{1,2}|\$\{\w+\}|[A-Za-z]:)[/\\][^+=$!#?&*]*|/[^+=$!#?&*/]+[/.][^+=$!#?&*]*"
)
_SUFFIX: Final = re.compile(r"\.[A-Za-z]{1,5}$")
_RUN: Final = re.compile(rf"[A-Za-z0-9_-]{{{_LEAST_RANDOM_CHARS},}}")
_CHANGE: Final = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
# Keys that services mark with a prefix.
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(?i:sk|pk|rk)[-_][\w-]{8,}"
    # These begin names of packages too, such as hf-mcp-server, which rarely have digits.
    r"|(?i:gsk|xai|tvly|pplx|nvapi)[-_](?=[\w-]*\d)[\w-]{8,}"
    r"|(?i:hf|npm|r8|dp|sbp|figd|whsec|ntn|lsv2)_(?=[\w-]*\d)[\w-]{8,}"
    r"|gh[oprsu]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|pypi-[\w-]{16,}|dckr_pat_[\w-]{8,}"
    r"|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|shp(?:at|ca|pa|ss)_\w{8,}|dop_v1_\w{8,}"
    r"|lin_api_\w{8,}|secret_\w{16,}|sntrys_[\w-]{8,}|SG\.[\w-]{8,}\.[\w-]{8,}|ya29\.[\w-]{8,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ATATT[\w-]{8,}"
    r"|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|AGE-SECRET-KEY-\w{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*-----)?)"
)
# Possessive, because each split of the user's text would be tried where no "@" follows.
_USER_INFO: Final = re.compile(
    r"://(?P<user>(?:\$\{[^{}\s]*+\}|[^/?#\s:@\"'])*+)(?P<colon>:?+)(?P<password>[^/?#\s\"']*)@"
)
_PAIR: Final = re.compile(r"(?:\$\{[^{}]*+\}|[^:])++:(?!//)(?P<password>.+)", re.DOTALL)
_PARAMETER: Final = re.compile(
    r"(?<=[?&;#])(?P<name>[^=&;#?\s\"']{1,60})=(?P<value>[^&;#\s\"'<>]*)"
)
_SPOKEN: Final = re.compile(r"(?i:\bbearer\s+)(?P<value>[^\s\"',;]{6,})")
_NAMED: Final = re.compile(
    r"(?<![\w.-])(?P<sign>-{0,2})(?P<name>[A-Za-z_][\w.-]{0,60})"
    r"(?:(?P<mark>[\"']?\s{0,2}[:=])\s{0,2}|\s)(?=\S)"
)
_NAMED_VALUE: Final = re.compile(
    r"(?P<quote>[\"'])(?P<quoted>[^\"'\n]{0,2000})(?P=quote)"
    r"|(?P<bare>(?:(?i:bearer|basic)\s)?[^\s\"',;&()]{1,2000})"
)
_OPTION: Final = re.compile(r"-{1,2}(?P<name>[A-Za-z][\w.-]*)")
_P_OPTION: Final = "-p"  # which is also a port, a package, a project or a path
_SHORT_OPTIONS: Final = frozenset((_P_OPTION, "-a", "-w"))
_JOINED_WORDS: Final = re.compile(r"[A-Za-z]{2}[-_./:]|[-_./:][A-Za-z]{2}")
_NO_PASSWORD: Final = re.compile(r"[\d.:,/-]+(?:/\w{3})?|@[\w.-]+/[\w.@-]+|[\w.-]+@[\w.^~-]+")
# A pair in JSON, whose quotation marks may have backslashes, as within another text.
_JSON_PAIR: Final = re.compile(
    r"(?=(?P<quote>\\{0,7}\")(?P<name>[\w .-]{1,60})(?P=quote)\s{0,9}:\s{0,9}\[?\s{0,9}"
    r"(?:(?P=quote)(?P<text>(?:(?!(?<!\\)(?P=quote)).){0,2000})(?P=quote)"
    r"|(?P<number>-?\d[\d.eE+-]{0,99})))",
    re.DOTALL,
)
_ASSIGNMENT: Final = re.compile(r"(?:-H)?-{0,2}(?P<name>[A-Za-z_][\w.-]*)(?:=|:(?!//)\s*)")
_hidden: set[str] = set()


@dataclass(frozen=True)
class Secret:
    """A secret in a text.

    Attributes:
        name: what stands in front of it, such as `api-key`, or the kind of place.
        start: the index of its first character.
        end: the index after its last character.
    """

    name: str
    start: int
    end: int


def hide(key: str) -> None:
    """Replace a secret with a placeholder in all later messages."""
    if len(key) >= 4:  # a shorter text is no key, and would match within ordinary words
        _hidden.add(key)


def redact(text: str) -> str:
    """Replace known secrets, and everything that looks like one, with a placeholder."""
    for key in _hidden:
        text = text.replace(key, HIDDEN)
    return replace_secrets(text, find_secrets(text), lambda _: HIDDEN)


def redact_value(value: Any, name: str = "") -> Any:
    """Return a copy of a value as in JSON without secrets.

    Args:
        value: a text, a number, or a list or object of such values.
        name: the name of the value, which may say that it is secret.
    """
    if isinstance(value, Mapping):
        return {key: redact_value(each, str(key)) for key, each in value.items()}
    if isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            value = redact_arguments(value)
        return [redact_value(each, name) for each in value]
    if isinstance(value, str):
        return replace_secrets(value, find_value_secrets(name, value), lambda _: HIDDEN)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return HIDDEN if is_number and is_secret_name(name) else value


def redact_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a program's arguments without secrets."""
    found = find_argument_secrets(arguments)
    return [
        replace_secrets(argument, secrets, lambda _: HIDDEN)
        for argument, secrets in zip(arguments, found, strict=True)
    ]


def remove_parameters(address: str) -> tuple[str, str]:
    """Return an address without the secret parameters, and the first of them or ""."""
    bare, first = address, ""
    for found in reversed(list(_PARAMETER.finditer(address))):
        if not _is_secret_parameter(found["name"], found["value"]):
            continue
        start, end = found.span()
        if bare[end : end + 1] in ("&", ";"):
            end += 1
        else:
            start -= 1  # the sign in front of the last parameter
        bare, first = bare[:start] + bare[end:], found["value"]
    return bare, first


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a running text, such as a message, in order."""
    named = [*_search_json(text), *_search_named(text)]
    return _join([*_search_tokens(text), *_search_addresses(text), *named])


def find_value_secrets(name: str, value: str) -> list[Secret]:
    """Return the secrets in a value with a name, such as a variable or a header.

    If the name says that the value is secret, this is all of it but its placeholders.
    """
    if name and _is_secret(name, value):
        return _find_clear_parts(name, value)
    return _join([*find_secrets(value), *_search_random(value)])


def find_argument_secrets(arguments: Sequence[str]) -> list[list[Secret]]:
    """Return the secrets in each of a program's arguments.

    These are `--token X`, `--token=X`, `--env=TOKEN=X`, `Authorization: X`, and those that
    `find_secrets` finds.
    """
    has_user = any(
        option["name"].lower() in _USERS
        for argument in arguments
        if (option := _OPTION.fullmatch(argument.partition("=")[0]))
    )
    return [
        _find_short_password(before, argument, has_user) or _find_in_argument(before, argument)
        for before, argument in zip(["", *arguments], arguments, strict=False)
    ]


def replace_secrets(text: str, found: Iterable[Secret], choose: Callable[[Secret], str]) -> str:
    """Return a text with each of its secrets replaced."""
    for secret in sorted(found, key=lambda secret: -secret.start):
        text = text[: secret.start] + choose(secret) + text[secret.end :]
    return text


def _find_in_argument(before: str, argument: str) -> list[Secret]:
    option = _OPTION.fullmatch(before)
    is_option = _OPTION.fullmatch(argument.partition("=")[0]) is not None
    if option and not is_option:
        name = option["name"]
        if _is_secret(name, argument):
            return _find_clear_parts(name, argument)
        if name.lower() in _USERS and (found := _find_password(argument)):
            return found
    start = 0
    for _ in range(_MOST_NAMES):
        if not (assigned := _ASSIGNMENT.match(argument, start)):
            break
        start, value = assigned.end(), argument[assigned.end() :]
        if "\n" in value.strip():
            break  # settings of several lines, each with a name of its own
        if _is_secret(assigned["name"], value):
            return [_shift(secret, start) for secret in _find_clear_parts(assigned["name"], value)]
    return find_value_secrets("", argument)


def _find_short_password(before: str, argument: str, has_user: bool) -> list[Secret]:
    """Return the password of `-p X` or `-pX`, which only some programs have.

    Args:
        before: the argument before it.
        has_user: whether another argument names a user.
    """
    if before in _SHORT_OPTIONS:
        start, is_sure = 0, has_user and before == _P_OPTION
    elif has_user and argument.startswith(_P_OPTION):
        start, is_sure = len(_P_OPTION), False
    else:
        return []
    value = argument[start:]
    if value.startswith("-") or _NO_PASSWORD.fullmatch(value) or not _has_clear_text(value):
        return []
    if not is_sure and (not _looks_secret(value) or _JOINED_WORDS.search(value)):
        return []
    return [Secret(before.lstrip("-") or "p", start, len(argument))]


def _shift(secret: Secret, chars: int) -> Secret:
    return replace(secret, start=secret.start + chars, end=secret.end + chars)


def _find_password(text: str) -> list[Secret]:
    """Return the password of `USER:PASSWORD`, which is neither an address nor two numbers."""
    found = _PAIR.fullmatch(text)
    if not found or found["password"].isdecimal() or not _has_clear_text(found["password"]):
        return []
    return [Secret("password", *found.span("password"))]


def _find_clear_parts(name: str, value: str) -> list[Secret]:
    """Return the parts of a secret value between its placeholders, or the whole value."""
    if not _PLACEHOLDER.search(value):
        return [Secret(name, 0, len(value))]
    found, start = [], 0
    for placeholder in [*_PLACEHOLDER.finditer(value), None]:
        end = placeholder.start() if placeholder else len(value)
        if scheme := _SCHEME.match(value, start, end):
            start = scheme.end()
        if any(map(str.isalnum, value[start:end])):
            found.append(Secret(name, start, end))
        start = placeholder.end() if placeholder else end
    return found


def _split_name(name: str) -> list[str]:
    words = [word.lower() for word in _WORD_BREAK.split(name) if word]
    return words[:-1] if len(words) > 1 and words[-1].isdecimal() else words


def is_secret_name(name: str) -> bool:
    """Return whether the values with a name are secret, unless a value is evidently not."""
    words = _split_name(name)
    if not words or words[-1] in _WORDS or _JOINED.fullmatch("".join(words)):
        return bool(words)
    return words[-1] == "key" and len(words) > 1 and words[-2] not in _PLAIN_KEYS


def _is_secret(name: str, value: str) -> bool:
    """Return whether the value with a name is a secret."""
    if not _has_clear_text(value):
        return False
    if is_secret_name(name):
        return True
    words = _split_name(name)
    if words[-1:] and words[-1] in _WEAK and _PLAIN_KEYS.isdisjoint(words):
        return not _PLAIN.fullmatch(value)
    return bool(_WORDS.intersection(words)) and _looks_secret(value)


def _may_be_secret(name: str) -> bool:
    """Return whether there are values that are secret if they have a name."""
    return is_secret_name(name) or not (_WORDS | _WEAK).isdisjoint(_split_name(name))


def _has_clear_text(value: str) -> bool:
    """Return whether something of a value could be secret: it is no path and no placeholder."""
    clear = _PLACEHOLDER.sub("", _SCHEME.sub("", value, count=1)).strip()
    if not any(map(str.isalnum, clear)) or _TEMPLATE.fullmatch(clear):
        return False
    return clear.lower() not in _NO_SECRETS and not _is_path(value)


def _is_path(value: str) -> bool:
    if not _PATH.fullmatch(value) or any(map(_is_random, _RUN.findall(value))):
        return False
    return bool(_SUFFIX.search(value)) or not _has_all_kinds(value)


def _looks_secret(value: str) -> bool:
    has_both = re.search(r"[A-Za-z]", value) and re.search(r"\d", value)
    return bool(has_both) and len(value) >= _LEAST_WEAK_CHARS and " " not in value.strip()


def _has_all_kinds(text: str) -> bool:
    """Return whether a text has capitals, small letters and digits."""
    return all(any(map(test, text)) for test in (str.isupper, str.islower, str.isdigit))


def _is_random(text: str) -> bool:
    """Return whether capitals, small letters and digits alternate as in no word or number."""
    return _has_all_kinds(text) and len(_CHANGE.findall(text)) >= _LEAST_RANDOM_CHANGES


def _search_random(text: str) -> Iterator[Secret]:
    for run in _RUN.finditer(text):
        if _is_random(run[0]):
            yield Secret("argument", run.start(), run.end())


def _search_tokens(text: str) -> Iterator[Secret]:
    for token in _TOKEN.finditer(text):
        yield Secret("argument", token.start(), token.end())
    for spoken in _SPOKEN.finditer(text):
        if _has_clear_text(spoken["value"]):
            yield Secret("bearer", *spoken.span("value"))


def _search_addresses(text: str) -> Iterator[Secret]:
    if "://" not in text:
        return
    for found in _USER_INFO.finditer(text):
        user, password = found["user"], found["password"]
        if password not in _NO_PASSWORDS:
            if _has_clear_text(password):
                yield Secret("password", *found.span("password"))
        elif (found["colon"] and _has_clear_text(user)) or _looks_secret(user):
            yield Secret("user", *found.span("user"))
    for found in _PARAMETER.finditer(text):
        if _is_secret_parameter(found["name"], found["value"]):
            yield Secret(found["name"], *found.span("value"))


def _is_secret_parameter(name: str, value: str) -> bool:
    words = _split_name(name)
    if name.lower() in _SIGNATURES:
        return _has_clear_text(value)
    if words[-1:] and words[-1] in _WEAK_PARAMETERS:
        return _has_clear_text(value) and not _PLAIN.fullmatch(value)
    return _is_secret(name, value)


def _search_named(text: str) -> Iterator[Secret]:
    """Yield the values that follow the name of a secret: `name: X`, `name=X`, `--name X`."""
    start = 0
    while found := _NAMED.search(text, start):
        start = found.end("name")
        is_named = found["mark"] or found["sign"]
        value = _NAMED_VALUE.match(text, found.end()) if is_named else None
        if value and _may_be_secret(found["name"]):
            part = value.lastgroup or "bare"
            secret = _strip_closing(value[part]) if part == "bare" else value[part]
            if len(secret) >= _LEAST_CHARS and _is_secret(found["name"], secret):
                place = value.start(part)
                yield Secret(found["name"], place, place + len(secret))
                start = value.end()


def _strip_closing(text: str) -> str:
    """Return a text without the brackets at its end that are opened before it."""
    for opening, closing in ("[]", "{}"):
        while text.endswith(closing) and text.count(closing) > text.count(opening):
            text = text[:-1]
    return text


def _search_json(text: str) -> Iterator[Secret]:
    """Yield the values of secret names in JSON, which may be short, or numbers."""
    for pair in _JSON_PAIR.finditer(text) if '"' in text else ():
        part = "number" if pair["text"] is None else "text"
        if _is_secret(pair["name"], pair[part]):
            yield Secret(pair["name"], *pair.span(part))


def _join(found: Iterable[Secret]) -> list[Secret]:
    """Return secrets in order, without those that lie in or across another one."""
    joined: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if not joined or secret.start >= joined[-1].end:
            joined.append(secret)
        elif secret.end > joined[-1].end:
            joined[-1] = replace(joined[-1], end=secret.end)
    return joined
