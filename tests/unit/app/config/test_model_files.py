"""Model files in the list of models, in the doctor, and as the model of a chat."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from app.config.model_files import RecentModelFiles
from app.doctor import check_up
from app.errors import InvalidRequest, NotFound, TurnFailed, describe
from app.rpc.wire import convert_event
from chains.events import ModelLoadProgressed
from chains.gguf import process
from tests.support.models.tiny_model import ANSWER, NAME, needs_library, write_model
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny.gguf")


@pytest.fixture
def has_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "is_installed", lambda: True)


@pytest.mark.usefixtures("has_library")
def test_a_file_is_looked_at_and_listed_without_being_loaded(
    assistant: Assistant, path: Path
) -> None:
    assistant.settings.set("chat.localContext", 4_096)
    offer = assistant.model_setup.look_at_file(path)
    assert offer.obstacle == ""
    assert offer.sentence.startswith("4,096 of 8,192 tokens of context. Needs 111 MB of memory, ")
    choice = next(one for one in assistant.model_setup.list_choices() if one.name == f"gguf/{path}")
    assert (choice.label, choice.info.is_local, choice.is_set) == (NAME, True, False)
    assert choice.summary == "4,096 of 8,192 tokens · 111 MB of memory · tools · this computer"
    shown = choice.to_dict()
    assert (shown["context"], shown["vision"], shown["problem"]) == (4_096, False, None)
    assert 110e6 < shown["memory_bytes"] < 112e6
    path.unlink()
    assert f"gguf/{path}" not in {one.name for one in assistant.model_setup.list_choices()}


def test_what_hinders_a_file_is_said_before_it_is_used(
    assistant: Assistant, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "is_installed", lambda: False)
    assert process.INSTALL in assistant.model_setup.look_at_file(path).obstacle
    path.write_text("A note.", "utf-8")
    with pytest.raises(InvalidRequest, match=r"tiny\.gguf is not a GGUF file\."):
        assistant.model_setup.look_at_file(path)
    with pytest.raises(InvalidRequest, match="is not a GGUF file"):
        assistant.model_setup.require_known(f"gguf/{path}")
    with pytest.raises(NotFound, match="No service has a model named whatever"):
        assistant.model_setup.require_known("whatever")
    assistant.model_setup.require_known("extractive")


def test_the_newest_files_are_remembered(tmp_path: Path) -> None:
    files = RecentModelFiles(tmp_path / "state" / "files.json")
    assert files.list_names() == ()
    paths = [tmp_path / f"{number}.gguf" for number in range(15)]
    for path in (*paths, paths[3]):
        path.touch()
        files.add(f"gguf/{path}")
    names = files.list_names()
    assert names[:3] == (f"gguf/{paths[3]}", f"gguf/{paths[14]}", f"gguf/{paths[13]}")
    assert len(names) == 12
    (tmp_path / "state" / "files.json").write_text("[1, {", "utf-8")
    assert files.list_names() == ()


def check_model(assistant: Assistant) -> tuple[bool, str]:
    """Return what the doctor says about the model."""
    (found,) = (check for check in check_up(assistant, None) if check.name == "model")
    return found.ok, found.detail


@pytest.mark.usefixtures("has_library")
def test_the_doctor_names_the_file_and_what_is_wrong_with_it(
    assistant: Assistant, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant.settings.set("chat.model", f"gguf/{path}")
    is_fine, said = check_model(assistant)
    assert is_fine
    assert said.startswith(f"{NAME} in {path}. 8,192 of 8,192 tokens of context. Needs 1")
    monkeypatch.setattr(process, "is_installed", lambda: False)
    assert check_model(assistant) == (
        False,
        "Opening tiny.gguf takes the package xllamacpp, which is not installed. Install it with "
        '`pip install "strata-notes[local]"`, then ask again.',
    )
    path.unlink()
    assert check_model(assistant) == (False, f"{path} does not exist.")


@needs_library
def test_a_chat_is_answered_from_a_file_while_offline_and_the_model_ends_with_the_program(
    assistant: Assistant, path: Path
) -> None:
    assistant.settings.set("privacy.offline", True)
    assistant.settings.set("chat.model", f"gguf/{path}")
    events = ask(assistant, "Does it work?", mode="chat")
    result = result_of(events)
    assert (result.answer.text, result.answer.end.status, result.answer.model) == (
        ANSWER,
        "complete",
        f"gguf/{path}",
    )
    assert result.context["model_limit"] == 8_192
    assert result.usage is not None
    assert result.usage.cost == 0.0
    loading = [event for event in events if isinstance(event, ModelLoadProgressed)]
    assert loading[0].text == f"Loading {NAME}: 0\N{NO-BREAK SPACE}% (0.1 GB of memory)"
    assert loading[-1].text == f"Waiting for {NAME}…"
    name, data = convert_event(loading[0]) or ("", {})
    assert (name, data["model"], data["done"]) == ("loading_progress", NAME, 0.0)
    local = assistant._turns.local
    assert local.pid is not None
    ask(assistant, "And without a model?", mode="chat", model="extractive")
    assert local.pid is None
    ask(assistant, "Does it work?", mode="chat")
    assert local.pid is not None
    assistant.close()
    assert local.pid is None


def test_a_file_that_is_gone_is_said_and_the_message_is_kept(
    assistant: Assistant, path: Path
) -> None:
    path.unlink()
    assistant.settings.set("chat.model", f"gguf/{path}")
    with pytest.raises(TurnFailed) as raised:
        ask(assistant, "Does it work?", mode="chat")
    info = describe(raised.value)
    assert (info.code, info.message) == ("model_unavailable", f"{path} does not exist.")
    assert info.session is not None
