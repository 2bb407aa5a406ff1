"""Describe the settings by a schema, and validate their values.

The settings dialog, the settings file and the table in the README are derived from the schema.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from app.config.settings import SHARES, Settings
from app.errors import BadSetting
from context.fixes import Fix, Setting

Kind = Literal["switch", "whole", "number", "text", "list", "choice", "table"]


@dataclass(frozen=True)
class SettingSpec:
    """The schema entry of a setting.

    Attributes:
        key: the name in the settings file, such as `chat.model`.
        field: the field name in `Settings`.
        section: the section of the settings dialog.
        label: the label in the settings dialog.
        help: the help text.
        kind: the type of the value.
        default: the default value.
        minimum: the smallest allowed number, or None.
        maximum: the largest allowed number, or None.
        choices: the allowed values if the kind is "choice", otherwise an empty tuple.
        unit: the unit of the value, such as "tokens", or an empty string.
        may_be_empty: whether an empty text is allowed in place of a number.
    """

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
    may_be_empty: bool = False

    @property
    def is_share(self) -> bool:
        """Whether the value is a fraction that the window shows as a percentage."""
        return self.kind == "number" and self.maximum == 1

    @property
    def range_text(self) -> str:
        """The allowed values as a phrase, such as "a number from 0 to 2"."""
        if self.minimum is not None and self.maximum is not None:
            noun = "a whole number" if self.kind == "whole" else "a number"
            nothing = ", or nothing" if self.may_be_empty else ""
            return f"{noun} from {self.minimum:,} to {self.maximum:,}{nothing}"
        if self.choices:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        if self.key in ("chat.apiBase", "vectorStore.url"):
            return "an address that begins with http:// or https://, or nothing"
        if self.key == "ui.keys":
            return "a table of commands, each with a list of keys such as Ctrl+N"
        if self.key == "chat.imageModels":
            return "a list of models, such as openai/NAME"
        names = {"switch": "true or false", "list": "a list of patterns", "text": "text"}
        names["table"] = "a table of servers, each with a command or a url"
        return names[self.kind]


@cache
def schema() -> Mapping[str, SettingSpec]:
    """Return all schema entries by key, in the order of the settings dialog."""
    specs = (_spec(name, info) for name, info in Settings.model_fields.items())
    return {spec.key: spec for spec in specs}


def use_labels(text: str) -> str:
    """Replace setting keys in text with their labels.

    A fraction in brackets after a key is converted to a percentage. Commands in backticks stay
    unchanged.
    """
    keys = "|".join(re.escape(key) for key in sorted(schema(), key=len, reverse=True))

    def name(found: re.Match[str]) -> str:
        spec = schema().get(found["key"] or "")
        if spec is None:
            return found[0]
        share = f" ({format_share(float(found['share']))})" if found["share"] else ""
        return f'"{spec.label}"{share}'

    value = r"(?: \((?P<share>[01](?:\.\d+)?)\))?"
    pattern = rf"`[^`]*`|(?<![\w./])(?P<key>{keys})(?![\w/]|\.\w){value}"
    return re.sub(pattern, name, text)


def check(key: str, value: object) -> Any:
    """Validate a setting's value and return it.

    Raises:
        BadSetting: the key is unknown, or the value is not allowed.
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
    """Check that the thresholds for trimming, compacting and blocking are in order.

    Raises:
        BadSetting: a threshold is below the previous one.
    """
    shares = [(key, getattr(values, schema()[key].field)) for key in SHARES]
    for (lower, least), (upper, most) in pairwise(shares):
        if least > most:
            raise BadSetting(
                f"{upper} ({most}) must not be below {lower} ({least}).",
                key=upper,
                hint=Fix("The order is {}, {}, {}.", *map(Setting, SHARES)),
            )


def check_changed_shares(
    file: Mapping[str, Any], run: Mapping[str, Any], change: Mapping[str, Any]
) -> None:
    """Check the context thresholds in a changed file, with and without this run's overrides.

    Args:
        file: the values in the settings file.
        run: the values that apply to this run of the program only.
        change: the changed values.

    Raises:
        BadSetting: a threshold is below the previous one.
    """
    check_shares(Settings.model_validate({**file, **change}))
    check_shares(Settings.model_validate({**file, **run, **change}))


def omit_shares(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the context thresholds."""
    return {key: value for key, value in values.items() if key not in SHARES}


def format_share(share: float) -> str:
    """Format a fraction as a percentage, such as `80 %`."""
    return f"{round(share * 100, 4):g}\N{NO-BREAK SPACE}%"


def _spec(name: str, info: FieldInfo) -> SettingSpec:
    annotation, rules = _split_annotation(info)
    limits = {
        attribute: getattr(rule, attribute)
        for rule in rules
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
        kind=_kind(annotation),
        default=info.get_default(),
        minimum=limits.get("ge"),
        maximum=limits.get("le"),
        choices=get_args(annotation) if get_origin(annotation) is Literal else (),
        unit=str(extra["unit"]),
        may_be_empty=annotation is not info.annotation,
    )


def _split_annotation(info: FieldInfo) -> tuple[Any, Sequence[Any]]:
    """Return the type of a setting and its rules, such as its range.

    For a number that may be empty, this is the type of the number.
    """
    if get_origin(info.annotation) is not Union:
        return info.annotation, info.metadata
    number = get_args(info.annotation)[0]
    rules = number.__metadata__[0].metadata
    return number.__origin__, rules


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is Literal:
        return "choice"
    kinds: dict[Any, Kind] = {bool: "switch", int: "whole", float: "number", str: "text"}
    if get_origin(annotation) is dict:
        return "table"
    return kinds.get(annotation, "list")


def _explain(spec: SettingSpec, error: ValidationError) -> str:
    """Return why a table in the settings file is invalid, as the end of an error message.

    The result is an empty string if the setting is not a table, or if there is no specific reason.
    """
    reason = error.errors()[0].get("ctx", {}).get("error")
    return f": {reason}" if spec.kind == "table" and isinstance(reason, ValueError) else ""
