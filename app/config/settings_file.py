"""Read and write the settings file.

The file overrides the defaults, and command-line options override both. It is edited with tomlkit,
which preserves comments, order and unknown keys. A file that cannot be parsed is never overwritten.
"""

import os
import re
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from app.config.merge import merge_changes
from app.config.schema import (
    SettingSpec,
    check,
    check_changed_shares,
    check_shares,
    omit_shares,
    schema,
)
from app.config.settings import SHARES, Settings
from app.config.settings_secrets import SECRET_SETTINGS, move_secrets, remove_secrets
from app.errors import (
    AppError,
    BadSetting,
    build_storage_error,
    storage_errors,
)
from app.secret_text import is_secret_name, redact, redact_value
from context.fixes import Command, Fix, Setting
from resources.system.files import lock_folder, make_private_folder, read_file, write_atomically

# The texts and comments of a TOML file.
_TOKENS: Final = re.compile(
    r'"""(?:\\.|.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
Source = Literal["default", "file", "run"]
BYTE_ORDER_MARK: Final = "\ufeff"
_TAKE_OUT: Final = (
    "Open the system's keyring and try again, or take the password out of the file by hand."
)


class SettingsStore:
    """The settings of the application. Thread-safe.

    Attributes:
        path: the settings file.
        values: the effective values. Invalid values in the file are replaced with defaults.
        unknown: the keys in the file that this version of Strata does not know. They stay in the
            file.
        problems: one error for each problem in the file.
        after_set: called with the key of each setting that is changed here.
    """

    values: Settings
    unknown: tuple[str, ...]
    problems: tuple[AppError, ...]

    def __init__(self, path: Path, overrides: Mapping[str, object] | None = None) -> None:
        """Load the settings.

        Args:
            path: the settings file, which need not exist.
            overrides: values that apply to this run of the program only, by key.

        Raises:
            BadSetting: an override has an unknown key, is out of range, or conflicts with other
                settings.
        """
        self.path = path
        self.after_set: list[Callable[[str], object]] = []
        self._lock = threading.RLock()
        self._is_folder_locked = False
        self._refreshed: set[str] = set()
        self._run = {
            key: check(key, move_secrets(key, value)) for key, value in (overrides or {}).items()
        }
        self.reload()
        check_shares(Settings.model_validate({**self._file, **self._run}))

    def refresh(self) -> None:
        """Reload the settings file if another program has changed it.

        A file with an error changes nothing.
        """
        with self._lock:
            if _read_stamp(self.path) == self._stamp or SettingsStore(self.path).problems:
                return
            before = self.values
            self.reload()
            fields = {key: spec.field for key, spec in schema().items()}
            self._refreshed |= {
                key
                for key, field in fields.items()
                if getattr(before, field) != getattr(self.values, field)
            }

    def take_refreshed(self) -> tuple[str, ...]:
        """Return the keys of the settings that `refresh` has changed. Each is returned once."""
        with self._lock:
            keys, self._refreshed = tuple(sorted(self._refreshed)), set()
            return keys

    def reload(self) -> None:
        """Reload the settings file."""
        with self._lock:
            self._stamp = _read_stamp(self.path)
            problems: list[AppError] = []
            self._written: dict[str, Any] = {}
            try:
                found = self._parse(self._read())
            except AppError as error:
                found, problems = {}, [error]
            problems += self._take_secrets(found)
            for key in found.keys() & schema().keys():
                try:
                    self._written[key] = check(key, found[key])
                except BadSetting as error:
                    problems.append(self._in_file(error, key))
            self._file = self._written
            try:
                check_shares(Settings.model_validate(self._file))
            except BadSetting as error:
                self._file = omit_shares(self._file)
                problems.append(self._out_of_order(error))
            self.unknown = tuple(key for key in found if key not in schema())
            self.problems = tuple(problems)
            self._combine()

    def require_sound(self) -> None:
        """Raise the first error that was found in the settings file, if any."""
        if self.problems:
            raise self.problems[0]

    def get(self, key: str) -> Any:
        """Return the effective value of a setting.

        Raises:
            BadSetting: the key is unknown.
        """
        return getattr(self.values, self.spec(key).field)

    def spec(self, key: str) -> SettingSpec:
        """Return the schema entry of a setting.

        Raises:
            BadSetting: the key is unknown.
        """
        if key not in schema():
            check(key, None)
        return schema()[key]

    def source(self, key: str) -> Source:
        """Return where a setting's value comes from.

        The source is "default", "file", or "run" for a value given on the command line.
        """
        if key in self._run:
            return "run"
        return "file" if key in self._file else "default"

    def list_values(self) -> list[dict[str, Any]]:
        """Return all settings as dicts for JSON, as `strata settings list --json` prints them."""
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

    def build_values(self, changes: Mapping[str, object]) -> Settings:
        """Return a copy of the settings with some values replaced.

        Raises:
            BadSetting: a key is unknown, or a value is out of range.
        """
        checked = {key: check(key, value) for key, value in changes.items()}
        values = Settings.model_validate({**self._file, **self._run, **checked})
        check_shares(values)
        return values

    def list_written(self) -> list[str]:
        """Return the keys of the settings that the file sets."""
        return list(self._file)

    def read_without_secrets(self) -> str:
        """Return the text of the file without the passwords and keys that it may still hold.

        Raises:
            BadSetting: the file cannot be parsed.
            StorageFailed: the file cannot be read.
        """
        text = self._read()
        self._parse(text)
        return remove_file_secrets(text)

    def set(self, key: str, value: object, base: object = None) -> Any:
        """Validate a value, write it to the file, apply it, and return the value as it was stored.

        What others have changed meanwhile in a list or table stays.

        Args:
            key: the key of the setting.
            value: the new value.
            base: the value from which the new one was made, or None for the one that is known here.
                Whoever shows values of this store to several clients needs it.

        Raises:
            BadSetting: the key is unknown, the value is invalid, or the file cannot be parsed.
                Or the file holds a password for this setting that the keyring does not take, which
                the new value would overwrite. Nothing is changed.
            StorageFailed: the file cannot be written.
        """
        with self._lock:
            with self._name_kept_value(key):
                checked = check(key, remove_secrets(key, value))
                self._require_order(key, checked)
            known = self.get(key) if base is None else check(key, remove_secrets(key, base))
            with self._lock_file():
                self._require_order(key, checked)
                self._require_moved(key)
                with self._name_kept_value(key):
                    checked = check(key, merge_changes(known, checked, self.get(key)))
                    move_secrets(key, value)  # after the older secrets that the file held
                self._write(key, checked)
            self._run.pop(key, None)
            self.reload()
        self._tell(key)
        return checked

    def _tell(self, key: str) -> None:
        for act in self.after_set:
            act(key)

    def reset(self, key: str) -> Any:
        """Remove a setting from the file, and return its default.

        Raises:
            BadSetting: the key is unknown, the default conflicts with other settings, or the file
                cannot be parsed.
            StorageFailed: the file cannot be written.
        """
        with self._lock:
            default = self.spec(key).default
            with self._lock_file():
                self._require_order(key, default)
                self._write(key, None)
            self._run.pop(key, None)
            self.reload()
        self._tell(key)
        return default

    @contextmanager
    def _name_kept_value(self, key: str) -> Iterator[None]:
        """Add to each error in the `with` block which value a setting keeps."""
        try:
            yield
        except BadSetting as error:
            if key not in schema():
                raise
            kept = _shown(self.get(key))
            raise BadSetting(str(error), key=key, hint=error.hint, kept=kept) from error

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
        """Load the file, and prevent other processes from changing it during the `with` block.

        Without the lock, two processes could overwrite each other's changes.
        """
        with self._lock_folder():
            self.reload()
            yield

    @contextmanager
    def _lock_folder(self) -> Iterator[None]:
        """Lock the folder of the file, unless this object has locked it already."""
        if self._is_folder_locked:
            yield
            return
        folder = Path(os.path.realpath(self.path)).parent  # the file may be a symbolic link
        with ExitStack() as stack:
            with storage_errors(self.path):
                make_private_folder(folder)
                stack.enter_context(lock_folder(folder))
            self._is_folder_locked = True
            try:
                yield
            finally:
                self._is_folder_locked = False

    def _take_secrets(self, found: dict[str, Any]) -> list[AppError]:
        """Move the passwords and keys in the file to the keyring, and return any errors.

        Args:
            found: the values in the file by key, from which they are removed.
        """
        self._unmoved: dict[str, AppError] = {}
        for key in SECRET_SETTINGS:
            value = found.get(key)
            if value and (bare := remove_secrets(key, value)) != value:
                found[key] = bare
                try:
                    with self._lock_folder():
                        if self._parse(self._read()).get(key) == value:  # not changed meanwhile
                            self._write(key, move_secrets(key, value))
                except AppError as error:
                    unused = f"{error} The password in {self.path} is not used."
                    hint = _TAKE_OUT if isinstance(error, BadSetting) else error.hint
                    self._unmoved[key] = BadSetting(unused, key=key, hint=hint)
        return list(self._unmoved.values())

    def _require_moved(self, key: str) -> None:
        """Raise `BadSetting` if the file still holds a secret that a new value would overwrite.

        The values in memory are without the secret, and so is each value that is made from them.
        """
        if key in self._unmoved:
            error = self._unmoved[key]
            stays = f"{error} {key} stays as it is there, so that the password is not lost."
            raise BadSetting(stays, key=key, hint=error.hint) from error

    def _combine(self) -> None:
        self.values = Settings.model_validate({**self._file, **self._run})
        try:
            check_shares(self.values)
        except BadSetting:  # the file was changed after the overrides of this run were checked
            in_order = {**omit_shares(self._file), **omit_shares(self._run)}
            self.values = Settings.model_validate(in_order)

    def _require_order(self, key: str, value: object) -> None:
        """Raise `BadSetting` if a new value would put the context thresholds out of order.

        The thresholds for trimming, compacting and blocking must not decrease in this order. They
        are checked with and without this run's overrides.

        If the thresholds written in the file are out of order, defaults are used in their place. A
        new value is then also accepted if it puts the written thresholds in order.
        """
        if key not in SHARES:
            return
        run = {name: other for name, other in self._run.items() if name != key}
        try:
            check_changed_shares(self._file, run, {key: value})
        except BadSetting:
            if self._written == self._file:
                raise
            check_changed_shares(self._written, run, {key: value})

    def _in_file(self, error: BadSetting, key: str) -> BadSetting:
        default = _shown(schema()[key].default)
        return BadSetting(
            f"{error} The value in {self.path} is none of these.",
            key=key,
            hint=Fix("Mend it with {}, or in the file.", Command("settings set", (key, default))),
        )

    def _out_of_order(self, error: BadSetting) -> BadSetting:
        defaults = ", ".join(f"{schema()[key].default}" for key in SHARES)
        return BadSetting(
            f"{error} That is how they are in {self.path}; {defaults} are used instead.",
            key=error.key,
            hint=Fix(
                "Change one with {}, or in the file.",
                Command("settings set", (str(error.key), "SHARE")),
            ),
        )

    def _read(self) -> str:
        try:
            return read_file(self.path).decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise self._unreadable(f"line {line} is not UTF-8") from error
        except OSError as error:
            raise build_storage_error(self.path, error) from error

    def _parse(self, text: str) -> dict[str, Any]:
        """Return the values in the text of a settings file, by key, or raise `BadSetting`."""
        try:
            return dict(_flat(tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))))
        except tomllib.TOMLDecodeError as error:
            reason = str(error)
            if "end of document" in reason:
                reason = reason.replace("end of document", f"line {text.count(chr(10)) + 1}, end")
            raise self._unreadable(reason) from error
        except (ValueError, RecursionError) as error:  # a number or a nesting without end
            raise self._unreadable(str(error)) from error

    def _unreadable(self, reason: str) -> BadSetting:
        return BadSetting(
            f"The settings in {self.path} cannot be understood: {reason}.",
            hint="The file is left as it is. Mend that line, or move the file away.",
        )

    def _write(self, key: str, value: object) -> None:
        text = self._read()
        self._parse(text)
        body = text.removeprefix(BYTE_ORDER_MARK)
        mark = text[: len(text) - len(body)]
        new = mark + _edit_document(body, key.split("."), value)
        if self._parse(new).get(key) != value:
            raise BadSetting(
                f"{key} cannot be written to {self.path} as the file is laid out.",
                key=key,
                hint=Fix("Set {} in the file by hand.", Setting(key)),
            )
        with storage_errors(self.path):
            make_private_folder(self.path.parent)
            write_atomically(self.path, new.encode())


def _read_stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is replaced or written, or None if it cannot be read."""
    with suppress(OSError):
        found = path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def remove_file_secrets(text: str) -> str:
    """Return the text of a settings file without passwords and keys.

    They may also be in comments, in keys that this version does not know, and in wrong values.

    Raises:
        ValueError: the text is not TOML.
    """
    text = _TOKENS.sub(_redact_comment, text.removeprefix(BYTE_ORDER_MARK))
    for names, value in _list_values(tomllib.loads(text)):
        key = ".".join(names)
        bare = remove_secrets(key, value) if key in SECRET_SETTINGS else value
        if key not in schema() or key in SECRET_SETTINGS:
            name = next(filter(is_secret_name, names), names[-1])
            bare = redact_value(bare, "" if key in SECRET_SETTINGS else name)
        if bare != value:
            text = _edit_document(text, names, bare)
    return text


def _redact_comment(token: re.Match[str]) -> str:
    return redact(token[0]) if token[0].startswith("#") else token[0]


def _list_values(table: Mapping[str, Any], *above: str) -> Iterator[tuple[list[str], Any]]:
    """Yield the values in a settings file with the parts of their keys."""
    for name, value in table.items():
        if isinstance(value, dict) and ".".join((*above, name)) not in schema():
            yield from _list_values(value, *above, name)
        else:
            yield [*above, name], value


def remove_setting(text: str, key: str) -> str:
    """Return the text of a settings file without a setting."""
    return _edit_document(text, key.split("."), None)


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = f'{above}"{name}"' if "." in name else above + name
        if isinstance(value, dict) and key not in schema():
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _edit_document(text: str, names: list[str], value: object) -> str:
    """Return a settings file's text with a setting changed, or removed if `value` is None.

    Args:
        text: the TOML text of the file.
        names: the parts of the setting's key, such as the section and the name.
        value: the new value.
    """
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
        return text  # a table's name has a plain value; the caller detects that nothing was set
    return tomlkit.dumps(document)


def _shown(value: object) -> str:
    import json

    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
