"""The retrieval step: what it stores in the log, and reads back."""

from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.extractive.model import NOTHING_NAMED
from chains.models import EXTRACTIVE, ModelInfo
from chains.request.chain import Chain
from chains.request.request import TurnContext
from chains.retrieval.retrieve import retrieve
from chains.turn.run import run_turn
from context.history.turns import list_turns
from context.tokens import ByteEstimator
from tests.support.sessions.memory_session import ListSearch, hit
from vault.quotes.sections import Support
from vault.search.hits import SearchResult

SUPPORT = Support(0.8, {"beans": 0.5, "soil": 0.25})
HITS = (hit("Garden.md", "Beans need warm soil."),)


class MeasuredSearch(ListSearch):
    """A search whose results have a measured support."""

    def search(self, query: str, k: int, **_: Any) -> SearchResult:
        return SearchResult(query, self.hits[:k], 0.0, support=SUPPORT)


@pytest.fixture
def chain():
    search = MeasuredSearch(*HITS)
    return Chain("vault_qa", lambda _: None, lambda: search, vault=search)


@pytest.fixture
def support_when_regenerated(chain, ask, session):
    """Read the support of the last turn again, as when its answer is regenerated."""

    def read() -> Support | None:
        request = ask("What do beans need?", model=EXTRACTIVE, is_regenerated=True)
        info = ModelInfo(EXTRACTIVE, None)
        steps = retrieve(TurnContext(chain, request, session, info, ByteEstimator()))
        try:
            while True:
                next(steps)
        except StopIteration as ended:
            found: Support | None = ended.value.support
            return found

    return read


def test_the_support_of_an_answer_is_stored_and_read_when_it_is_regenerated(
    chain, ask, session, support_when_regenerated
):
    request = ask("What do beans need?", model=EXTRACTIVE)
    list(run_turn(chain, request, session, CancelToken()))
    (turn,) = list_turns(session.path())
    assert turn.stored_fields["support"] == SUPPORT.score
    assert support_when_regenerated() == SUPPORT


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({"support": 0.7}, None),
        ({"support": 0.7, "supportWeights": {"soil": "much"}}, Support(0.7, {})),
        ({"support": "good"}, None),
        ({}, None),
    ],
)
def test_other_logs_are_read_too(
    chain, ask, session, support_when_regenerated, monkeypatch, stored, read
):
    monkeypatch.setattr("chains.retrieval.retrieve._store_support", lambda _: stored)
    request = ask("What do beans need?", model=EXTRACTIVE)
    list(run_turn(chain, request, session, CancelToken()))
    assert support_when_regenerated() == read


def test_without_a_model_the_subject_of_a_request_is_searched(ask, session):
    search = ListSearch(*HITS)
    request = ask("Summarise my notes about beans", model=EXTRACTIVE)
    list(
        run_turn(
            Chain("vault_qa", lambda _: None, lambda: search, vault=search),
            request,
            session,
            CancelToken(),
        )
    )
    assert [query for query, _ in search.asked] == ["beans"]


def test_without_a_model_a_message_that_names_nothing_finds_nothing(chain, ask, session):
    *_, ended = run_turn(chain, ask("Thanks!", model=EXTRACTIVE), session, CancelToken())
    assert ended.result.answer == NOTHING_NAMED
    (turn,) = list_turns(session.path())
    assert turn.segments == ()
