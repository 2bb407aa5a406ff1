import pytest

from resources.system.names import (
    extend_windows_path,
    find_windows_problem,
    fold_name,
    is_reserved_name,
)

LONG = "a" * 300


@pytest.mark.parametrize(
    "name", ["con", "NUL", "nul.md", "Com1.txt", "LPT9", "aux .md", "COM\u00b9", "CONOUT$", "prn:x"]
)
def test_names_of_devices_are_reserved_with_any_suffix(name: str) -> None:
    assert is_reserved_name(name)


@pytest.mark.parametrize("name", ["console", "com", "COM0", "com10.md", "null.md", "a.con", "aux2"])
def test_names_that_only_look_like_devices_are_free(name: str) -> None:
    assert not is_reserved_name(name)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("C:\\Windows\\a.md", "drive"),
        ("c:a.md", "drive"),
        ("\\\\server\\share\\a.md", "drive"),
        ("//server/share/a.md", "drive"),
        ("\\\\?\\C:\\a.md", "drive"),
        ("\\a.md", "drive"),
        ("/a.md", "drive"),
        ("in\\..\\..\\a.md", "above"),
        ("../a.md", "above"),
        ("a.md:stream", "stream"),
        ("in/a.md::$DATA", "stream"),
        ("in/nul.md", "device"),
        ("in /a.md", "blank"),
        ("a.md.", "dot"),
        ("in/... /a.md", "dot"),
    ],
)
def test_paths_that_windows_reads_otherwise_are_found(path: str, reason: str) -> None:
    assert reason in (find_windows_problem(path) or "")


@pytest.mark.parametrize(
    "path", ["a.md", "in/a.md", "in\\a.md", "./a.md", "Käse/\u4f60.md", ".hidden"]
)
def test_paths_below_a_folder_are_no_problem(path: str) -> None:
    assert find_windows_problem(path) is None


def test_names_that_a_system_takes_for_one_are_folded_to_one() -> None:
    assert fold_name("\u00c9t\u00e9.md") == fold_name("E\u0301te\u0301.MD".lower())
    assert fold_name("STRASSE") == fold_name("Stra\u00dfe")
    assert fold_name("a.md") != fold_name("b.md")


@pytest.mark.parametrize(
    ("path", "extended"),
    [
        ("C:\\a.md", "C:\\a.md"),
        (f"C:\\{LONG}", f"\\\\?\\C:\\{LONG}"),
        (f"C:/in/{LONG}", f"\\\\?\\C:\\in\\{LONG}"),
        (f"\\\\server\\share\\{LONG}", f"\\\\?\\UNC\\server\\share\\{LONG}"),
        (f"\\\\?\\C:\\{LONG}", f"\\\\?\\C:\\{LONG}"),
        (LONG, LONG),
    ],
)
def test_only_long_absolute_paths_are_extended(path: str, extended: str) -> None:
    assert extend_windows_path(path) == extended
