"""Captions and transcripts become the words that were said."""

import pytest

from chains.web.captions import drop_times, has_captions

VTT = """\ufeffWEBVTT - Talk
Kind: captions

NOTE made by hand

STYLE
::cue { color: red }

intro
00:00.000 --> 00:02.500 align:start position:0%
<v Anna>Hello <i>walrus</i>

2
00:01:02.000 --> 00:01:04.000
<00:01:02.500><c.yellow>&amp; goodbye</c>

3
00:01:04.000 --> 00:01:05.000
&amp; goodbye
12 apples
"""
SRT = """1
00:00:01,000 --> 00:00:02,000
{\\an8}<b>Guten Tag</b>

2
00:00:02,000 --> 00:00:03,000
庭の道具
مرحبا
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VTT, "Anna: Hello walrus\n& goodbye\n12 apples\n"),
        (SRT, "Guten Tag\n庭の道具\nمرحبا\n"),
        ("[00:12] Anna: yes\n(1:02:03) no\n0:20\n4:30 - so\n", "Anna: yes\nno\nso\n"),
        ("At 10:30 we met.\n2026 was dry.\n\n1:2 is a ratio\n", "At 10:30 we met.\n2026 was dry."),
        ("0:00:00.599,0:00:04.160\nat 1:20 we met\n", "at 1:20 we met\n"),
        ("00:00 --> 00:01\n\n", ""),
        ("", ""),
    ],
)
def test_times_numbers_and_marks_are_dropped(text: str, words: str) -> None:
    assert drop_times(text).startswith(words)
    if words.endswith("\n") or not words:
        assert drop_times(text) == words


@pytest.mark.parametrize(("text", "expected"), [(VTT, True), (SRT, True), ("a --> b\n", False)])
def test_captions_are_known_by_a_line_of_two_times(text: str, expected: bool) -> None:
    assert has_captions(text) is expected
