"""A small model judges all notes, and another one a sample of them."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.judge.judging import JudgeFinished
from app.judge.table import JudgeRequest, JudgeTable, SampleCheck
from chains.cancel import CancelToken
from chains.judge.sample import SampledKind
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.models.note_judge import PLANTED, answer_with, judge_note, list_shown

NOTES = 300
MATCHES = range(0, NOTES, 15)
QUESTION = "Where did I promise something to my sister?"
ASKED = JudgeRequest(QUESTION, model="gpt-4o-mini", sample_model="gpt-4o", sample=90)


@pytest.fixture
def models(assistant: Assistant, server: ModelServer, tmp_path: Path) -> ModelServer:
    """A model that errs in every tenth note, and one that does not."""
    notes = {
        f"Day {n:03}.md": f"{PLANTED} {n}.\n" if n in MATCHES else f"Nothing, {n}.\n"
        for n in range(NOTES)
    }
    assistant.open_vault(write_notes(tmp_path / "vault", notes), remember=False)
    list(assistant.index(CancelToken()))
    wrong = frozenset(random.Random(7).sample(sorted(notes), NOTES // 10))

    def judge(body: Body) -> Answer:
        given = []
        for note in list_shown(body):
            verdict = judge_note(note)
            if "mini" in body["model"] and f"{note.name}.md" in wrong:
                says_yes = verdict["verdict"] == "yes"
                verdict = {"n": note.number, "verdict": "no" if says_yes else "yes"}
                verdict |= {} if says_yes else {"quote": note.text.strip()}
            given.append(verdict)
        return answer_with(given)

    server.script(judge)
    return server


@pytest.fixture
def judge(assistant: Assistant, models: ModelServer) -> Callable[..., JudgeTable]:
    def judging(request: JudgeRequest = ASKED) -> JudgeTable:
        *_, last = assistant.judging.judge(request, CancelToken())
        assert isinstance(last, JudgeFinished)
        assert last.table.counts.is_closed
        return last.table

    return judging


def test_the_sample_is_judged_after_its_price_was_shown_and_bounds_the_matches(
    judge: Callable[..., JudgeTable], assistant: Assistant, models: ModelServer
) -> None:
    first = judge()
    assert {body["model"] for body in models.bodies} == {"gpt-4o-mini"}
    assert first.coverage.endswith("90 notes of a sample for gpt-4o to judge again.")
    assert (first.cost.notes, first.cost.calls) == (90, 9)
    before = len(models.bodies)
    table = judge()
    assert {body["model"] for body in models.bodies[before:]} == {"gpt-4o"}
    assert sum(len(list_shown(body)) for body in models.bodies[before:]) == 90
    check = table.sample
    assert check is not None
    low, high = check.bounds
    assert low <= len(MATCHES) <= high < 60
    assert 60 < check.agreed < 90
    assert (
        f"gpt-4o judged 90 of the 300 notes that gpt-4o-mini judged, and agreed on {check.agreed}"
        in table.coverage
    )
    assert (
        f"with 95 % confidence, it would say yes to {low} to {high} of these 300." in table.coverage
    )
    assert table.to_dict()["sample"]["most"] == high
    again = judge()
    assert (again.calls, again.sample, again.cost.notes) == (0, check, 0)
    assert assistant.judging.read(JudgeRequest(QUESTION, model="gpt-4o-mini")).sample is None


def test_a_sample_of_all_notes_says_the_number(judge: Callable[..., JudgeTable]) -> None:
    asked = JudgeRequest(QUESTION, 'path:"Day 0"', None, "gpt-4o-mini", None, False, "gpt-4o", 500)
    judge(asked)
    table = judge(asked)
    matches = sum(n in MATCHES for n in range(100))
    assert table.coverage.endswith(f"it would say yes to {matches} of these 100.")
    assert "confidence" not in table.coverage


def test_the_sentence_has_singular_forms() -> None:
    def say(notes: int, sampled: int, yes: int, failed: int = 0) -> str:
        kinds = (SampledKind("yes", notes, sampled, yes),)
        return SampleCheck("a/boss", kinds, yes, failed).describe("b/liar")

    assert say(1, 1, 0) == "boss judged the note that liar judged, and did not agree."
    assert say(1, 1, 1) == "boss judged the note that liar judged, and agreed."
    assert say(5, 5, 1) == (
        "boss judged 5 of the 5 notes that liar judged, and agreed on 1: "
        "it would say yes to 1 of these 5."
    )
    assert say(5, 0, 0, 3) == (
        "boss gave no verdict on a sample of the notes. 3 of the sample failed."
    )


def test_the_same_model_judges_no_sample(assistant: Assistant, models: ModelServer) -> None:
    with pytest.raises(InvalidRequest, match="cannot judge the sample too"):
        assistant.judging.read(JudgeRequest(QUESTION, model="gpt-4o", sample_model="gpt-4o"))
    assert models.bodies == []
