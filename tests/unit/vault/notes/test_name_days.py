"""Dates in the names of notes, as programs and people write them."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from vault.notes.day_formats import DayFormat, read_day_formats
from vault.notes.name_days import NameDays, find_name_spans, find_path_spans

DAY = date(2026, 11, 19)


@pytest.mark.parametrize(
    "path",
    [
        "journals/2026_11_19.md",
        "20261119.md",
        "2026.11.19.md",
        "19-11-2026.md",
        "11-19-2026.md",
        "19.11.2026.md",
        "19_11_2026.md",
        "19112026.md",
        "Nov 19, 2026.md",
        "Nov 19th, 2026.md",
        "19-Nov-2026.md",
        "Nov-19-2026.md",
        "2026-Nov-19.md",
        "19. November 2026.md",
        "Thursday, November 19, 2026.md",
        "2026年11月19日.md",
        "会议2026年11月19日.md",
        "2026년 11월 19일.md",
        "Journal/2026/11/19.md",
        "Journal/2026/11-November/19.md",
        "Journal/2026/November/19 Thursday.md",
        "Journal/2026-11/19.md",
        "2026/2026-11/19.md",
        "2026/11-19.md",
        "2026/11/11-19.md",
        "2026/11/19/standup.md",
        "2026-11-19/standup.md",
        "2026_11_19 standup.md",
        "202611191430 Ideas for the shed.md",
        "20261119T1430.md",
    ],
)
def test_the_day_in_a_path_is_read(path: str) -> None:
    assert find_path_spans(path) == ((DAY, DAY + timedelta(1)),)


@pytest.mark.parametrize(
    "path",
    [
        "03-04-2026.md",  # the day or the month comes first
        "2026/11/Garden.md",
        "2026/Garden.md",
        "20261319.md",
        "2026_13_40.md",
        "Invoice 120261119.md",
        "Release 2026.1.5.md",
        "Call 0043 1512 2026.md",
        "31-02-2026.md",
    ],
)
def test_no_day_is_read_where_none_is_certain(path: str) -> None:
    assert not [span for span in find_path_spans(path) if (span[1] - span[0]).days == 1]


def test_a_heading_has_the_day_of_a_name() -> None:
    assert find_name_spans("2026_11_19 · Standup") == ((DAY, DAY + timedelta(1)),)
    assert find_name_spans("2026-W47") == ((date(2026, 11, 16), date(2026, 11, 23)),)


@pytest.mark.parametrize(
    ("others", "day"),
    [
        (["J/21-11-2026.md"], "2026-04-03"),
        (["J/11-21-2026.md"], "2026-03-04"),
        (["J/11-21-2026.md", "K/21-11-2026.md", "K/22-11-2026.md"], "2026-03-04"),
        (["K/11-21-2026.md"], "2026-03-04"),
        ([f"J/{number:02}-04-2026.md" for number in range(1, 9)], "2026-04-03"),
        ([f"J/03-{number:02}-2026.md" for number in range(1, 9)], "2026-03-04"),
        ([], "2026-04-03"),
    ],
)
def test_the_names_of_a_folder_decide_what_comes_first(others: list[str], day: str) -> None:
    assert NameDays(["J/03-04-2026.md", *others]).find_days("J/03-04-2026.md") == [day]


@pytest.mark.parametrize(
    ("tokens", "path", "day"),
    [
        ("MM-DD-YYYY", "Log/03-04-2026.md", "2026-03-04"),
        ("YYMMDD", "Log/261119.md", "2026-11-19"),
        ("YYYY/MM-MMMM/DD-MM-YY", "Log/2026/11-November/19-11-26.md", "2026-11-19"),
        ("[Daily] D.M.YY", "Log/Daily 19.11.26.md", "2026-11-19"),
        ("dddd, MMMM Do YYYY", "Log/Thursday, November 19th 2026.md", "2026-11-19"),
        ("YYYY-DDDD", "Log/2026-323.md", "2026-11-19"),
        ("D MMM YYYY", "Log/19 Okt 2026.md", "2026-10-19"),
    ],
)
def test_the_format_of_daily_notes_is_followed(tokens: str, path: str, day: str) -> None:
    assert NameDays([path], [DayFormat("Log", tokens)]).find_days(path) == [day]
    other = NameDays([], [DayFormat("Elsewhere", tokens)])
    assert other.find_days("Log/261119.md") == []


def test_formats_are_read_from_the_settings_of_obsidian(tmp_path: Path) -> None:
    def write(path: str, settings: object) -> None:
        file = tmp_path / ".obsidian" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))

    assert read_day_formats(tmp_path) == ()
    write("daily-notes.json", {"format": "DD-MM-YYYY", "folder": "/Log/"})
    write(
        "plugins/periodic-notes/data.json",
        {"daily": {"enabled": False, "format": "YY"}, "weekly": {"format": "", "folder": "Weeks"}},
    )
    weekly = DayFormat("Weeks", "gggg-[W]ww")
    assert read_day_formats(tmp_path) == (DayFormat("Log", "DD-MM-YYYY"), weekly)
    write("daily-notes.json", ["no", "settings"])
    write("plugins/periodic-notes/data.json", {"monthly": {"format": "[no year] MM"}, "weekly": 3})
    assert read_day_formats(tmp_path) == ()


@pytest.mark.parametrize(
    ("path", "is_daily"),
    [
        ("2026-11-19.md", True),
        ("Daily/2026_11_19.md", True),
        ("20261119.md", True),
        ("journal/2026/11/19.md", True),
        ("Friday, 20 November 2026.md", True),
        ("Fr 20. November 2026.md", True),
        ("November 3rd 2026.md", True),
        ("2026-11-19 Meeting with Bob.md", False),
        ("2026-11-19 Tax.md", False),
        ("2026-W47.md", False),
        ("Version 2026.md", False),
        ("Tomatoes.md", False),
        ("Trip 19.11.2026/Notes.md", False),
    ],
)
def test_a_note_of_a_day_is_named_by_a_date_alone(path: str, is_daily: bool) -> None:
    assert NameDays([path]).is_daily(path) is is_daily
