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
    "Like so:\n~~~\n```\n</think>\n```\n~~~\nonly.": (None, ""),
    "Like so:\n````\n```\n</think>\n````\nonly.": (None, ""),
    "Like so:\n\n    </think>\n\nonly.": (None, ""),
    "- Like so:\n\n  ~~~\n  </think>\n  ~~~\n": (None, ""),
    "```\na\n~~~\nb\n```\nThat is it.\n</think>Said.": (
        "Said.",
        "```\na\n~~~\nb\n```\nThat is it.\n",
    ),
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
    # A closing mark in inline code within thinking
    "<think>I name `</think>` here.</think>Said.": ("Said.", "I name `</think>` here."),
    "<think>The pair `<think>…</think>`: so.\n</think>Said `so`.": (
        "Said `so`.",
        "The pair `<think>…</think>`: so.\n",
    ),
    "<think>``</think>`` and `b`</think>Said.": ("Said.", "``</think>`` and `b`"),
    "<think>`a` and `b`.</think>`c` is it.": ("`c` is it.", "`a` and `b`."),
    "<think>don`t</think>Said.\nAnd more `code`.": ("Said.\nAnd more `code`.", "don`t"),
    "<think>a `b\n</think>Said `so`.": ("Said `so`.", "a `b\n"),
    "<think>don`t</think>Say `so`, never ends.": (
        "Say `so`, never ends.",
        "don`t</think>Say `so`, never ends.",
    ),
    # Marks that are also words, never closed
    "<thinking> is a tag of XML.": (None, " is a tag of XML."),
    "[think] of it as a list.": (None, " of it as a list."),
    "<reason>never</reason>Said.": ("Said.", "never"),
    "<thought>\n": ("<thought>\n", "\n"),
    "[THINK]never ends": ("", "never ends"),
    "<|think|>never ends": ("", "never ends"),
    # Harmony marks that a server removed
    "analysisWe look at `x`.assistantfinalHere: **it** is.": (
        "Here: **it** is.",
        "We look at `x`.",
    ),
    'analysis"When?" they ask.assistantcommentary to=x{}assistantfinal\n\nIn May.': (
        "In May.",
        '"When?" they ask.assistantcommentary to=x{}',
    ),
    "analysisResults are in the table.": (None, "Results are in the table."),
    "analysis of the data": (None, ""),
    "analysis": (None, ""),
    "analyses and more": (None, ""),
    "analysisThe assistantfinalized it.assistantfinal": (
        "",
        "The assistantfinalized it.",
    ),
    "The analysisWe did.assistantfinalHm.": (None, ""),
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


@pytest.mark.parametrize("whole", ["<thinking>cut of", "[think]cut of", "analysisCut of"])
def test_thinking_without_an_end_stays_thinking_in_an_answer_that_was_cut(whole: str) -> None:
    splitter = ThinkingSplitter()
    parts = [*splitter.add(whole), *splitter.end(is_cut=True)]
    assert {part.kind for part in parts} == {"thought"}


@given(st.text(alphabet="ab`\n ", max_size=60))
def test_text_without_marks_is_never_changed(text: str) -> None:
    assert split(list(text)) == (text if text.strip() else "", "")
