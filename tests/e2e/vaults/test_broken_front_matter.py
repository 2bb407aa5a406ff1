"""Notes that other programs wrote: broken front matter, formulas, emoji, older encodings."""

from pathlib import Path

import pytest

from tests.support.processes.program import Program

RUSSIAN = (
    "# Заметка\n\nСегодня мы встретились в саду и говорили о новом проекте. Следующая встреча "
    "состоится в пятницу. Нужно купить инструменты для мастерской.\n"
)
NOTES = {
    "Quince.md": b"---\ntags: [garden, plants\ntitle: Quince\n---\n# Quince\n\nPlanted in 2019.\n",
    "Medlar.md": b"---\ntags: [garden]\n\n# Medlar\n\nThe medlar is 4 m high.\n",
    "Maths.md": b"# Maths\n\nLet $a #x b$ be.\n\n$$\n#y\n$$\n\nIt is #proven.\n",
    "Party.md": "# Party\n\nBring the 🎂 for Lea.\n".encode(),
    "Note.md": RUSSIAN.encode("koi8-r"),
}
FAULT = "Its front matter cannot be read, so its tags and properties are lost: "


@pytest.fixture
def vault(tmp_path: Path, program: Program) -> Program:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, data in NOTES.items():
        (folder / name).write_bytes(data)
    return Program(program.home, ("--vault", str(folder)))


def test_what_is_broken_is_named_and_the_rest_is_found(vault: Program) -> None:
    report = vault.json("index")
    assert [(one["path"], one["reason"].startswith(FAULT)) for one in report["faulty"]] == [
        ("Medlar.md", True),
        ("Quince.md", True),
    ]
    assert not report["failed"]
    assert f"Quince.md: {FAULT}" in vault.run("index").out

    found = {
        query: [hit["path"] for hit in vault.json("search", query)["hits"]]
        for query in ("🎂", "инструменты", "tag:x", "tag:y", "tag:proven")
    }
    assert found["🎂"][0] == "Party.md"
    assert found["инструменты"][0] == "Note.md"
    assert (found["tag:x"], found["tag:y"], found["tag:proven"]) == ([], [], ["Maths.md"])

    answer = vault.json("ask", "--attach", "Quince.md", "When was the quince planted?")
    assert [one.startswith(f"Quince.md: {FAULT}line ") for one in answer["warnings"]] == [True]
