from hypothesis import given
from hypothesis import strategies as st

from chains.retrieval.passages import build_passages
from context.layers import Layer
from tests.support.sessions.memory_session import hit


def test_passages_are_numbered_by_their_rank():
    found = build_passages([hit("B.md", "second note"), hit("A.md", "first note")])
    assert [(segment.number, segment.source) for segment in found] == [(1, "B.md"), (2, "A.md")]


def test_a_passage_keeps_what_it_is_cited_by():
    (segment,) = build_passages([hit("A.md", "one\ntwo", first=7, heading=("Top",), title="The A")])
    assert (segment.layer, segment.kind, segment.lines) == (Layer.L3, "passage", (7, 8))
    assert (segment.title, segment.heading, segment.version) == ("The A", ("Top",), "v1")


def test_the_text_of_a_passage_is_escaped_and_can_be_read_back():
    text = 'a <b> & </source> "c"'
    (segment,) = build_passages([hit("A.md", text)])
    assert "<" not in segment.content
    assert segment.raw_content == text


def test_passages_that_touch_become_one_with_the_better_rank():
    found = build_passages(
        [hit("A.md", "three\nfour", 3), hit("B.md", "x"), hit("A.md", "one\ntwo", 1)]
    )
    assert [(segment.source, segment.lines, segment.number) for segment in found] == [
        ("A.md", (1, 4), 1),
        ("B.md", (1, 1), 2),
    ]
    assert found[0].raw_content == "one\ntwo\nthree\nfour"


def test_passages_that_overlap_hold_each_line_once():
    (segment,) = build_passages(
        [hit("A.md", "one\ntwo\nthree", 1), hit("A.md", "two\nthree\nfour", 2)]
    )
    assert (segment.raw_content, segment.lines) == ("one\ntwo\nthree\nfour", (1, 4))


def test_a_line_that_was_cut_in_two_is_whole_again():
    (segment,) = build_passages([hit("A.md", "start\nhalf of ", 1), hit("A.md", "a line\nend", 2)])
    assert segment.raw_content == "start\nhalf of a line\nend"


def test_passages_with_something_between_stay_apart():
    assert len(build_passages([hit("A.md", "one", 1), hit("A.md", "three", 3)])) == 2


def test_passages_of_different_versions_of_a_note_stay_apart():
    assert len(build_passages([hit("A.md", "one", 1), hit("A.md", "two", 2, version="v2")])) == 2


def test_the_same_passage_has_the_same_id_every_time():
    first, second = (build_passages([hit("A.md", "one", 4)])[0] for _ in range(2))
    assert first.id == second.id


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 6)), max_size=8))
def test_whatever_was_found_every_line_stays_in_its_place(spans):
    note = [f"line {number}" for number in range(1, 30)]
    hits = [hit("A.md", "\n".join(note[a - 1 : a - 1 + size]), a) for a, size in spans]
    covered = {number for a, size in spans for number in range(a, a + size)}
    seen = set()
    for segment in build_passages(hits):
        first, last = segment.lines
        assert segment.raw_content == "\n".join(note[first - 1 : last])
        seen.update(range(first, last + 1))
    assert seen == covered


def test_a_note_that_stands_on_l1_is_not_sent_again_unless_it_changed():
    (known,) = build_passages([hit("AGENTS.md", "Answer briefly.")])
    hits = [hit("AGENTS.md", "Answer briefly."), hit("B.md", "text")]
    assert [s.source for s in build_passages(hits, known=[known])] == ["B.md"]
    changed = [hit("AGENTS.md", "Answer at length.", version="v2")]
    assert [s.source for s in build_passages(changed, known=[known])] == ["AGENTS.md"]
