"""The spending limit on the command line."""

import pytest

from tests.support.models.model_server import ModelServer
from tests.support.models.priced_models import charge_for_calls
from tests.support.processes.command_line import Strata, document

COST = 60 * 2.5e-6 + 40 * 1.25e-6 + 10 * 10e-6
LIMIT = "spending.dayLimit=0.000001"


def test_a_call_beyond_the_limit_is_refused_with_a_way_to_send_it_once(
    ask: Strata, strata: Strata, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge_for_calls(monkeypatch)
    code, out, _ = ask("How many litres?", "--set", LIMIT, "--json")
    error = document(out)["error"]
    assert (code, error["code"], model.bodies) == (1, "spending_limit", [])
    assert "--set spending.dayLimit=0" in error["hint"]
    assert strata("spending")[1] == (
        "Today: $0.00, in 0 calls. No limit is set.\n"
        "This month: $0.00, in 0 calls. No limit is set.\n"
    )
    code, _, said = ask("How many litres?", "--set", LIMIT)
    assert (code, "It was not sent, and your message is kept." in said) == (1, True)
    code, out, _ = ask("How many litres?", "--set", "spending.dayLimit=0")
    assert (code, len(model.bodies) > 0) == (0, True)


def test_what_was_spent_is_shown_with_its_models(
    ask: Strata, strata: Strata, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge_for_calls(monkeypatch)
    assert ask("How many litres?", "--set", "chat.titles=false")[0] == 0
    found = document(strata("spending", "--json", "--set", "spending.monthLimit=20")[1])
    assert found["today"] == {
        "cost": pytest.approx(COST),
        "calls": 1,
        "unpriced_calls": 0,
        "limit": None,
    }
    assert found["month"]["limit"] == 20
    assert [one["model"] for one in found["models"]] == ["gpt-4o"]
    assert "gpt-4o  $0.0003, 1 call\n" in strata("spending")[1]
