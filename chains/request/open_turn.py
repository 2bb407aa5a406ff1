"""Open a turn: look up its model, choose the tools that are offered, and describe its notes.

A model is opened for each call, as a port that answers a request.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from chains.cancel import Pause
from chains.errors import BadRequest, LedgerFailed, LocalModelFailed
from chains.folders import FOLDER, find_recorded_names, list_named_notes, list_names
from chains.llm.port import Endpoint, KeyFor, ModelPort, ShapeMemory
from chains.models import EXTRACTIVE, ModelInfo, look_up_model
from chains.request.deferral import ToolLimits, offer_tools
from chains.request.project import (
    PROJECT,
    build_project_context,
    decide_text,
    find_project_context,
)
from chains.request.turn import Turn
from chains.tokenizer import load_counter
from context.layers import Segment

if TYPE_CHECKING:
    from chains.extractive.model import ExtractiveModel

__all__ = [
    "find_model",
    "learn_limit",
    "offer_found_tools",
    "open_extractive_model",
    "open_language_model",
    "open_model",
    "open_turn",
]

# No model that can answer from notes has a shorter context.
LEAST_LIMIT: Final = 1_024


def open_turn(turn: Turn) -> Turn:
    """Look up the model of a turn, its tokenizer, tools and notes.

    This may query a server for the model's limit.
    """
    turn = _name_folders(turn)
    name = turn.model_name
    turn = replace(turn, model=find_model(turn, name), counter=load_counter(name))
    return _offer_tools(_describe_project(turn))


def _name_folders(turn: Turn) -> Turn:
    """Add the folder names of the vault to an agent's prompt.

    In a project, the system message already contains the names. Later turns reuse the names stored
    by the first one, so that the prompt does not change.
    """
    notes = turn.vault
    if notes is None or not turn.mode_rules.calls_tools or turn.is_in_project:
        return turn
    names = _find_names(turn)
    is_new = names is None
    if names is None:
        indexed = [note.path for note in notes.notes() if note.state == "indexed"]
        allowed = sorted(notes.filter_allowed(indexed))
        names = list_names(notes.root.name, allowed, turn.settings.auto_compact_threshold)
    customization = replace(turn.customization, folder_names=names)
    # An empty list is stored too, so that notes added later do not change the prompt.
    stored_fields = {FOLDER: names} if is_new else {}
    return replace(turn, customization=customization, stored_fields=stored_fields)


def _find_names(turn: Turn) -> str | None:
    """Return the folder names in the log, or None if there are none, or one is excluded now."""
    names, find_excluded = find_recorded_names(turn.session.path()), turn.ports.find_excluded
    if not names or find_excluded is None:
        return names
    return None if find_excluded(frozenset(list_named_notes(names))) else names


def _describe_project(turn: Turn) -> Turn:
    """Add the names, outlines and texts of the project's notes to the system message."""
    notes, session, project, pages = turn.vault, turn.session, turn.ask.project, turn.pages
    if notes is None or project is None or not turn.is_in_project:
        return turn
    recorded = found = find_project_context(session, turn.ports.find_excluded, project, pages)
    if found is None:
        budget = turn.compute_request_budget(turn.factor).budget
        includes_text = decide_text(session, turn.settings.project_include_text == "auto")
        found = build_project_context(notes, turn.counter, budget, includes_text, pages or ())
        found = replace(found, project=project)
    known = turn.customization
    customization = replace(known, instructions=(*known.instructions, *found.segments))
    stored = turn.stored_fields
    if recorded is None:
        stored = {**stored, PROJECT: found.to_dict()}
    return replace(turn, customization=customization, stored_fields=stored)


def _offer_tools(turn: Turn) -> Turn:
    """Offer only some of the agent's tools if all of them are too large."""
    if not turn.mode_rules.calls_tools:
        return turn
    if not ShapeMemory(turn.ports.learned, turn.model.learned_owner).find_shape().offers_tools:
        return replace(turn, tools=(), is_toolless=True)
    foreign = frozenset(tool.definition.name for tool in turn.extra_tools if tool.origin == "mcp")
    sizes = turn.compute_request_budget(turn.factor)
    share = turn.settings.tool_deferral_threshold
    limits = ToolLimits(sizes.window, int(sizes.budget * share))
    place = f"{turn.model_name} {turn.settings.auto_compact_threshold}"
    offer = offer_tools(turn.tools, foreign, turn.session, place, limits, turn.counter)
    stored = {**turn.stored_fields, **(offer.stored_fields or {})}
    return replace(turn, tools=offer.tools, deferred=offer.deferred, stored_fields=stored)


def offer_found_tools(turn: Turn, names: Sequence[str]) -> Turn:
    """Return the turn with tools that earlier requests left out and the model has found."""
    found = {tool.name: tool for tool in turn.deferred.definitions}
    late = tuple(found[name] for name in names if name in found)
    deferred = turn.deferred.include(tool.name for tool in late)
    return replace(turn, tools=(*turn.tools, *late), deferred=deferred)


def find_model(turn: Turn, name: str) -> ModelInfo:
    """Look up a model's properties. This may query a server for the model's limit.

    A dry run queries no server. It therefore does not reject images if it is unknown whether the
    server's model accepts them. No server is queried either if the ledger cannot be written, such
    as in a read-only folder, so that a stored request can be rebuilt there.
    """
    ports, dry_run = turn.ports, turn.ask.dry_run
    try:
        model = _look_up(turn, name, None if dry_run else ports.key_for)
    except LedgerFailed:
        model = _look_up(turn, name, None)
    if dry_run and model.sees is None and model.endpoint and model.endpoint.api_base:
        model = replace(model, sees=True)
    learned = ports.learned and ports.learned.find_limit(model.learned_owner, model.reported_limit)
    return replace(model, input_limit=learned) if learned else model


def _look_up(turn: Turn, name: str, key_for: KeyFor | None) -> ModelInfo:
    settings = turn.settings
    return look_up_model(
        name,
        settings.chat_api_base,
        key_for=key_for,
        offline=settings.privacy_offline,
        local_context=settings.chat_local_context,
        image_models=tuple(settings.chat_image_models),
        ledger=turn.ports.ledger,
    )


def learn_limit(turn: Turn, limit: int | None) -> None:
    """Remember the context length that a service reported when it rejected a request.

    Implausible values are ignored: very small ones, and those not below the known limit.
    """
    model, limits = turn.model, turn.ports.learned
    is_plausible = limit is not None and LEAST_LIMIT <= limit < (model.input_limit or math.inf)
    if limits is not None and limit is not None and is_plausible:
        limits.learn_limit(model.learned_owner, limit, model.reported_limit)


def open_model(turn: Turn, read: Sequence[Segment] = ()) -> ModelPort:
    """Return a port to the model that answers.

    Args:
        turn: the turn that the calls belong to.
        read: the segments that tools have read in this turn, for the ledger.

    Raises:
        BadRequest: no service has a model with that name.
    """
    if turn.model_name != EXTRACTIVE:
        return open_language_model(turn, turn.model, read)
    return open_extractive_model(turn)


def open_extractive_model(turn: Turn) -> "ExtractiveModel":
    """Return a port that answers with quotations, without a language model."""
    # Its regular expressions take long to compile, and searches do without them.
    from chains.extractive.model import ExtractiveModel

    vault = None if turn.search is None else turn.vault
    model = ExtractiveModel(
        turn.ask.question,
        has_searched=turn.search is not None,
        has_notes=turn.query.has_notes,
        searched=turn.query.text,
        support=turn.query.support,
        compare=None if vault is None else vault.measure_cosines,
        find_days=None if vault is None else vault.find_days,
    )
    model.partly = turn.query.partly
    return model


def open_language_model(turn: Turn, model: ModelInfo, read: Sequence[Segment] = ()) -> ModelPort:
    """Return a port to a language model.

    Args:
        turn: the turn that the calls belong to.
        model: the properties of the model.
        read: the segments that tools have read in this turn, for the ledger.

    Raises:
        BadRequest: no service has a model with that name.
        LocalModelFailed: the file of the model cannot be used.
    """
    if model.problem:
        raise LocalModelFailed(model.problem, service=model.name)
    if model.endpoint is None:
        raise BadRequest(
            model.name,
            reason="no service has a model of that name. Put the service in front of it, as in "
            f"openai/{model.name}, or set chat.apiBase to the address of a server.",
        )
    # An answer without a model needs none of these.
    from chains.gguf.model import GgufModel
    from chains.llm.records import CallOrigin, CallRecorder
    from chains.model import LiteLLMModel
    from chains.providers import price_call

    ports, settings = turn.ports, turn.settings
    origin = CallOrigin(turn.session.id or None, turn.id or None, read)
    limit, add_wait = ports.spending, turn.tool_time.extend
    recorder = CallRecorder(ports.ledger, origin, limit, price_call, add_wait)
    port = partial(LiteLLMModel, recorder=recorder)
    shapes = ShapeMemory(ports.learned, model.learned_owner)
    make = partial(port, offline=settings.privacy_offline, max_seconds=settings.chat_max_seconds)

    def make_port(endpoint: Endpoint, key_for: KeyFor, pause: Pause) -> ModelPort:
        return make(endpoint, key_for, pause=pause, shapes=shapes)

    if model.file is None:
        return make_port(model.endpoint, ports.key_for, ports.pause)
    context_tokens = model.input_limit or model.file.context_length
    return GgufModel(ports.local, model.file, context_tokens, make_port, ports.pause)
