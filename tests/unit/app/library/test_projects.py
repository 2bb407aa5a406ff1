"""Projects: their context on L1, their limits, and their sessions, with a scripted model."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import BadSetting, InvalidRequest, NotFound, TurnFailed
from chains.cancel import CancelToken
from chains.request.project import PROJECT
from context.log.entries import SegmentsEntry
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of


def system(server: ModelServer) -> str:
    return str(server.bodies[-1]["messages"][0]["content"])


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for at, (name, text) in enumerate(texts.items()):
        file = folder / f"{name}.md"
        file.write_text(text)
        os.utime(file, (1_700_000_000 + at, 1_700_000_000 + at))


@pytest.fixture
def thesis(assistant: Assistant, server: ModelServer, tmp_path: Path) -> Path:
    """An open vault with a project and a note beside it."""
    vault = tmp_path / "vault"
    write(vault, Beans="# Beans\n\nBeans are sown in May, says the neighbour.")
    write(
        vault / "Thesis",
        Plan="# Plan\n\nThe thesis is about walrus songs.\n\n## Chapters\n\nThree.",
        Diary="---\nprivate: true\n---\nThe walrus is a secret.",
        Old="# Old\n\nA walrus draft.",
    )
    write(vault / "Thesis" / "data", Log="# Log\n\nThe walrus sang on Monday.")
    assistant.open_vault(vault, remember=False)
    return vault / "Thesis"


def test_a_project_is_described_on_l1_and_nothing_outside_it_is_sent(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    assistant.projects.change(assistant.projects.add("Thesis"), "exclude", ["Old.md"])
    done = result_of(
        ask(assistant, "What of the walrus and beans?", mode="project", project="Thesis")
    )
    assert (done.mode, done.context["layers"]["L3"]["tokens"]) == ("project", 0)
    sent = json.dumps(server.bodies)
    assert "walrus songs" in system(server)
    assert "- data/\n  - Log.md\n- Plan.md" in system(server)
    for hidden in ("secret", "Diary", "draft", "neighbour"):
        assert hidden not in sent
    sizes = {row["source"]: row["tokens"] for row in done.context["segments"]}
    assert set(sizes) == {"Thesis", "Thesis/Plan.md", "Thesis/data/Log.md"}
    assert sum(layer["tokens"] for layer in done.context["layers"].values()) == done.context["used"]
    (info,) = assistant.list_sessions()
    assert info.project == "Thesis"


def test_a_saved_note_changes_no_byte_of_l1_but_is_retrieved(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    first = result_of(ask(assistant, "What about songs?", mode="project", project="Thesis"))
    before = system(server)
    (thesis / "Plan.md").write_text("# Plan\n\nThe thesis is about walrus whistles now.")
    server.script(Answer('It says "The walrus sang on Monday."'))
    again = result_of(ask(assistant, "Walrus whistles?", mode="project", session=first.session))
    assert system(server) == before
    assert again.context["prefix"]["changed"] is False
    question = str(server.bodies[-1]["messages"][-1]["content"])
    assert "whistles now" in question
    assert "sang on Monday" not in question, "what is in L1 is not retrieved again"
    assert again.answer.checked.unverified == (), "the words of a note on L1 are known"
    assert first.session is not None
    assert assistant.history.transcript(first.session).items[-1].answer.checked.unverified == ()
    reopened = assistant.sessions.read(first.session)
    kept = [e for e in reopened.path() if isinstance(e, SegmentsEntry) and PROJECT in e.extra]
    assert len(kept) == 1
    assistant.branches.refresh_project(first.session)
    result_of(ask(assistant, "And now?", mode="project", session=first.session))
    assert "whistles now" in system(server)
    result_of(ask(assistant, "New?", mode="project", project="Thesis"))
    assert "whistles now" in system(server)


def test_a_compaction_records_the_project_again_with_the_same_decision(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    assistant.settings.set("project.includeText", "never")
    server.script(Answer("Long ago. " * 40))
    first = result_of(ask(assistant, "What about songs?", mode="project", project="Thesis"))
    assert "walrus songs" not in system(server)
    assert "- Thesis/Plan.md\n  - Plan\n    - Chapters" in system(server)
    assert system(server).index("Thesis/Plan.md") > system(server).index("Thesis/Old.md")
    session = str(first.session)
    result_of(ask(assistant, "More?", mode="project", session=session))
    assistant.settings.set("project.includeText", "auto")
    write(thesis, New="# Newest")
    server.script(Answer("Walrus songs."))
    list(assistant.compact(session, CancelToken()))
    result_of(ask(assistant, "Go on.", mode="project", session=session))
    assert "Thesis/New.md" in system(server)
    assert "walrus songs" not in system(server)


def test_a_renamed_project_has_another_title_and_the_same_folder_settings_and_chats(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    projects = assistant.projects
    session = result_of(ask(assistant, "What?", mode="project", project="Thesis")).session
    projects.change("Thesis", "exclude", ["Old.md"])
    projects.rename("Thesis", "  Walrus\n songs ")
    assert [(one.title, one.name) for one in projects.list()] == [("Walrus songs", "Thesis")]
    assert projects.find_title("Thesis") == "Walrus songs"
    assert projects.settings("Thesis").exclude == ("Old.md",)
    projects.change("Thesis", "model", "openai/other")
    projects.remove("Thesis")
    projects.add("Thesis")
    assert projects.find_title("Thesis") == "Walrus songs"
    again = result_of(ask(assistant, "And?", mode="project", session=session))
    assert (again.session, thesis.is_dir()) == (session, True)


@pytest.mark.parametrize("title", ["", " ", "Thesis"])
def test_a_blank_title_restores_the_name_of_the_folder(
    assistant: Assistant, thesis: Path, title: str
) -> None:
    assistant.projects.add("Thesis")
    assistant.projects.rename("Thesis", "Walrus songs")
    assistant.projects.rename("Thesis", title)
    assert assistant.projects.find_title("Thesis") == "Thesis"
    assert assistant.projects.settings("Thesis").title == ""


def test_changed_instructions_of_a_project_reach_a_chat_that_has_begun(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    first = result_of(ask(assistant, "What of the walrus?", mode="project", project="Thesis"))
    assert "sailor" not in system(server)
    assistant.projects.instructions("Thesis").write("Speak like a sailor.")
    second = result_of(ask(assistant, "And?", mode="project", session=first.session))
    assert "Speak like a sailor." in system(server)
    assert second.context["prefix"]["reasons"] == ["the instructions changed"]


def test_instructions_of_a_project_are_sent_once_they_are_accepted(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    (thesis / "AGENTS.md").write_text("Answer like a walrus.")
    name = assistant.projects.add("Thesis")
    assistant.projects.instructions(name).write("Be brief about chapters.")
    first = result_of(ask(assistant, "Who?", mode="project", project="Thesis"))
    assert "Be brief about chapters." in system(server)
    assert "like a walrus" not in system(server)
    assert "Thesis/AGENTS.md" in first.warnings[0]
    found = assistant.customization.instructions(name)
    assert found is not None
    assistant.customization.decide(found.digest, "accepted", name)
    result_of(ask(assistant, "Who?", mode="project", session=first.session))
    assert "<project_agents>\nAnswer like a walrus.\n</project_agents>" in system(server)
    result_of(ask(assistant, "Who?", mode="vault"))
    assert "walrus" not in system(server)


def test_a_project_outside_the_vault_has_an_index_and_sessions_of_its_own(
    assistant: Assistant, server: ModelServer, thesis: Path, tmp_path: Path
) -> None:
    write(tmp_path / "Boat", Mast="# Mast\n\nThe mast is of larch wood.")
    assistant.settings.set("project.includeText", "never")
    boat = str(tmp_path / "Boat")
    done = result_of(ask(assistant, "What wood is the mast?", mode="project", project=boat))
    assert 'path="Mast.md"' in str(server.bodies[-1]["messages"][-1]["content"])
    assert boat not in str(server.bodies)
    assert assistant.read_note(f"{boat}/Mast.md").title == "Mast"
    inside = result_of(ask(assistant, "Walrus?", mode="project", project=str(thesis)))
    chats = {chat.session: chat.project for chat in assistant.list_sessions()}
    assert chats == {done.session: boat, inside.session: "Thesis"}
    assert [project.name for project in assistant.projects.list()] == [boat, "Thesis"]
    result_of(ask(assistant, "And the mast?", mode="project", session=done.session))
    with pytest.raises(TurnFailed, match="belongs to the project"):
        ask(assistant, "Walrus?", mode="project", session=done.session, project="Thesis")


def test_the_tools_of_an_agent_stay_inside_the_project(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    (thesis / "Way out.md").symlink_to(thesis.parent / "Beans.md")
    calls = [
        ("1", "read_note", '{"path": "Beans.md"}'),
        ("2", "read_note", '{"path": "Thesis/../Beans.md"}'),
        ("3", "read_note", '{"path": "Thesis/Diary.md"}'),
        ("4", "read_note", '{"path": "Thesis/Way out.md"}'),
        ("5", "search_notes", '{"query": "beans neighbour"}'),
        ("6", "list_folder", "{}"),
        ("7", "create_note", '{"path": "Outside.md", "text": "Out."}'),
        ("8", "create_note", '{"path": "Thesis/drafts/x.md", "text": "Excluded."}'),
        ("9", "create_note", '{"path": "Thesis/Song.md", "text": "In."}'),
    ]
    assistant.projects.change(assistant.projects.add("Thesis"), "exclude", ["drafts/"])
    assistant.agents.connect(None, "all")
    server.script(Answer("", calls=tuple(calls), finish="tool_calls"), Answer("Nothing."))
    done = result_of(ask(assistant, "Beans?", mode="agent", project="Thesis"))
    sent = json.dumps(server.bodies)
    assert "neighbour" not in sent.replace("beans neighbour", "")
    assert "secret" not in sent
    assert "walrus songs" in system(server)
    states = [step.status for step in done.answer.steps]
    assert states == [*["error"] * 4, "ok", "ok", "error", "error", "ok"]
    assert (thesis / "Song.md").read_text() == "In."
    assert not (thesis.parent / "Outside.md").exists()


def test_a_chat_of_four_chains_only_appends_and_its_report_adds_up(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    session = None
    for round_ in range(2):
        for mode in ("chat", "vault", "project", "agent"):
            project = "Thesis" if session is None else None
            question = f"{mode} {round_}?"
            done = result_of(ask(assistant, question, mode=mode, session=session, project=project))
            session = done.session
            report = done.context
            assert sum(one["tokens"] for one in report["layers"].values()) == report["used"]
            assert report["prefix"]["reasons"] or not report["prefix"]["changed"]
            write(thesis, Plan=f"# Plan {mode} {round_}")
    histories = [body["messages"][1:-1] for body in server.bodies]
    for before, after in pairwise(histories):
        assert after[: len(before)] == before
    systems = [body["messages"][0] for body in server.bodies]
    assert systems[:4] == systems[4:], "each chain has the same first bytes in every round"


def test_within_a_turn_each_request_goes_on_from_the_bytes_of_the_one_before(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    """Property (b) of design 4.4, in a chat that comes from three other chains."""
    session = None
    for mode in ("chat", "vault", "project"):
        project = "Thesis" if session is None else None
        session = result_of(ask(assistant, f"{mode}?", mode=mode, session=session, project=project))
        session = session.session
    calls = [
        [("1", "read_note", '{"path": "Thesis/Plan.md"}'), ("2", "list_folder", "{}")],
        [("3", "search_notes", '{"query": "walrus songs"}')],
        [("4", "read_note", '{"path": "Nowhere.md"}')],
    ]
    steps = [Answer("", calls=tuple(step), finish="tool_calls") for step in calls]
    for answers in ([*steps, Answer("Songs.")], [Answer("Not again.")]):
        before = len(server.bodies)
        server.script(*answers)
        result_of(ask(assistant, "What is in it?", mode="agent", session=session))
        turn = [to_bytes(body) for body in server.bodies[before:]]
        assert len(turn) == len(answers)
        for earlier, later in pairwise(turn):
            assert later.startswith(earlier)
            assert len(later) > len(earlier)


def to_bytes(body: dict[str, Any]) -> bytes:
    """Return the bytes of a request up to the end of its last message, the tools first."""
    return json.dumps([body.get("tools"), *body["messages"]]).encode()[:-1]


def test_a_project_is_refused_with_a_reason(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    with pytest.raises(TurnFailed, match="no project"):
        ask(assistant, "Walrus?", mode="project")
    with pytest.raises(NotFound, match="no folder at"):
        assistant.projects.add("Nowhere")
    done = result_of(ask(assistant, "Walrus?", mode="project", project="Thesis"))
    with pytest.raises(BadSetting, match="no setting colour"):
        assistant.projects.change("Thesis", "colour", "red")
    with pytest.raises(BadSetting, match="list of patterns"):
        assistant.projects.change("Thesis", "exclude", "*.md")
    file = assistant.paths.project_folder(thesis) / "project.toml"
    file.write_text("exclude = [")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        assistant.projects.settings("Thesis")
    assert assistant.projects.list() == ()
    thesis.rename(thesis.with_name("Moved"))
    with pytest.raises(TurnFailed, match="no folder at"):
        ask(assistant, "Walrus?", mode="project", session=done.session)


def test_a_project_that_is_removed_and_opened_again_has_its_settings_still(
    assistant: Assistant, thesis: Path
) -> None:
    name = assistant.projects.add("Thesis")
    assistant.projects.change(name, "exclude", ["data/"])
    assistant.projects.instructions(name).write("Be brief.")
    assistant.projects.remove(name)
    assert assistant.projects.list() == ()
    assert assistant.projects.settings(name).exclude == ("data/",), "its chats are kept too"
    assistant.projects.change(name, "model", "gpt-4o-mini")
    assert assistant.projects.list() == ()
    assistant.projects.add("Thesis")
    (project,) = assistant.projects.list()
    assert project.name == name
    assert assistant.projects.settings(name).exclude == ("data/",)
    assert assistant.projects.instructions(name).read().text == "Be brief."


def test_a_project_may_have_its_own_model_and_notes_by_pattern(
    assistant: Assistant, server: ModelServer, thesis: Path
) -> None:
    name = assistant.projects.add("Thesis")
    assistant.projects.change(name, "model", "gpt-4o-mini")
    assistant.projects.change(name, "include", ["data/"])
    done = result_of(ask(assistant, "Walrus?", mode="project", project="Thesis"))
    assert done.answer.model == "gpt-4o-mini"
    assert "Monday" in system(server)
    assert "songs" not in system(server)
    found = assistant.search("walrus", project="Thesis")
    assert {hit.path for hit in found.hits} == {"Thesis/data/Log.md"}
