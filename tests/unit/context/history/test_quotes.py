"""What a text quotes of excluded notes is found, and what it says in other words stays."""

import time
import unicodedata

import pytest

from context.history.quotes import NO_WORDS, QUOTE_LINE, HiddenNote, HiddenNotes, find_quoted

NOTE = """---
title: Household
---
# Keys

Zebracode 7391 is under the mat. My brother hates the blue car.
Ask Johanna Feldkamp, or write to jo@feld.org about the *lodge*.
The tool needs `api_token` and hunterKey. Der Arzt kommt am Dienstag um neun.
合言葉は青い山の上の白い鳥です。
"""
OPEN = "The beans are sown in May. The car is washed on Friday."
WORDS = NO_WORDS.extend([NOTE], [OPEN, "Where is the key for the lodge?"])

QUOTES = [
    "It says: Zebracode 7391 is under the mat.",
    "The code is 7391.",
    "zebracode 7391 IS UNDER THE MAT",
    "Your brother hates the blue car.",
    "You could ask Johanna Feldkamp.",
    "Write to jo@feld.org.",
    "Set api_token first.",
    "Set hunterKey first.",
    "The note is called “Household”.",
    "The word is **Zebracode**.",
    "Am Termin gilt: der Arzt kommt am Dienstag.",
    "合言葉は青い山の上の白い鳥です",
    '{"content": "# Keys\\nMy brother hates the blue car."}',
    "My  brother\nhates the blue car",
    "My brother hates the blue car &amp; more",
]
OTHERS = [
    "The beans are sown in May.",
    "The car is washed on Friday.",
    "I found two notes about this, and one of them is about keys.",
    "He dislikes his car, which is blue.",
    "The lodge is near the lake.",
    "Es gibt dazu nichts in deinen Notizen.",
    "そのことは書かれていません。",
    "In 2026 the garden gets a fence.",
]


@pytest.mark.parametrize("text", QUOTES)
def test_a_quotation_is_left_out(text: str) -> None:
    shown = WORDS.hide_quotes(text)
    assert QUOTE_LINE in shown
    assert not {"7391", "brother", "Feldkamp", "hunterKey", "Dienstag", "白"} & set(shown.split())


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_quotation_stays(text: str) -> None:
    assert WORDS.hide_quotes(text) == text


def test_only_the_sentences_that_quote_are_left_out() -> None:
    text = "I looked.\n\nIt is 7391. Your brother hates the blue car.\n\n- Sow the beans in May.\n"
    assert WORDS.hide_quotes(text) == f"I looked.\n\n{QUOTE_LINE}\n\n- Sow the beans in May.\n"


def test_of_json_only_the_texts_that_quote_are_left_out() -> None:
    text = '{"hits": [{"text": "It is 7391."}, {"text": "Sow the beans."}]}'
    assert "Sow the beans." in WORDS.hide_quotes(text)


def test_what_the_user_typed_or_another_note_says_stays() -> None:
    words = WORDS.extend(open=["Is it 7391, and does my brother hate the blue car?"])
    assert words.hide_quotes("Yes, it is 7391.") == "Yes, it is 7391."


def test_what_cites_the_note_is_left_out() -> None:
    text = "The key is somewhere near the door [2]. Beans come in May [1]."
    assert WORDS.hide_quotes(text, frozenset({"2"})) == f"{QUOTE_LINE} Beans come in May [1]."


def test_a_tag_that_only_excluded_notes_have_is_left_out() -> None:
    words = NO_WORDS.extend(names=["health/teeth"], open=["What about my teeth?"])
    assert words.hide_quotes("There is #health too.") == QUOTE_LINE
    assert words.hide_quotes("Brush your teeth.") == "Brush your teeth."


def test_values_of_arguments_lose_quotations_only() -> None:
    arguments = {"path": "7391.md", "facts": ["It is 7391", "Beans in May"], "n": 3}
    hidden = WORDS.hide_in_value(arguments, frozenset({"path"}))
    assert hidden == {"path": "7391.md", "facts": (QUOTE_LINE, "Beans in May"), "n": 3}
    assert WORDS.hide_in_value(kept := {"n": 3, "facts": ("Beans in May",)}) is kept


def test_a_long_line_loses_only_what_is_around_the_quotation() -> None:
    filler = "garden bean soil water " * 100
    shown = WORDS.hide_quotes(f"{filler} brother hates the blue car {filler}")
    assert "brother" not in shown
    assert len(shown) > len(filler)


@pytest.mark.parametrize(
    "sign", ["x", "a_", '"', "**", "a.b/", "[1", "x.", "“", "7 ", "_", "กำ", "e\u0301", "\u0301"]
)
def test_a_long_text_of_one_sign_is_read_in_time(sign: str) -> None:
    text = sign * 40_000
    began = time.process_time()
    assert WORDS.hide_quotes(f"{text} hunterKey") != text
    assert time.process_time() - began < 20  # a quadratic search takes minutes


def _look_up(*texts: str) -> HiddenNotes:
    notes = [HiddenNote(f"Hidden/{at}.md", text) for at, text in enumerate(texts)]
    return HiddenNotes(lambda: notes, lambda paths: paths, lambda tags: tags)


def test_a_note_is_recognised_in_the_result_of_another_program() -> None:
    notes = _look_up(NOTE, "PIN: 8842\n", "# Plan\nGo home at the end of the day.\n").list_notes()
    assert [one.path for one in find_quoted(notes, '{"text": "PIN: 8842"}')] == ["Hidden/1.md"]
    assert [one.path for one in find_quoted(notes, NOTE)] == ["Hidden/0.md"]
    assert find_quoted(notes, "Nothing at the end of the day.") == []


def test_a_note_that_was_moved_and_renamed_is_recognised_by_its_text() -> None:
    held = {"Diary/Code.md": (f"{NOTE}A line that is gone.\n",), "Diary/Other.md": ("Text.\n",)}
    moved = _look_up("Something else.\n", NOTE.replace("---\n", "---\nprivate: true\n", 1))
    assert moved.find_moved(held) == {"Diary/Code.md"}


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("note", "answer"),
    [
        ("My brother _hates_ the _blue car_ of Anna.", "My brother hates the blue car of Anna."),
        ("Die geheime Losung lautet Wintermond.", "Die _geheime_ Losung _lautet_ Wintermond."),
        ("The pin is forty two on Monday", "The pin is __forty__ two on __Monday__"),
        ("내 동생은 파란 차를 싫어한다", "메모에: 내 동생은 파란 차를 싫어한다"),
        ("पासवर्ड नीली गाड़ी है", "आपका पासवर्ड नीली गाड़ी है"),
        ("รหัสผ่านคือแมวสีดำ", "ในบันทึก: รหัสผ่านคือแมวสีดำ"),
        ("បងប្រុសខ្ញុំស្អប់ឡានពណ៌ខៀវ", "បងប្រុសខ្ញុំស្អប់ឡានពណ៌ខៀវ"),
        (_decompose("Jörg Müller hasst Änne Büßer."), "Jörg Müller hasst Änne Büßer."),
        ("내 동생은 파란 차를 싫어한다", _decompose("내 동생은 파란 차를 싫어한다")),
        ("أَخِي يَكْرَهُ السَّيَّارَةَ الزَّرْقَاءَ", "أخي يكره السيارة الزرقاء"),
        ("אָחִי שׂוֹנֵא אֶת הַמְּכוֹנִית", "אחי שונא את המכונית"),
        (
            "The Geheim\u00addienst knows our neigh\u200bbour",
            "The Geheimdienst knows our neighbour",
        ),
        ("DE89 3704 0044 0532 0130 00", "It is DE89370400440532013000."),
        ("Call +49 151 2345 678", "Call 49-15-12-34-56-78"),
        (_decompose("Mật khẩu là con mèo đen"), "Mật khẩu là con mèo đen"),
        ("ወንድሜ ሰማያዊ መኪና ይጠላል", "ወንድሜ ሰማያዊ መኪና ይጠላል"),
        ("𠮷野家の合言葉は青い山", "答え：𠮷野家の合言葉は青い山"),
    ],
)
def test_a_quotation_is_left_out_in_each_script_and_form(note: str, answer: str) -> None:
    words = NO_WORDS.extend([note])
    assert QUOTE_LINE in words.hide_quotes(answer)
    assert words.list_quotes(f"Yes.\n{answer}\nNo.") == [f"{answer}\n"]


@pytest.mark.parametrize(
    ("note", "answer"),
    [
        ("내 동생은 파란 차를 싫어한다", "내 차를 어디에 두었는지 모르겠다"),
        ("รหัสผ่านคือแมวสีดำ", "แมวกินปลาในสวน"),
        ("पासवर्ड नीली गाड़ी है", "आपका नाम क्या है"),
        ("DE89 3704 0044 0532 0130 00", "DE00 12 and 13 are free."),
        ("My _car_ is blue.", "The __car__ is red."),
    ],
)
def test_other_words_stay_in_each_script(note: str, answer: str) -> None:
    assert NO_WORDS.extend([note]).hide_quotes(answer) == answer


def test_a_tag_in_a_script_without_blanks_is_one_word() -> None:
    words = NO_WORDS.extend(names=["健康/歯", "สุขภาพ"])
    assert words.hide_quotes("康子は健やかです。") == "康子は健やかです。"
    assert words.hide_quotes("สวนสวย") == "สวนสวย"
    assert words.hide_quotes("#健康があります。") == QUOTE_LINE
    assert words.hide_quotes("มี #สุขภาพ") == QUOTE_LINE


@pytest.mark.parametrize(
    "line", ["我的哥哥讨厌蓝色汽车", "พี่ชายของฉันเกลียดรถสีน้ำเงิน", "내 동생은 파란 차를 싫어한다"]
)
def test_a_note_in_each_script_is_recognised_in_the_result_of_another_program(line: str) -> None:
    notes = _look_up(f"# A\n{line}\n", "# B\nOther.\n").list_notes()
    assert [one.path for one in find_quoted(notes, f'{{"text": "{line}"}}')] == ["Hidden/0.md"]
