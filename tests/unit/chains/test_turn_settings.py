"""What a turn takes from the settings, and the table of modes, follow what they are made of."""

from dataclasses import fields
from typing import get_args, get_type_hints

from app.config.settings import Settings
from chains.events import Mode
from chains.prompts import NO_CUSTOMIZATION
from chains.request.ask import MODES
from chains.request.turn import TurnSettings


def test_each_setting_of_a_turn_is_one_of_the_application():
    values = Settings()
    read = TurnSettings.read(values)
    for field in fields(TurnSettings):
        assert getattr(read, field.name) == getattr(values, field.name), field.name


def test_each_setting_of_a_turn_has_the_type_that_it_has_in_the_application():
    defined, read = get_type_hints(Settings), get_type_hints(TurnSettings)
    others = {name for name, kind in read.items() if kind != defined[name]}
    # A list is only read, and the time of an agent may be a part of a second in tests.
    assert others == {"chat_image_models", "agent_max_seconds"}


def test_each_mode_has_its_row_and_its_prompt():
    assert set(MODES) == set(get_args(Mode))
    for mode, rules in MODES.items():
        assert NO_CUSTOMIZATION.system(rules.prompt), mode
        assert not (rules.needs == "project" and not rules.uses_project)
