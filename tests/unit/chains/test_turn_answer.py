"""The answer of a turn, as it is read from a chat."""

import pytest

from chains import turn_answer
from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.report import ClaimReport
from chains.turn_answer import TurnAnswer


def test_an_answer_that_is_read_again_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def check(text: str, *others: object) -> ClaimReport:
        checked.append(text)
        return check_claims(text, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(turn_answer, "check_claims", check)
    first, again, other = (
        read_answer(f"The barrel holds {litres} litres.") for litres in (7, 7, 9)
    )
    assert first.claims == again.claims
    assert [claim.verdict for claim in first.claims.claims] == ["supported"]
    assert [claim.verdict for claim in other.claims.claims] != ["supported"]
    assert len(checked) == 2


def test_an_answer_is_checked_again_against_other_texts() -> None:
    before = read_answer("The well holds 8 litres.", "The well holds 8 litres.")
    after = read_answer("The well holds 8 litres.", "The well is deep.")
    assert before.claims != after.claims


def read_answer(text: str, sent: str = "The barrel holds 7 litres.") -> TurnAnswer:
    evidence = ClaimEvidence((EvidenceText(sent, "Garden", "tool"),))
    return TurnAnswer(text, "scripted", evidence=evidence)
