"""Secrets are recognised by their look, name and place, and harmless values are not."""

import pytest

from app.secret_text import redact, redact_arguments

H = "hushhush7"
SECRET = [
    [f"--header=Authorization: Bearer {H}"],
    [f"-HAuthorization: {H}"],
    [f"--env=X_TOKEN={H}"],
    [f"-eAPI_KEY_2={H}"],
    ["--password", f"${{HOME}}{H}"],
    ["--user", f"me:{H}"],
    [f"ghp_{H}"],
    [f"github_pat_{H}"],
    [f"sk-ant-{H}"],
    [f"glpat-{H}"],
    [f"xoxb-1-{H}"],
    [f"hf_{H}{H}"],
    [f"xai-{H}{H}"],
    [f"https://{H}@git.invalid/x"],
    [f"https://{H}:@git.invalid/x"],
    [f"https://x.invalid/?auth={H}"],
    [f"https://x.invalid/?a=1&code={H}&b=2"],
    [f"https://x.invalid/#access_token={H}"],
    ["https://x.invalid/s/aB3dE5fG7hI9jhushhush7K1lM2nO4pQ6/mcp"],
    [f'{{"auth": {{"clientSecret": "{H}"}}}}'],
    [f"npx hub --token {H} -y"],
    [f"redis://:{H}@127.0.0.1/0"],
    ["--password", f"/{H}"],
    ["--secret-key", f"/wJalrXUtnFEMI/K7{H}/bPxR"],
    ["--password", f"/a/{H}!"],
    ["-p", H],
    ["-u", "root", "-p", H.rstrip("7")],
    ["-u", "root", f"-p{H}"],
    ["-a", H],
    ["--config", f'{{"token": "{H}"}}'],
    ["--config", f'{{"token" : ["{H}"]}}'],
    ["--config", f'{{\\"token\\": \\"{H}\\"}}'],
    ["--config", f'{{"server": "{{\\"port\\": 1, \\"token\\": \\"{H}\\"}}"}}'],
    ["--config", f'{{"token": "a\\"{H}"}}'],
    ["--config", f"{{'token': '{H}'}}"],
    ["--config", f"port: 1\ntoken: {H}"],
]
HARMLESS = [
    ["--sort-key", "name"],
    ["--sort-key=created_at_2024"],
    ["--partition-key", "user_id_1"],
    ["--public-key", "AAAAB3NzaC1yc2"],
    ["--key", "title"],
    ["--key", "/etc/ssl/private/key.pem"],
    ["--password", "/run/secrets/db_password_2"],
    ["--private-key", "/Users/Max/Key2.pem"],
    ["--secret", "~/secrets/1"],
    ["--token", "${MY_TOKEN}"],
    ["--token=Bearer ${MY_TOKEN}"],
    ["--max-tokens=4096", "--token-limit", "5000"],
    ["-e", "GITHUB_TOKEN", "ghcr.io/github/server"],
    ["--auth", "none", "--cookie", "false"],
    ["--user", "1000:1000"],
    ["https://git@github.invalid/x"],
    ["https://x.invalid/?code=404&auth=basic"],
    ["--password-file", "/run/secrets/db"],
    ["image@sha256:ab12cd34ab12cd34ab12cd34ab12cd34"],
    ["--token", "--verbose"],
    ["--config", '{"token": true, "password": null, "secret": ""}', '{"token":false}'],
    ["--config", '{"token": "none", "auth": {"password": "${MY_PASSWORD}"}}'],
    ["--config", "token: null\nport: 8080"],
    ["--token", "", "--password=", "TOKEN=none", "--secret=nil"],
    ["-p", "8080", "-p", "127.0.0.1:8080:80/tcp", "-p", "@a/package", "-p", "name@1.2.3"],
    ["-u", "1000", "-p", "5432:5432", "-p", "/var/lib/data", "-p", "${PORT}", "-path=x"],
    ["-p", "my-project-2024", "-w", "/work", "-a", "stdin"],
    ["-y", "@llmindset/hf-mcp-server", "npm-check-updates", "pplx-mcp-server"],
    ["--folder", "npm_modules-of-mine/dp_dynamic-programming"],
]
LONG = [
    *("?a=", "https://x?a=", "key=", "key", "token=", "a:b ", "--key ", "://a@", "://", "A1b"),
    *("x.secret-a=", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaaa.", "a-"),
    *("${a}", "${"),
]
# What may precede a long text, so that each split of it would be tried.
STARTS = ["", "://", "://${"]


@pytest.mark.parametrize("arguments", SECRET)
def test_a_secret_is_found(arguments: list[str]) -> None:
    redacted = redact_arguments(arguments)
    assert H.rstrip("7") not in "".join(redacted)
    assert "[key]" in "".join(redacted)
    assert redact_arguments(redacted) == redacted


@pytest.mark.parametrize("arguments", HARMLESS)
def test_a_harmless_argument_stays(arguments: list[str]) -> None:
    assert redact_arguments(arguments) == arguments


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("text", LONG)
def test_a_long_text_is_searched_in_time_that_grows_with_it(text: str, start: str) -> None:
    long = start + text * (20_000 // len(text))
    assert len(redact(long)) > 0
    assert len(redact_arguments([long])) == 1
