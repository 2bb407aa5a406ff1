"""Passwords and keys in settings go to the keyring, and are neither stored nor printed in clear."""

import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.errors import KeyringLocked

from app.cli.parser import run
from app.config.settings_file import SettingsStore
from app.config.settings_secrets import fill_server, forget_server
from app.errors import BadSetting
from app.ledger import Ledger
from app.library.open_vault import index_options
from app.sessions.mcp import McpServers
from chains.errors import McpFailed
from chains.mcp.server import McpServer
from tests.support.processes.file_keyring import VARIABLE, FileKeyring, read_keys

BASIC = "Basic bWU6aHVzaGh1c2g="  # me:hushhush
HUSH = "hushhush"
GITHUB = {"command": "npx", "args": ["-y", "hub"], "env": {"GITHUB_TOKEN": HUSH, "LANG": "de"}}
REMOTE = {"url": "https://mcp.invalid/x", "headers": {"X-Api-Key": HUSH, "Accept": "text/plain"}}
SERVERS = {
    "hub": GITHUB,
    "far": REMOTE,
    "bearer": {"url": "https://mcp.invalid", "headers": {"X-Any": f"Bearer {HUSH}"}},
    "address": {"url": f"https://me:{HUSH}@mcp.invalid/x"},
    "base": {"command": "db", "env": {"DATABASE": f"postgres://me:{HUSH}@127.0.0.1/x"}},
    "camel": {"command": "x", "env": {"apiKey": HUSH, "PGPASSWORD": HUSH, "monkey": "a banana"}},
    "named": {"command": "y", "env": {"API_KEY": "${MY_KEY}"}},
    "pat": {"command": "z", "env": {"GITHUB_PAT": HUSH, "githubPat": HUSH, "PATH_TO": "/usr"}},
    "option": {"command": "npx", "args": ["-y", "hub", "--api-key", HUSH, "--port", "8080"]},
    "equals": {"command": "npx", "args": ["hub", f"--token={HUSH}", "--tokens=5", "--verbose"]},
    "docker": {"command": "docker", "args": ["run", "-e", f"GITHUB_PAT={HUSH}", "-e", "A=b", "x"]},
    "header": {"command": "npx", "args": ["m", "--header", f"Authorization: Bearer {HUSH}"]},
    "dsn": {"command": "db", "args": [f"postgres://me:{HUSH}@127.0.0.1/x", "--read-only"]},
    "inside": {"command": "npx", "args": ["m", f"https://x.invalid/?a=1&apiKey={HUSH}#b"]},
    "bare": {"command": "npx", "args": ["m", f"sk-{HUSH}-{HUSH}", "plain"]},
    "twice": {"command": "x", "args": ["--token", HUSH, "--token", f"{HUSH}2", "--key=${MY_KEY}"]},
    "joined": {"command": "npx", "args": [f"--header=Authorization: Bearer {HUSH}"]},
    "env": {"command": "docker", "args": ["run", f"--env=API_TOKEN={HUSH}", "-u", f"me:{HUSH}"]},
    "json": {"command": "npx", "args": ["m", f'--config={{"apiKey":"{HUSH}"}}']},
    "prefixed": {"command": "npx", "args": ["m", f"ghp_{HUSH}{HUSH}", f"xoxb-{HUSH}"]},
    "user": {"command": "git", "args": ["clone", f"https://{HUSH}123@git.invalid/x"]},
    "fragment": {"command": "npx", "args": [f"https://x.invalid/#token={HUSH}"]},
    "code": {"command": "npx", "args": [f"https://x.invalid/?code={HUSH}=&auth={HUSH}"]},
    "mixed": {"command": "db", "args": ["--password", f"${{HOME}}{HUSH}"]},
    "query": {"url": f"https://mcp.invalid/x?api_key={HUSH}&tavilyApiKey={HUSH}3&days=7"},
}
SECRETS = [
    ("vectorStore.url", f"https://me:{HUSH}@vectors.invalid:8000?tenant=mine"),
    ("vectorStore.url", f"http://me:{HUSH}@127.0.0.1:8000"),
    ("chat.apiBase", f"https://me:{HUSH}@models.invalid/v1"),
    ("chat.apiBase", f"https://models.invalid/v1?api_key={HUSH}"),
    ("vectorStore.url", f"https://vectors.invalid:8000?tenant=mine&token={HUSH}&database=d"),
    ("mcp.servers", SERVERS),
]
Cli = Callable[..., str]


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "keys.json"
    monkeypatch.setenv(VARIABLE, str(file))
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    yield file
    keyring.set_keyring(before)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a verb; return everything that it prints."""

    def call(*argv: str) -> str:
        run(list(argv), lambda _: 1)
        return "".join(capsys.readouterr())

    return call


@pytest.fixture
def settings(strata_home: Path) -> Path:
    file = strata_home / "config" / "settings.toml"
    file.parent.mkdir(parents=True)
    return file


def read_ours(home: Path) -> str:
    """Return the text of all files of the program."""
    files = (path for path in home.rglob("*") if path.is_file())
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.parametrize(("key", "value"), SECRETS)
def test_a_secret_is_neither_kept_nor_printed(
    cli: Cli, keys: Path, settings: Path, strata_home: Path, key: str, value: Any
) -> None:
    given = value if isinstance(value, str) else json.dumps(value)
    said = cli("settings", "set", key, given, "--json")
    said += cli("settings", "get", key, "--json") + cli("settings", "get", key)
    said += cli("settings", "list", "--json") + cli("settings", "list")
    said += cli("settings", "set", key, "7") + cli("doctor", "--json") + cli("ledger")
    assert HUSH not in said + read_ours(strata_home)
    assert HUSH in "".join(read_keys(keys).values()) or BASIC in read_keys(keys).values()
    assert tomllib.loads(settings.read_text("utf-8"))


@pytest.mark.parametrize(("key", "value"), SECRETS)
def test_a_secret_that_was_written_into_the_file_is_moved_out_of_it(
    keys: Path, settings: Path, key: str, value: Any
) -> None:
    section, name = key.split(".")
    bare = SettingsStore(settings)
    bare.set(key, value)
    expected, stored = bare.get(key), read_keys(keys)
    keys.unlink()
    settings.write_text(f"# mine\n[{section}]\n{name} = {_to_toml(value)}\n", "utf-8")
    found = SettingsStore(settings)
    assert (found.get(key), found.problems) == (expected, ())
    assert read_keys(keys) == stored
    assert HUSH not in settings.read_text("utf-8")
    assert settings.read_text("utf-8").startswith("# mine")


def test_a_server_gets_its_secrets_back(keys: Path, settings: Path) -> None:
    store = SettingsStore(settings)
    store.set("mcp.servers", SERVERS)
    kept = store.get("mcp.servers")
    assert kept["hub"]["env"] == {"GITHUB_TOKEN": "${KEYRING}", "LANG": "de"}
    assert kept["named"] == SERVERS["named"]
    assert kept["camel"]["env"]["monkey"] == "a banana"
    servers = {name: fill_server(McpServer.parse(name, kept[name])) for name in SERVERS}
    for name in ("hub", "far", "bearer", "base", "camel", "pat"):
        given = McpServer.parse(name, SERVERS[name])
        assert (servers[name].env, servers[name].headers) == (given.env, given.headers)
    assert servers["address"].url == "https://mcp.invalid/x"
    assert servers["address"].headers == {"Authorization": BASIC}
    for name in (
        *("option", "equals", "docker", "header", "dsn", "inside", "bare", "joined", "env"),
        *("json", "prefixed", "user", "fragment", "code", "mixed"),
    ):
        assert servers[name].secret_args == tuple(SERVERS[name]["args"])
        assert kept[name]["args"] != SERVERS[name]["args"]
    assert servers["query"].secret_url == SERVERS["query"]["url"]
    assert servers["equals"].shown == "npx hub '--token=${KEYRING:token}' --tokens=5 --verbose"
    assert servers["query"].shown.endswith(
        "?api_key=${KEYRING:api_key}&tavilyApiKey=${KEYRING:tavilyApiKey}&days=7"
    )
    assert HUSH not in "".join(server.shown + repr(server) for server in servers.values())
    for server in servers.values():
        forget_server(server)
    assert read_keys(keys) == {}


def test_a_variable_of_the_environment_stands_for_a_secret_argument(
    keys: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "from outside")
    store = SettingsStore(settings)
    script = {"command": "sh", "args": ["-c", "echo ${MY_KEY}"]}
    store.set("mcp.servers", {"twice": SERVERS["twice"], "script": script})
    kept = store.get("mcp.servers")
    twice, shell = (fill_server(McpServer.parse(name, kept[name])) for name in ("twice", "script"))
    assert twice.secret_args == ("--token", HUSH, "--token", f"{HUSH}2", "--key=from outside")
    assert shell.secret_args == ("-c", "echo ${MY_KEY}")


def test_a_reordered_list_sends_each_secret_to_its_place(keys: Path, settings: Path) -> None:
    store = SettingsStore(settings)
    first = ["--token", "one1", "--token", "two2", f"ghp_{HUSH}3"]
    store.set("mcp.servers", {"hub": {"command": "npx", "args": first}})
    kept = store.get("mcp.servers")["hub"]["args"]
    changed = ["--token", "new5", *kept[2:4], kept[4], *kept[:2]]
    store.set("mcp.servers", {"hub": {"command": "npx", "args": changed}})
    server = fill_server(McpServer.parse("hub", store.get("mcp.servers")["hub"]))
    assert server.secret_args == (
        *("--token", "new5", "--token", "two2", f"ghp_{HUSH}3", "--token", "one1"),
    )


OLD = {
    "args": {
        "--token ${KEYRING}": {"token": "a1"},
        "--token=${KEYRING} --api-key ${KEYRING} --token ${KEYRING}": {
            "token": "a1",
            "api-key": "b2",
            "token#2": "c3",
        },
        "postgres://me:${KEYRING}@db.invalid/x": {"password": "a1"},
        "-e GITHUB_TOKEN=${KEYRING} -e SORT_KEY=${KEYRING}": {
            "GITHUB_TOKEN": "a1",
            "SORT_KEY": "b",
        },
        "Authorization:${KEYRING} ${KEYRING}": {"Authorization": "a1", "argument": "b2"},
        "--port ${KEYRING} https://x.invalid/?key=${KEYRING}&a=1": {"argument": "a1", "key": "b2"},
        "--token ${MY_KEY} --token ${KEYRING}": {"token#2": "b2"},
        "--token=${MY_KEY} ${MY_KEY} ${KEYRING} --token=${KEYRING}": {
            "argument": "a1",
            "token#2": "b2",
        },
    },
    "url": {
        "https://mcp.invalid/?api_key=${KEYRING}&b=1&sig=${KEYRING}": {"api_key": "1", "sig": "2"}
    },
}


@pytest.mark.parametrize(
    ("field", "text"), [(field, text) for field, texts in OLD.items() for text in texts]
)
def test_placeholders_of_older_settings_keep_their_secrets(
    keys: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, field: str, text: str
) -> None:
    stored = {f"mcp:hub:{field}:{name}": secret for name, secret in OLD[field][text].items()}
    keys.write_text(json.dumps(stored), "utf-8")
    command = {"command": "npx", "args": text.split(" ")}
    monkeypatch.setenv("MY_KEY", "mine")
    server = fill_server(McpServer.parse("hub", {"url": text} if field == "url" else command))
    server.require_secrets()
    expected = text
    sent = server.secret_url or " ".join(server.secret_args)
    sent = sent.replace("mine", "${MY_KEY}")
    for secret in OLD[field][text].values():
        expected = expected.replace("${KEYRING}", secret, 1)
    assert sent == expected
    forget_server(server)
    assert read_keys(keys) == {}


def test_a_new_secret_beside_an_old_placeholder_takes_another_name(
    keys: Path, settings: Path
) -> None:
    keys.write_text(json.dumps({"mcp:hub:args:token": HUSH}), "utf-8")
    store = SettingsStore(settings)
    args = ["--token", "${KEYRING}", "--token", "new-token-5"]
    store.set("mcp.servers", {"hub": {"command": "npx", "args": args}})
    server = fill_server(McpServer.parse("hub", store.get("mcp.servers")["hub"]))
    assert server.secret_args == ("--token", HUSH, "--token", "new-token-5")


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["--token", "${KEYRING:token}"]},
        {"command": "npx", "args": ["--token=${KEYRING}"]},
        {"command": "npx", "env": {"HUB_TOKEN": "${KEYRING}"}},
        {"url": "https://mcp.invalid", "headers": {"X-Key": "Bearer ${KEYRING}"}},
        {"url": "https://mcp.invalid/${KEYRING:argument}/x"},
    ],
)
def test_a_server_whose_secret_is_missing_is_not_started(keys: Path, entry: Any) -> None:
    server = fill_server(McpServer.parse("hub", entry))
    with pytest.raises(McpFailed, match="was not started, because the system's keyring") as failed:
        server.require_secrets()
    assert "enter the secret again" in str(failed.value)


UNSET: dict[str, Any] = {
    "option": {"command": "npx", "args": ["--token", "${NOT_SET}"]},
    "equals": {"command": "npx", "args": ["--token=${NOT_SET}", "${HOME}"]},
    "plain": {"command": "npx", "args": ["${NOT_SET}"]},
    "header": {"url": "https://mcp.invalid", "headers": {"X-Key": "Bearer ${NOT_SET}"}},
    "address": {"url": "https://mcp.invalid/?a=1&key=${NOT_SET}"},
    "variable": {"command": "npx", "env": {"HUB_TOKEN": "${NOT_SET}"}},
    "empty": {"command": "npx", "args": ["--token", "${EMPTY}"]},
}
SET: dict[str, Any] = {
    "option": {"command": "npx", "args": ["--token", "${HOME}"]},
    "script": {"command": "sh", "args": ["-c", "echo ${NOT_SET} there"]},
    "proxy": {"command": "npx", "env": {"HTTPS_PROXY": "${NOT_SET}", "LANG": "de"}},
}


@pytest.mark.parametrize("entry", UNSET.values(), ids=UNSET)
def test_a_server_that_names_a_variable_that_is_not_set_is_not_started(
    keys: Path, entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPTY", "")
    server = fill_server(McpServer.parse("hub", entry))
    with pytest.raises(McpFailed, match=r"hub was not started, because mcp.servers names \$\{"):
        server.require_secrets()


@pytest.mark.parametrize("entry", SET.values(), ids=SET)
def test_a_server_starts_without_a_variable_that_it_does_not_need(keys: Path, entry: Any) -> None:
    server = fill_server(McpServer.parse("hub", entry))
    server.require_secrets()
    assert (server.unset_variables, server.missing_secrets) == ((), ())


def test_a_backup_has_no_secrets_of_comments_and_unknown_keys(settings: Path) -> None:
    settings.write_text(
        f"""# api_key = {HUSH}
other_token = "{HUSH}"  # was ghp_{HUSH}
sorted = "by # name" # plain
[tool.x]
password = {{ a = "{HUSH}", pin = 5 }}
list = ["--token", "{HUSH}", 'https://me:{HUSH}@x.invalid']
[ui]
theme = "dark"
[mcp.servers.x]
command = "npx --token {HUSH}"
token = "{HUSH}"
""",
        "utf-8",
    )
    text = SettingsStore(settings).read_without_secrets()
    assert HUSH not in text
    found = tomllib.loads(text)
    assert (found["sorted"], found["ui"]["theme"]) == ("by # name", "dark")
    assert "# plain" in text


def test_old_approvals_lose_their_secrets(settings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mcp"
    folder.mkdir()
    shown = f"A=… npx hub --token {HUSH} --sort-key name"
    for name, command in (("a", shown), ("b", f"npx '--header=X-Key: {HUSH}"), ("c", "npx hub")):
        approval = {"server": name, "command": command, "tools": "x"}
        (folder / f"{name}.json").write_text(json.dumps(approval), "utf-8")
    with closing(McpServers(SettingsStore(settings), folder, Ledger(tmp_path / "ledger.log"))):
        texts = [file.read_text("utf-8") for file in sorted(folder.glob("*.json"))]
    assert HUSH not in "".join(texts)
    assert json.loads(texts[0])["tools"] == "x"
    assert json.loads(texts[0])["command"] == "'A=…' npx hub --token '[key]' --sort-key name"
    assert json.loads(texts[2])["command"] == "npx hub"


def test_old_approvals_are_read_at_one_start_only(settings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mcp"
    folder.mkdir()
    approval = {"server": "hub", "command": f"npx hub --token {HUSH}", "tools": "x"}

    def start() -> None:
        McpServers(SettingsStore(settings), folder, Ledger(tmp_path / "ledger.log")).close()

    (folder / "first.json").write_text("{")
    start()
    (folder / "later.json").write_text(json.dumps(approval))
    start()
    assert HUSH in (folder / "later.json").read_text()
    (folder / "version").unlink()
    start()
    assert HUSH not in (folder / "later.json").read_text()


def test_a_changed_secret_keeps_the_approval_of_its_command(keys: Path, settings: Path) -> None:
    store, prints = SettingsStore(settings), []
    for secret in (HUSH, "renewed"):
        store.set("mcp.servers", {"hub": {"command": "npx", "args": ["--api-key", secret]}})
        server = fill_server(McpServer.parse("hub", store.get("mcp.servers")["hub"]))
        assert server.secret_args == ("--api-key", secret)
        prints.append(server.fingerprint)
    assert len({*prints}) == 1


def test_a_key_in_the_query_of_an_address_is_sent_as_its_key(keys: Path, settings: Path) -> None:
    store = SettingsStore(settings)
    store.set("vectorStore.url", f"https://vectors.invalid:8000?token={HUSH}&tenant=mine&sig=")
    assert store.get("vectorStore.url") == "https://vectors.invalid:8000?tenant=mine&sig="
    server = index_options(store.values).server
    assert server is not None
    assert server.token == HUSH
    store.set("chat.apiBase", f"https://models.invalid/v1?key={HUSH}")
    assert store.get("chat.apiBase") == "https://models.invalid/v1"


def test_a_password_of_a_vector_server_is_sent_as_such(keys: Path, settings: Path) -> None:
    store = SettingsStore(settings)
    store.set("vectorStore.url", f"https://me:{HUSH}@vectors.invalid:8000?tenant=mine")
    server = index_options(store.values).server
    assert server is not None
    assert server.url == "https://vectors.invalid:8000?tenant=mine"
    assert server.token == BASIC


@pytest.mark.parametrize(("key", "value"), [SECRETS[0], SECRETS[3]])
def test_without_a_keyring_nothing_is_kept_and_the_way_out_is_named(
    settings: Path, key: str, value: Any
) -> None:
    store = SettingsStore(settings)
    with pytest.raises(BadSetting, match="belongs in the system's keyring") as refused:
        store.set(key, value)
    assert HUSH not in f"{refused.value} {refused.value.hint[0]}"
    assert ("${NAME}" if key == "mcp.servers" else "strata keys set") in str(refused.value.hint[0])
    assert not settings.exists()


def test_a_password_is_not_sent_unencrypted(keys: Path, settings: Path) -> None:
    store = SettingsStore(settings)
    far = {"far": {"url": f"http://me:{HUSH}@mcp.invalid/x"}}
    query = {"far": {"url": f"http://mcp.invalid/x?api_key={HUSH}"}}
    for key, value in (
        ("vectorStore.url", f"http://me:{HUSH}@far.invalid"),
        ("vectorStore.url", f"http://far.invalid?api_key={HUSH}"),
        ("mcp.servers", far),
        ("mcp.servers", query),
    ):
        with pytest.raises(BadSetting, match="unencrypted") as refused:
            store.set(key, value)
        assert HUSH not in str(refused.value)
    assert read_keys(keys) == {}


@pytest.mark.parametrize(("key", "value"), SECRETS)
def test_a_secret_that_the_keyring_does_not_take_is_not_overwritten(
    keys: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: Any
) -> None:
    section, name = key.split(".")
    settings.write_text(text := f"[{section}]\n{name} = {_to_toml(value)}\n", "utf-8")
    with monkeypatch.context() as locked:
        locked.setattr(FileKeyring, "set_password", _refuse)
        store = SettingsStore(settings)
        (problem,) = store.problems
        changed = store.get(key)
        for given in (changed, store.spec(key).default):
            with pytest.raises(BadSetting, match=f"{key} stays as it is") as refused:
                store.set(key, given)
            assert "Open the system's keyring" in str(refused.value.hint[0])
            assert HUSH not in f"{refused.value} {refused.value.hint[0]} {problem}"
        store.set("ui.theme", "dark")
        assert settings.read_text("utf-8").startswith(text)
    store.set(key, changed)
    assert store.problems == ()
    assert HUSH in "".join(read_keys(keys).values()) or BASIC in read_keys(keys).values()
    assert HUSH not in settings.read_text("utf-8")


def test_a_new_secret_replaces_the_one_that_the_file_still_held(
    keys: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text(f"[mcp.servers]\nhub = {_to_toml(GITHUB)}\n", "utf-8")
    with monkeypatch.context() as locked:
        locked.setattr(FileKeyring, "set_password", _refuse)
        store = SettingsStore(settings)
    store.set("mcp.servers", {"hub": {**GITHUB, "env": {"GITHUB_TOKEN": "renewed"}}})
    assert list(read_keys(keys).values()) == ["renewed"]


def test_a_setting_can_be_reset_together_with_its_secret(settings: Path) -> None:
    settings.write_text(f'[vectorStore]\nurl = "https://me:{HUSH}@vectors.invalid"\n', "utf-8")
    store = SettingsStore(settings)
    store.reset("vectorStore.url")
    assert store.problems == ()
    assert HUSH not in settings.read_text("utf-8")


def _refuse(*_: object) -> None:
    raise KeyringLocked("locked")


def _to_toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_to_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}" = {_to_toml(each)}' for name, each in value.items()) + "}"
    return json.dumps(value)
