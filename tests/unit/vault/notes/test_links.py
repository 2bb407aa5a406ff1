import pytest

from vault.notes.kinds import note_name
from vault.notes.links import (
    Link,
    LinkResolver,
    find_links,
    fold_link_name,
    list_link_names,
)

NOTES = [
    ("Garden.md", ("Beds",)),
    ("projects/Garden plan.md", ()),
    ("projects/2024/Tools.md", ("Spade", "Überblick")),
    ("archive/deep/Tools.md", ()),
    ("Cafe\u0301.md", ()),
]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("see [[Note]]", Link("Note", line=1)),
        ("![[Note#Part|shown]]", Link("Note", "Part", "shown", True, 1)),
        ("[[#Here]]", Link("", "Here", line=1)),
        ("[a](b%20c.md#part)", Link("b c.md", "part", "a", line=1)),
        ("[a](<b c.md>)", Link("b c.md", "", "a", line=1)),
        (r"| [[Note\|shown]] |", Link("Note", "", "shown", line=1)),
        (r"[[Note#Part\|shown]]", Link("Note", "Part", "shown", line=1)),
        ("[[Note#^block-1]]", Link("Note", "^block-1", line=1)),
        ("[a](<b (c).md>)", Link("b (c).md", "", "a", line=1)),
        ("[a](b_(c).md)", Link("b_(c).md", "", "a", line=1)),
        ("[[C#]]", Link("C#", line=1)),
        ("[[C#|shown]]", Link("C#", "", "shown", line=1)),
        (r"| [[C#\|shown]] |", Link("C#", "", "shown", line=1)),
        ("[[C#Part]]", Link("C", "Part", line=1)),
        ("[[C#.md#Part]]", Link("C#.md", "Part", line=1)),
        ("[[Note #Part ]]", Link("Note", "Part", line=1)),
        ('![pic](x.png "title")', Link("x.png", "", "pic", True, 1)),
    ],
)
def test_links_are_read_as_obsidian_reads_them(text: str, link: Link) -> None:
    assert list(find_links([(1, text)])) == [link]


@pytest.mark.parametrize(
    "text", ["[a](https://x.y)", "[a](mailto:x)", "[a](//x.y)", "[[]]", "[a]()"]
)
def test_links_to_the_web_and_empty_ones_are_none(text: str) -> None:
    assert list(find_links([(1, text)])) == []


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Garden", "", "Garden.md"),
        ("garden", "", "Garden.md"),
        ("projects/Garden plan", "", "projects/Garden plan.md"),
        ("Garden plan.md", "", "projects/Garden plan.md"),
        ("Tools", "", "archive/deep/Tools.md"),
        ("2024/Tools", "", "projects/2024/Tools.md"),
        ("./2024/Tools.md", "projects/x.md", "projects/2024/Tools.md"),
        ("../Garden", "projects/x.md", "Garden.md"),
        ("spade", "", "projects/2024/Tools.md"),
        ("ÜBERBLICK", "", "projects/2024/Tools.md"),
        ("Café", "", "Cafe\u0301.md"),
        ("", "Garden.md", "Garden.md"),
        ("Nothing", "", None),
    ],
)
def test_a_link_leads_where_obsidian_would_go(target: str, source: str, path: str | None) -> None:
    assert LinkResolver(NOTES).resolve(target, source) == path


@pytest.mark.parametrize(
    ("target", "notes", "path"),
    [
        ("C#", ["C.md", "C#.md"], "C#.md"),
        ("C#", ["C.md"], "C.md"),
        ("C", ["C.md", "C#.md"], "C.md"),
        ("C", ["C#.md"], None),
        ("a/C#", ["C#.md", "a/C#.md"], "a/C#.md"),
    ],
)
def test_a_sign_at_the_end_of_a_target_may_begin_an_empty_heading(
    target: str, notes: list[str], path: str | None
) -> None:
    sharing = [note for note in notes if fold_link_name(target) in list_link_names(note, ())]
    assert LinkResolver((note, ()) for note in sharing).resolve(target) == path


FILES = [
    ("a/Pic.png", ()),
    ("files/Pic.png", ()),
    ("b/deep/er/Note.md", ()),
    ("c/Note.md", ()),
    ("paper.pdf", ()),
]


@pytest.mark.parametrize(
    ("target", "source", "attachments", "path"),
    [
        ("Pic.png", "x/n.md", "files", "files/Pic.png"),
        ("Pic.png", "a/n.md", "files", "a/Pic.png"),
        ("Pic.png", "n.md", "./a", "a/Pic.png"),
        ("Pic.png", "x/n.md", "/", "a/Pic.png"),
        ("Note", "b/n.md", "/", "b/deep/er/Note.md"),
        ("Note", "d/n.md", "/", "c/Note.md"),
        ("paper.pdf", "d/n.md", "/", "paper.pdf"),
        ("paper", "d/n.md", "/", None),
    ],
)
def test_of_several_the_nearest_is_meant(
    target: str, source: str, attachments: str, path: str | None
) -> None:
    assert LinkResolver(FILES, attachments).resolve(target, source) == path


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("Plan", "a/Plan.md"),
        ("a/plan", "a/Plan.md"),
        ("the plan", "a/Plan.md"),
        ("paper.pdf", "b/paper.pdf"),
        ("b/paper.pdf", "b/paper.pdf"),
        ("paper.md", "b/paper.md"),
        ("sketch", "c/Other.md"),
        ("Nothing", None),
        ("", None),
    ],
)
def test_a_title_is_used_where_no_path_name_or_alias_fits(target: str, path: str | None) -> None:
    notes = [("a/Plan.md", ()), ("b/paper.pdf", ()), ("b/paper.md", ()), ("c/Other.md", ["Sketch"])]
    titles = [("a/Plan.md", "The plan"), ("b/paper.pdf", "paper"), ("b/paper.md", "Sketch")]
    assert LinkResolver(notes, titles=titles).resolve(target) == path


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [("Garden", "", "Garden.md"), ("./2024/Tools.md", "projects/x.md", "projects/2024/Tools.md")],
)
def test_the_notes_that_share_a_name_with_a_link_are_enough_to_resolve_it(
    target: str, source: str, path: str
) -> None:
    name = fold_link_name(target)
    sharing = [(note, names) for note, names in NOTES if name in list_link_names(note, names)]
    assert len(sharing) < len(NOTES)
    assert LinkResolver(sharing).resolve(target, source) == path


def test_a_note_is_named_without_its_folder_and_suffix_a_file_with_its_suffix() -> None:
    assert note_name("a/b/Plan of 3.5.md") == "Plan of 3.5"
    assert note_name("a/paper.pdf") == "paper.pdf"
