"""What happens to the notes and their index: other programs write, move and sync files.

After an update, the index holds what a new index of the same notes holds, and nothing private or
excluded.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.assistant import Assistant
from app.library.library import IndexFinished
from chains.cancel import CancelToken
from tests.support.simulator.home_acts import EXCLUDED
from tests.support.simulator.promises import WILD
from tests.support.simulator.provider import SECRET
from vault.catalog import Catalog
from vault.vault import Vault

if TYPE_CHECKING:
    from tests.support.simulator.world import World

__all__ = ["INDEX_ACTS"]

_WORDS: Final = [
    "beans",
    "peas",
    "water",
    "bed",
    "soil",
    "acid",
    "lime",
    "rain",
    "frost",
    "barrow",
    "spade",
    "seed",
]
_FRONTS: Final = (
    "",
    "---\naliases: [Soil]\nday: 2026-11-27\n---\n",
    f"---\nprivate: true\nsecret: {SECRET}\n---\n",
)
# Everything that a catalog holds of the notes, without numbers that differ between two catalogs.
_CONTENT: Final = (
    "SELECT path, size, state, reason, version FROM files",
    "SELECT path, title, aliases FROM notes JOIN files ON files.id = file_id",
    "SELECT path, hash, heading, first_line, last_line, tokens, context, text"
    " FROM chunks JOIN files ON files.id = file_id",
    "SELECT path, line, target, links.heading, label, is_embed"
    " FROM links JOIN files ON files.id = file_id",
    "SELECT path, tag FROM tags JOIN files ON files.id = file_id",
    "SELECT path, day FROM days JOIN files ON files.id = file_id",
    "SELECT path, name FROM names JOIN files ON files.id = file_id",
    "SELECT path, name, value FROM properties JOIN files ON files.id = file_id",
    "SELECT hash, vector FROM vectors WHERE hash IN (SELECT hash FROM chunks)",
)


def _write_wild(world: "World", _program: Assistant) -> None:
    """Write, change or remove some files, as other programs do."""
    for _ in range(world.chance.randint(1, 4)):
        folder = world.notes / WILD / world.chance.choice(["", "a", "b", "hidden"])
        file = (
            folder / f"N{world.chance.randrange(12)}{world.chance.choice(['.md', '.md', '.html'])}"
        )
        kind = world.chance.choice(["write", "write", "append", "remove", "touch"])
        if kind == "write" or not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(_make_text(world, file), "utf-8")
        elif kind == "append":
            with file.open("a", encoding="utf-8") as opened:
                opened.write(f"\n{' '.join(world.chance.choices(_WORDS, k=9))}\n")
        elif kind == "remove":
            file.unlink()
        else:
            file.touch()


def _make_text(world: "World", file: Path) -> str:
    words = " ".join(world.chance.choices(_WORDS, k=world.chance.randint(3, 30)))
    if file.parent.name == "hidden":
        return f"# Hidden\n\n{SECRET} {words}\n"
    if file.suffix == ".html":
        return f"<title>{words[:20]}</title><p>{words}</p>" * world.chance.choice([0, 1])
    front = world.chance.choice(_FRONTS)
    private = f"{SECRET}\n" if "private" in front else ""
    return f"{front}{private}# {words.title()[:20]}\n\n{words} [[Beds]] #garden\n- [ ] {words}\n"


def _move_wild(world: "World", _program: Assistant) -> None:
    """Rename a file or a folder, or move one away, or back."""
    wild, away = world.notes / WILD, world.root / "away"
    if away.exists():
        shutil.copytree(away, wild / "a", dirs_exist_ok=True, copy_function=shutil.move)
        shutil.rmtree(away)
        world.reached["moved back"] += 1
        return
    kind = world.chance.choice(["file", "file", "folder", "away"])
    files = sorted(one for one in wild.rglob("N*.md") if "hidden" not in one.parts)
    if kind == "file" and files:
        file = world.chance.choice(files)
        file.rename(file.with_name(f"N{world.chance.randrange(12)}.md"))
        world.reached["moved file"] += 1
    elif (wild / "a").exists():
        target = away if kind == "away" else wild / f"c{world.chance.randrange(3)}"
        if not target.exists():
            (wild / "a").rename(target)
            world.reached[f"moved {kind}"] += 1


def _storm(world: "World", _program: Assistant) -> None:
    """Let a sync program write or remove many files at once."""
    folder = world.notes / WILD / "storm"
    if folder.exists():
        shutil.rmtree(folder)
        world.reached["storm is over"] += 1
        return
    folder.mkdir(parents=True)
    for number in range(world.storm_files):
        (folder / f"S{number}.md").write_text(f"# S{number}\n\nbeans {number}\n", "utf-8")
    world.reached["storm"] += 1
    world.reached["files of storms"] += world.storm_files


def _exclude(world: "World", program: Assistant) -> None:
    program.settings.refresh()
    is_less = f"{WILD}/b/" in program.settings.values.vault_exclude
    after = EXCLUDED if is_less else (*EXCLUDED, f"{WILD}/b/")
    world.promises.change(
        "exclusions", after, program, lambda: program.settings.set("vault.exclude", [*after])
    )


def _index(world: "World", program: Assistant) -> None:
    """Update the index, and compare it with a new one."""
    *_, last = program.index(CancelToken())
    assert isinstance(last, IndexFinished)
    vault = program.library.vault if program.library else None
    if world.disk.is_dead or vault is None:
        return
    found = vault.read_index(_read_content) or []
    _check_secrets(world, str(found), "the index")
    if world.chance.random() < 0.3:
        fresh = _read_fresh(world, program)
        world.broken += _list_differences(found, fresh)
        world.reached["index compared"] += 1


def _read_fresh(world: "World", program: Assistant) -> list[set[Any]]:
    """Return what a new index of the notes holds."""
    folder = world.root.with_name(f"{world.root.name}-fresh")
    vault = Vault(world.notes, folder, lambda: program.settings.values.vault_exclude)
    try:
        vault.update()
        return vault.read_index(_read_content) or []
    finally:
        vault.close()
        shutil.rmtree(folder, ignore_errors=True)  # a failure may have left none


def _read_content(catalog: Catalog) -> list[set[Any]]:
    return [set(catalog.rows(statement)) for statement in _CONTENT]


def _list_differences(found: list[set[Any]], fresh: list[set[Any]]) -> Iterator[str]:
    for statement, ours, wanted in zip(_CONTENT, found, fresh, strict=False):
        table = statement.rpartition(" FROM ")[2].partition(" ")[0]
        if ours != wanted:
            more, less = list(ours - wanted)[:2], list(wanted - ours)[:2]
            yield f"the index has {more} too much in {table}, and lacks {less}"


def _search(world: "World", program: Assistant) -> None:
    words = [*_WORDS, SECRET, "Excluded", "Beds"]
    found = program.search(" ".join(world.chance.sample(words, 2)))
    world.reached["found"] += bool(found.hits)
    _check_secrets(world, str(found.hits), "a search")


def _check_secrets(world: "World", text: str, where: str) -> None:
    if SECRET in text:
        at = text.index(SECRET)
        world.broken.append(f"{where} holds what is private: {text[max(0, at - 200) : at]}")


INDEX_ACTS = {
    _write_wild: 10,
    _move_wild: 12,
    _storm: 3,
    _exclude: 6,
    _index: 6,
    _search: 8,
}
