"""How often the passage that answers a question is in the request that would be sent.

Dry runs of the program with three budgets. *Any*: the evidence of at least one note that answers is
in the request; *all*: that of each. For dated talks, evidence is the lines that tell the facts; for
EIPs, the passage below the heading that is asked for, or any passage of the note whose title it is;
for the demo vault, any passage of the note. The goal is what the best passages by words alone reach
with as many tokens.

`STRATA_BENCH_CACHE` is a folder that keeps the indexes for other benches and the next run.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from tests.benchmarks.measure import Ratio, SharedVault, index_dir_of, run_strata
from tests.benchmarks.retrieval.bench_relevance import (
    list_known_items,
    list_linked,
    write_talks_once,
)
from tests.benchmarks.retrieval.dated_talks import write_talks
from tests.benchmarks.retrieval.single_rankers import SingleRankers
from vault.catalog import Catalog
from vault.embedder import Embedder

if TYPE_CHECKING:
    from app.assistant import Assistant

BUDGETS: Final = (4_000, 8_000, 16_000)
MOST_QUESTIONS: Final = 200
MODEL: Final = "openai/gpt-4o"  # of which only the tokenizer is used

# The path and the text of a passage.
Passage = tuple[str, str]


@dataclass(frozen=True)
class Question:
    """A question, and the texts that are its evidence, by the paths of the notes that answer it.

    A note without such texts answers with any of its passages.
    """

    text: str
    evidence: Mapping[str, tuple[str, ...]]

    def find_answered(self, passages: Iterable[Passage]) -> set[str]:
        """Return the notes whose evidence is in some passages."""
        texts = defaultdict(list)
        for path, text in passages:
            texts[path].append(text)
        return {
            path
            for path, lines in self.evidence.items()
            if path in texts and all(any(line in text for text in texts[path]) for line in lines)
        }


def run(folder: Path) -> list[Ratio]:
    """Prepare the requests of the questions to each set."""
    embedder = Embedder()
    try:
        return [
            *_judge("dated talks", write_talks_once(folder), _list_talks, embedder),
            *_judge("EIPs", SharedVault.unpack("eips", folder), _list_items, embedder),
            *_judge("demo vault", SharedVault.unpack("tasks-demo", folder), _list_names, embedder),
        ]
    finally:
        embedder.close()


def _judge(
    name: str, shared: SharedVault, ask: Callable[[Catalog], list[Question]], embedder: Embedder
) -> list[Ratio]:
    notes, home = shared.notes, shared.home
    run_strata(home, "index", str(notes))
    catalog = Catalog(index_dir_of(home, notes) / "catalog.db", is_writable=False)
    try:
        questions = ask(catalog)
        questions = questions[:: max(1, len(questions) // MOST_QUESTIONS)][:MOST_QUESTIONS]
        by_words = SingleRankers(catalog, embedder).list_passages_by_words
        sent = _prepare(home, notes, questions)
        return [
            ratio
            for budget in BUDGETS
            for ratio in _compare(name, budget, questions, sent[budget], by_words)
        ]
    finally:
        catalog.close()


def _compare(
    name: str,
    budget: int,
    questions: Sequence[Question],
    sent: Sequence[Sequence[Passage]],
    by_words: Callable[[str], list[Passage]],
) -> list[Ratio]:
    """Compare the requests with the best passages by words, of as many characters."""
    bare = [
        _take_chars(by_words(question.text), sum(len(text) for _, text in passages))
        for question, passages in zip(questions, sent, strict=True)
    ]
    pairs = [
        (question.find_answered(ours), question.find_answered(theirs), question.evidence.keys())
        for question, ours, theirs in zip(questions, sent, bare, strict=True)
    ]
    any_ours, any_bare = (mean(bool(pair[at]) for pair in pairs) for at in (0, 1))
    all_ours, all_bare = (mean(pair[at] == pair[2] for pair in pairs) for at in (0, 1))
    passages = mean(len(each) for each in sent)
    about = f"{len(questions)} questions, {passages:.1f} passages"
    return [
        Ratio(
            f"evidence: {name}, {kind}, {budget:,}",
            ours,
            at_least=round(theirs, 3),
            detail=f"words alone {theirs * 100:.1f} %; {about}",
        )
        for kind, ours, theirs in (("any", any_ours, any_bare), ("all", all_ours, all_bare))
    ]


def _take_chars(passages: Sequence[Passage], chars: int) -> Sequence[Passage]:
    sizes = accumulate(len(text) for _, text in passages)
    return [passage for passage, size in zip(passages, sizes, strict=True) if size <= chars]


def _prepare(
    home: Path, notes: Path, questions: Sequence[Question]
) -> Mapping[int, Sequence[Sequence[Passage]]]:
    """Return the passages in the request of each question, by budget."""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    from app.paths import Paths
    from app.wiring import build

    sent: dict[int, Sequence[Sequence[Passage]]] = {}
    assistant = build(Paths.find({"STRATA_HOME": str(home)}))
    try:
        assistant.open_vault(notes, remember=False)
        assistant.settings.set("maxOutputTokens", 1_024)
        for budget in BUDGETS:
            assistant.settings.set("autoCompactThreshold", budget)
            sent[budget] = [_prepare_one(assistant, question.text) for question in questions]
    finally:
        for key in ("maxOutputTokens", "autoCompactThreshold"):
            assistant.settings.reset(key)  # other benches use this home too
        assistant.close()
    return sent


def _prepare_one(assistant: "Assistant", question: str) -> Sequence[Passage]:
    from chains.cancel import CancelToken
    from chains.events import ContextPrepared
    from chains.request.ask import Ask

    ask = Ask(question, "vault", MODEL, dry_run=True, update_index=False)
    for event in assistant.ask(ask, CancelToken()):
        if isinstance(event, ContextPrepared):
            uses = [use for use in event.report.segments if use.tokens]
            return [(use.segment.source, use.segment.content) for use in uses]
    raise RuntimeError("no request was prepared")


def _list_talks(_catalog: Catalog) -> list[Question]:
    with TemporaryDirectory() as folder:
        return [Question(each.text, each.evidence) for each in write_talks(Path(folder))]


def _list_items(catalog: Catalog) -> list[Question]:
    """List titles, and headings with the passages below them."""
    rows = catalog.rows(
        "SELECT path, heading, chunks.text FROM chunks JOIN files ON files.id = file_id"
    )
    below = defaultdict(list)
    for path, heading, text in rows:
        if own := json.loads(heading)[-1:]:
            below[path, own[0]].append(str(text))
    return [
        Question(each.text, {path: tuple(below[path, each.text][:1]) for path in each.answers})
        for each in list_known_items(catalog)
    ]


def _list_names(catalog: Catalog) -> list[Question]:
    return [Question(each.text, dict.fromkeys(each.answers, ())) for each in list_linked(catalog)]
