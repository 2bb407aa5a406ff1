"""The settings in force: defaults, then the file, then the values given for this run.

The file is read with the standard library and edited with tomlkit, so that comments, order and keys
of other versions stay as they are. A file that cannot be understood is never written over.
"""

import threading
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from app.config import secrets
from app.config.schema import SHARES, Settings, SettingSpec, check, check_shares, schema
from app.durable import write_atomically
from app.errors import (
    AppError,
    BadSetting,
    InvalidRequest,
    NoKeyring,
    storage_errors,
    storage_failed,
)
from app.paths import make_private_folder

Source = Literal["default", "file", "run"]


class SettingsStore:
    """Read, check and change the settings; safe to use from several threads.

    Attributes:
        path: the file.
        values: every setting, checked; a value that the file has wrong is at its default.
        unknown: keys of the file that this version does not know; they are kept.
        problems: what is the matter with the file, one error each.
    """

    values: Settings
    unknown: tuple[str, ...]
    problems: tuple[AppError, ...]

    def __init__(self, path: Path, overrides: Mapping[str, object] | None = None) -> None:
        """Read the file.

        Args:
            path: the file; it need not exist.
            overrides: values for this run alone, by key; they are never written.

        Raises:
            BadSetting: an override names no setting, is out of its range, or does not go with the
                others.
        """
        self.path = path
        self._lock = threading.RLock()
        self._run = {
            key: check(key, _without_secret(key, value)) for key, value in (overrides or {}).items()
        }
        self.reload()
        check_shares(Settings.model_validate({**self._file, **self._run}))

    def reload(self) -> None:
        """Read the file again, as it is now."""
        with self._lock:
            problems: list[AppError] = []
            self._written: dict[str, Any] = {}
            try:
                found = dict(_flat(self._parse(self._read())))
            except AppError as error:
                found, problems = {}, [error]
            problems += self._take_secret(found)
            for key in found.keys() & schema().keys():
                try:
                    self._written[key] = check(key, found[key])
                except BadSetting as error:
                    problems.append(self._in_file(error, key))
            self._file = self._written
            try:
                check_shares(Settings.model_validate(self._file))
            except BadSetting as error:
                self._file = _without_shares(self._file)
                problems.append(self._out_of_order(error))
            self.unknown = tuple(key for key in found if key not in schema())
            self.problems = tuple(problems)
            self._combine()

    def require_sound(self) -> None:
        """Raise the first problem of the file, if there is one."""
        if self.problems:
            raise self.problems[0]

    def get(self, key: str) -> Any:
        """Return the value in force.

        Raises:
            BadSetting: no setting has that key.
        """
        return getattr(self.values, self.spec(key).field)

    def spec(self, key: str) -> SettingSpec:
        """Return the description of a setting.

        Raises:
            BadSetting: no setting has that key.
        """
        if key not in schema():
            check(key, None)
        return schema()[key]

    def source(self, key: str) -> Source:
        """Return where the value in force comes from."""
        if key in self._run:
            return "run"
        return "file" if key in self._file else "default"

    def list_values(self) -> list[dict[str, Any]]:
        """Return every setting as `strata settings list --json` prints it."""
        return [
            {
                "key": key,
                "value": self.get(key),
                "default": spec.default,
                "source": self.source(key),
                "help": spec.help,
            }
            for key, spec in schema().items()
        ]

    def values_with(self, changes: Mapping[str, object]) -> Settings:
        """Return what would hold with some settings changed; nothing is.

        Raises:
            BadSetting: a change names no setting or is out of its range.
        """
        checked = {key: check(key, value) for key, value in changes.items()}
        values = Settings.model_validate({**self._file, **self._run, **checked})
        check_shares(values)
        return values

    def set(self, key: str, value: object) -> Any:
        """Write a value to the file, use it from now on, and return it as it is held.

        Raises:
            BadSetting: the value is out of its range, or the file cannot be understood; the setting
                and the file stay as they are.
            StorageFailed: the file cannot be written.
        """
        with self._lock:
            try:
                checked = check(key, _without_secret(key, value))
                self._require_order(key, checked)
            except BadSetting as error:
                if key in schema():
                    kept = f"{error} It stays at {_shown(self.get(key))}."
                    raise BadSetting(kept, key=key, hint=error.hint) from error
                raise
            self._write(key, checked)
            self._run.pop(key, None)
            self.reload()
            return checked

    def reset(self, key: str) -> Any:
        """Take a setting out of the file, so that its default holds, and return that.

        Raises:
            BadSetting: no setting has that key, its default does not go with the others, or the
                file cannot be understood.
            StorageFailed: the file cannot be written.
        """
        with self._lock:
            default = self.spec(key).default
            self._require_order(key, default)
            self._write(key, None)
            self._run.pop(key, None)
            self.reload()
            return default

    def _take_secret(self, found: dict[str, Any]) -> list[AppError]:
        """Move a password in an address of the file to the keyring; it is never used from here."""
        key = "chat.apiBase"
        address = found.get(key)
        if not isinstance(address, str) or secrets.without_password(address) == address:
            return []
        found[key] = secrets.without_password(address)
        try:
            self._write(key, _without_secret(key, address))
        except AppError as error:
            return [
                BadSetting(
                    f"{error} The password in {self.path} is not used.", key=key, hint=error.hint
                )
            ]
        return []

    def _combine(self) -> None:
        self.values = Settings.model_validate({**self._file, **self._run})
        try:
            check_shares(self.values)
        except BadSetting:  # the file was changed by hand since this run was told its values
            in_order = {**_without_shares(self._file), **_without_shares(self._run)}
            self.values = Settings.model_validate(in_order)

    def _require_order(self, key: str, value: object) -> None:
        """Raise an error where a new value would put the shares out of order.

        The file has to be sound with it, and so has this run. Where the file is out of order
        already, a value that goes with the defaults in force is accepted too.
        """
        if key not in SHARES:
            return
        run = {name: other for name, other in self._run.items() if name != key}
        try:
            _check_both(self._file, run, {key: value})
        except BadSetting:
            if self._written == self._file:
                raise
            _check_both(self._written, run, {key: value})

    def _in_file(self, error: BadSetting, key: str) -> BadSetting:
        default = _shown(schema()[key].default)
        return BadSetting(
            f"{error} The value in {self.path} is none of these.",
            key=key,
            hint=f"Mend it with `strata settings set {key} {default}`, or in the file.",
        )

    def _out_of_order(self, error: BadSetting) -> BadSetting:
        defaults = ", ".join(f"{schema()[key].default}" for key in SHARES)
        return BadSetting(
            f"{error} That is how they are in {self.path}; {defaults} are used instead.",
            key=error.key,
            hint=f"Change one with `strata settings set {error.key} SHARE`, or in the file.",
        )

    def _read(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise self._unreadable(f"line {line} is not UTF-8") from error
        except OSError as error:
            raise storage_failed(self.path, error) from error

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            reason = str(error)
            if "end of document" in reason:
                reason = reason.replace("end of document", f"line {text.count(chr(10)) + 1}, end")
            raise self._unreadable(reason) from error

    def _unreadable(self, reason: str) -> BadSetting:
        return BadSetting(
            f"The settings in {self.path} cannot be understood: {reason}.",
            hint="The file is left as it is. Mend that line, or move the file away.",
        )

    def _write(self, key: str, value: object) -> None:
        text = self._read()
        self._parse(text)
        new = _edit_document(text, key.split("."), value)
        if dict(_flat(self._parse(new))).get(key) != value:
            raise BadSetting(
                f"{key} cannot be written to {self.path} as the file is laid out.",
                key=key,
                hint=f"Set {key} in the file by hand.",
            )
        with storage_errors(self.path):
            make_private_folder(self.path.parent)
            write_atomically(self.path, new.encode())


def _without_secret(key: str, value: object) -> object:
    """Return a value to be kept; a password in the server's address goes to the keyring.

    Raises:
        BadSetting: it cannot be kept there, or the address is not encrypted.
    """
    if key != "chat.apiBase" or not isinstance(value, str):
        return value
    try:
        return secrets.move_password(value)
    except (NoKeyring, InvalidRequest) as error:
        bare = secrets.without_password(value)
        raise BadSetting(
            f"{key} holds a password, which belongs in the system's keyring. {error}",
            key=key,
            hint=f"Set {key} to {bare}, and enter the key for it with `strata keys set`.",
        ) from error


def _check_both(file: Mapping[str, Any], run: Mapping[str, Any], change: Mapping[str, Any]) -> None:
    """Check the shares of a changed file, alone and together with those of this run."""
    check_shares(Settings.model_validate({**file, **change}))
    check_shares(Settings.model_validate({**file, **run, **change}))


def _without_shares(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in SHARES}


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = f'{above}"{name}"' if "." in name else above + name
        if isinstance(value, dict) and key not in schema():
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _edit_document(text: str, names: list[str], value: object) -> str:
    """Return the file's text with one value set, or taken out where it is None."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    document = tomlkit.parse(text)
    table: Any = document
    try:
        for name in names[:-1]:
            if name not in table:
                if value is None:
                    return text
                table[name] = tomlkit.table()
            table = table[name]
        if value is None:
            table.pop(names[-1], None)
        else:
            table[names[-1]] = value
    except (TOMLKitError, TypeError, AttributeError):
        return text  # something else stands where the table would; the caller sees it did not take
    return tomlkit.dumps(document)


def _shown(value: object) -> str:
    import json

    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
