"""The README's table of settings, written from the schema: `python -m tests.support.readme`."""

import json
import re
from pathlib import Path

from app.config.schema import SettingSpec, schema

README = Path(__file__).resolve().parents[2] / "README.md"
_TABLE = re.compile(r"(<!-- settings table[^>]*-->\n)(.*?)(<!-- end of settings table -->)", re.S)


def settings_table() -> str:
    """Return the table with one row per setting, in the schema's order."""
    rows = [f"| {_name(spec)} | {_default(spec)} | {_takes(spec)} |" for spec in schema().values()]
    return "\n".join(["| setting | default | what it does |", "|---|---|---|", *rows]) + "\n"


def table_in_readme() -> str:
    """Return the table that the README contains.

    Raises:
        LookupError: the marks around the table are missing.
    """
    found = _TABLE.search(README.read_text("utf-8"))
    if found is None:
        raise LookupError("The README has lost the marks around its table of settings.")
    return found[2]


def write_table() -> None:
    """Write the table between the README's marks."""
    text = README.read_text("utf-8")
    README.write_text(_TABLE.sub(lambda m: m[1] + settings_table() + m[3], text), "utf-8")


def _name(spec: SettingSpec) -> str:
    return f"`{spec.key}`"


def _default(spec: SettingSpec) -> str:
    if spec.default in ("", [], {}):
        return "none"
    shown = spec.default if isinstance(spec.default, str) else json.dumps(spec.default)
    return f"`{shown}`"


def _takes(spec: SettingSpec) -> str:
    has_range = spec.minimum is not None or bool(spec.choices)
    return f"{spec.help} Takes {spec.range_text}." if has_range else spec.help


if __name__ == "__main__":
    write_table()
