"""Thinking within text comes out the same however the text is cut into pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.llm.incoming.thinking import ThinkingSplitter

CASES = {
    "<think>a < b</think>\n\nSaid [1].": ("Said [1].", "a < b"),
    "a < b\n</think>\n\nSaid.": ("Said.", "a < b\n"),
    "In `</think>` and\n```\n</think>\n```\nonly.": (None, ""),
    "Said, <think> in the middle.": (None, ""),
    "Use the tag <Think> and close with </think>. It works.": (None, ""),
    "Write [think], then [/think]": (None, ""),
    "Said, and a mark at the end.</think>": ("Said, and a mark at the end.", ""),
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Said."
    "<|return|>": ("Said.", "a"),
    "<|start|>assistant<|channel|>commentary<|message|>a<|end|><|channel|>final<|message|>Said.": (
        "Said.",
        "a",
    ),
    "[THINK]İ ß[/THINK]Said.": ("Said.", "İ ß"),
    "◁think▷a◁/think▷Said.": ("Said.", "a"),
    "<think>one</think><think>two</think>Said <i>so</i>.": ("Said <i>so</i>.", "onetwo"),
    "<think>a</think>Write </think> so.": ("Write </think> so.", "a"),
    "<think>never ends": ("", "never ends"),
    "</think>\nSaid.": ("Said.", ""),
    "<b>Said</b> [and] so < on.": (None, ""),
    "[1] says so.": (None, ""),
    "<thinker>Said.": (None, ""),
    "  Said.\n\n": (None, ""),
    "Said.<|im_end|>\n": ("Said.", ""),
    " \n ": ("", ""),
}


def split(pieces: list[str]) -> tuple[str, str]:
    splitter, text, thought = ThinkingSplitter(), "", ""
    parts = [part for piece in pieces for part in splitter.add(piece)]
    for part in (*parts, *splitter.end()):
        if part.kind == "text":
            text += part.text
        elif part.kind == "thought":
            thought += part.text
        else:
            text, thought = "", thought + text
    return text, thought


@pytest.mark.parametrize(("whole", "expected"), CASES.items())
@given(cuts=st.lists(st.integers(0, 120), max_size=12))
def test_a_text_is_split_the_same_at_any_cuts(
    whole: str, expected: tuple[str | None, str], cuts: list[int]
) -> None:
    ends = sorted({min(cut, len(whole)) for cut in (0, *cuts, len(whole))})
    pieces = [whole[a:b] for a, b in pairwise(ends)]
    assert split(pieces) == (whole if expected[0] is None else expected[0], expected[1])


@given(st.text(alphabet="ab`\n ", max_size=60))
def test_text_without_marks_is_never_changed(text: str) -> None:
    assert split(list(text)) == (text if text.strip() else "", "")
