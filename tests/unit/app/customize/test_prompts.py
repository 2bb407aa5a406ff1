from pathlib import Path

import pytest

from app.customize.customization import load_user_prompts
from chains.prompts import Customization, load_prompt

OWN = (
    "# agent_configuration\r\n\r\nYou are a gardener.\r\n\r\n# response_format\r\n\r\nBe kind.\r\n"
)


def test_a_file_takes_the_place_of_the_prompt_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "chat.md").write_bytes(b"\xef\xbb\xbf" + OWN.replace("\n", "\r\n").encode())
    prompts = load_user_prompts(tmp_path)
    sections = [(section.name, section.content) for section in prompts("chat").sections]
    assert sections == [
        ("agent_configuration", "You are a gardener."),
        ("response_format", "Be kind."),
    ]
    assert prompts("chat").problem == ""
    assert prompts("agent") == load_prompt("agent")


def test_a_prompt_stays_what_it_is_while_a_turn_goes_on(tmp_path: Path) -> None:
    prompts = load_user_prompts(tmp_path)
    assert prompts("chat") == load_prompt("chat")
    (tmp_path / "chat.md").write_text(OWN)
    assert prompts("chat") == load_prompt("chat")
    assert load_user_prompts(tmp_path)("chat") != load_prompt("chat")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no heading such as “# agent_configuration”"),
        (b"# My rules\n\nBe kind.\n", "no heading"),
        (b"Be kind.\n\n# tools\n\nNone.\n", "before its first heading"),
        (b"# tools\n\na\n\n# tools\n\nb\n", "twice"),
        (b"# tools\n\n# response_format\n\nb\n", "nothing stands below"),
        (b"# tools\n\n\xff\xfe\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_prompt_is_told_and_the_built_in_one_used(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "chat.md").write_bytes(content)
    prompt = load_user_prompts(tmp_path)("chat")
    assert prompt.sections == load_prompt("chat").sections
    assert str(tmp_path / "chat.md") in prompt.problem
    assert reason in prompt.problem


def test_a_prompt_beside_the_answers_own_is_told_of_as_well(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("Sum it up.")
    additions = Customization(load_user_prompts(tmp_path), warnings=("First.",))
    first, second = additions.problems("chat", "summary")
    assert (first, "summary.md is not used" in second) == ("First.", True)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "chat.md").mkdir()
    assert "is a directory" in load_user_prompts(tmp_path)("chat").problem
