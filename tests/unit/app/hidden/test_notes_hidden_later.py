"""What tools read in a note leaves a chat's requests when the note is excluded or made private.

The bytes that the model's server receives afterwards are searched for words of the note, in every
mode and for every tool that returns text of notes. When the rule goes, the text comes back.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from chains.cancel import CancelToken
from chains.events import Mode
from tests.support.models.model_server import Answer
from tests.support.sessions.hidden_notes import (
    OTHER,
    RULES,
    SECRET,
    Call,
    Chat,
    Hide,
    find_words,
    hide_by_front_matter,
    hide_by_move,
    hide_by_obsidian,
    hide_by_tag,
    hide_folder,
)

HIDES = [hide_folder, hide_by_front_matter, hide_by_tag, hide_by_move, hide_by_obsidian]
CALLS: dict[str, list[Call]] = {
    "read_note": [("read_note", {"path": "Diary/Code.md"})],
    "read_note by another path": [("read_note", {"path": "./Diary/Code.md"})],
    "search_notes": [("search_notes", {"query": "zebracode code mat"})],
    "grep_notes": [("grep_notes", {"pattern": "[Zz]ebra"})],
    "list_folder": [("list_folder", {"path": "Diary"})],
    "get_links": [("get_links", {"path": "Diary/Code.md"})],
    "edit_note": [
        ("edit_note", {"path": "Diary/Code.md", "old": SECRET, "new": f"{SECRET} Zebrahead."})
    ],
    "edit_note in vain": [("edit_note", {"path": "Diary/Code.md", "old": "7391 x", "new": "y"})],
    "append_to_note": [("append_to_note", {"path": "Diary/Code.md", "text": "Zebrahead 7391"})],
    "a stored result": [("read_note", {"path": "Diary/Big.md"})],
}


@pytest.mark.parametrize("hide", HIDES)
def test_a_note_that_was_read_leaves_later_requests(
    chatting: Chat, vault: Path, hide: Hide
) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}), ("read_note", {"path": "Plan.md"}))
    assert find_words(chatting.ask())
    hide(chatting.assistant, vault)
    after = chatting.ask()
    assert find_words(after) == []
    assert OTHER in after
    assert "the text of excluded notes was left out" in chatting.reasons
    chatting.ask()
    assert chatting.reasons == []


@pytest.mark.parametrize("name", CALLS)
def test_no_tool_result_keeps_it(chatting: Chat, vault: Path, name: str) -> None:
    chatting.call(*CALLS[name])
    assert find_words(chatting.ask()), "the text is in the chat before the rule comes"
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask()) == []
    assert "the text of excluded notes was left out" in chatting.reasons


@pytest.mark.parametrize("mode", ["chat", "vault", "project", "agent"])
def test_no_mode_sends_it(chatting: Chat, vault: Path, mode: Mode) -> None:
    chatting.project = "."
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask(mode=mode)) == []


def test_of_three_notes_that_a_search_found_two_stay(chatting: Chat, vault: Path) -> None:
    chatting.call(("search_notes", {"query": "code beans tea"}))
    assert "7391" in chatting.ask()
    chatting.assistant.settings.set("vault.exclude", RULES)
    after = chatting.ask()
    assert find_words(after) == []
    assert OTHER in after
    assert "green" in after


def test_when_the_rule_goes_the_text_comes_back(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    hide_folder(chatting.assistant, vault)
    assert "7391" not in chatting.ask()
    chatting.assistant.settings.set("vault.exclude", [])
    assert "7391" in chatting.ask()
    assert "the text of notes that may be read again came back" in chatting.reasons


def test_a_note_that_was_only_deleted_stays(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    (vault / "Diary/Code.md").unlink()
    assert "7391" in chatting.ask()


@pytest.mark.parametrize(
    "moves",
    [
        [("Diary/Code.md", "Hidden/Other.md")],
        [("Diary/Code.md", "Open.md"), ("Open.md", "Hidden/Other.md")],
    ],
)
def test_a_note_that_an_agent_moved_to_another_name_is_hidden_there(
    chatting: Chat, vault: Path, moves: list[tuple[str, str]]
) -> None:
    moved = [("move_note", {"path": path, "to": to}) for path, to in moves]
    chatting.call(("read_note", {"path": "Diary/Code.md"}), *moved)
    assert (vault / "Hidden/Other.md").exists()
    chatting.assistant.settings.set("vault.exclude", ["Hidden/"])
    assert "7391" not in chatting.ask()


def test_a_note_that_was_moved_back_is_read_again(chatting: Chat, vault: Path) -> None:
    away = ("move_note", {"path": "Diary/Code.md", "to": "Hidden/Other.md"})
    back = ("move_note", {"path": "Hidden/Other.md", "to": "Diary/Code.md"})
    chatting.call(("read_note", {"path": "Diary/Code.md"}), away, back)
    chatting.assistant.settings.set("vault.exclude", ["Hidden/"])
    assert "7391" in chatting.ask()


@pytest.mark.parametrize("offset", [0, 3_000, 7_000])
def test_pages_of_a_stored_result_keep_it_neither_before_nor_after(
    chatting: Chat, vault: Path, offset: int
) -> None:
    chatting.call(("read_note", {"path": "Diary/Big.md"}))
    stored = json.dumps(chatting.server.bodies[-1])
    ref = stored.split("ref_id=")[1].split('"')[1].rstrip("\\")
    page: Call = ("read_result", {"ref_id": ref, "offset": offset, "limit": 4_000})
    chatting.call(page)
    assert "soil" in json.dumps(chatting.server.bodies[-1])
    hide_folder(chatting.assistant, vault)
    assert "soil" not in (text := chatting.ask())
    assert find_words(text) == []
    seen = len(chatting.server.received)
    chatting.call(page)
    assert "soil" not in (text := chatting.read(seen))
    assert find_words(text) == []


def test_a_page_that_was_read_while_the_note_was_hidden_says_so(
    chatting: Chat, vault: Path
) -> None:
    chatting.call(("read_note", {"path": "Diary/Big.md"}))
    stored = json.dumps(chatting.server.bodies[-1])
    ref = stored.split("ref_id=")[1].split('"')[1].rstrip("\\")
    hide_folder(chatting.assistant, vault)
    seen = len(chatting.server.received)
    chatting.call(("read_result", {"ref_id": ref}))
    assert "is now excluded" in chatting.read(seen)


def test_a_branch_and_an_answer_that_is_written_again_hold_nothing(
    chatting: Chat, vault: Path
) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    chatting.ask("What is in it?", "chat")
    hide_folder(chatting.assistant, vault)
    session, seen = str(chatting.session), len(chatting.server.received)
    path = chatting.assistant.sessions.read(session).path()
    asked = [one.id for one in path if getattr(one, "message", None) is not None]
    list(chatting.assistant.regenerate(session, asked[-1], CancelToken()))
    list(chatting.assistant.edit(session, asked[-2], "And what else?", CancelToken()))
    fork = chatting.assistant.branches.fork(session, asked[-1])
    chatting.session = getattr(fork, "id", fork)
    chatting.ask("And here?", "chat")
    assert len(chatting.server.received) >= seen + 3
    assert find_words(chatting.read(seen)) == []


def test_a_request_of_the_past_stays_as_it_was(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    session = str(chatting.session)
    before = chatting.assistant.history.read_last_context(session, full=True)
    hide_folder(chatting.assistant, vault)
    assert chatting.assistant.history.read_last_context(session, full=True) == before
    assert "7391" in json.dumps(before)


def test_a_summary_is_made_without_it(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    hide_folder(chatting.assistant, vault)
    seen = len(chatting.server.received)
    chatting.server.script(Answer("The beans are sown in May, as Plan.md says."))
    list(chatting.assistant.compact(str(chatting.session), CancelToken()))
    assert len(chatting.server.received) > seen
    assert find_words(chatting.read(seen)) == []


def test_a_summary_that_was_made_of_it_becomes_an_outline(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    chatting.server.script(Answer("In Diary/Code.md stands Zebracode 7391, under the mat."))
    list(chatting.assistant.compact(str(chatting.session), CancelToken()))
    chatting.server.script(Answer("Done."))
    assert "7391" in chatting.ask("What was it?", "chat")
    hide_folder(chatting.assistant, vault)
    after = chatting.ask("What was it again?", "chat")
    assert find_words(after) == []
    assert "Look it up." in after
    assert "the text of excluded notes was left out" in chatting.reasons
    chatting.assistant.settings.set("vault.exclude", [])
    assert "7391" in chatting.ask("And now?", "chat")


def test_a_summary_that_was_made_without_it_stays(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    hide_folder(chatting.assistant, vault)
    chatting.server.script(Answer("In Diary/Code.md the agent looked in vain."))
    list(chatting.assistant.compact(str(chatting.session), CancelToken()))
    chatting.server.script(Answer("Done."))
    for _ in range(2):
        assert "looked in vain" in chatting.ask("What was it?", "chat")
    chatting.assistant.settings.set("vault.exclude", [])
    assert "looked in vain" in chatting.ask("What was it?", "chat")


def test_an_answer_without_a_model_that_quoted_it_is_left_out(chatting: Chat, vault: Path) -> None:
    chatting.ask("What is under the mat?", "vault", model="extractive")
    assert "7391" in chatting.ask("And?", "chat")
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask("And now?", "chat")) == []


def test_a_project_does_not_name_it_any_more(chatting: Chat, vault: Path) -> None:
    chatting.project = "."
    chatting.assistant.settings.set("project.includeText", "never")
    assert "Zebrahead" in chatting.ask(mode="project")
    hide_folder(chatting.assistant, vault)
    after = chatting.ask(mode="project")
    assert find_words(after) == []
    assert "Code.md" not in after


def test_in_a_project_outside_of_the_vault_too(chatting: Chat, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "Code.md").write_text(f"# Zebrahead\n{SECRET}\n")
    chatting.project = str(outside)
    chatting.call(("read_note", {"path": "Code.md"}))
    assert "7391" in chatting.ask()
    chatting.assistant.settings.set("vault.exclude", ["Code.md"])
    assert find_words(chatting.ask()) == []
    assert find_words(chatting.ask(mode="chat")) == []


@pytest.mark.parametrize(
    ("moves", "hide", "is_attached"),
    [
        (["inner"], "a rule", False),
        (["inner"], "Obsidian", True),
        ([None], "a mark", False),
        ([None], "a rule", True),
        (["inner", None], "Obsidian", False),
        (["other", "inner"], "a rule", False),
        (["other", "inner"], "a rule, and the folder is gone", False),
        ([], "a rule", False),
    ],
)
def test_rules_hold_for_a_project_that_the_chat_was_moved_out_of(
    chatting: Chat,
    tmp_path: Path,
    vault: Path,
    moves: list[str | None],
    hide: str,
    is_attached: bool,
) -> None:
    outside, other = tmp_path / "outside", tmp_path / "other"
    for folder in (outside / "sub", other, vault / "inner"):
        folder.mkdir(parents=True)
    (outside / "sub/Code.md").write_text(f"# Zebrahead\n{SECRET}\n")
    chatting.project = str(outside)
    attach = (str(outside / "sub/Code.md"),) if is_attached else ()
    chatting.ask("What is under the mat?", "project", model="extractive", attach=attach)
    for name in moves:
        project = str(other) if name == "other" else name
        chatting.assistant.branches.move_to_project(str(chatting.session), project)
    assert "7391" in chatting.ask(mode="chat")
    if hide == "a mark":
        (outside / "sub/Code.md").write_text(f"---\nprivate: true\n---\n{SECRET}\n")
    elif hide == "Obsidian":
        (outside / ".obsidian").mkdir()
        (outside / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["sub/"]}')
    else:
        chatting.assistant.settings.set("vault.exclude", ["/sub/"])
        if hide.endswith("gone"):
            outside.rename(tmp_path / "away")
    assert find_words(chatting.ask(mode="chat")) == []


def test_an_answer_that_is_continued_holds_nothing(chatting: Chat, vault: Path) -> None:
    chatting.server.script(Answer("It is under", break_after=2, chunk_chars=4))
    chatting.ask("What is it?", "chat", attach=("Diary/Code.md",))
    hide_folder(chatting.assistant, vault)
    session, seen = str(chatting.session), len(chatting.server.received)
    chatting.server.script(Answer("the mat."))
    path = chatting.assistant.sessions.read(session).path()
    asked = [one.id for one in path if getattr(one, "message", None) is not None]
    list(chatting.assistant.runner.continue_answer(session, asked[-1], None, CancelToken()))
    assert len(chatting.server.received) > seen
    assert find_words(chatting.read(seen)) == []


def test_a_rule_that_is_set_while_the_agent_works_holds_at_once(
    chatting: Chat, vault: Path
) -> None:
    seen: list[str] = []

    def reply(body: dict[str, Any]) -> Answer:
        text = json.dumps(body)
        if "is_given" not in seen:
            seen.append("is_given")
            return Answer("", calls=(("c1", "read_note", '{"path": "Diary/Code.md"}'),))
        if len(seen) == 1:
            seen.append(text)
            hide_folder(chatting.assistant, vault)
            return Answer("", calls=(("c2", "read_note", '{"path": "Plan.md"}'),))
        seen.append(text)
        return Answer("Done.")

    chatting.server.script(reply)
    chatting.ask("Look.", "agent", attach=("Diary/Big.md",))
    assert find_words(seen[1])
    assert find_words(seen[2]) == []
    assert "the text of excluded notes was left out" in chatting.reasons


def test_an_agent_does_not_name_it_in_its_list_of_folders(chatting: Chat, vault: Path) -> None:
    (vault / "Zebrahead.md").write_text("Text.\n")
    list(chatting.assistant.index(CancelToken()))
    assert "Zebrahead" in chatting.ask()
    chatting.assistant.settings.set("vault.exclude", ["Zebra*"])
    assert "Zebrahead" not in chatting.ask()
    assert set(chatting.reasons) == {"the instructions changed"}


def test_a_pinned_result_is_pinned_without_it(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    session = str(chatting.session)
    path = chatting.assistant.sessions.read(session).path()
    (result,) = (o.id for o in path if getattr(getattr(o, "message", None), "role", "") == "tool")
    chatting.assistant.branches.pin(session, result, True)
    chatting.ask("And then?", "chat")
    chatting.ask("And last?", "chat")
    chatting.server.script(Answer("The beans of Plan.md are sown in May."))
    list(chatting.assistant.compact(session, CancelToken()))
    assert "7391" in chatting.ask("What was it?", "chat")
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask("What was it?", "chat")) == []


def test_the_summary_of_a_branch_holds_nothing(chatting: Chat, vault: Path) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}))
    session = str(chatting.session)
    path = chatting.assistant.sessions.read(session).path()
    asked = [one.id for one in path if getattr(one, "message", None) is not None]
    list(chatting.assistant.edit(session, asked[0], "Something else.", CancelToken()))
    hide_folder(chatting.assistant, vault)
    seen = len(chatting.server.received)
    chatting.assistant.branches.summarise_branch(session, asked[-1], CancelToken())
    assert len(chatting.server.received) > seen
    assert find_words(chatting.read(seen)) == []


def test_a_question_that_is_rewritten_holds_nothing(chatting: Chat, vault: Path) -> None:
    chatting.assistant.settings.set("retrieval.rewrite", True)
    chatting.ask("What is under the mat?", "vault", model="extractive")
    hide_folder(chatting.assistant, vault)
    assert find_words(chatting.ask("And when is it?", "vault")) == []


@pytest.mark.parametrize("name", ["grep_notes", "list_folder"])
def test_a_folder_whose_name_looks_like_a_file_hides_it_too(
    chatting: Chat, vault: Path, name: str
) -> None:
    folder = "Diary v1.0: old"
    (vault / folder).mkdir()
    (vault / folder / "Code.md").write_text(f"# Zebrahead\n{SECRET}\n")
    list(chatting.assistant.index(CancelToken()))
    arguments = {"path": folder} | ({"pattern": "[Zz]ebra"} if name == "grep_notes" else {})
    chatting.call((name, arguments))
    assert "Zebrahead" in chatting.ask()
    chatting.assistant.settings.set("vault.exclude", ["Diary v*/"])
    assert find_words(chatting.ask()) == []


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("hide", [hide_by_front_matter, hide_by_obsidian])
def test_while_another_vault_is_open_it_is_hidden_too(
    chatting: Chat, vault: Path, tmp_path: Path, hide: Hide, mode: Mode
) -> None:
    chatting.call(("read_note", {"path": "Diary/Code.md"}), ("read_note", {"path": "Plan.md"}))
    other = tmp_path / "other"
    other.mkdir()
    (other / "Tea.md").write_text("Green.\n")
    chatting.assistant.open_vault(other, remember=False)
    assert "7391" in chatting.ask(mode=mode)
    hide(chatting.assistant, vault)
    after = chatting.ask(mode=mode)
    assert find_words(after) == []
    assert OTHER in after


def test_lines_of_a_result_that_name_files_outside_stay(chatting: Chat, vault: Path) -> None:
    (vault / "Plan.md").write_text(f"# Plan\n../src/app.py:12: {OTHER}\n")
    list(chatting.assistant.index(CancelToken()))
    chatting.call(("grep_notes", {"pattern": "beans"}))
    hide_folder(chatting.assistant, vault)
    assert OTHER in chatting.ask()
