from dataclasses import replace

import pytest

from chains.cancel import CancelToken
from chains.citations.check import check_citations
from chains.llm.extractive import MOST_SENTENCES, ExtractiveModel
from chains.llm.port import ModelEnded, ModelText
from chains.models import ModelInfo
from chains.request.chain import Chain
from chains.request.draft import draft_turn, prepare_turn
from chains.request.request import TurnContext
from chains.request.session import SessionView
from context.layers import Layer
from context.tokens import ByteEstimator

SERVER = """## Power
The server draws 31 watts when it idles. A full backup raises that to 58 watts.

```
watts = 99
```

| what | watts |
| --- | --- |
| fan | 4 |"""
GARDEN = "Beans need warm soil, at least 10 °C. Water them in the morning:\n- peas are hardier"
JAPANESE = "ベランダには六つの鉢があります。水は朝にやります。"


@pytest.fixture
def answer(ask):
    """Ask without a model, over given sources; return the answer's text."""

    def run(question, *sources, has_searched=True):
        chain, info = Chain("vault_qa", lambda _: None), ModelInfo("extractive", None)
        request, view = ask(question, model="extractive"), SessionView("chat1")
        context = TurnContext(chain, request, view, info, ByteEstimator())
        drafted = draft_turn(context, sources if has_searched else None)
        turn = prepare_turn(context, drafted, "preview")
        model = ExtractiveModel(question, has_searched=has_searched)
        *pieces, ended = model.stream(turn.request, CancelToken())
        assert ended == ModelEnded("complete", "stop")
        assert all(isinstance(piece, ModelText) for piece in pieces)
        return "".join(piece.text for piece in pieces)

    return run


def test_it_says_plainly_that_no_model_is_set(answer, source):
    assert answer("How many watts?", source(1, SERVER)).startswith("No model is set")


def test_the_sentence_that_answers_comes_first(answer, source):
    text = answer("How many watts does a backup draw?", source(1, GARDEN), source(2, SERVER))
    assert text.split("\n\n")[1] == "> A full backup raises that to 58 watts. [2]"


def test_every_sentence_is_verified_and_opens_its_exact_line(answer, source):
    sources = [source(1, SERVER, first=5), source(2, GARDEN, first=20)]
    report = check_citations(answer("How many watts? Warm soil?", *sources), sources)
    assert report.unverified == ()
    assert report.citations
    for citation in report.citations:
        first = sources[citation.n - 1].lines[0]
        lines = sources[citation.n - 1].raw_content.split("\n")
        assert citation.verified
        assert citation.lines[0] == citation.lines[1]
        assert citation.quote[:12] in lines[citation.lines[0] - first].replace("- ", "")


def test_it_quotes_five_sentences_at_most(answer, source):
    sources = [source(n, f"Beans number {n} grow. Beans {n} need soil.") for n in range(1, 9)]
    assert answer("beans", *sources).count("> ") <= MOST_SENTENCES


def test_the_same_sentence_is_not_quoted_twice(answer, source):
    text = answer("warm soil", source(1, GARDEN), source(2, GARDEN))
    assert text.count("warm soil") == 1


def test_code_and_headings_are_not_quoted(answer, source):
    text = answer("watts power", source(1, SERVER))
    assert "99" not in text
    assert "Power" not in text


def test_other_scripts_are_quoted_too(answer, source):
    text = answer("鉢はいくつありますか", source(1, JAPANESE))
    assert text.split("\n\n")[1] == "> ベランダには六つの鉢があります。 [1]"


def test_text_that_looks_like_a_citation_is_no_citation(answer, source):
    sources = [source(1, "The array a [7] holds **beans** and `peas`.")]
    text = answer("beans", *sources)
    report = check_citations(text, sources)
    assert [(c.n, c.verified) for c in report.citations] == [(1, True)]
    assert report.unverified == ()


def test_a_long_sentence_is_cut_and_still_verified(answer, source):
    sources = [source(1, "Beans " + "and more beans " * 60 + "grow.")]
    report = check_citations(answer("beans", *sources), sources)
    assert [c.verified for c in report.citations] == [True]


def test_passages_without_a_sentence_are_named(answer, source):
    text = answer("watts", source(1, "```\nwatts = 99\n```"))
    assert "hold no sentence" in text
    assert "- Note 1 [1]" in text


def test_nothing_found_is_one_honest_sentence(answer):
    assert "nothing in your notes fits" in answer("unicorns")


def test_a_chat_without_notes_says_what_to_do(answer):
    assert "set a model" in answer("Hello?", has_searched=False)


def test_what_is_carried_over_is_never_quoted(answer, source):
    cited = source(1, "Cited earlier: Beans need warm soil at night.", layer=Layer.L2)
    cited = replace(cited, number=None)
    text = answer("What do beans need?", cited, source(2, GARDEN))
    assert "[0]" not in text
    assert "Cited earlier" not in text
    assert "Beans need warm soil" in text
    assert answer("What do beans need?", cited).startswith("No model is set, and nothing")
