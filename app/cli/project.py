"""Run the verb `project`: list, show and change projects, and the web pages that they keep."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from app.assistant import Assistant
from app.cli.interrupt import Interruptible
from app.cli.output import Output, complain, readable
from app.cli.text import format_count
from app.errors import VaultNotChosen
from app.hidden_characters import escape_text
from app.library.project_pages import PageStore, ProjectPage
from app.project_overview import ProjectOverview, describe_project
from app.wiring import open_vault
from vault.errors import VaultError

__all__ = ["run_project"]

_LISTS: Final = ("include", "exclude")


def run_project(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata project`, and return the exit code."""
    try:
        open_vault(assistant, args.vault)
    except VaultError as error:
        if args.vault is not None:
            raise
        complain(str(error))
    return _ACTIONS[args.action](args, assistant, output)


def _list(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    folders = [chat.project_folder for chat in assistant.list_sessions()]
    found = [
        {**one.to_dict(), "chats": folders.count(one.folder)} for one in assistant.projects.list()
    ]
    lines = [
        f"{escape_text(one['title'])}  {format_count(one['chats'], 'chat')}  "
        f"{escape_text(one['folder'])}{'' if one['is_there'] else '  (not there)'}"
        for one in found
    ]
    empty = ["No projects yet. `strata project add DIR` opens a folder as one."]
    output.show(lambda: {"projects": found}, lines or empty)
    return 0


def _show(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name = _find_project(args, assistant)
    _update_index(assistant, name)
    found = describe_project(assistant, name)
    output.show(found.to_dict, _format_overview(found))
    return 0


def _add(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name = assistant.projects.add(args.dir)
    title = assistant.projects.find_title(name)
    output.show(
        lambda: {"project": name, "title": title},
        [escape_text(f"{title} is a project. `strata ask --project {name} …` asks in it.")],
    )
    return 0


def _remove(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name = assistant.projects.find_listed(args.dir).name
    assistant.projects.remove(name)
    message = f"{name} is off the list. Its folder, chats and settings are kept."
    output.show(lambda: {"project": name}, [escape_text(message)])
    return 0


def _rename(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name = assistant.projects.find_listed(args.dir).name
    assistant.projects.rename(name, readable(args.title))
    title = assistant.projects.find_title(name)
    output.show(lambda: {"project": name, "title": title}, [escape_text(f"{name}  {title}")])
    return 0


def _change(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name, key = _find_project(args, assistant), args.key
    values = [readable(value) for value in args.values]
    value: object = values if key in _LISTS else "\n".join(values)
    if key == "instructions":
        assistant.projects.instructions(name).write(str(value))
    else:
        assistant.projects.change(name, key, value)
    shown = ", ".join(values) or "(nothing)"
    output.show(
        lambda: {"project": name, "key": key, "value": value},
        [escape_text(f"{key} of {name}: {shown}")],
    )
    return 0


def _add_page(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    name = _find_project(args, assistant)
    named = _name_address(args.address)
    with Interruptible() as run:
        page = assistant.pages.add(assistant.projects.pages(name), named, run.cancel)
        output.show(page.to_dict, _format_pages([page]))
    return run.exit_code or 0


def _refresh(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    store = assistant.projects.pages(_find_project(args, assistant))
    named = [_find_page(address, assistant, store) for address in args.addresses]
    with Interruptible() as run:
        found = list(assistant.pages.refresh_all(store, named or store.list(), run.cancel))
        output.show(
            lambda: {"pages": [page.to_dict() for page in found]},
            [*_format_pages(found)] or ["This project keeps no web pages or transcripts."],
        )
    return run.exit_code or int(any(page.problem for page in found))


def _remove_page(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    store = assistant.projects.pages(_find_project(args, assistant))
    page = _find_page(args.address, assistant, store)
    store.remove(page)
    output.show(page.to_dict, [escape_text(f"{page.address} is not kept any more.")])
    return 0


def _find_project(args: argparse.Namespace, assistant: Assistant) -> str:
    return assistant.projects.find(args.dir).name


def _name_address(named: str) -> str:
    """Return an address as it is, and the path of an existing file in full."""
    return os.path.abspath(named) if os.path.isfile(named) else readable(named)


def _find_page(named: str, assistant: Assistant, store: PageStore) -> ProjectPage:
    return assistant.pages.find(store, readable(named))


def _update_index(assistant: Assistant, name: str) -> None:
    """Index what has changed, so that the members are those that are there now."""
    try:
        assistant.projects.open(name).update()
    except (VaultNotChosen, VaultError) as error:
        complain(str(error))


def _format_overview(found: ProjectOverview) -> Iterator[str]:
    yield escape_text(f"{found.title}  {found.folder}")
    yield escape_text(f"Instructions: {found.instructions.strip() or '(none)'}")
    for key in _LISTS:
        yield escape_text(f"{key}: {', '.join(getattr(found.settings, key)) or '(nothing)'}")
    yield escape_text(f"Model: {found.settings.model or '(the one in the settings)'}")
    yield f"Memories: {len(found.memories):,}"
    yield from (escape_text(f"  {n}  {text}") for n, text in enumerate(found.memories, start=1))
    tokens = sum(note.tokens for note in found.notes)
    yield f"{format_count(len(found.notes), 'note')}, {tokens:,} tokens"
    yield f"Web pages and transcripts: {len(found.pages):,}"
    yield from (f"  {line}" for line in _format_pages([kept.page for kept in found.pages]))
    yield f"{format_count(len(found.chats), 'chat')}"
    if found.problem:
        yield escape_text(found.problem)
        return
    yield f"L1 of a new chat: {found.l1_tokens:,} of {found.budget:,} tokens"
    for part in found.l1:
        yield escape_text(f"  {part.tokens:>8,}  {part.id}  {part.source}")


def _format_pages(pages: Sequence[ProjectPage]) -> Iterator[str]:
    for page in pages:
        when = page.fetched[:16].replace("T", " ")
        mark = "  (changed)" if page.is_changed else ""
        line = f"{page.id}  {when}  {page.size:>9,} bytes  {page.title}  {page.address}{mark}"
        yield escape_text(f"{line}\n    {page.problem}" if page.problem else line)


_ACTIONS: Final[Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int]]] = {
    "list": _list,
    "show": _show,
    "add": _add,
    "remove": _remove,
    "rename": _rename,
    "set": _change,
    "add-page": _add_page,
    "refresh": _refresh,
    "remove-page": _remove_page,
}
