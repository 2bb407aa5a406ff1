import logging
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

from app.config import secrets
from app.errors import NoKeyring


class MemoryKeyring(KeyringBackend):
    """A keyring that forgets everything at the end."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise PasswordDeleteError("nothing there")
        del self.kept[service, username]


class LockedKeyring(MemoryKeyring):
    """A keyring that does not open."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("locked")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    backend = MemoryKeyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    monkeypatch.setattr(keyring, "get_password", backend.get_password)
    monkeypatch.setattr(keyring, "set_password", backend.set_password)
    monkeypatch.setattr(keyring, "delete_password", backend.delete_password)
    return backend


@pytest.fixture
def locked(memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = LockedKeyring()
    monkeypatch.setattr(keyring, "get_password", backend.get_password)
    monkeypatch.setattr(keyring, "set_password", backend.set_password)


def test_a_key_comes_from_the_usual_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    assert secrets.key_for("openai") == "from-environment"


def test_a_second_usual_name_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "from-environment")
    assert secrets.key_for("gemini") == "from-environment"


def test_without_a_key_there_is_none() -> None:
    assert secrets.key_for("openai") is None


def test_a_key_that_was_entered_comes_first(
    memory: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    secrets.save_key("openai", "entered")
    assert secrets.key_for("openai") == "entered"


def test_an_empty_key_is_taken_out(memory: MemoryKeyring) -> None:
    secrets.save_key("openai", "entered")
    secrets.save_key("openai", "")
    secrets.save_key("openai", "")
    assert memory.kept == {}


@pytest.mark.usefixtures("locked")
def test_a_locked_keyring_leaves_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "from-environment")
    assert secrets.key_for("mistral") == "from-environment"


@pytest.mark.usefixtures("locked")
def test_a_key_that_cannot_be_saved_is_refused_with_a_way_out() -> None:
    with pytest.raises(NoKeyring) as caught:
        secrets.save_key("openai", "entered")

    assert "OPENAI_API_KEY" in str(caught.value.hint[0])


def test_without_a_keyring_saving_is_refused() -> None:
    with pytest.raises(NoKeyring):
        secrets.save_key("openai", "entered")
    assert secrets.find_keyring() is None


def test_a_key_is_hidden_from_the_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from app import log

    monkeypatch.setenv("OPENAI_API_KEY", "quite ordinary words")
    secrets.key_for("openai")
    log.start_log(tmp_path / "log")
    logging.getLogger("app").warning("it was quite ordinary words")
    log.stop_log()
    assert "ordinary" not in (tmp_path / "log").read_text("utf-8")
