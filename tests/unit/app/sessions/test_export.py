"""A chat, and one answer, as the text of a note."""

import pytest

from app.sessions.export import build_note, export_markdown
from app.sessions.transcript import AnswerItem, ChatTranscript, UserItem
from chains.citations.check import Citation, CitationReport
from chains.turn_answer import TurnAnswer
from vault.notes.note import parse_note

TIME = "2026-05-14T14:03:00+00:00"


def cite(
    number: int, path: str, heading: tuple[str, ...] = (), lines: tuple[int, int] = (3, 9)
) -> Citation:
    return Citation(number, path, heading, lines, None, True)


def answer(entry: str, text: str, model: str, *cited: Citation) -> AnswerItem:
    return AnswerItem(
        entry, TIME, TurnAnswer(text, model, seconds=1.0, checked=CitationReport(cited))
    )


CHAT = ChatTranscript(
    "Beans\nand more",
    (
        UserItem("u1", TIME, "When do beans ripen?"),
        answer("a1", "In July [1].", "m/one", cite(1, "garden/Beans.md", ("Beans", "Sorts"))),
        UserItem("u2", TIME, "And peas?"),
        answer("a2", "In June [1][2].", "m/two", cite(1, "a/Peas.md"), cite(2, "Odd [x].md")),
    ),
)


def resolve(target: str) -> str | None:
    return {"Beans": "garden/Beans.md", "Peas": "b/Peas.md"}.get(target)


def test_an_answer_becomes_a_note_with_its_question_and_links() -> None:
    name, text = build_note(CHAT, "c1", "a1", resolve) or ("", "")
    assert name == "When do beans ripen"
    assert text == (
        '---\ndate: 2026-05-14\nmodel: "m/one"\nchat: "c1"\n---\n\n'
        "# When do beans ripen?\n\n## You\n\nWhen do beans ripen?\n\n## m/one\n\nIn July [1].\n\n"
        "Sources:\n\n- **[1]** [[Beans#Sorts]], lines 3–9\n"
    )


def test_a_chat_becomes_a_note_with_all_models() -> None:
    name, text = build_note(CHAT, "c1", None, resolve) or ("", "")
    assert name == "Beans and more"
    assert 'model: ["m/one", "m/two"]\n' in text
    assert "- **[1]** [[a/Peas]], lines 3–9\n" in text, "the name alone would mean another note"
    assert "- **[2]** Odd [x].md, lines 3–9\n" in text, "no link can name it"
    assert parse_note("Chat.md", text.encode())[0].tasks == ()


def test_without_a_vault_sources_are_named() -> None:
    _, text = build_note(CHAT, "c1", "a1", None) or ("", "")
    assert "- **[1]** garden/Beans.md, lines 3–9" in text


def test_each_source_keeps_the_number_that_the_answer_cites() -> None:
    cited = (
        cite(1, "Pump.md", (), (5, 5)),
        cite(1, "Pump.md", (), (3, 3)),
        cite(1, "Pump.md", (), (7, 9)),
        cite(4, "Well.md", (), (2, 2)),
        cite(2, "Tap.md", (), (1, 4)),
        cite(2, "Tap.md", (), (8, 8)),
    )
    chat = ChatTranscript("Pumps", (answer("a1", "[1] [4] [2]", "m/one", *cited),))
    _, listed = export_markdown(chat).split("Sources:\n\n")
    assert listed.splitlines() == [
        "- **[1]** Pump.md, lines 3, 5 and 7–9",
        "- **[4]** Well.md, line 2",
        "- **[2]** Tap.md, lines 1–4 and 8",
    ]


@pytest.mark.parametrize(
    ("model", "heading"),
    [
        ("extractive", "## No model: quoted passages"),
        ("gguf//home/me/models/small.gguf", "## small"),
    ],
)
def test_an_answer_stands_below_the_name_that_the_window_shows(model: str, heading: str) -> None:
    chat = ChatTranscript("Beans", (answer("a1", "In July.", model),))
    assert heading in export_markdown(chat).splitlines()


def test_an_unknown_answer_has_no_note() -> None:
    assert build_note(CHAT, "c1", "u9", resolve) is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (
            "How long are copies of the server kept and what is not backed up?",
            "How long are copies of the server kept and what is not",
        ),
        ("備" * 70, "備" * 60),
        ("a " + "b" * 70, "a " + "b" * 58),
    ],
)
def test_a_long_title_is_cut_at_the_end_of_a_word(title: str, name: str) -> None:
    chat = ChatTranscript(title, CHAT.items)
    assert (build_note(chat, "c1", None, resolve) or ("", ""))[0] == name
