"""What a model quoted of a note leaves a chat's requests when the note is excluded or made private.

The bytes that the model's server receives are searched, as in `test_notes_hidden_later`: for what
answers, thinking, notes of a model, tools of other programs and lists of tags say of such a note.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

from app.paths import Paths
from chains.cancel import CancelToken
from chains.events import Mode
from context.report.markdown import report_markdown
from tests.support.models.model_server import Answer
from tests.support.servers.mcp_server import serve_http
from tests.support.sessions.hidden_notes import (
    OTHER,
    SECRET,
    Call,
    Chat,
    Hide,
    find_words,
    hide_by_front_matter,
    hide_by_move,
    hide_folder,
)

REASON = "the text of excluded notes was left out"
QUOTE = f"In your note it says: {SECRET}"
READ: Call = ("read_note", {"path": "Diary/Code.md"})


def quote(chatting: Chat, mode: Mode, **fields: object) -> None:
    """Let the model answer with a quotation of the note, and with a sentence of another one."""
    chatting.server.script(Answer(f"{QUOTE}\n\nElsewhere: {OTHER}"))
    chatting.ask("What is under the mat, and when are beans sown?", mode, **fields)
    chatting.server.script(Answer("Done."))


@pytest.mark.parametrize("hide", [hide_folder, hide_by_front_matter, hide_by_move])
@pytest.mark.parametrize("mode", ["chat", "vault", "project", "agent"])
def test_a_quotation_in_an_answer_leaves_later_requests(
    chatting: Chat, vault: Path, mode: Mode, hide: Hide
) -> None:
    chatting.project = "." if mode == "project" else None
    if mode == "agent":
        chatting.call(READ, ("read_note", {"path": "Plan.md"}))
    quote(chatting, mode, **{"attach": ("Diary/Code.md", "Plan.md")} if mode == "chat" else {})
    assert "7391" in chatting.ask(mode="chat")
    hide(chatting.assistant, vault)
    after = chatting.ask(mode="chat")
    assert find_words(after) == []
    assert f"Elsewhere: {OTHER}" in after
    assert REASON in chatting.reasons
    (left_out,) = (one for one in chatting.reports[0]["dropped"] if one["reason"] == "withheld")
    assert left_out["layer"] == "L4"
    assert left_out["entries"]
    chatting.ask(mode="chat")
    assert chatting.reasons == []


def test_a_quotation_without_emphasis_or_in_another_script_leaves_later_requests(
    chatting: Chat, vault: Path
) -> None:
    brother, korean = "My brother hates the blue car of Anna.", "내 동생은 파란 차를 싫어한다"
    (vault / "Diary/K.md").write_text(
        f"# 일기\n{korean}\nMy brother _hates_ the _blue car_ of Anna.\n"
    )
    chatting.server.script(Answer(f"{brother}\n메모에: {korean}\n\nElsewhere: {OTHER}"))
    chatting.ask("Who hates what?", "chat", attach=("Diary/K.md",))
    chatting.server.script(Answer("Done."))
    before = chatting.ask(mode="chat")
    assert brother in before
    assert json.dumps(korean)[1:-1] in before or korean in before
    hide_folder(chatting.assistant, vault)
    after = chatting.ask(mode="chat")
    assert "blue" not in after
    assert json.dumps("파란")[1:-1] not in after
    assert "파란" not in after
    assert f"Elsewhere: {OTHER}" in after


def test_when_the_note_may_be_read_again_the_quotation_comes_back(
    chatting: Chat, vault: Path
) -> None:
    quote(chatting, "chat", attach=("Diary/Code.md",))
    hide_folder(chatting.assistant, vault)
    assert "7391" not in chatting.ask(mode="chat")
    chatting.assistant.settings.set("vault.exclude", [])
    assert QUOTE in chatting.ask(mode="chat")
    assert "the text of notes that may be read again came back" in chatting.reasons


def test_what_a_model_thought_and_noted_is_left_out(chatting: Chat, vault: Path) -> None:
    note: Call = ("update_memory", {"facts": [SECRET], "scratchpad": f"Beans in May. {SECRET}"})
    aim: Call = ("update_progress", {"currentObjective": "Find 7391", "pendingSteps": ["Mow."]})
    write: Call = ("create_note", {"path": "New.md", "text": f"Key: {SECRET} Mow."})
    chatting.assistant.settings.set("chat.model", "deepseek/deepseek-reasoner")
    names = [chatting.make_call(*call) for call in (READ, note, aim, write)]
    thoughts = (Answer("", calls=(name,), reasoning=f"Aha: {SECRET}") for name in names)
    chatting.server.script(*thoughts, Answer("Noted."))
    assert "Aha: " in chatting.ask("Look it up.")
    before = chatting.ask()
    assert before.count("under the mat") >= 4
    (vault / "New.md").unlink()
    hide_folder(chatting.assistant, vault)
    after = chatting.ask()
    assert find_words(after) == []
    assert after.count("Mow.") >= 2
    assert "Beans in May." in after


def test_a_pin_that_quotes_it_is_no_lost_pin(chatting: Chat, vault: Path) -> None:
    chatting.call(READ)
    quote(chatting, "agent")
    session = str(chatting.session)
    path = chatting.assistant.sessions.read(session).path()
    said = [one.id for one in path if "In your note" in str(getattr(one, "message", ""))]
    chatting.assistant.branches.pin(session, said[-1], True)
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask()) == []
    assert not any("pin" in warning for warning in chatting.reports[0]["warnings"])
    shown = chatting.assistant.history.read_last_context(session)
    assert "2 messages" in report_markdown(shown)
    assert "without the text of excluded notes" in report_markdown(shown)


def test_a_summary_and_a_branch_are_made_without_quotations(chatting: Chat, vault: Path) -> None:
    quote(chatting, "vault")
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    session = str(chatting.session)
    path = chatting.assistant.sessions.read(session).path()
    asked = [one.id for one in path if getattr(one, "message", None) is not None]
    list(chatting.assistant.edit(session, asked[-2], "Something else.", CancelToken()))
    hide_folder(chatting.assistant, vault)
    seen = len(chatting.server.received)
    chatting.assistant.branches.summarise_branch(session, asked[-1], CancelToken())
    chatting.server.script(Answer("The beans are sown in May, as Plan.md says."))
    list(chatting.assistant.compact(session, CancelToken()))
    assert len(chatting.server.received) > seen + 1
    assert find_words(chatting.read(seen)) == []


def test_a_summary_that_quotes_it_is_sent_without_it(chatting: Chat, vault: Path) -> None:
    quote(chatting, "vault")
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    chatting.server.script(Answer(f"From Plan.md: {OTHER} From Diary/Code.md: {SECRET}"))
    list(chatting.assistant.compact(str(chatting.session), CancelToken()))
    chatting.server.script(Answer("Done."))
    assert "7391" in chatting.ask("What was it?", "chat")
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask("What was it again?", "chat")) == []
    assert REASON in chatting.reasons


def test_a_question_is_rewritten_without_quotations(chatting: Chat, vault: Path) -> None:
    chatting.assistant.settings.set("retrieval.rewrite", True)
    quote(chatting, "vault")
    chatting.ask("And what else?", "vault")
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask("And when is it?", "vault")) == []


def test_a_title_that_is_written_later_is_made_without_quotations(
    chatting: Chat, vault: Path
) -> None:
    quote(chatting, "vault")
    hide_folder(chatting.assistant, vault)
    seen = len(chatting.server.received)
    chatting.server.script(Answer("Beans in May"))
    assert chatting.assistant.titles.write(str(chatting.session), CancelToken()) == "Beans in May"
    assert find_words(chatting.read(seen)) == []
    assert OTHER in chatting.read(seen)


def test_what_the_user_typed_stays(chatting: Chat, vault: Path) -> None:
    chatting.call(READ)
    chatting.ask(f"Is it right that {SECRET}", "chat")
    hide_folder(chatting.assistant, vault)
    assert f"Is it right that {SECRET}" in chatting.ask(mode="chat")


def test_tags_that_only_an_excluded_note_has_are_not_listed(chatting: Chat, vault: Path) -> None:
    (vault / "Diary/Code.md").write_text(f"{SECRET} #zebrahead #garden\n")
    (vault / "Tea.md").write_text("Green. #garden #drink\n")
    list(chatting.assistant.index(CancelToken()))
    chatting.call(("list_tags", {}))
    chatting.server.script(Answer("You use garden, drink and #zebrahead."), Answer("Done."))
    chatting.ask("Which tags are there?")
    assert "#zebrahead (1 note)" in chatting.ask()
    hide_folder(chatting.assistant, vault)
    after = chatting.ask()
    assert find_words(after) == []
    assert "#garden (2 notes)" in after
    assert "#drink" in after
    assert REASON in chatting.reasons
    chatting.assistant.settings.set("vault.exclude", [])
    assert "#zebrahead (1 note)" in chatting.ask()


def test_a_tag_that_was_only_removed_stays_listed(chatting: Chat, vault: Path) -> None:
    (vault / "Tea.md").write_text("Green. #drink\n")
    list(chatting.assistant.index(CancelToken()))
    chatting.call(("list_tags", {}))
    (vault / "Tea.md").write_text("Green.\n")
    hide_folder(chatting.assistant, vault)
    assert "#drink (1 note)" in chatting.ask()


@pytest.mark.parametrize(
    ("hide", "head"),
    [
        (hide_folder, ""),
        (hide_by_front_matter, "At 9.30: dentist\n==> vault.txt: contents\n"),
        (hide_folder, "See report.pdf: page 3\nPlan.md:3: "),
    ],
)
def test_the_result_of_another_program_leaves_out_what_it_quotes(
    chatting: Chat, vault: Path, hide: Hide, head: str
) -> None:
    tools = MCPServer("files")

    @tools.tool()
    def open_file(name: str) -> str:
        """Open a file."""
        return head + "\n".join(path.read_text() for path in sorted(vault.rglob(name)))

    with serve_http(tools) as url:
        chatting.assistant.settings.set("mcp.servers", {"files": {"url": url}})
        chatting.call(
            ("files__open_file", {"name": "*o*e.md"}), ("files__open_file", {"name": "P*"})
        )
        chatting.call(("files__open_file", {"name": "B*"}))
        (stored,) = set(re.findall(r"ref_id=\W+(\w+)", chatting.ask()))
        chatting.call(("read_result", {"ref_id": stored, "find": "7391"}))
        quote(chatting, "chat")
        assert "7391" in chatting.ask()
        hide(chatting.assistant, vault)
        after = chatting.ask()
        assert find_words(after.replace("Zebralink", "")) == []
        assert f"Elsewhere: {OTHER}" in after
        assert "# Plan" in after
        assert REASON in chatting.reasons


@pytest.mark.parametrize("how", ["renamed", "renamed and made private", "edited too", "pruned"])
def test_a_note_that_was_moved_and_renamed_outside_is_hidden_there(
    chatting: Chat, vault: Path, how: str
) -> None:
    (vault / "Diary/Big.md").unlink()
    chatting.call(READ, ("search_notes", {"query": "code beans tea"}))
    quote(chatting, "agent")
    place = vault / ("Open" if how == "renamed and made private" else "Hidden") / "Other.md"
    if how == "pruned":
        chatting.call(("move_note", {"path": "Diary/Code.md", "to": "Hidden/Other.md"}))
        shutil.rmtree(Paths.find().edits)
    else:
        place.parent.mkdir()
        (vault / "Diary/Code.md").rename(place)
    if how == "edited too":
        place.write_text(f"{place.read_text()}Another line.\n")
    if place.parent.name == "Open":
        place.write_text(place.read_text().replace("---\n", "---\nprivate: true\n", 1))
    else:
        chatting.assistant.settings.set("vault.exclude", ["Hidden/"])
    after = chatting.ask()
    assert find_words(after) == []
    assert OTHER in after
