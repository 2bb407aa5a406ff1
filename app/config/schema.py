"""The schema of the settings: the entry of each setting, and validation.

The settings dialog, the file, validation and the table in the README are all derived from it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from app.config.settings import SHARES, Settings
from app.errors import BadSetting

Kind = Literal["switch", "whole", "number", "text", "list", "choice", "table"]


@dataclass(frozen=True)
class SettingSpec:
    """The schema entry of one setting."""

    key: str
    field: str
    section: str
    label: str
    help: str
    kind: Kind
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""

    @property
    def range_text(self) -> str:
        """The allowed values as text that can follow the word "takes"."""
        if self.minimum is not None and self.maximum is not None:
            noun = "a whole number" if self.kind == "whole" else "a number"
            return f"{noun} from {self.minimum:,} to {self.maximum:,}"
        if self.choices:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        if self.key in ("chat.apiBase", "vectorStore.url"):
            return "an address that begins with http:// or https://, or nothing"
        names = {"switch": "true or false", "list": "a list of patterns", "text": "text"}
        names["table"] = "a table of servers, each with a command or a url"
        return names[self.kind]


@cache
def schema() -> Mapping[str, SettingSpec]:
    """Return the schema entries of all settings by key, in the order of the sections."""
    specs = (_spec(name, info) for name, info in Settings.model_fields.items())
    return {spec.key: spec for spec in specs}


def use_labels(text: str) -> str:
    """Return a text with the keys of settings replaced by their labels, as shown in the window.

    Commands in backticks are not changed, since they need the key.
    """
    keys = "|".join(re.escape(key) for key in sorted(schema(), key=len, reverse=True))

    def name(found: re.Match[str]) -> str:
        spec = schema().get(found[0])
        return found[0] if spec is None else f'"{spec.label}"'

    return re.sub(rf"`[^`]*`|(?<![\w./])(?:{keys})(?![\w/]|\.\w)", name, text)


def check(key: str, value: object) -> Any:
    """Return a value after validation by the schema of its setting.

    Raises:
        BadSetting: there is no setting with that key, or the value is not allowed.
    """
    spec = schema().get(key)
    if spec is None:
        raise BadSetting(f"There is no setting named {key}.", key=key)
    try:
        return getattr(Settings.model_validate({key: value}), spec.field)
    except ValidationError as error:
        raise BadSetting(
            f"{key} takes {spec.range_text}{_explain(spec, error)}.", key=key
        ) from error


def check_shares(values: Settings) -> None:
    """Check that the shares for trimming, compacting and blocking are in ascending order.

    Raises:
        BadSetting: a share is below the one before it.
    """
    shares = [(key, getattr(values, schema()[key].field)) for key in SHARES]
    for (lower, least), (upper, most) in pairwise(shares):
        if least > most:
            raise BadSetting(
                f"{upper} ({most}) must not be below {lower} ({least}).",
                key=upper,
                hint="The order is context.trimAt, context.compactAt, context.blockAt.",
            )


def _spec(name: str, info: FieldInfo) -> SettingSpec:
    limits = {
        attribute: getattr(rule, attribute)
        for rule in info.metadata
        for attribute in ("ge", "le")
        if hasattr(rule, attribute)
    }
    extra = info.json_schema_extra
    assert isinstance(extra, dict)
    return SettingSpec(
        key=str(info.alias),
        field=name,
        section=str(extra["section"]),
        label=str(info.title),
        help=str(info.description),
        kind=_kind(info.annotation),
        default=info.get_default(),
        minimum=limits.get("ge"),
        maximum=limits.get("le"),
        choices=get_args(info.annotation) if get_origin(info.annotation) is Literal else (),
        unit=str(extra["unit"]),
    )


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is Literal:
        return "choice"
    kinds: dict[Any, Kind] = {bool: "switch", int: "whole", float: "number", str: "text"}
    if get_origin(annotation) is dict:
        return "table"
    return kinds.get(annotation, "list")


def _explain(spec: SettingSpec, error: ValidationError) -> str:
    """Return which part of a table is wrong; empty for other settings, whose range says it."""
    reason = error.errors()[0].get("ctx", {}).get("error")
    return f": {reason}" if spec.kind == "table" and isinstance(reason, ValueError) else ""
