"""The names of notes that models may not read now are left out of kept requests."""

from typing import Any

import pytest

from context.requests.names import NAMELESS_LINE, hide_names

GONE = ("Private/R&D Plan.md", "Diary.md")
KNOWN = ("My Diary.md", "Public/R&D Plan.md", "Wedding.md")


def hide(*contents: Any, typed: tuple[str, ...] = ()) -> list[Any]:
    messages = [{"role": "assistant", "content": content} for content in contents]
    body = {"system": "Be brief.", "tools": [], "messages": messages, "marks": []}
    return [one["content"] for one in hide_names(body, GONE, KNOWN, typed)["messages"]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I read Diary.md: it rained.", f"I read {NAMELESS_LINE}: it rained."),
        ("diary.md:12: rain", f"{NAMELESS_LINE}:12: rain"),
        ('<source path="Private/R&amp;D Plan.md">', f'<source path="{NAMELESS_LINE}">'),
        ("[plan](Private/R%26D%20Plan.md)", f"[plan]({NAMELESS_LINE})"),
        ("R&D Plan.md and [[R&D Plan]]", f"{NAMELESS_LINE} and [[R&D Plan]]"),
        ("as [[Diary|the diary]] says", f"as [[{NAMELESS_LINE}|the diary]] says"),
        ("My Diary.md and Public/R&D Plan.md", "My Diary.md and Public/R&D Plan.md"),
        ("Old/Diary.md, Diary.mdx, a diary", "Old/Diary.md, Diary.mdx, a diary"),
    ],
)
def test_a_name_goes_in_each_of_its_forms_and_names_that_contain_it_stay(
    text: str, shown: str
) -> None:
    assert hide(text) == [shown]


def test_a_name_goes_from_the_arguments_of_a_call_but_not_from_what_was_typed() -> None:
    call = {"type": "tool_call", "id": "c", "name": "read_note", "arguments": {"path": "diary"}}
    typed = "What is in Diary.md?"
    (parts, question) = hide([call], typed, typed=(typed,))
    assert parts == [{**call, "arguments": {"path": NAMELESS_LINE}}]
    assert question == typed


def test_an_image_whose_data_is_gone_is_cut_out() -> None:
    text = {"type": "text", "text": "See it."}
    gone = {"type": "image", "media_type": "image/png", "data": "[It is gone.]"}
    kept = {"type": "image", "media_type": "image/png", "data": "iVBORw0K"}
    assert hide([text, gone, kept]) == [[text, kept]]
