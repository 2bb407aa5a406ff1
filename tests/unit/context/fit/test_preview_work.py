"""How much is read for the previews of a chat that exceeds its budget and was never compacted."""

from collections import Counter
from dataclasses import replace

import pytest

from context.assemble.inputs import HistoryPolicy
from context.exam import ChatFact, FactReader, has_whole, normalize
from context.log.entries import MessageEntry
from context.messages import ImagePart, Message, TextPart, ToolCallPart, ToolResultPart
from context.pipeline import prepare
from tests.support.sessions.chats import TIME, Chat

TURNS = 60


def list_words(text):
    return frozenset(text.casefold().split())


def imported(kind, turns=TURNS):
    """A chat whose turns say a fact each, far over its budget."""
    chat = Chat(threshold=5_000, history_policy=HistoryPolicy(can_summarise=True))
    for turn in range(turns):
        said = [Message("user", f"Question {turn}?")]
        if kind == "pictures":
            said = [
                Message("user", (TextPart(f"Question {turn}?"), ImagePart("image/png", "AAAA")))
            ]
        if kind == "tools":
            said.append(Message("assistant", (ToolCallPart("c", "search", {"q": str(turn)}),)))
            said.append(Message("tool", (ToolResultPart("c", f"found F{turn:03} " + "x " * 90),)))
        said.append(Message("assistant", f"Fact F{turn:03} and {'words ' * 40}"))
        for message in said:
            parent = chat.path[-1].id if chat.path else None
            place = next(chat._ids), parent, TIME
            entry = MessageEntry(*place, message, f"earlier {turn}", status="complete")
            chat.path.append(entry)
    return chat


class Previews:
    """Previews of a chat, and the texts whose facts were read for them."""

    def __init__(self, chat):
        self.chat, self.read = chat, Counter()
        self.reader = FactReader(self._list_facts, list_words, lambda *_: ())

    def _list_facts(self, text):
        self.read[text] += 1
        found = (word for word in text.split() if word[:1] == "F" and word[1:].isdigit())
        return tuple(ChatFact("name", word, word, (normalize(word),)) for word in found)

    def preview(self, question):
        ports = replace(self.chat.ports([]), facts=self.reader)
        return prepare(replace(self.chat.inputs(question), ports=ports), "preview")


@pytest.mark.parametrize("kind", ["plain", "pictures", "tools"])
def test_previews_read_the_facts_of_each_message_once(kind):
    previews = Previews(imported(kind))
    first = previews.preview("A")
    assert first.report.actions.compact
    assert len(previews.read) > TURNS
    assert set(previews.read.values()) == {1}
    seen = sum(previews.read.values())
    for length in range(2, 12):
        previews.preview("A" * length)
    assert sum(previews.read.values()) == seen


def test_an_outline_that_stands_for_a_models_summary_is_not_searched_for_changes():
    previews, compared = Previews(imported("plain")), []
    previews.reader = replace(previews.reader, find_changed=lambda *texts: compared.append(texts))
    report = previews.preview("A").report
    assert [one.by for one in report.compactions] == ["model"]
    assert report.compactions[0].exam is not None
    assert compared == []


def searched(monkeypatch, turns):
    """Return how many characters are searched for facts by a preview, and by one after it."""
    sizes, find = [], has_whole

    def search(text, *form):
        sizes.append(len(text))
        return find(text, *form)

    monkeypatch.setattr("context.exam.has_whole", search)
    previews, found = Previews(imported("tools", turns)), []
    for question in ("A", "AB"):
        sizes.clear()
        previews.preview(question)
        found.append(sum(sizes))
    return found


def test_the_search_for_facts_grows_with_the_chat_and_not_faster(monkeypatch):
    (short, short_again), (long, long_again) = (
        searched(monkeypatch, turns) for turns in (TURNS, 4 * TURNS)
    )
    assert 0 < long < 6 * short
    assert (short_again, long_again) == (0, 0)
