"""The verbs for settings, keys, the ledger, spending, instructions, skills and memories.

API keys are read from standard input, which keeps them out of the process list and the shell
history.
"""

import argparse
import getpass
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.interrupt import Interruptible
from app.cli.output import Output, complain, readable
from app.config import secrets
from app.config.model_setup import ModelSetup
from app.customize.skills import Skill
from app.errors import AppError, InvalidRequest, NotFound, VaultNotChosen
from app.hidden_characters import escape_text
from app.ledger import CallGroup, group_calls
from app.library.instructions import Decision, VaultInstructions, visible_text
from app.library.user_texts import UserText
from app.wiring import open_vault
from chains.llm.urls import parse_origin
from chains.providers import remove_prefix
from vault.errors import NoteUnreadable


def change_settings(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata settings`, and return the exit code."""
    store = assistant.settings
    match args.action:
        case "list":
            listing = store.list_values()
            output.show(lambda: {"settings": listing}, cli_text.list_settings(listing))
            for key in store.unknown:
                complain(f"{key} in settings.toml is not known here.")
        case "get":
            found = store.get(args.key)
            output.show(lambda: {"key": args.key, "value": found}, [cli_text.value(found)])
        case "set":
            value = store.set(args.key, args.value)
            text = f"{args.key} = {cli_text.value(value)}"
            output.show(lambda: {"key": args.key, "value": value}, [text])
        case _:
            output.show(lambda: {"path": str(store.path)}, [str(store.path)])
    return 0


def change_keys(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata keys`, and return the exit code."""
    if args.action == "show":
        return _show_key(assistant, output)
    if args.action == "test":
        return _test_key(args, assistant, output)
    owner = _find_owner(args.owner, assistant)
    if args.action == "set":
        key = _read_key(owner, allows_plain_http=args.plain_http)
        assistant.model_setup.set_key(owner, key, allows_plain_http=args.plain_http)
        message = f"The key for {owner} is in the system's keyring."
    else:
        assistant.model_setup.set_key(owner, "")
        message = f"The system's keyring has no key for {owner} any more."
    output.show(lambda: {"owner": owner}, [message])
    return 0


def _show_key(assistant: Assistant, output: Output) -> int:
    owner = assistant.model_setup.key_provider(assistant.settings.values.chat_model)
    source = None if owner is None else secrets.find_key(owner)
    message = "The model that is set takes no key."
    if owner is not None:
        message = {
            "keyring": f"The key for {owner} is in the system's keyring.",
            "environment": f"The key for {owner} comes from the environment.",
        }.get(source or "", f"There is no key for {owner}.")
    output.show(lambda: {"owner": owner, "source": source}, [message])
    return 0


def _test_key(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Test an API key by calling the model, and return the exit code."""
    with Interruptible() as run:
        found = assistant.check_model(run.cancel, args.model)
        ms = round(found.seconds * 1_000)
        message = f"The key works: {found.model}, {ms:,} ms."
        if assistant.model_setup.key_provider(found.model) is None:
            message = f"The model answers: {found.model}, {ms:,} ms."
        output.show(lambda: {"model": found.model, "ms": ms}, [message])
    return run.exit_code or 0


def list_models(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata models`, and return the exit code."""
    setup = assistant.model_setup
    if args.forget is not None:
        return _forget_shapes(args.forget, setup, output)
    choices, shapes = setup.list_choices(), setup.list_shapes()
    lines = [f"{'*' if one.is_set else ' '} {one.name}  {one.summary}" for one in choices]
    lines += [
        f"  {one.model} at {one.place} is asked with {', '.join(one.shape.texts)}" for one in shapes
    ]
    found = {
        "models": [one.to_dict() for one in choices],
        "learned": [one.to_dict() for one in shapes],
    }
    output.show(lambda: found, map(escape_text, lines))
    return 0


def _forget_shapes(model: str, setup: ModelSetup, output: Output) -> int:
    """Forget how the requests to a model differ from the usual ones, and return the exit code.

    Raises:
        NotFound: its requests do not differ.
    """
    found = [one for one in setup.list_shapes() if one.model == remove_prefix(model)]
    if not found:
        raise NotFound(f"{model} is asked with the usual requests.")
    for one in found:
        setup.forget_shape(one.owner)
    places = ", ".join(one.place for one in found)
    message = f"The next request to {model} at {places} is the usual one."
    output.show(lambda: {"forgotten": [one.to_dict() for one in found]}, [escape_text(message)])
    return 0


def _find_owner(named: str | None, assistant: Assistant) -> str:
    """Return the provider or server whose API key is to be changed.

    Args:
        named: the provider or address on the command line, or None for that of the configured
            model.
        assistant: provides the settings.

    Raises:
        InvalidRequest: the address is invalid, or the configured model needs no key.
    """
    if named is not None:
        owner = parse_origin(named) if secrets.is_address(named) else named
        if not owner or not owner.isprintable():
            raise InvalidRequest(f"{named} is not an address.")
        return owner
    owner = assistant.model_setup.key_provider(assistant.settings.values.chat_model) or ""
    if not owner:
        raise InvalidRequest(
            "The model that is set takes no key.", hint="Name a service or an address."
        )
    return owner


def _read_key(owner: str, *, allows_plain_http: bool) -> str:
    """Read an API key from the terminal or a pipe.

    Args:
        owner: the provider or address to which the key belongs.
        allows_plain_http: whether the user agreed to send the key unencrypted.

    Raises:
        InvalidRequest: the key is empty, or would be sent to this address unencrypted.
    """
    if not allows_plain_http:
        secrets.require_private_way(owner)
    prompt = f"{secrets.name_key(owner)}: "
    key = getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise InvalidRequest("No key was entered.", hint="It is read from standard input.")
    return key.strip()


def show_spending(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata spending`, and return the exit code."""
    found = assistant.spending.summarise()
    output.show(found.to_dict, map(escape_text, (*found.describe(), *found.describe_models())))
    return 0


def show_updates(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata updates`, and return the exit code."""
    with Interruptible() as run:
        found = assistant.look_for_update(run.cancel)
        output.show(found.to_dict, (found.describe(), *found.describe_files()))
    return run.exit_code or 0


def show_ledger(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata ledger`, and return the exit code."""
    groups = reversed(group_calls(assistant.ledger.list_records()))
    lines = [line for group in groups for line in _list_group(group)]
    calls = assistant.ledger.list_calls()
    output.show(lambda: {"calls": calls}, lines or ["No call has left Strata yet."])
    return 0


def _list_group(group: CallGroup) -> Iterator[str]:
    newest, came = group.records[0], "no answer"
    if group.bytes_in is not None:
        came = f"{group.bytes_in:,} bytes in"
    sizes = [f"{group.bytes_out:,} bytes out", came]
    if newest.call.tokens is not None:
        sizes.append(f"{newest.call.tokens:,} tokens")
    number = len(group.records)
    kind = f"{number} questions for models" if number > 1 else newest.call.kind
    yield escape_text(f"{newest.at}  {kind}  {', '.join(group.hosts)}  {', '.join(sizes)}")
    yield from (escape_text(f"    {note}") for note in newest.call.notes)


def change_instructions(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata instructions`, and return the exit code."""
    open_vault(assistant, args.vault)
    named = args.project
    project = None if named is None else assistant.projects.find_name(named)
    if args.action == "show":
        return _show_instructions(assistant, output, project)
    found = assistant.customization.instructions(project)
    if found is None:
        raise _no_instructions(assistant, project)
    decision: Decision = "accepted" if args.action == "accept" else "refused"
    assistant.customization.decide(found.digest, decision, project)
    found = assistant.customization.instructions(project) or found
    output.show(lambda: _describe(found), [f"{found.path} is {_name_state(found)}."])
    return 0


def change_skills(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata skills`, and return the exit code."""
    open_vault(assistant, args.vault)
    named, skills = args.project, assistant.customization.skills
    project = None if named is None else assistant.projects.find_name(named)
    if args.action == "list":
        found = skills.list(project)
        lines = [line for skill in found for line in _list_skill(skill)]
        none = f"There are no skills. Each is a folder in {assistant.paths.skills} with a SKILL.md."
        output.show(lambda: {"skills": [skill.to_dict() for skill in found]}, lines or [none])
        return 0
    if args.action == "show":
        skill = skills.find(args.name, project)
        output.show(skill.to_full_dict, [*_list_skill(skill), *_list_text(skill)])
        return 0
    decision: Decision = "accepted" if args.action == "accept" else "refused"
    skill = skills.decide(args.name, decision, project=project)
    output.show(skill.to_dict, _list_skill(skill))
    return 0


def _list_skill(skill: Skill) -> Iterator[str]:
    tokens = skill.to_dict()["tokens"]
    yield escape_text(f"{skill.name}  {skill.describe()}")
    if not skill.problem:
        yield escape_text(f"    {skill.description}")
        yield (
            f"    {tokens['offered']:,} tokens in each request of an agent, {tokens['text']:,} "
            "more when it is read"
        )
    yield escape_text(f"    {skill.folder}")


def _list_text(skill: Skill) -> Iterator[str]:
    yield ""
    yield from (f"    {line}" for line in skill.show().split("\n"))


def change_memories(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata memory`, and return the exit code."""
    project = None
    if args.project is not None:
        open_vault(assistant, args.vault)
        project = assistant.projects.find_name(args.project)
    note = assistant.customization.find_memories(project)
    match args.action:
        case "edit":
            note.edit(args.number, readable(args.text))
        case "forget":
            note.forget(args.number)
        case "path":
            output.show(lambda: {"path": str(note.file.path)}, [str(note.file.path)])
            return 0
    known = note.list_memories()
    lines = [f"{number}. {visible_text(text)}" for number, text in enumerate(known, start=1)]
    output.show(lambda: {"memories": list(known)}, lines or ["There are no memories."])
    return 0


def _show_instructions(assistant: Assistant, output: Output, project: str | None) -> int:
    customization, projects = assistant.customization, assistant.projects
    file = customization.own_instructions if project is None else projects.instructions(project)
    own, found = file.read(), customization.instructions(project)
    has_own = bool(own.text.strip() or own.problem)
    if found is None and not has_own:
        raise _no_instructions(assistant, project)
    document = _describe(found) | {"text": "" if found is None else found.text}
    user = {"path": str(own.path), "text": own.text, "problem": own.problem or None}
    lines = [
        *(_own_lines(own) if has_own else ()),
        *(() if found is None else _list_lines(found)),
    ]
    output.show(lambda: document | {"user": user}, lines)
    return 0


def _no_instructions(assistant: Assistant, project: str | None) -> AppError:
    if project is None and assistant.library is None:
        return VaultNotChosen()
    if project is not None:
        return NotFound(
            f"The project {project} has no AGENTS.md that a model may be given.",
            hint="Write one into its folder; a private or excluded one does not count.",
        )
    return NotFound(
        "These notes have no AGENTS.md that a model may be given.",
        hint="Write one into the uppermost folder of the notes; a private or excluded one "
        "does not count.",
    )


def _describe(found: VaultInstructions | None) -> dict[str, str | None]:
    if found is None:
        return {"path": None, "digest": None, "state": None}
    state = found.decision or "undecided"
    return {"path": found.path, "digest": found.digest, "state": state}


def ask_about_instructions(assistant: Assistant, project: str | None = None) -> None:
    """Ask in the terminal whether models may use an AGENTS.md, and store the answer.

    The user is not asked if there is no readable AGENTS.md, or if the decision was already made.

    Args:
        assistant: the assistant with the open vault.
        project: the project that contains the AGENTS.md, or None for the vault.
    """
    try:
        found = assistant.customization.instructions(project)
    except NoteUnreadable:
        return  # the turn itself reports it
    if found is None or found.decision is not None:
        return
    sys.stderr.write("".join(f"{line}\n" for line in _list_lines(found)))
    sys.stderr.write("Give these instructions to models that work on these notes? [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        sys.stderr.write("\n")
    elif answer.strip().lower() in ("y", "yes"):
        assistant.customization.decide(found.digest, "accepted", project)
    else:
        assistant.customization.decide(found.digest, "refused", project)
        sys.stderr.write(f"They are left out. {found.name_command('accept')} takes them on.\n")


def _own_lines(own: UserText) -> Iterator[str]:
    yield own.problem or f"Your instructions, in {own.path}:"
    yield ""
    yield from (f"    {line}" for line in visible_text(own.text).split("\n"))
    yield ""


def _list_lines(found: VaultInstructions) -> Iterator[str]:
    yield f"{found.shown_path}, {_name_state(found)}:"
    yield ""
    yield from (f"    {line}" for line in found.visible_text.split("\n"))
    yield ""


def _name_state(found: VaultInstructions) -> str:
    states = {"accepted": "used", "refused": "refused and not used"}
    return states.get(found.decision or "", "not used until you have taken it on")


SETTINGS_VERBS: Final[Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int]]] = {
    "settings": change_settings,
    "instructions": change_instructions,
    "memory": change_memories,
    "keys": change_keys,
    "models": list_models,
    "ledger": show_ledger,
    "skills": change_skills,
    "spending": show_spending,
    "updates": show_updates,
}
