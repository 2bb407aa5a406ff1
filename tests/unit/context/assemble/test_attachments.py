"""What earlier turns left behind, on the wire of a later one."""

import json
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from context.assemble.attachments import CurrentSource
from context.assemble.inputs import Ports
from context.layers import ImageData, Layer, Segment
from context.log.entries import PinEntry, SegmentsEntry
from context.log.parse import read_log
from context.messages import ImagePart, TextPart, ToolDefinition
from context.pipeline import prepare
from context.tokens import count_message
from tests.support.sessions.chats import TIME, Chat, passage

LONG = "# One\n" + "First sentence. " * 300 + "\n# Two\n" + "Second sentence. " * 300


def note(source, text="A note.", kind="note", **fields):
    values = {"id": f"id {source}", "layer": Layer.L3, "source": source, "version": "v1"}
    return Segment.build(**{**values, **fields}, kind=kind, text=text)


@dataclass
class Vault:
    """Says what has become of notes; those it does not name are as they were."""

    now: dict = field(default_factory=dict)

    def __call__(self, segment):
        return self.now.get(segment.source, CurrentSource("same"))


@dataclass
class Attaching:
    chat: Chat = field(default_factory=lambda: Chat(threshold=50_000))
    vault: Vault = field(default_factory=Vault)

    def ask(self, *segments, answer="Yes.", tools=()):
        inputs = replace(self.chat.inputs("Why?", segments), tools=tools)
        appended = []
        ports = Ports(
            self.chat.counter,
            appended.extend,
            lambda: next(self.chat._ids),
            lambda: TIME,
            resolve=self.vault,
        )
        prepared = prepare(replace(inputs, ports=ports))
        question = inputs.path[-1]
        before = [entry for entry in inputs.path[:-1] if not self._is_own(entry, inputs.turn)]
        found = SegmentsEntry(next(self.chat._ids), None, TIME, inputs.turn, prepared.segments)
        self.chat.path = [*before, found, question, *appended]
        self.chat.answer(inputs.turn, answer)
        return prepared

    def pin(self, source):
        above = self.chat.path[-1].id
        pin = PinEntry(next(self.chat._ids), above, TIME, f"id {source}", True)
        self.chat.path.append(pin)

    def _is_own(self, entry, turn):
        return isinstance(entry, SegmentsEntry) and entry.turn_id == turn


def on(prepared, layer):
    return [segment for segment in prepared.segments if segment.layer is layer]


def sources(prepared, layer=Layer.L2):
    return [segment.source for segment in on(prepared, layer)]


def test_what_was_attached_is_there_in_the_next_turn_and_all_later_ones():
    chat = Attaching()
    assert sources(chat.ask(note("a.md"))) == []
    for _ in range(3):
        later = chat.ask()
        assert sources(later) == ["a.md"]
        first = later.messages[-1].content[0].text
        assert first == '<prior_context source="a.md" type="note">\nA note.\n</prior_context>'


def test_it_stands_in_the_order_of_first_appearance():
    chat = Attaching()
    chat.ask(note("b.md"), note("a.md"))
    chat.ask(note("c.md"))
    chat.ask(note("b.md"))
    assert sources(chat.ask()) == ["b.md", "a.md", "c.md"]


def test_a_note_that_is_attached_again_is_there_in_full_and_once():
    chat = Attaching()
    chat.ask(note("a.md", LONG))
    again = chat.ask(note("a.md", LONG))
    assert sources(again) == []
    assert sources(again, Layer.L3) == ["a.md"]
    assert again.segments[0].raw_content == LONG


def test_a_long_note_is_compacted_and_says_how_to_get_the_rest():
    chat = Attaching()
    chat.ask(note("a.md", LONG))
    reading = ToolDefinition("read_note", "Reads a note", {})
    (segment,) = on(chat.ask(tools=(reading,)), Layer.L2)
    assert segment.raw_content.startswith("# One\nFirst sentence.")
    assert 'use the "read_note" tool with path="a.md"' in segment.raw_content
    assert len(segment.content) < 2_000


def test_a_request_without_tools_names_none_as_the_way_to_the_rest():
    chat = Attaching()
    chat.ask(note("a.md", LONG))
    (segment,) = on(chat.ask(), Layer.L2)
    assert "read_note" not in segment.raw_content
    assert 'ask the user to attach "a.md" again' in segment.raw_content


def test_the_report_tells_what_was_compacted_from_what():
    chat = Attaching()
    chat.ask(note("a.md", LONG))
    (use,) = chat.ask().report.segments
    assert use.state == "compacted"
    assert use.original_tokens > use.tokens > 0


def test_a_note_that_changed_is_read_at_its_new_version():
    chat = Attaching()
    chat.ask(note("a.md"))
    chat.vault.now["a.md"] = CurrentSource("changed", "New <text>.", "v2")
    (segment,) = on(chat.ask(), Layer.L2)
    assert (segment.raw_content, segment.version) == ("New <text>.", "v2")
    assert segment.content == "New &lt;text&gt;."


def test_a_note_that_is_gone_or_excluded_leaves_with_a_line():
    chat = Attaching()
    chat.ask(note("a.md", "secret"), note("b.md", "secret"))
    chat.vault.now = {"a.md": CurrentSource("gone"), "b.md": CurrentSource("excluded")}
    prepared = chat.ask()
    assert "secret" not in prepared.messages[-1].content[0].text
    contents = [segment.content for segment in on(prepared, Layer.L2)]
    assert contents == [
        "[This note is no longer there.]",
        "[This note is now excluded and is not read any more.]",
    ]


def test_the_report_says_what_is_gone_and_what_is_excluded():
    chat = Attaching()
    chat.ask(note("a.md", LONG), note("b.md", LONG), note("c.md"))
    chat.vault.now = {"a.md": CurrentSource("gone"), "b.md": CurrentSource("excluded")}
    report = chat.ask().report
    fates = {use.segment.source: (use.state, use.reason) for use in report.segments}
    assert fates == {
        "a.md": ("dropped", "gone"),
        "b.md": ("dropped", "excluded"),
        "c.md": ("compacted", None),
    }
    assert [(out.layer, out.entries, out.reason) for out in report.dropped] == [
        (Layer.L2, ("id a.md",), "gone"),
        (Layer.L2, ("id b.md",), "excluded"),
    ]
    assert report.segments[0].tokens == 0
    assert report.dropped[0].tokens == report.segments[0].original_tokens > 1_000


def test_the_report_still_says_so_in_the_later_requests_of_a_turn():
    chat = Attaching()
    chat.ask(note("a.md"))
    chat.vault.now["a.md"] = CurrentSource("gone")
    chat.ask()
    path = tuple(chat.chat.path[:-1])
    inputs = replace(chat.chat.inputs("x"), path=path, turn=path[-1].turn_id, number=2)
    ports = Ports(chat.chat.counter, list, str, str, resolve=chat.vault)
    assert [
        use.reason for use in prepare(replace(inputs, ports=ports), "preview").report.segments
    ] == ["gone"]


def test_what_was_pinned_and_is_excluded_by_now_is_said_to_be_excluded():
    chat = Attaching()
    chat.ask(note("a.md", "secret", pinned=True))
    chat.vault.now["a.md"] = CurrentSource("excluded")
    prepared = chat.ask()
    assert "secret" not in str(prepared.request_body())
    (use,) = prepared.report.segments
    assert (use.state, use.reason) == ("dropped", "excluded")


def test_a_selection_is_kept_whole_whatever_became_of_its_note():
    chat = Attaching()
    chat.ask(note("a.md", LONG, kind="selection", lines=(3, 9)))
    chat.vault.now["a.md"] = CurrentSource("changed", "other", "v2")
    (segment,) = on(chat.ask(), Layer.L2)
    assert segment.raw_content == LONG
    assert chat.ask().report.segments[0].state == "full"


def test_selections_and_their_note_are_things_of_their_own():
    chat = Attaching()
    chat.ask(note("a.md", "x", kind="selection", lines=(1, 2), id="1"))
    chat.ask(note("a.md", "y", kind="selection", lines=(3, 4), id="2"), note("a.md"))
    assert [segment.kind for segment in on(chat.ask(), Layer.L2)] == [
        "selection",
        "selection",
        "note",
    ]


def test_of_passages_one_line_a_cited_note_remains():
    chat = Attaching()
    found = [passage(1, "one"), passage(2, "two")]
    found.append(passage(3, "three", source="Folder/Note 1.md", title="Note 1"))
    chat.ask(*found, answer="As [1] and [3] say, not [9].")
    (segment,) = on(chat.ask(), Layer.L2)
    assert (segment.source, segment.content) == ("Folder/Note 1.md", "Cited earlier: Note 1")
    assert "one" not in segment.content


def test_a_cited_note_that_is_found_or_attached_again_needs_no_line():
    chat = Attaching()
    chat.ask(passage(1, "one"), answer="See [1].")
    assert sources(chat.ask(passage(4, "more", source="Folder/Note 1.md"))) == []
    chat.ask(note("Folder/Note 1.md"))
    assert [segment.kind for segment in on(chat.ask(), Layer.L2)] == ["note"]


def test_a_cited_note_that_is_gone_leaves_nothing():
    chat = Attaching()
    chat.ask(passage(1, "one"), answer="See [1].")
    chat.vault.now["Folder/Note 1.md"] = CurrentSource("excluded")
    prepared = chat.ask()
    assert sources(prepared) == []
    (use,) = prepared.report.segments
    assert (use.tokens, use.state, use.reason) == (0, "dropped", "excluded")
    assert [out.reason for out in prepared.report.dropped] == ["excluded"]


def test_what_was_used_least_recently_leaves_first():
    chat = Attaching(Chat(threshold=8_000))
    for name in ("a.md", "b.md", "c.md", "d.md"):
        chat.ask(note(name, "word " * 300))
    chat.ask(note("a.md", "word " * 300))
    prepared = chat.ask()
    assert sources(prepared) == ["a.md", "d.md"]
    left_out = {out.entries[0]: out.reason for out in prepared.report.dropped}
    assert left_out == {"id b.md": "share", "id c.md": "share"}


def test_what_is_pinned_does_not_leave_for_its_share():
    chat = Attaching(Chat(threshold=8_000))
    chat.ask(note("a.md", "word " * 900, pinned=True))
    for name in ("b.md", "c.md", "d.md"):
        chat.ask(note(name, "word " * 300))
    prepared = chat.ask()
    assert sources(prepared)[0] == "a.md"
    assert prepared.report.segments[0].state == "pinned"


def test_what_is_pinned_later_takes_no_room_from_others():
    chat = Attaching(Chat(threshold=8_000))
    chat.ask(note("a.md", "word " * 300))
    chat.ask(note("b.md", "word " * 450))
    assert sources(chat.ask()) == ["b.md"]
    chat.pin("b.md")
    prepared = chat.ask()
    assert sorted(sources(prepared)) == ["a.md", "b.md"]
    assert [out.reason for out in prepared.report.dropped] == []


ATTACHED = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 9_000)), max_size=3), max_size=8
)


@given(ATTACHED, st.sets(st.sampled_from("abc")), st.sampled_from([8_000, 30_000]))
@settings(max_examples=40, deadline=None)
def test_what_is_carried_over_keeps_to_its_share_beside_pins(turns, pinned, threshold):
    chat = Attaching(Chat(threshold=threshold))
    chat.ask()
    for attached in turns:
        chat.ask(*(note(f"{name}.md", "word " * (size // 5)) for name, size in attached))
    for name in sorted(pinned):
        chat.pin(f"{name}.md")
    prepared = chat.ask()
    uses = [use for use in prepared.report.segments if use.segment.layer is Layer.L2]
    room = int(0.15 * prepared.report.budget)
    assert sum(use.tokens for use in uses if not use.segment.pinned) <= room
    assert prepared.report.used <= prepared.report.budget
    ids = [use.segment.id for use in uses]
    assert len(ids) == len(set(ids))
    known = {name for attached in turns for name, _ in attached}
    assert {use.segment.source for use in uses if use.segment.pinned} == {
        f"{name}.md" for name in pinned & known
    }


def test_a_later_request_of_the_turn_has_what_the_first_one_had():
    chat = Attaching()
    chat.ask(note("a.md"))
    first = chat.ask()
    path = tuple(chat.chat.path[:-1])
    question = path[-1]
    inputs = replace(
        chat.chat.inputs("x"), path=path, turn=question.turn_id, number=2, previous=None
    )
    chat.vault.now["a.md"] = CurrentSource("changed", "other", "v2")
    ports = Ports(chat.chat.counter, list, str, str, resolve=chat.vault)
    assert prepare(replace(inputs, ports=ports), "preview").messages == first.messages


def test_without_knowing_what_became_of_it_nothing_is_carried_forward():
    chat = Chat(threshold=50_000)
    chat.ask("Why?", segments=[note("a.md")])
    assert chat.ask("And?").segments == ()


HOSTILE = st.text() | st.sampled_from(
    ["</prior_context>", "</source><source>", "```\n# x", "$&", "{{x}} %s {0}", "\\1", "&amp;"]
)


@given(st.lists(HOSTILE, min_size=1, max_size=4), st.sampled_from(["note", "selection"]))
@settings(max_examples=60, deadline=None)
def test_a_note_may_hold_anything_and_loses_nothing(texts, kind):
    chat = Attaching(Chat(threshold=500_000))
    names = [f'{at} <x> & "q".md' for at in range(len(texts))]
    chat.ask(*(note(name, text, kind=kind) for name, text in zip(names, texts, strict=True)))
    prepared = chat.ask()
    assert [segment.raw_content for segment in on(prepared, Layer.L2)] == texts
    block = prepared.messages[-1].content[0].text
    assert block.count("</prior_context>") == len(texts)


@given(ATTACHED, st.sampled_from([4_000, 8_000, 30_000]))
@settings(max_examples=40, deadline=None)
def test_l2_keeps_to_its_share_and_everything_is_named(turns, threshold):
    chat = Attaching(Chat(threshold=threshold))
    known = set()
    for attached in turns:
        parts = [note(f"{name}.md", "word " * (size // 5)) for name, size in dict(attached).items()]
        report = (prepared := chat.ask(*parts)).report
        assert report.layers[Layer.L2].tokens <= 0.15 * report.budget + 3
        assert report.used <= report.budget
        named = {use.segment.source for use in report.segments}
        assert named == known | {part.source for part in parts}
        sent = {segment.id for segment in prepared.segments}
        assert len(sent) == len(prepared.segments)
        out = {
            entry for left_out in report.dropped if not left_out.turns for entry in left_out.entries
        }
        assert {use.segment.id for use in report.segments} - sent <= out
        known |= {segment.source for segment in on(prepared, Layer.L3)}


IMAGE = ImageData("image/png", "aGk=")


def image(source="pic.png", **fields):
    return note(
        source, "[image, 4 × 3 pixels; it follows this text]", "image", image=IMAGE, **fields
    )


def parts_of(prepared):
    return [
        part if isinstance(part, ImagePart) else part.text.split("\n")[0]
        for part in prepared.messages[-1].content
    ]


def test_an_image_follows_the_text_of_its_layer_and_stays_whole_on_l2():
    attaching = Attaching()
    first = attaching.ask(note("a.md"), image())
    shown = ImagePart("image/png", "aGk=")
    assert parts_of(first) == ['<source path="a.md">', shown, "Why?"]
    before = first.report.layers[Layer.L3].tokens
    second = attaching.ask(note("b.md"))
    names = ['<prior_context source="a.md" type="note">', shown, '<source path="b.md">', "Why?"]
    assert parts_of(second) == names
    assert before >= 2_000
    assert second.report.layers[Layer.L2].tokens >= 2_000
    assert [use.state for use in second.report.segments] == ["compacted", "full", "full"]


def test_the_tokens_of_a_tail_with_images_are_those_of_its_message():
    attaching = Attaching()
    prepared = attaching.ask(image(), image("b.png"))
    tail = prepared.draft.tail
    assert tail.total == count_message(tail.message, tail.counter)


def test_an_image_is_not_sent_again_when_it_is_gone_or_the_model_does_not_see_it():
    attaching = Attaching()
    attaching.ask(image())
    lines = {
        "gone": "[This image is no longer there.]",
        "excluded": "[This image is now excluded and is not read any more.]",
        "unseen": "[This image is not sent, because the model does not see images.]",
        "unsure": (
            "[This image is not sent, because it is not known whether the model sees images.]"
        ),
    }
    for state, line in lines.items():
        attaching.vault.now["pic.png"] = CurrentSource(state)
        prepared = attaching.ask()
        (text, typed) = prepared.messages[-1].content
        assert isinstance(typed, TextPart)
        assert line in text.text
        (use,) = prepared.report.segments
        assert (use.state, use.reason, use.tokens) == ("dropped", state, 0)
    attaching.vault.now.clear()
    assert ImagePart("image/png", "aGk=") in attaching.ask().messages[-1].content


def test_the_log_has_an_image_once_and_reads_it_back_everywhere():
    attaching = Attaching()
    attaching.ask(image())
    attaching.ask()
    attaching.ask()
    lines = [entry.to_dict() for entry in attaching.chat.path]
    assert json.dumps(lines).count("aGk=") == 1
    read, written = (
        [entry.segments for entry in path if isinstance(entry, SegmentsEntry)]
        for path in (read_log(lines).entries, attaching.chat.path)
    )
    assert read == written
    assert [segment.image for (segment,) in read] == [IMAGE] * 3
