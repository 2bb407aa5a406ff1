"""The definitions of all settings: name, default, range, help and section.

To add a setting, add a field to `Settings`, in the order of the dialog.
"""

import string
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from chains.mcp.server import parse_servers

__all__ = ["SECTIONS", "SHARES", "Settings", "Theme", "is_secure_address"]

Theme = Literal["system", "light", "dark"]
SendKey = Literal["Enter", "Ctrl+Enter"]
IncludeText = Literal["auto", "never"]
# A temperature, or an empty text for none.
Temperature = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | Literal[""]
SECTIONS: Final = (
    "Appearance",
    "Keyboard",
    "Vault and index",
    "Models",
    "Spending",
    "Context",
    "Retrieval",
    "Agent",
    "MCP servers",
    "Prompts",
    "Hooks",
    "Memory",
    "Privacy",
    "Ledger",
    "Backup",
)

# In the order in which the actions happen. See `app.config.schema.check_shares`.
MOST_DOLLARS: Final = 100_000  # of a spending limit
SHARES: Final = ("context.trimAt", "context.compactAt", "context.blockAt")


def _define_setting(
    key: str, default: object, section: str, label: str, help: str, **limits: Any
) -> Any:
    extra = {"section": section, "unit": limits.pop("unit", "")}
    return Field(
        default, alias=key, title=label, description=help, json_schema_extra=extra, **limits
    )


_THIS_COMPUTER: Final = ("127.0.0.1", "::1", "localhost")
# White space, and characters without a width that a copied address may begin or end with.
_BLANKS: Final = f"{string.whitespace}\u00a0\u200b\u2060\ufeff"


def is_secure_address(address: str) -> bool:
    """Return whether nobody on the way can change what a web address answers."""
    parts = urlsplit(address)
    return parts.scheme == "https" or parts.hostname in _THIS_COMPUTER


class Settings(BaseModel):
    """All setting values, validated and immutable."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    ui_theme: Theme = _define_setting(
        "ui.theme", "system", "Appearance", "Theme", "Light, dark, or as the system is."
    )
    ui_quick_ask: bool = _define_setting(
        "ui.quickAsk",
        False,
        "Appearance",
        "Quick ask in the tray",
        "An icon in the tray of the desktop opens a small window for a question.",
    )
    ui_send_key: SendKey = _define_setting(
        "ui.sendKey",
        "Enter",
        "Keyboard",
        "Send key",
        "The key that sends a message. With Ctrl+Enter, Enter starts a new line.",
    )
    ui_keys: dict[str, list[str]] = _define_setting(
        "ui.keys",
        {},
        "Keyboard",
        "Keys of commands",
        "Click the keys of a command, and press others. Its menu adds or removes keys.",
    )
    vault_path: str = _define_setting(
        "vault.path",
        "",
        "Vault and index",
        "Folder of notes",
        "The folder that is opened at the start. Empty: none is chosen.",
    )
    vault_exclude: list[str] = _define_setting(
        "vault.exclude",
        [],
        "Vault and index",
        "Left out of the index",
        "Patterns as in a .gitignore file, relative to the folder of notes.",
    )
    embedding_model: str = _define_setting(
        "embedding.model",
        "all-MiniLM-L6-v2",
        "Vault and index",
        "Embedding model",
        "A sentence-transformers model on this computer: a folder or a name. A new one embeds "
        "all notes again; search keeps working meanwhile.",
        min_length=1,
    )
    vector_store_url: str = _define_setting(
        "vectorStore.url",
        "",
        "Vault and index",
        "Vector server",
        "Address of a Chroma server, such as https://HOST:8000?tenant=T&database=D. Empty: a "
        "store on this computer.",
    )
    chat_model: str = _define_setting(
        "chat.model",
        "extractive",
        "Models",
        "Model",
        "The model that answers, such as openai/NAME, ollama/NAME or gguf/FILE. "
        '"extractive" quotes notes without a model.',
        min_length=1,
    )
    chat_api_base: str = _define_setting(
        "chat.apiBase",
        "",
        "Models",
        "Server address",
        "Address of an OpenAI-compatible server. Empty: the model's own service.",
    )
    chat_local_context: int = _define_setting(
        "chat.localContext",
        16_384,
        "Models",
        "Local context length",
        "The context that a model is loaded with where Strata sets it, as with Ollama and model "
        "files. More takes more memory.",
        ge=2_048,
        le=2_000_000,
        unit="tokens",
    )
    chat_image_models: list[str] = _define_setting(
        "chat.imageModels",
        [],
        "Models",
        "Models that see images",
        "Names of models that accept images, for servers that do not say so.",
    )
    chat_temperature: Temperature = _define_setting(
        "chat.temperature",
        0.2,
        "Models",
        "Temperature",
        "How varied the answers are; 0 gives the most stable ones. Empty: none is sent. Models "
        "that reason get none.",
    )
    chat_max_seconds: int = _define_setting(
        "chat.maxSeconds",
        0,
        "Models",
        "Time for an answer",
        "Longest time that one answer may take. 0: no limit, so that slow models may think.",
        ge=0,
        le=86_400,
        unit="seconds",
    )
    chat_summary_model: str = _define_setting(
        "chat.summaryModel",
        "",
        "Models",
        "Model for summaries",
        "The model that summarises old turns. Empty: the model that answers.",
    )
    chat_titles: bool = _define_setting(
        "chat.titles",
        True,
        "Models",
        "Titles by the model",
        "Let the model name a chat after its first answer, which takes one short call. Off: the "
        "first words are the title.",
    )
    spending_day_limit: float = _define_setting(
        "spending.dayLimit",
        0.0,
        "Spending",
        "Limit for a day",
        "No call to a model that may cost more than what is left of it is made without asking. 0: "
        "no limit.",
        ge=0,
        le=MOST_DOLLARS,
        allow_inf_nan=False,
        unit="dollars",
    )
    spending_month_limit: float = _define_setting(
        "spending.monthLimit",
        0.0,
        "Spending",
        "Limit for a month",
        "The same for a month of the calendar. 0: no limit.",
        ge=0,
        le=MOST_DOLLARS,
        allow_inf_nan=False,
        unit="dollars",
    )
    spending_hold_unpriced: bool = _define_setting(
        "spending.holdUnpriced",
        False,
        "Spending",
        "Hold back models without a known price",
        "While a limit is set, ask before each answer of a model whose price is not known. Off: no "
        "limit holds such a model back, and the sums say so.",
    )
    auto_compact_threshold: int = _define_setting(
        "autoCompactThreshold",
        128_000,
        "Context",
        "Context limit",
        "The maximum tokens of a request. A model with a smaller limit lowers it further.",
        ge=4_000,
        le=2_000_000,
        unit="tokens",
    )
    max_output_tokens: int = _define_setting(
        "maxOutputTokens",
        4_096,
        "Context",
        "Reserved for the answer",
        "Tokens of the limit that the answer may use.",
        ge=256,
        le=200_000,
        unit="tokens",
    )
    context_trim_at: float = _define_setting(
        "context.trimAt",
        0.80,
        "Context",
        "Trim at",
        "Old tool results are shortened from this share of the budget on.",
        ge=0.1,
        le=1,
        allow_inf_nan=False,
    )
    context_compact_at: float = _define_setting(
        "context.compactAt",
        0.95,
        "Context",
        "Compact at",
        "Old turns are summarised from this share of their budget on. Not below context.trimAt.",
        ge=0.1,
        le=1,
        allow_inf_nan=False,
    )
    context_block_at: float = _define_setting(
        "context.blockAt",
        0.98,
        "Context",
        "Block at",
        "Above this share, old turns are summarised before the next message. Not below "
        "context.compactAt.",
        ge=0.1,
        le=1,
        allow_inf_nan=False,
    )
    context_auto_compact: bool = _define_setting(
        "context.autoCompact",
        True,
        "Context",
        "Compact automatically",
        "Summarise old turns automatically when the history fills its budget.",
    )
    context_keep_last_assistant_messages: int = _define_setting(
        "context.keepLastAssistantMessages",
        10,
        "Context",
        "Trimmed last",
        "How many of the newest assistant messages keep their tool results longest.",
        ge=0,
        le=200,
    )
    history_clean_tool_output_after_turns: int = _define_setting(
        "history.cleanToolOutputAfterTurns",
        3,
        "Context",
        "Old results",
        "Tool results older than this many turns are shortened first.",
        ge=0,
        le=200,
        unit="turns",
    )
    result_offload_threshold: int = _define_setting(
        "resultOffloadThreshold",
        4_096,
        "Context",
        "Largest result in a request",
        "A larger tool result is stored outside the request, and the model reads it in parts.",
        ge=256,
        le=1_000_000,
        unit="bytes",
    )
    tool_deferral_threshold: float = _define_setting(
        "toolDeferralThreshold",
        0.10,
        "Context",
        "Tools in a request",
        "The share of the budget that tools may take. The model searches for those beyond it.",
        ge=0.01,
        le=1,
        allow_inf_nan=False,
    )
    project_include_text: IncludeText = _define_setting(
        "project.includeText",
        "auto",
        "Context",
        "Text of a project",
        "auto sends the newest notes of a project whole with each message, up to a quarter of the "
        "budget and 16,000 tokens. never sends their names and headings only.",
    )
    retrieval_top_k: int = _define_setting(
        "retrieval.topK",
        8,
        "Retrieval",
        "Passages per message",
        "How many passages are retrieved from the notes for one message. Answers without a model "
        "are chosen from two and a half times as many.",
        ge=1,
        le=50,
    )
    retrieval_rewrite: bool = _define_setting(
        "retrieval.rewrite",
        False,
        "Retrieval",
        "Rewrite follow-ups",
        "Let the model rewrite a follow-up into a search query. This takes one more call.",
    )
    retrieval_rerank: bool = _define_setting(
        "retrieval.rerank",
        False,
        "Retrieval",
        "Rerank results",
        "Rerank the best passages with a cross-encoder. Slower; needs retrieval.rerankModel.",
    )
    retrieval_rerank_model: str = _define_setting(
        "retrieval.rerankModel",
        "",
        "Retrieval",
        "Reranking model",
        "A folder with a sentence-transformers cross-encoder.",
    )
    agent_max_steps: int = _define_setting(
        "agent.maxSteps",
        24,
        "Agent",
        "Steps",
        "Most tool steps before the model must answer.",
        ge=1,
        le=200,
    )
    agent_max_seconds: int = _define_setting(
        "agent.maxSeconds",
        300,
        "Agent",
        "Time",
        "Longest time with tools before the model must answer.",
        ge=5,
        le=7_200,
        unit="seconds",
    )
    mcp_servers: dict[str, dict[str, Any]] = _define_setting(
        "mcp.servers",
        {},
        "MCP servers",
        "Servers as JSON",
        "Programs or addresses with more tools for the agent, by name. Each is shown before its "
        "first start, and each of its tools asks first.",
    )
    hooks_enabled: bool = _define_setting(
        "hooks.enabled",
        False,
        "Hooks",
        "Your hooks",
        "Run the Python files in the hooks folder beside the settings. They can read each request.",
    )
    privacy_offline: bool = _define_setting(
        "privacy.offline",
        False,
        "Privacy",
        "Offline",
        "Refuse every call that leaves this computer. Servers on this computer still answer.",
    )
    updates_address: str = _define_setting(
        "updates.address",
        "",
        "Privacy",
        "Newer versions",
        "Address of a release, such as https://HOST/strata-release.json, which each start of the "
        "window looks at. A newer version is told, never installed. Empty: nothing is looked for.",
    )

    @field_validator("ui_keys")
    @classmethod
    def _are_keys(cls, value: dict[str, list[str]]) -> dict[str, list[str]]:
        if any(not key.strip() for keys in value.values() for key in keys):
            raise ValueError("a key is empty")
        return value

    @field_validator("mcp_servers")
    @classmethod
    def _are_servers(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        parse_servers(value)
        return value

    @field_validator("chat_api_base", "vector_store_url")
    @classmethod
    def _is_web_address(cls, value: str) -> str:
        value = value.strip(_BLANKS)
        if value:
            address = urlsplit(value)
            if address.scheme not in {"http", "https"} or not address.hostname:
                raise ValueError("not a web address")
        return value

    @field_validator("chat_api_base")
    @classmethod
    def _is_base(cls, value: str) -> str:
        if not value:
            return value
        from chains.llm.urls import clean_api_base  # a search needs no model

        return clean_api_base(value)

    @field_validator("updates_address")
    @classmethod
    def _is_secure_address(cls, value: str) -> str:
        """Refuse an address whose answer, with its checksums, could be forged on the way."""
        value = cls._is_web_address(value)
        if value and not is_secure_address(value):
            raise ValueError("it does not begin with https://")
        return value
