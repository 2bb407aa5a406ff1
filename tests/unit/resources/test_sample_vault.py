"""The sample vault keeps what a user guide promises: links lead somewhere, figures are right."""

import re
import shlex
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path, PurePosixPath

import pytest
import yaml

from app.cli.parser import build_parser
from app.commands import COMMANDS as SLASH_COMMANDS
from app.config.schema import schema
from app.config.settings import Settings
from app.errors import _CODES, AppError
from context.budget import compute_budget_tokens, compute_window, output_reserve
from resources import sample_vault
from ui.actions import COMMANDS
from vault.embedder import Embedder
from vault.notes.links import LinkResolver
from vault.notes.note import Note, read_note
from vault.vault import Vault

FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r" \^([\w-]+)$", re.MULTILINE)
SETTING = re.compile(r"`((?:vault|retrieval|chat|privacy|ui|context|hooks)\.(?!md`)\w+)`")


def note_paths() -> list[str]:
    """Every note, relative to the vault."""
    root = sample_vault()
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))


@cache
def text_of(path: str) -> str:
    return Path(sample_vault(), path).read_text("utf-8")


def prose_of(path: str) -> str:
    """The note without front matter and code, where neither links nor tags are meant."""
    return CODE.sub("", FRONT_MATTER.sub("", text_of(path)))


def named(title: str) -> str:
    """The path of the one note with that file name."""
    (path,) = [path for path in note_paths() if PurePosixPath(path).stem == title]
    return path


@cache
def note_of(path: str) -> Note:
    return read_note(sample_vault(), path)


@cache
def resolver() -> LinkResolver:
    root = sample_vault()
    pictures = [path.relative_to(root).as_posix() for path in root.rglob("*.png")]
    notes = [(path, note_of(path).aliases) for path in note_paths()]
    return LinkResolver([*notes, *((path, ()) for path in pictures)])


def rows_of(path: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, its head left out."""
    below = text_of(path).split(f"# {heading}\n", 1)[1]
    lines = below[below.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def number(cell: str) -> int:
    return int(cell.strip().replace(",", ""))


def test_the_guide_has_about_twenty_notes() -> None:
    assert 20 <= len(note_paths()) <= 28


@pytest.mark.parametrize("path", note_paths())
def test_front_matter_is_a_mapping_with_tags(path: str) -> None:
    match = FRONT_MATTER.match(text_of(path))
    assert match is not None
    fields = yaml.safe_load(match[1])
    assert fields["tags"]
    assert all(isinstance(tag, str) for tag in fields["tags"])


@pytest.mark.parametrize("path", note_paths())
def test_every_link_leads_to_a_place_that_exists(path: str) -> None:
    for link in note_of(path).links:
        found = resolver().resolve(link.target, path)
        assert found is not None, link
        if found.endswith(".png"):
            assert link.is_embed, link
            continue
        headings = [heading.text for heading in note_of(found).headings]
        blocks = [f"^{name}" for name in BLOCK.findall(prose_of(found))]
        assert not link.heading or link.heading in [*headings, *blocks], link


@pytest.mark.parametrize("path", note_paths())
def test_no_link_leads_outside(path: str) -> None:
    assert not re.search(r"\]\(|https?://(?!127\.0\.0\.1)", text_of(path))


def test_every_note_can_be_reached_from_the_first_one() -> None:
    reached, waiting = set(), [named("Welcome")]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            links = [link for link in note_of(path).links if not link.target.endswith(".png")]
            waiting += [str(resolver().resolve(link.target, path)) for link in links]
    assert reached == set(note_paths())


@pytest.mark.parametrize(
    "script", ["LATIN", "HIRAGANA", "KATAKANA", "CJK UNIFIED", "ARABIC", "CYRILLIC"]
)
def test_several_scripts_are_present(script: str) -> None:
    letters = set("".join(prose_of(path) for path in note_paths()))
    assert sum(unicodedata.name(letter, "").startswith(script) for letter in letters) > 15


@pytest.mark.parametrize(
    "form",
    [
        r"^> \[!\w+\]",
        r"^> \[!\w+\]-",
        r"^\|-",
        r"^```\w+$",
        r"^- \[ \] ",
        r"^- \[x\] ",
        r"^!\[\[",
        r"\[\[[^\]]+\|[^\]]+\]\]",
        r"(?<![\w`#])#\w+/\w+",
        r"^\[\^1\]: ",
    ],
)
def test_every_form_of_markdown_occurs(form: str) -> None:
    assert any(re.search(form, text_of(path), re.MULTILINE) for path in note_paths())


def test_only_the_note_of_questions_is_private() -> None:
    private = [path for path in note_paths() if note_of(path).is_private]
    assert private == [named("Questions worth asking")]


def test_the_table_of_settings_is_that_of_the_schema() -> None:
    defaults = {row[0].strip("`"): yaml.safe_load(row[1].strip("`")) for row in settings_rows()}
    assert defaults == {key: spec.default for key, spec in schema().items()}


def test_the_ranges_of_the_settings_are_those_of_the_schema() -> None:
    ranges = {
        row[0].strip("`"): [float(end.replace(",", "")) for end in row[2].split(" to ")]
        for row in settings_rows()
        if " to " in row[2]
    }
    assert ranges == {
        key: [spec.minimum, spec.maximum]
        for key, spec in schema().items()
        if spec.minimum is not None
    }


@pytest.mark.parametrize("path", note_paths())
def test_every_setting_that_is_named_exists(path: str) -> None:
    assert set(SETTING.findall(text_of(path))) <= schema().keys()


def settings_rows() -> list[list[str]]:
    return rows_of(named("Settings"), "Settings")


def test_the_figures_by_threshold_are_computed_as_the_app_computes_them() -> None:
    kept_for_answer = Settings().max_output_tokens
    rows = rows_of(named("Token budget"), "Figures by threshold")
    assert len(rows) == 9
    for threshold, reserve, own, counted in (map(number, row) for row in rows):
        size = compute_window(threshold, None)
        assert reserve == output_reserve(kept_for_answer, size)
        assert (own, counted) == (
            compute_budget_tokens(size, reserve, 1.0),
            compute_budget_tokens(size, reserve, 1.1),
        )


def test_the_worked_example_of_a_cut_adds_up() -> None:
    size = compute_window(16_000, None)
    budget = compute_budget_tokens(size, output_reserve(Settings().max_output_tokens, size), 1.0)
    room = budget - 600 - 2_400
    figures = [f"{n:,}" for n in (budget, room, room * 3 // 4)]
    example = text_of(named("Token budget")).split("[!example] Figures\n", 1)[1]
    assert all(figure in example for figure in figures)
    assert (room - room * 3 // 4) // 450 == 5


def commands() -> list[str]:
    """Every command line of Strata in a code block."""
    lines = [line for path in note_paths() for line in text_of(path).splitlines()]
    return sorted({line for line in lines if line.startswith("strata ")})


@pytest.mark.parametrize("line", commands())
def test_every_command_line_can_be_typed(line: str) -> None:
    assert build_parser().parse_args(shlex.split(line, comments=True)[1:]).verb


def test_every_error_code_has_its_way_out() -> None:
    known = {kind.code for kind in AppError.__subclasses__()} | set(_CODES.values())
    told = {heading.text for heading in note_of(named("Troubleshooting")).headings}
    assert known | {"context_overflow", "hook_failed", "cancelled", "internal"} <= told


def test_the_keys_are_those_of_the_window() -> None:
    keys = {key for command in COMMANDS for key in command.keys}
    cells = [row[0] for row in rows_of(named("Keyboard"), "Keyboard")]
    told = {key for cell in cells for key in cell.split(", ")}
    assert told - keys <= {"Enter", "Shift+Enter", "Up"}
    untold = [command.words for command in COMMANDS if not told & set(command.keys)]
    assert untold == [command.words for command in COMMANDS if not command.keys]


def test_the_slash_commands_are_those_there_are() -> None:
    told = {row[0].strip("`").split(" ")[0] for row in rows_of(named("Asking"), "Commands")}
    assert told == {f"/{command.name}" for command in SLASH_COMMANDS}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Vault]:
    index_dir = tmp_path_factory.mktemp("index")
    with closing(Vault(sample_vault(), index_dir, (), embedder)) as opened:
        opened.update()
        yield opened


def questions() -> list[tuple[str, str, str]]:
    """Each question worth asking, with the note and the heading that answer it."""
    text = text_of(named("Questions worth asking"))
    return re.findall(r"^\| (\S.*?) \| \[\[(.+?)#(.+?)\]\] \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("question", "title", "heading"), questions())
def test_a_question_worth_asking_finds_the_lines_that_answer_it(
    index: Vault, question: str, title: str, heading: str
) -> None:
    path = named(title)
    (line,) = [place.line for place in note_of(path).headings if place.text == heading]
    hits = index.search(question, Settings().retrieval_top_k).hits
    assert any(h.path == path and h.lines[0] <= line + 2 <= h.lines[1] for h in hits)
