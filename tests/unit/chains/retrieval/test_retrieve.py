"""The retrieval step: what it stores in the log, and reads back."""

import pytest

from chains.extractive.model import NOTHING_NAMED
from chains.models import EXTRACTIVE
from chains.retrieval.retrieve import retrieve
from chains.turn.run import run_turn
from context.history.turns import list_turns
from tests.support.sessions.memory_session import ListSearch, hit
from vault.options import USUAL_SEARCH, SearchOptions
from vault.quotes.sections import Support
from vault.search.hits import SearchResult

SUPPORT = Support(0.8, {"beans": 0.5, "soil": 0.25})
HITS = (hit("Garden.md", "Beans need warm soil."),)


class MeasuredSearch(ListSearch):
    """A search whose results have a measured support."""

    def search(self, query: str, k: int, options: SearchOptions = USUAL_SEARCH) -> SearchResult:
        return SearchResult(query, self.hits[:k], 0.0, support=SUPPORT)


@pytest.fixture
def quote(ask, session):
    """Begin a turn that is answered without a model."""

    def begin(question, notes=None, **fields):
        notes = notes or MeasuredSearch(*HITS)
        fields |= {"search": lambda: notes, "vault": notes, "session": session}
        return ask(question, model=EXTRACTIVE, **fields)

    return begin


@pytest.fixture
def support_when_regenerated(quote):
    """Read the support of the last turn again, as when its answer is regenerated."""

    def read() -> Support | None:
        steps = retrieve(quote("What do beans need?", is_regenerated=True))
        try:
            while True:
                next(steps)
        except StopIteration as ended:
            found: Support | None = ended.value.query.support
            return found

    return read


def test_the_support_of_an_answer_is_stored_and_read_when_it_is_regenerated(
    quote, session, support_when_regenerated
):
    list(run_turn(quote("What do beans need?")))
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
    quote, session, support_when_regenerated, monkeypatch, stored, read
):
    monkeypatch.setattr("chains.retrieval.retrieve._store_support", lambda _: stored)
    list(run_turn(quote("What do beans need?")))
    assert support_when_regenerated() == read


class FolderSearch(MeasuredSearch):
    """A search that finds notes by the filter for a folder."""

    def search(self, query: str, k: int, options: SearchOptions = USUAL_SEARCH) -> SearchResult:
        found = super().search(query, k, options)
        if not query.startswith("folder:"):
            return found
        hits = tuple(hit for hit in self.hits if f'folder:"{hit.path.split("/")[0]}"' == query)
        return SearchResult(query, hits, 0.0, support=SUPPORT)


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        ("Notes", {"Notes/A.md"}),
        ("notes?", {"Notes/A.md"}),
        ("Thanks!", set()),
        ("Help me", set()),
    ],
)
def test_the_name_of_a_folder_finds_its_notes_though_it_says_nothing(
    quote, session, message, paths
):
    notes = FolderSearch(hit("Day.md", "It rained."), hit("Notes/A.md", "Ina mended the roof."))
    list(run_turn(quote(message, notes)))
    (turn,) = list_turns(session.path())
    assert {segment.source for segment in turn.segments} == paths


def test_without_a_model_the_subject_of_a_request_is_searched(quote):
    search = ListSearch(*HITS)
    list(run_turn(quote("Summarise my notes about beans", search)))
    assert [query for query, _ in search.asked] == ["beans"]


def test_without_a_model_a_message_that_names_nothing_finds_nothing(quote, session):
    *_, ended = run_turn(quote("Thanks!"))
    assert ended.result.answer.text == NOTHING_NAMED
    (turn,) = list_turns(session.path())
    assert turn.segments == ()
