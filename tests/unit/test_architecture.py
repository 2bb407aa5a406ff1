"""ARCHITECTURE.md names files and sections that exist, and the modules refer to its sections."""

import re
from pathlib import Path

import pytest

from tests.support.syntax_trees import PACKAGES, ROOT

PAGE = ROOT / "ARCHITECTURE.md"
TEXT = PAGE.read_text("utf-8")
MOST_LINES = 250
PATH = re.compile(rf"`((?:{'|'.join(PACKAGES)}|tests)/[\w/.]*)`")
REFERENCE = re.compile(r'ARCHITECTURE\.md, "([^"]+)"')
HEADINGS = set(re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE))


def read_references() -> list[tuple[str, str]]:
    """Return the modules that refer to the page, each with the heading that it names."""
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return [
        (file.relative_to(ROOT).as_posix(), heading)
        for file in sorted(files)
        for heading in REFERENCE.findall(file.read_text("utf-8"))
    ]


def find_documents_elsewhere(file: Path) -> list[str]:
    """Return the lines of a module that name documents which are not in the repository."""
    return re.findall(r"^.*\bdesign documents?\b.*$", file.read_text("utf-8"), re.MULTILINE)


def test_the_page_can_be_read_in_one_sitting() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", sorted(set(PATH.findall(TEXT))))
def test_a_path_that_the_page_names_exists(name: str) -> None:
    assert (ROOT / name).exists()


def test_the_modules_refer_to_sections_that_exist() -> None:
    references = read_references()
    assert len(references) > 10
    assert [named for named in references if named[1] not in HEADINGS] == []


def test_no_module_refers_to_a_document_that_is_not_here() -> None:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    assert [line for file in files for line in find_documents_elsewhere(file)] == []
