import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.quotes import VerbatimText
from chains.citations.sentences import locate_sentences
from chains.citations.sentences import split_sentences as split_text
from vault.notes.text.markdown_text import read_text


def split_sentences(passage: str) -> list[str]:
    return split_text(read_text(passage))


@pytest.mark.parametrize(
    ("passage", "sentences"),
    [
        ("One sentence. Another one! A third?", ["One sentence.", "Another one!", "A third?"]),
        (
            "It took e.g. 3 days, see Dr. J. Who. Done.",
            ["It took e.g. 3 days, see Dr. J. Who.", "Done."],
        ),
        ("At most 10 °C. At least 31 W. Fine.", ["At most 10 °C.", "At least 31 W.", "Fine."]),
        ("一つの文。もう一つ！三つ目？", ["一つの文。", "もう一つ！", "三つ目？"]),
        ("هل هذا سؤال؟ نعم هو كذلك.", ["هل هذا سؤال؟", "نعم هو كذلك."]),
        ("A line that\ngoes on.", ["A line that goes on."]),
        ("一行目は\n続きます。", ["一行目は続きます。"]),
        ("- first item\n- second **item**", ["first item", "second item"]),
        ("1. do this\n2. [ ] do that", ["do this", "do that"]),
        ("> quoted words\n> go on.", ["quoted words go on."]),
        ("> [!tip] Title\n> The body of it.", ["The body of it."]),
        ("See [[Note|the note]] and [this](x.md).", ["See the note and this."]),
        ("| a | b |\n|---|---|\n| one | `two` |", ["one | two"]),
        ("[^1]: A footnote's words.", ["A footnote's words."]),
        ("A block with an id. ^abc123", ["A block with an id."]),
    ],
)
def test_a_passage_is_taken_apart_into_its_sentences(passage, sentences):
    assert split_sentences(passage) == sentences


@pytest.mark.parametrize(
    "passage",
    [
        "# A heading",
        "Under\n=====",
        "```\ncode. More code.\n```",
        "~~~\ncode\n~~~",
        "---",
        "![picture](x.png)",
        "![[picture.png]]",
        "#tag #other/tag",
        "<div class='x'>",
        "%% a comment %%",
        "$$",
        "| head | head |\n| --- | :-: |",
        "",
    ],
)
def test_what_says_nothing_alone_is_left_out(passage):
    assert split_sentences(passage) == []


def test_text_around_code_is_kept_apart():
    assert split_sentences("Before it.\n```\ncode\n```\nAfter it.") == ["Before it.", "After it."]


WORDS = st.sampled_from(
    [
        "Word",
        "**bold**",
        "`code`",
        "[[A|b]]",
        "3.5",
        "e.g.",
        "漢字。",
        "end.",
        "\n",
        "\n\n",
        "- ",
        "> ",
    ]
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_every_sentence_can_be_found_again_in_its_passage(passage):
    text = VerbatimText(passage)
    for sentence in split_sentences(passage):
        if any(char.isalnum() for char in sentence):
            assert text.find(sentence) is not None


def test_the_places_of_sentences_leave_out_marks_code_and_tables():
    answer = (
        "# Head\n\nOne is here. Two goes\non.\n\n- [ ] an item\n> quoted **words**.\n\n"
        "```\ncode here\n```\n| a | b |\n|---|---|\n1. last\n"
    )
    found = [answer[start:end] for start, end in locate_sentences(answer)]
    assert found == ["One is here.", "Two goes\non.", "an item", "quoted **words**.", "last"]
