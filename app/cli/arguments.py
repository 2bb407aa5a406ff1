"""Building blocks of the command-line parser.

Only the standard library is imported, so that `--version` and `--help` are fast.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "INTERRUPTED",
    "USAGE_ERROR",
    "ArgumentParser",
    "Verbs",
    "add_globals",
    "add_group",
    "add_verb",
    "add_version",
    "build_global_defaults",
    "parse_move",
    "parse_value",
]

USAGE_ERROR = 2
INTERRUPTED = 130
Verbs = argparse._SubParsersAction


class ArgumentParser(argparse.ArgumentParser):
    """The argument parser of `strata` and of each verb.

    Attributes:
        define: adds the arguments of a verb when the verb is parsed, since the other verbs of a
            command line need none. None if they are added already.
    """

    define: "Define | None" = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, after those of the verb have been defined."""
        define, self.define = self.define, None
        if define is not None:
            define(self)
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, accepting `--set` and `--vault` before or after the verb."""
        found = super().parse_args(args, namespace)
        found.overrides = dict([*found.early_set, *found.middle_set, *found.late_set])
        folders = (found.late_vault, found.middle_vault, found.early_vault)
        found.vault = next((str(named) for named in folders if named is not None), None)
        return found

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with `USAGE_ERROR`."""
        from app.hidden_characters import escape_text

        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"{self.prog}: {escape_text(message)}\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message. Exit with 1 if standard output cannot be written."""
        stream = file or sys.stderr
        try:
            stream.write(message)
            stream.flush()
        except (AttributeError, OSError):
            if stream is sys.stdout:
                raise SystemExit(1) from None


Define = Callable[[ArgumentParser], object]


def parse_value(text: str) -> Any:
    """Parse a command-line value as JSON if possible, otherwise as a string."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def build_global_defaults(place: str) -> dict[str, Any]:
    """Return the defaults of `--set` and `--vault` for one position on the command line.

    Args:
        place: `early` (before the verb), `middle` (between verb and subcommand) or `late`.
    """
    return {f"{place}_set": [], f"{place}_vault": None}


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add the option `--version`."""
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")


def add_globals(parser: argparse.ArgumentParser, place: str, *, takes_vault: bool = True) -> None:
    """Add the options `--set` and `--vault`, which can be given before and after the verb.

    The values of each position are stored under different names. With a common name, argparse would
    overwrite the value given before the verb with the default of the option after the verb.

    Args:
        parser: the parser to change.
        place: the position, as for `build_global_defaults`.
        takes_vault: whether `--vault` names the vault to open.
    """
    parser.add_argument(
        "--set",
        dest=f"{place}_set",
        metavar="KEY=VALUE",
        type=_parse_setting,
        action="append",
        default=[],
        help="use this value of a setting for this run",
    )
    if takes_vault:
        parser.add_argument(
            "--vault",
            dest=f"{place}_vault",
            metavar="DIR",
            help="the folder of notes (otherwise the setting vault.path)",
        )


def add_verb(
    verbs: "Verbs[ArgumentParser]",
    name: str,
    about: str,
    define: Define | None = None,
    *,
    prints_json: bool | None = None,
    takes_vault: bool = True,
) -> ArgumentParser:
    """Add a verb with the common options, and return its parser.

    Args:
        verbs: the `argparse` subparsers object to add the verb to.
        name: the name of the verb.
        about: the help text of the verb.
        define: adds the verb's own arguments when the verb is parsed. If None, the caller adds them
            to the returned parser.
        prints_json: whether the verb prints JSON, or None if an option chooses that.
        takes_vault: whether `--vault` after the verb names the vault to open.
    """
    described = f"{about[0].upper()}{about[1:]}."
    found = verbs.add_parser(name, help=about, description=described, allow_abbrev=False)

    def define_all(verb: ArgumentParser) -> None:
        add_globals(verb, "late", takes_vault=takes_vault)
        if prints_json is None:
            verb.add_argument("--json", action="store_true", help="print one JSON document")
        else:
            verb.set_defaults(json=prints_json)
        if define is not None:
            define(verb)

    if define is None:
        define_all(found)
    else:
        found.define = define_all
    return found


def add_group(
    verbs: "Verbs[ArgumentParser]",
    name: str,
    about: str,
    add_actions: "Callable[[Verbs[ArgumentParser]], object]",
) -> None:
    """Add a verb with subcommands.

    Args:
        verbs: the `argparse` subparsers object to add the verb to.
        name: the name of the verb.
        about: the help text of the verb.
        add_actions: adds the subcommands to the subparsers object of the verb.
    """

    def define(verb: ArgumentParser) -> None:
        add_globals(verb, "middle")
        add_actions(verb.add_subparsers(dest="action", metavar="ACTION", required=True))

    verbs.add_parser(name, help=about, description=about, allow_abbrev=False).define = define


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        from importlib.metadata import version

        parser._print_message(f"strata {version('strata-notes')}\n", sys.stdout)
        parser.exit()


def parse_move(text: str) -> tuple[str, str]:
    """Parse where a folder was and where it is now, as `OLD=NEW`. Both may contain `=`.

    Raises:
        argparse.ArgumentTypeError: there is no such pair with a folder that is there.
    """
    parts = text.split("=")
    pairs = (("=".join(parts[:at]), "=".join(parts[at:])) for at in range(1, len(parts)))
    whole = [(old.strip(), new) for old, new in pairs if old.strip() and new.strip()]
    if not whole:
        raise argparse.ArgumentTypeError(f"{text} is not OLD=NEW")
    existing_moves = (one for one in whole if os.path.isdir(os.path.expanduser(one[1])))
    return next(existing_moves, whole[0])


def _parse_setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    return key, parse_value(value)
