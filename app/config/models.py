"""Which models can be chosen, and where each of them is."""

from dataclasses import dataclass

from app.config import secrets
from app.config.schema import Settings
from chains.models import EXTRACTIVE, describe, served_models


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen.

    Attributes:
        name: as in the setting `chat.model`.
        where: "this computer", or the host that text goes to.
        input_limit: tokens it takes; None where that is not known.
        is_set: whether it is the one in the settings.
    """

    name: str
    label: str
    where: str
    input_limit: int | None
    is_set: bool


def model_choices(values: Settings) -> tuple[ModelChoice, ...]:
    """Return no model at all, the one that is set, and those that the user's server offers."""
    names = (EXTRACTIVE, values.chat_model, *_served(values))
    return tuple(_choice(name, values) for name in dict.fromkeys(names))


def _served(values: Settings) -> tuple[str, ...]:
    base = values.chat_api_base
    # What kind of server it is does not depend on the name; any without a prefix will do.
    server = describe("any", base)
    if not base or (values.privacy_offline and not server.is_local):
        return ()
    key = None if server.key_provider is None else secrets.key_for(server.key_provider)
    return tuple(model.name for model in served_models(base, key))


def _choice(name: str, values: Settings) -> ModelChoice:
    info = describe(name, values.chat_api_base, local_context=values.chat_local_context)
    return ModelChoice(
        name=name,
        label="No model: quoted passages" if name == EXTRACTIVE else name,
        where="this computer" if info.is_local else info.host,
        input_limit=info.input_limit,
        is_set=name == values.chat_model,
    )
