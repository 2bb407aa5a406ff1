import pytest

from app.config.schema import check, schema
from app.config.settings import SECTIONS, Settings
from app.errors import BadSetting


def test_every_setting_says_what_it_is() -> None:
    for spec in schema().values():
        assert spec.help.endswith(".")
        assert spec.label
        assert spec.section in SECTIONS
        assert spec.range_text


def test_defaults_are_those_of_the_schema() -> None:
    values = Settings()
    assert {key: getattr(values, spec.field) for key, spec in schema().items()} == {
        "ui.theme": "system",
        "ui.quickAsk": False,
        "ui.sendKey": "Enter",
        "ui.keys": {},
        "vault.path": "",
        "vault.exclude": [],
        "embedding.model": "all-MiniLM-L6-v2",
        "vectorStore.url": "",
        "chat.model": "extractive",
        "chat.apiBase": "",
        "chat.localContext": 16_384,
        "chat.imageModels": [],
        "chat.temperature": 0.2,
        "chat.maxSeconds": 0,
        "autoCompactThreshold": 128_000,
        "maxOutputTokens": 4_096,
        "chat.summaryModel": "",
        "chat.titles": True,
        "spending.dayLimit": 0.0,
        "spending.monthLimit": 0.0,
        "spending.holdUnpriced": False,
        "context.trimAt": 0.80,
        "context.compactAt": 0.95,
        "context.blockAt": 0.98,
        "context.autoCompact": True,
        "context.keepLastAssistantMessages": 10,
        "history.cleanToolOutputAfterTurns": 3,
        "project.includeText": "auto",
        "retrieval.topK": 8,
        "retrieval.rewrite": False,
        "retrieval.rerank": False,
        "retrieval.rerankModel": "",
        "resultOffloadThreshold": 4_096,
        "toolDeferralThreshold": 0.10,
        "agent.maxSteps": 24,
        "agent.maxSeconds": 300,
        "mcp.servers": {},
        "hooks.enabled": False,
        "privacy.offline": False,
        "updates.address": "",
    }


@pytest.mark.parametrize(
    ("key", "lowest", "highest"),
    [
        ("autoCompactThreshold", 4_000, 2_000_000),
        ("maxOutputTokens", 256, 200_000),
        ("retrieval.topK", 1, 50),
        ("chat.temperature", 0, 2),
    ],
)
def test_the_ends_of_a_range_belong_to_it_and_nothing_beyond(
    key: str, lowest: int, highest: int
) -> None:
    assert check(key, lowest) == lowest
    assert check(key, highest) == highest
    for outside in (lowest - 1, highest + 1):
        with pytest.raises(BadSetting, match=f"{lowest:,} to {highest:,}"):
            check(key, outside)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("autoCompactThreshold", True),
        ("autoCompactThreshold", "8000"),
        ("autoCompactThreshold", 8000.0),
        ("chat.temperature", float("nan")),
        ("chat.model", ""),
        ("chat.apiBase", "localhost:8080"),
        ("chat.apiBase", "http://"),
        ("ui.theme", "pink"),
        ("privacy.offline", 1),
        ("vault.exclude", "*.md"),
        ("vault.exclude", [1]),
        ("vault.path", None),
    ],
)
def test_a_value_of_another_kind_is_refused(key: str, value: object) -> None:
    with pytest.raises(BadSetting, match=f"^{key} takes ") as caught:
        check(key, value)
    assert caught.value.key == key


@pytest.mark.parametrize("blank", [" ", "\n", "\t \r\n", "\u00a0", "\u200b", "\ufeff"])
@pytest.mark.parametrize("key", ["chat.apiBase", "vectorStore.url"])
def test_blanks_around_an_address_are_no_part_of_it(key: str, blank: str) -> None:
    assert check(key, f"{blank}http://box:8000/v1{blank}") == "http://box:8000/v1"
    assert check(key, blank) == ""


def test_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(BadSetting, match="contextTurns"):
        check("contextTurns", 5)
