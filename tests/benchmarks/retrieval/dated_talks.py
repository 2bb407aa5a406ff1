"""Long dated notes with questions: what pairs of friends tell each other, one note a day.

The sentences in `talks/` were written by hand. A fixed seed makes the notes from them: each has
five things that happened to one of the two, among talk that mentions other subjects in passing. A
subject comes up on several days with other facts, so that names, facts and days tell the notes
apart. Half of the pairs name their notes by the day, the others number them and write the day out.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

TALKS: Final = Path(__file__).with_name("talks")
PAIRS: Final = (
    ("Ana", "Bela"),
    ("Gideon", "Mirjam"),
    ("Oskar", "Priya"),
    ("Tess", "Bela"),
    ("Leander", "Noor"),
    ("Wilma", "Ana"),
)
DAYS: Final = 30
EVENTS: Final = 5
PASSING: Final = 10
SMALL_TALK: Final = (20, 50)
SEED: Final = 23
MOST_QUESTIONS: Final = 600
FIRST_DAY: Final = date(2022, 1, 10)
MONTH_SHARE: Final = 0.25


@dataclass(frozen=True)
class Event:
    """Something that one of a pair told on a day."""

    topic: Mapping[str, Any]
    teller: str
    hearer: str
    facts: Mapping[str, str]
    day: date
    path: str

    def fill(self, text: str) -> str:
        """Return a sentence with the names and facts of the event."""
        return text.format(A=self.teller, B=self.hearer, **self.facts)

    def list_evidence(self) -> tuple[str, ...]:
        """Return the lines of the note that tell the facts of the event."""
        slots = [f"{{{name}}}" for name in self.facts]
        lines = (line for _, line in self.topic["talk"] if any(slot in line for slot in slots))
        return tuple(_capitalise(self.fill(line)) for line in lines)


@dataclass(frozen=True)
class TalkQuestion:
    """A question, the paths of the notes that answer it, and the lines of each that tell it."""

    text: str
    answers: frozenset[str]
    evidence: Mapping[str, tuple[str, ...]]


def write_talks(folder: Path) -> list[TalkQuestion]:
    """Write the notes below a folder, and return the questions to them; both are always equal."""
    chance = random.Random(SEED)
    topics = [json.loads(line) for line in _read("topics.jsonl")]
    small_talk = _read("small_talk.txt")
    events = [
        event
        for number, pair in enumerate(PAIRS)
        for event in _tell(pair, topics, number % 2 == 0, chance)
    ]
    for path in dict.fromkeys(event.path for event in events):
        told = [event for event in events if event.path == path]
        note = folder / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(_write_note(told, topics, small_talk, chance), "utf-8")
    questions = list(_ask(events, chance))
    chance.shuffle(questions)
    return questions[:MOST_QUESTIONS]


def _read(name: str) -> list[str]:
    return (TALKS / name).read_text("utf-8").splitlines()


def _tell(
    pair: tuple[str, str],
    topics: Sequence[Mapping[str, Any]],
    is_named_by_day: bool,
    chance: random.Random,
) -> Iterator[Event]:
    """Yield the events of a pair, day after day."""
    day, waiting = FIRST_DAY + timedelta(chance.randrange(60)), list[Mapping[str, Any]]()
    for number in range(1, DAYS + 1):
        folder = " and ".join(pair)
        path = f"{folder}/{day.isoformat() if is_named_by_day else f'Session {number}'}.md"
        for _ in range(EVENTS):
            waiting = waiting or chance.sample(topics, len(topics))
            topic = waiting.pop()
            teller, hearer = chance.sample(pair, 2)
            facts = {name: chance.choice(values) for name, values in topic["slots"].items()}
            yield Event(topic, teller, hearer, facts, day, path)
        day += timedelta(chance.randint(3, 24))


def _write_note(
    told: Sequence[Event],
    topics: Sequence[Mapping[str, Any]],
    small_talk: Sequence[str],
    chance: random.Random,
) -> str:
    first = told[0]
    speakers = sorted((first.teller, first.hearer))
    blocks = [_speak(event) for event in told]
    others = [topic for topic in topics if topic not in [event.topic for event in told]]
    loose = [chance.choice(topic["passing"]) for topic in chance.sample(others, PASSING)]
    loose += chance.sample(small_talk, chance.randint(*SMALL_TALK))
    for line in loose:
        blocks.insert(chance.randint(0, len(blocks)), [f"{chance.choice(speakers)}: {line}"])
    day = f"{first.day.day} {first.day:%B %Y}"
    heading = f"# {day}\n\n" if "Session" in first.path else f"# {' and '.join(speakers)}\n\n"
    return heading + "\n".join(line for block in blocks for line in block) + "\n"


def _speak(event: Event) -> list[str]:
    names = {"A": event.teller, "B": event.hearer}
    return [f"{names[who]}: {_capitalise(event.fill(line))}" for who, line in event.topic["talk"]]


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ask(events: Sequence[Event], chance: random.Random) -> Iterator[TalkQuestion]:
    """Yield each question about the events once, some of them limited to a month."""
    asked = set()
    for event in events:
        for form in event.topic["ask"]:
            alike = [other for other in events if _is_alike(event, other, form)]
            text = event.fill(form)
            if chance.random() < MONTH_SHARE:
                alike = [other for other in alike if _read_month(other) == _read_month(event)]
                text = f"{text.removesuffix('?')} in {event.day:%B %Y}?"
            if text not in asked:
                asked.add(text)
                evidence = {other.path: other.list_evidence() for other in alike}
                yield TalkQuestion(text, frozenset(evidence), evidence)


def _is_alike(event: Event, other: Event, form: str) -> bool:
    """Return whether a question about an event is about another one too."""
    return event.topic is other.topic and event.fill(form) == other.fill(form)


def _read_month(event: Event) -> tuple[int, int]:
    return event.day.year, event.day.month
