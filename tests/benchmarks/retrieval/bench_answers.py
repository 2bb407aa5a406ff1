"""How good the answers without a model are: questions with expected lines, made by reading.

276 questions to three vaults lie in `questions/`, a JSON object on a line each, written down before
the answers were worked on. `expect` are the expressions that a right answer quotes, all of them; a
third of the first 150 are `kept_aside`, to be looked at only when the work is done. The questions
of `round` 2 and 3 were each added when the answers had been fitted to the open ones before them,
and count as open from then on. An answer is

- right if what it shows has everything that is expected, and what it lights has no more words than
  one may read,
- partly right if it shows some of it, or all of it with too many words lit,
- refused if it says that the notes do not answer, and wrong in all other cases.

Quotations that are shown with a doubt are judged as others are; how many of the questions without
an answer get at least a doubt has a row of its own.

Besides, `help_answers` counts what the answers to the questions of users show and light.

Of the tldr pages only the English ones are indexed. `STRATA_BENCH_CACHE` is a folder that keeps the
indexes for other benches and the next run; `STRATA_BENCH_QUESTIONS` is `open`, `kept_aside` or
`all`; `STRATA_BENCH_ANSWERS` a file that the answers are written to.
"""

import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TurnEnded
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from tests.benchmarks.measure import Ratio, SharedVault, unpack_vault
from tests.benchmarks.retrieval.help_answers import HelpAnswer, grade_help, rate_help, read_help
from vault.embedder import Embedder

SETS: Final = ("eips", "tldr", "tasks-demo")
HELP_SETS: Final = ("guide", "tldr")
GUIDE: Final = Path(__file__).parents[3] / "resources" / "vault"
QUESTIONS: Final = Path(__file__).with_name("questions")
HALVES: Final = {"open": (False,), "kept_aside": (True,), "all": (False, True)}
FACTS: Final = frozenset({"one-fact", "date", "typo", "follow-up"})
MOST_WORDS_FACT: Final = 150
MOST_WORDS: Final = 400
ABSENT: Final = "absent"
VERDICTS: Final = ("right", "partly", "wrong", "refused")
DOUBT: Final = "your notes may not answer"
REFUSALS: Final = ("No passage answers this clearly", "nothing in your notes fits")


@dataclass(frozen=True)
class Question:
    """A question to one of the vaults, and what its answer quotes."""

    id: str
    vault: str
    kind: str
    question: str
    notes: tuple[str, ...]
    expect: tuple[str, ...]
    kept_aside: bool
    earlier: str = ""
    round: int = 1


@dataclass(frozen=True)
class Graded:
    """The answer to a question with its verdict."""

    question: Question
    verdict: str
    answer: str
    words: int
    seconds: float


def run(folder: Path) -> list[Ratio]:
    """Ask all questions without a model, and print their verdicts by kind."""
    halves = HALVES[os.environ.get("STRATA_BENCH_QUESTIONS", "all")]
    embedder = Embedder()
    try:
        graded = [each for name in SETS for each in _ask_set(name, folder, halves, embedder)]
        helped = [each for name in HELP_SETS for each in _ask_help(name, folder, halves, embedder)]
    finally:
        embedder.close()
    _write_answers(graded)
    for name in SETS:
        _print_table(name, [each for each in graded if each.question.vault == name])
    ratios: list[Ratio] = []
    for name, chosen in _split_graded(graded).items():
        _print_table(name, chosen)
        ratios += _rate(name, chosen)
    return [*ratios, *rate_help(helped)]


def _split_graded(graded: Sequence[Graded]) -> dict[str, list[Graded]]:
    split: dict[str, list[Graded]] = {}
    for each in graded:
        rounds = "open" if each.question.round == 1 else f"open, round {each.question.round}"
        name = "kept aside" if each.question.kept_aside else rounds
        split.setdefault(name, []).append(each)
    return split


def _ask_set(name: str, folder: Path, halves: Sequence[bool], embedder: Embedder) -> list[Graded]:
    questions = [each for each in read_questions(name) if each.kept_aside in halves]
    assistant = open_indexed(_write_set(name, folder), embedder)
    try:
        ask(assistant, questions[0].question)  # loads the embedding model
        return [_grade_timed(assistant, question) for question in questions]
    finally:
        assistant.close()


def _ask_help(
    name: str, folder: Path, halves: Sequence[bool], embedder: Embedder
) -> list[HelpAnswer]:
    assistant = open_indexed(_write_set(name, folder), embedder)
    try:
        return [grade_help(each, ask(assistant, each.question)) for each in read_help(name, halves)]
    finally:
        assistant.close()


def read_questions(name: str) -> Iterator[Question]:
    """Yield the questions of a set."""
    for line in (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        for key in ("notes", "expect"):
            fields[key] = tuple(fields[key])
        yield Question(**fields)


def _write_set(name: str, folder: Path) -> SharedVault:
    if name == "guide":
        vault = SharedVault.locate(name, folder)
        shutil.copytree(GUIDE, vault.notes, dirs_exist_ok=True)
        return vault
    if name != "tldr":
        return SharedVault.unpack(name, folder)
    vault = SharedVault.locate("tldr-english", folder)
    vault.write(_unpack_english)
    return vault


def _unpack_english(target: Path) -> None:
    unpack_vault("tldr", target)
    for pages in target.glob("pages.*"):  # those in other languages
        shutil.rmtree(pages)


def open_indexed(vault: SharedVault, embedder: Embedder) -> Assistant:
    """Open a vault, and make or update its index."""
    assistant = build(Paths.find({HOME_VARIABLE: str(vault.home)}), embedder=embedder)
    assistant.open_vault(vault.notes, remember=False)
    assistant.settings.reset("autoCompactThreshold")  # a run that was ended may have left another
    for _event in assistant.index(CancelToken()):
        pass
    return assistant


def _grade_timed(assistant: Assistant, question: Question) -> Graded:
    session = ask(assistant, question.earlier).session if question.earlier else None
    started = time.perf_counter()
    result = ask(assistant, question.question, session)
    seconds = time.perf_counter() - started
    words = count_lit_words(result)
    return Graded(
        question, grade(question, result.answer.text, words), result.answer.text, words, seconds
    )


def ask(assistant: Assistant, text: str, session: str | None = None) -> AskResult:
    """Ask a question without a model."""
    request = Ask(text, model=EXTRACTIVE, session=session, update_index=False)
    for event in assistant.ask(request, CancelToken()):
        if isinstance(event, TurnEnded):
            return event.result
    raise RuntimeError("the turn did not end")


def count_lit_words(result: AskResult) -> int:
    """Return the number of words in the lines that an answer lights."""
    return sum(len((each.quote or "").split()) for each in result.answer.checked.citations)


def grade(question: Question, answer: str, lit_words: int) -> str:
    """Return the verdict on an answer with a number of lit words."""
    if any(refusal in answer for refusal in REFUSALS):
        return "refused"
    quoted = read_quotations(answer)
    found = [re.search(each, quoted, re.IGNORECASE) is not None for each in question.expect]
    if not any(found):
        return "wrong"
    most = MOST_WORDS_FACT if question.kind in FACTS else MOST_WORDS
    return "right" if all(found) and lit_words <= most else "partly"


def read_quotations(answer: str) -> str:
    """Return what an answer quotes, or lists, as it is shown: without marks, on one line."""
    lines = [line[1:] for line in answer.splitlines() if line.startswith((">", "- "))]
    shown = re.sub(r"(`+)(.+?)\1|\\([^\w\s])|[`*]", r"\2\3", "\n".join(lines))
    return " ".join(shown.split())


def _write_answers(graded: Sequence[Graded]) -> None:
    target = os.environ.get("STRATA_BENCH_ANSWERS")
    if not target:
        return
    with Path(target).open("w", encoding="utf-8") as file:
        for each in graded:
            question = each.question
            file.write(f"## {question.id} {question.kind}: {each.verdict}, {each.words} words\n\n")
            file.write(f"{question.earlier} {question.question}\n\n{list(question.expect)}\n")
            file.write(f"{list(question.notes)}\n\n{each.answer}\n\n")


def _print_table(name: str, graded: Sequence[Graded]) -> None:
    print(f"\n{name:<24}" + "".join(f"{verdict:>9}" for verdict in VERDICTS) + "    words")
    kinds = dict.fromkeys(each.question.kind for each in graded)
    for kind in kinds:
        _print_row(kind, [each for each in graded if each.question.kind == kind])
    _print_row("answerable", _answerable(graded))
    seconds = median(each.seconds for each in graded)
    print(f"  an answer takes {seconds * 1_000:.0f} ms (median)", flush=True)


def _print_row(name: str, graded: Sequence[Graded]) -> None:
    counts = Counter(each.verdict for each in graded)
    words = median(each.words for each in graded) if graded else 0
    numbers = "".join(f"{counts[verdict]:>9}" for verdict in VERDICTS)
    print(f"  {name:<22}{numbers}{words:>9.0f}")


def _answerable(graded: Sequence[Graded]) -> list[Graded]:
    return [each for each in graded if each.question.kind != ABSENT]


def _rate(name: str, graded: Sequence[Graded]) -> list[Ratio]:
    answerable = _answerable(graded)
    absent = [each for each in graded if each.question.kind == ABSENT]

    doubted = sum(each.verdict == "refused" or DOUBT in each.answer for each in absent)

    def share(verdict: str, among: Sequence[Graded]) -> float:
        return sum(each.verdict == verdict for each in among) / len(among)

    detail = f"{len(answerable)} questions"
    return [
        Ratio(f"answers: {name}, right", share("right", answerable), at_least=0.75, detail=detail),
        Ratio(f"answers: {name}, partly right", share("partly", answerable), at_most=0.15),
        Ratio(f"answers: {name}, refused", share("refused", answerable), at_most=0.03),
        Ratio(
            f"answers: {name}, absent ones refused",
            share("refused", absent),
            at_least=0.95,
            detail=f"{len(absent)} questions",
        ),
        Ratio(f"answers: {name}, absent ones refused or doubted", doubted / len(absent)),
    ]
