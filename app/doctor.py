"""Run the checks of `strata doctor`."""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app.assistant import Assistant
from app.config import secrets
from app.config.model_files import look_at_file
from app.config.settings import Settings
from app.crashes.reports import list_crashes
from app.customize.hooks import Hooks
from app.errors import AppError, InvalidRequest, build_storage_error, describe
from app.library.instructions import InstructionDecisions
from app.library.library import Library
from app.library.open_vault import index_options
from chains.gguf.file import find_path
from chains.gguf.process import INSTALL, LIBRARY, ModelRunner, is_installed
from chains.models import EXTRACTIVE, ModelInfo, look_up_model
from context.json_codec import Record
from resources.system.files import make_private_folder
from vault.edits.journal import EditJournal
from vault.errors import NoteUnreadable, VaultError
from vault.vault import Vault

_LOW_DISK_BYTES = 500_000_000


@dataclass(frozen=True)
class Check(Record):
    """The result of one check of `strata doctor`."""

    name: str
    ok: bool
    detail: str


def check_up(assistant: Assistant, vault: Path | None) -> tuple[Check, ...]:
    """Run all checks of `strata doctor`, without using the network.

    Args:
        assistant: an assistant without an open vault.
        vault: the vault that would be opened, or None.
    """
    looks: tuple[Callable[[], Iterator[Check]], ...] = (
        _python,
        lambda: _folders(assistant),
        lambda: _settings(assistant),
        lambda: _chats(assistant),
        lambda: _check_files(assistant),
        lambda: _check_chains(assistant),
        lambda: _check_crashes(assistant),
        _check_keyring,
        lambda: _model(assistant),
        lambda: _check_shapes(assistant),
        _check_model_files,
        lambda: _hooks(assistant, vault),
        lambda: _user_instructions(assistant),
        lambda: _vault(assistant, vault),
    )
    return tuple(check for look in looks for check in look())


def _python() -> Iterator[Check]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Check("python", sys.version_info >= (3, 11), f"{version}, {sys.executable}")


def _folders(assistant: Assistant) -> Iterator[Check]:
    paths = assistant.paths
    for name in ("config", "data", "state", "cache"):
        folder: Path = getattr(paths, name)
        try:
            make_private_folder(folder)
        except OSError as error:
            yield Check(name, False, describe(error).message)
            continue
        is_usable = os.access(folder, os.R_OK | os.W_OK | os.X_OK)
        yield Check(name, is_usable, f"{folder}{'' if is_usable else ' cannot be written'}")
    if paths.data.is_dir():
        free = shutil.disk_usage(paths.data).free
        yield Check("disk", free > _LOW_DISK_BYTES, f"{free / 1e9:,.1f} GB free")


def _settings(assistant: Assistant) -> Iterator[Check]:
    store = assistant.settings
    for problem in store.problems:
        yield Check("settings", False, " ".join(map(str, (problem, *problem.hint))))
    if not store.problems:
        unknown = f"; not known here: {', '.join(store.unknown)}" if store.unknown else ""
        yield Check("settings", True, f"{store.path}{unknown}")


def _chats(assistant: Assistant) -> Iterator[Check]:
    try:
        chats = assistant.list_sessions()
    except AppError as error:
        yield Check("chats", False, str(error))
        return
    damaged = [chat.session for chat in chats if _is_damaged(assistant, chat.session)]
    note = f"; with lines that cannot be read: {', '.join(damaged)}" if damaged else ""
    yield Check("chats", not damaged, f"{len(chats)} in {assistant.paths.sessions}{note}")


def _is_damaged(assistant: Assistant, session: str) -> bool:
    try:
        return bool(assistant.sessions.read(session).problems)
    except AppError:
        return True


def _check_files(assistant: Assistant) -> Iterator[Check]:
    """Name the folders that stand where files belong."""
    paths = assistant.paths
    kept = (paths.ledger, paths.spending, paths.learned_models, paths.model_files)
    for file in (*kept, paths.log_file):
        if file.is_dir():
            failed = build_storage_error(file, IsADirectoryError(errno.EISDIR, ""))
            yield Check("files", False, " ".join(map(str, (failed, *failed.hint))))


def _check_chains(assistant: Assistant) -> Iterator[Check]:
    """Check whether each line of the ledger and of the journal of edits follows the one before."""
    journal = EditJournal(assistant.paths.edits)
    for name, find in (("ledger", assistant.ledger.find_breaks), ("edits", journal.find_breaks)):
        try:
            breaks = find()
        except (AppError, VaultError) as error:
            yield Check(name, False, str(error))
            continue
        detail = "each line follows the one before"
        if breaks:
            detail = (
                f"lines before line {breaks[0]} were lost or changed, by another program or by a "
                "disk that fails. The others are still used. See that your backups are recent."
            )
        yield Check(name, not breaks, detail)


def _check_crashes(assistant: Assistant) -> Iterator[Check]:
    """Name the newest crash. It is past, so the check is passed."""
    crashes = [report for report in list_crashes(assistant.paths.crashes) if report.text]
    if not crashes:
        yield Check("crashes", True, "none is recorded")
        return
    last = crashes[0]
    when = last.crashed.astimezone().isoformat(" ", timespec="minutes")[:16]
    detail = f"{len(crashes)} recorded, the last one ({last.kind}) on {when}: {last.file}"
    yield Check("crashes", True, detail)


def _check_keyring() -> Iterator[Check]:
    name = secrets.find_keyring()
    detail = name or "none on this system; keys come from the environment"
    yield Check("keyring", True, detail)


def _model(assistant: Assistant) -> Iterator[Check]:
    values = assistant.settings.values
    info = look_up_model(
        values.chat_model, values.chat_api_base, local_context=values.chat_local_context
    )
    endpoint = info.endpoint
    if info.name == EXTRACTIVE:
        yield Check("model", True, "none is set: answers are quoted passages")
    elif find_path(info.name) is not None:
        yield _check_file(info, values)
    elif endpoint is None:
        yield Check("model", False, f"no service is known that offers {info.name}")
    elif not endpoint.needs_key:
        yield Check("model", True, f"{info.name} at {endpoint.service}")
    else:
        has_key = assistant.model_setup.has_key(endpoint.provider)
        variable = secrets.list_variables(endpoint.provider)[0]
        detail = "with a key" if has_key else f"no key: enter one in the window, or set {variable}"
        yield Check("model", has_key, f"{info.name} at {endpoint.service}, {detail}")


def _check_shapes(assistant: Assistant) -> Iterator[Check]:
    for found in assistant.model_setup.list_shapes():
        shape = ", ".join(found.shape.texts)
        detail = f"{found.model} at {found.place}: {shape}, until {found.ends:%Y-%m-%d}"
        yield Check("requests", True, f"{detail} (`strata models --forget {found.model}`)")


def _check_file(info: ModelInfo, values: Settings) -> Check:
    if info.file is None:
        return Check("model", False, info.problem)
    try:
        offer = look_at_file(info.file.path, values, ModelRunner())
    except InvalidRequest as error:  # the file was changed meanwhile
        return Check("model", False, str(error))
    detail = f"{info.file.name} in {info.file.path}. {offer.sentence}"
    return Check("model", not offer.obstacle, offer.obstacle or detail)


def _check_model_files() -> Iterator[Check]:
    detail = f"not available; `{INSTALL}` installs what runs them"
    if is_installed():
        detail = f"run by {LIBRARY} {metadata.version(LIBRARY)}"
    yield Check("model files", True, detail)


def _hooks(assistant: Assistant, vault: Path | None) -> Iterator[Check]:
    folder = assistant.paths.hooks
    names = ", ".join(sorted(path.name for path in folder.glob("*.py"))) or "no files"
    is_on = assistant.settings.values.hooks_enabled
    problems = Hooks(folder).load(is_on, vault).problems
    for problem in problems:
        yield Check("hooks", False, problem)
    if not problems:
        yield Check("hooks", True, f"{'on' if is_on else 'off'}, {names} in {folder}")


def _instructions(assistant: Assistant, vault: Vault) -> Iterator[Check]:
    try:
        found = InstructionDecisions(assistant.paths.instructions).of(vault)
    except NoteUnreadable as error:
        yield Check("instructions", False, str(error))
        return
    if found is None:
        yield Check("instructions", True, "these notes have no AGENTS.md for models")
    else:
        yield Check("instructions", True, found.warning or f"{found.path} is {found.decision}")


def _user_instructions(assistant: Assistant) -> Iterator[Check]:
    own = assistant.customization.own_instructions.read()
    detail = f"{len(own.text):,} characters in {own.path}" if own.text else f"none in {own.path}"
    yield Check("your instructions", not own.problem, own.problem or detail)


def _vault(assistant: Assistant, vault: Path | None) -> Iterator[Check]:
    if vault is None:
        yield Check("vault", True, "none is chosen")
        return
    values = assistant.settings.values
    try:
        library = Library.open(
            vault,
            assistant.paths,
            values.vault_exclude,
            lambda: index_options(values, lambda: assistant.ledger),
        )
    except (VaultError, OSError) as error:
        yield Check("vault", False, describe(error).message)
        return
    try:
        yield Check("vault", True, str(library.vault.root))
        yield from _instructions(assistant, library.vault)
        yield from (Check(name, ok, detail) for name, ok, detail in library.vault.health())
    finally:
        library.close()
