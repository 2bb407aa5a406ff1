"""A summary that says nothing of what it replaces is refused, whatever the language."""

import pytest

from context.errors import SummaryFailed, SummaryRefused
from context.fit.summaries import request_summary
from context.fit.summary_check import examine_summary, find_facts, is_promise
from context.history.turns import LoggedTurn, MeasuredTurn
from context.messages import Message, ToolCallPart, ToolResultPart
from context.tokens import ByteEstimator
from tests.unit.chains.turn.test_summariser import task

COUNTER = ByteEstimator()

PROMISES = (
    "I will now look that up.",
    "I'll check Backups.md for you.",
    "Let me search the notes about the NAS first.",
    "Sure! Let me take a look at Garden/Beds.md.",
    "OK. I'm going to read the 12 notes.",
    "I need to look at the file first…",
    "Here is the summary of the conversation:",
    "Ich werde das jetzt nachschlagen.",
    "Gut, ich schaue in Backups.md nach.",
    "Lass mich kurz nachsehen.",
    "Je vais chercher cela dans vos notes.",
    "D'accord. Laissez-moi vérifier Jardin.md.",
    "Voy a buscarlo en tus notas.",
    "Déjame revisar la nota Huerto.md.",
    "Vou procurar isso agora.",
    "Controllo subito le note.",
    "Ik zal dat nu opzoeken.",
    "Jag ska leta upp det.",
    "Zaraz sprawdzę w notatkach.",
    "Сейчас посмотрю в заметках.",
    "Я проверю файл Backups.md.",
    "我来查一下。",
    "好的，让我看看 Backups.md。",
    "ノートを確認します。",
    "今から調べてみます。",
    "지금 확인해 보겠습니다.",
    "سأبحث عن ذلك الآن.",
    "אבדוק את זה עכשיו.",
    "Tôi sẽ kiểm tra ngay.",
    "Saya akan memeriksanya.",
    "Tarkistan asian heti.",
    "Podívám se do Backups.md.",
    "Hang on, checking Backups.md now.",
    "One moment while I read Garden/Beds.md.",
    "I have to look at Backups first.",
)
SUMMARIES = (
    "- Decisions: the NAS is backed up to Hetzner each Sunday.",
    "Decisions: I will ask Ines on 12 May.\nOpen: the passphrase.",
    "The user asked how the NAS is backed up; the answer was: to Hetzner, by restic.",
    "Entschieden: Die NAS wird sonntags gesichert. Offen: Passwort für Hetzner.",
    "Décisions : le NAS est sauvegardé chez Hetzner.",
    "Обсуждали резервные копии NAS на Hetzner. Решено: по воскресеньям.",
    "决定：每周日备份到 Hetzner。",
    "決定: NAS は毎週日曜に Hetzner へ保存する。",
    "Decisiones: copias del NAS en Hetzner.",
    "The beans are in row 12 of Garden/Beds.md.",
    "The user asked for row 12. I should note that Hetzner was chosen over the second disk.",
    "Reading Garden/Beds.md showed that row 12 has beans.",
    "Checking the NAS weekly was agreed, with Hetzner.",
    "I'm to back up to Hetzner each Sunday.",
)


def turns(*texts):
    messages = [Message("user" if at % 2 == 0 else "assistant", t) for at, t in enumerate(texts)]
    return [MeasuredTurn.measure(LoggedTurn("t", (), None), messages, COUNTER)]


SAID = turns(
    "How is the NAS backed up? See Garden/Beds.md, row 12, and [[Backups]].",
    "Each Sunday, to Hetzner, with restic 0.16.",
)


@pytest.mark.parametrize("text", PROMISES)
def test_a_promise_is_refused_also_where_it_names_a_note(text):
    assert is_promise(text)
    with pytest.raises(SummaryRefused):
        examine_summary(text, SAID)


@pytest.mark.parametrize("text", SUMMARIES)
def test_a_summary_is_taken(text):
    assert not is_promise(text)
    examine_summary(text, SAID)  # raises where it is refused


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "Nothing special was discussed.",
        "Das Gespräch drehte sich um Verschiedenes.",
        "…",
    ],
)
def test_a_text_without_any_name_number_or_path_of_what_it_replaces_is_refused(text):
    with pytest.raises(SummaryRefused):
        examine_summary(text, SAID)


def test_where_nothing_has_a_name_none_is_wanted():
    assert not find_facts("i am so tired today")
    examine_summary("The user is tired.", turns("i am so tired today", "Rest a while."))


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("where is the key to the shed of Иванов Пётр", "Ключ у Иванова."),
        ("wir waren in Hamburg und dann in Köln", "Reise: Hamburgs Hafen."),
        ("see notes/reise/plan 2026-05.md", "Notes: plan 2026-05."),
        ("see notes/plan.md, notes/list.md and to/do.txt", "Sources: list"),
        ("東京の天気はどうですか。「山の家」に行きます。", "予定: 山の家"),
        ("メモはバックアップの話です", "バックアップについて"),
        ("it costs 1,250 euros", "Price: 1,250."),
        ("we meet at 14:30", "Meeting 14:30"),
        ("ask about NASA", "Topic: nasa"),
    ],
)
def test_names_are_found_in_other_forms_and_scripts(said, summary):
    assert find_facts(said)
    examine_summary(summary, turns(said))
    with pytest.raises(SummaryRefused):
        examine_summary("things", turns(said))


def test_where_hardly_anything_has_a_name_words_in_common_are_enough():
    said = turns("where is the barrel? question 12", "it stands behind the shed, with the hose.")
    examine_summary("The barrel: behind the shed.", said)
    with pytest.raises(SummaryRefused):
        examine_summary("Where something is.", said)


def test_long_texts_are_read_in_a_moment():
    for text in ("a" * 300_000, "1." * 150_000, "x/y." * 75_000, "[[" * 150_000, "Go " * 100_000):
        assert len(find_facts(text)) < 5  # each text repeats one thing


def test_what_only_tools_saw_counts_too():
    call = ToolCallPart("c", "read_note", {"path": "Garden/Beds.md"})
    messages = [Message("assistant", (call,)), Message("tool", (ToolResultPart("c", "a b c"),))]
    looked = [MeasuredTurn.measure(LoggedTurn("t", (), None), messages, COUNTER)]
    examine_summary("Sources: Beds", looked)
    with pytest.raises(SummaryRefused):
        examine_summary("Something was read.", looked)


class Model:
    """Gives one answer after the other, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.tasks = list(answers), []

    def __call__(self, wanted):
        self.tasks.append(wanted)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


GOOD = "- Decisions: to Hetzner."


def ask(model):
    return request_summary(task(SAID), model, str.strip)


@pytest.mark.parametrize("bad", ["", "I will look.", "Nothing.", SummaryRefused("It was cut.")])
def test_a_refused_summary_is_asked_for_once_more_with_the_reason(bad):
    model = Model(bad, GOOD)
    assert ask(model) == GOOD
    assert [bool(one.refusal) for one in model.tasks] == [False, True]


def test_a_second_refusal_is_the_last():
    model = Model("I will look.", "", GOOD)
    with pytest.raises(SummaryRefused):
        ask(model)
    assert len(model.tasks) == 2


def test_a_call_that_fails_is_not_made_again():
    model = Model(SummaryFailed("The service is away."), GOOD)
    with pytest.raises(SummaryFailed):
        ask(model)
    assert len(model.tasks) == 1
