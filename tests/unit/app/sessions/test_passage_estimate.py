"""The preview of a first question expects about as many tokens of passages as are sent."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from statistics import mean

import pytest

from app.assistant import Assistant
from chains.request.ask import Ask
from tests.benchmarks.retrieval.life_vault import make_life_notes
from tests.conftest import NOTES, write_notes
from tests.support.sessions.turns import ask, result_of

PLACES = ("harbour", "mill", "orchard", "quarry", "station", "tower", "well", "yard")


def make_long_notes() -> dict[str, str]:
    """Return notes whose passages are long: a letter about each place, without headings."""
    said = "Of the {0} it is told that {1} people worked there, and that its gate faced {2}. "
    return {
        f"{place.title()}.md": f"# {place.title()}\n\n"
        + "\n\n".join(
            "".join(said.format(place, at * 7 + row, "north") for at in range(12))
            for row in range(4)
        )
        for place in PLACES
    }


def make_short_notes() -> dict[str, str]:
    """Return a part of the notes of one person: short entries, tables and lists."""
    return dict(list(make_life_notes().items())[::4])


VAULTS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "five notes": (NOTES, ("How much does the barrel hold?", "When do tomatoes ripen?")),
    "long passages": (
        make_long_notes(),
        (
            "Who worked at the mill?",
            "Where does the gate of the tower face?",
            "How many people worked at the quarry?",
        ),
    ),
    "short passages": (
        make_short_notes(),
        ("What did I plant?", "Who comes to visit?", "When is the bill due?", "What is broken?"),
    ),
}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *product(("openai/gpt-4o", "anthropic/claude-3-5-sonnet"), VAULTS),
        # How many of the passages are next to each other depends on the question.
        *product(("extractive",), ("five notes", "short passages")),
    ],
)
def test_a_first_preview_is_near_what_is_sent(
    assistant: Assistant, tmp_path: Path, name: str, model: str
) -> None:
    notes, questions = VAULTS[name]
    assistant.settings.set("chat.apiBase", "http://127.0.0.1:9/v1")
    assistant.open_vault(write_notes(tmp_path / "notes", notes), remember=False)
    assert assistant.library is not None
    assistant.library.vault.update()
    context = assistant.preview(None, "", "vault", model)
    asked = Ask("", "vault", model)
    number, tokens = assistant.runner.estimate_passages(asked, context["budget"])
    results = [result_of(ask(assistant, each, model=model, dry_run=True)) for each in questions]
    sent = mean(result.context["used"] for result in results)
    assert context["used"] + tokens == pytest.approx(sent, rel=0.15)
    assert number > 1


def test_a_small_budget_has_its_share_of_passages(reading: Assistant) -> None:
    assert reading.library is not None
    reading.library.vault.update()
    asked = Ask("", "vault", "openai/gpt-4o")
    _, whole = reading.runner.estimate_passages(asked, 100_000)
    assert 0 < reading.runner.estimate_passages(asked, 1_000)[1] <= 250 < whole


def test_without_an_index_no_passages_are_expected(reading: Assistant) -> None:
    asked = Ask("", "vault", "openai/gpt-4o")
    assert reading.runner.estimate_passages(asked, 100_000) == (0, 0)
