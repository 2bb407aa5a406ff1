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
    "Loquat.md": b"---\ntags: #garden #tree\n---\n# Loquat\n\nIt stands in a pot.\n",
    "Maths.md": b"# Maths\n\nLet $a #x b$ be.\n\n$$\n#y\n$$\n\nIt is #proven.\n",
    "Party.md": "# Party\n\nBring the 🎂 for Lea.\n".encode(),
    "Note.md": RUSSIAN.encode("koi8-r"),
}
FAULT = "Its front matter cannot be read, so its tags and properties are lost: "
LOST = "Line 2 of its front matter: YAML takes “#garden #tree” for a comment, so it is lost."


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
        ("Loquat.md", False),
        ("Medlar.md", True),
        ("Quince.md", True),
    ]
    assert report["faulty"][0]["reason"].startswith(LOST)
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


def test_what_is_broken_is_offered_in_the_review_and_counted_by_the_doctor(vault: Program) -> None:
    vault.json("index")
    findings = [one for one in vault.json("review")["findings"] if one["kind"] == "front_matter"]
    assert [[(note["path"], note["lines"]) for note in one["notes"]] for one in findings] == [
        [("Loquat.md", [1, 3])],
        [("Medlar.md", [1, 6])],
        [("Quince.md", [1, 4])],
    ]
    assert findings[0]["reason"].startswith(LOST)
    assert findings[2]["notes"][0]["quote"] == "tags: [garden, plants title: Quince"

    said = vault.run("review").out
    assert f"{findings[1]['reason']}\n    Medlar.md:1-6  tags: [garden]" in said

    left = vault.json("review", "--dismiss", findings[0]["key"])
    assert [one["notes"][0]["path"] for one in left["dismissed"]] == ["Loquat.md"]
    (vault_file := Path(vault.options[-1]) / "Loquat.md").write_text(
        "---\ntags: #orchard\n---\n# Loquat\n", "utf-8"
    )
    vault.json("index")
    again = [one["notes"][0]["path"] for one in vault.json("review")["findings"]]
    assert vault_file.name in again  # another fault than the dismissed one

    checks = {one["name"]: one for one in vault.json("doctor")["checks"]}
    assert checks["front matter"]["detail"] == (
        "something is lost in 3 notes: Loquat.md, Medlar.md, Quince.md; `strata review` says what"
    )
