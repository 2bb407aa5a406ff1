"""What is attached to a question, and what becomes of it in later turns."""

import threading
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import InvalidRequest, NotFound
from app.library.attachments import Attachments, WebPages
from app.library.image_reader import ImageReader
from app.library.library import Library
from app.paths import Paths
from chains.citations.quotes import read_source_text
from chains.errors import FetchFailed
from chains.ledger import NoLedger
from chains.request.ask import Selection
from chains.web.client import WebClient
from tests.support.servers.web_server import Page, WebServer, allow_loopback
from tests.support.vaults.image_files import decode, draw, take_photo
from vault.embedder import Embedder
from vault.errors import NoteExcluded, NoteUnreadable


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    notes = {
        "Garden.md": "# Garden\nBeans <need> warm soil.\nSow in May.\n",
        "Plans/Terrace.md": "Oak & larch.\n",
        "Plans/Secret.md": "---\nprivate: true\n---\nNobody reads this.\n",
        "Plans/Old/Draft.draft.md": "Not finished.\n",
        "list.txt": "one\ntwo\n",
    }
    for path, text in notes.items():
        (tmp_path / "vault" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / path).write_text(text)
    return tmp_path / "vault"


@pytest.fixture
def attachments(tmp_path: Path, vault: Path, embedder: Embedder) -> Iterator[Attachments]:
    base = tmp_path / "own"
    paths = Paths(base / "config", base / "data", base / "state", base / "cache")
    opened = Library.open(vault, paths, ["*.draft.md"], embedder=embedder)
    web = WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)
    with closing(opened) as library, closing(ImageReader()) as images:
        yield Attachments(library.vault, WebPages(web), images)


def test_a_note_is_attached_in_full_and_escaped(attachments):
    (segment,) = attachments.segments(["Garden.md"])
    assert (segment.kind, segment.source, segment.lines) == ("note", "Garden.md", (1, 3))
    assert segment.raw_content == "# Garden\nBeans <need> warm soil.\nSow in May.\n"
    assert "&lt;need&gt;" in segment.content


def test_a_fault_of_a_file_out_of_the_notes_is_told_without_its_folder(
    attachments: Attachments, tmp_path: Path
) -> None:
    (tmp_path / "pasted.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 99)
    with pytest.raises(InvalidRequest, match=r"^The image pasted\.png cannot be read: ") as refused:
        attachments.segments([str(tmp_path / "pasted.png")])
    assert str(tmp_path) not in str(refused.value)


def test_a_folder_is_the_notes_in_it_that_may_be_read(attachments):
    segments = attachments.segments(["Plans"])
    assert [(s.kind, s.source) for s in segments] == [("folder", "Plans/Terrace.md")]


@pytest.fixture
def tagged(vault: Path, attachments: Attachments) -> Attachments:
    (vault / "Shed.md").write_text("Tools hang there. #building/wood\n")
    (vault / "Plans/Roof.md").write_text("---\ntags: [Building]\n---\nTiles.\n")
    (vault / "Plans/Secret.md").write_text("---\nprivate: true\n---\n#building\n")
    (vault / "Plans/Old/Hut.draft.md").write_text("#building\n")
    attachments._vault.update()
    return attachments


def test_a_tag_is_the_notes_that_carry_it_or_one_below_it(tagged: Attachments) -> None:
    segments = tagged.segments(["#building"])
    assert [(s.kind, s.source) for s in segments] == [("tag", "Plans/Roof.md"), ("tag", "Shed.md")]
    assert [s.source for s in tagged.segments(["#building/wood"])] == ["Shed.md"]


def test_a_note_that_lost_its_tag_or_is_gone_is_not_attached_by_it(
    tagged: Attachments, vault: Path
) -> None:
    (vault / "Shed.md").write_text("Tools hang there.\n")
    (vault / "Plans/Roof.md").unlink()
    with pytest.raises(NotFound, match="No note that can be attached carries the tag #building"):
        tagged.segments(["#building"])


def test_a_note_whose_name_begins_with_a_number_sign_is_no_tag(
    tagged: Attachments, vault: Path
) -> None:
    (vault / "#building.md").write_text("A note.\n")
    (vault / "#building").mkdir()
    tagged.check_names(["#building.md"])
    (segment,) = tagged.segments(["#building.md"])
    assert (segment.kind, segment.source) == ("note", "#building.md")
    assert tagged.segments(["#building"])[0].kind == "tag"


@pytest.mark.parametrize("tag", ["#build", "#", "#no such tag"])
def test_a_part_of_a_tag_is_no_tag(tagged: Attachments, tag: str) -> None:
    with pytest.raises(NotFound):
        tagged.segments([tag])


def test_a_note_by_its_full_path_is_the_note_of_the_vault(attachments, vault):
    (segment,) = attachments.segments([str(vault / "Garden.md")])
    assert (segment.kind, segment.source) == ("note", "Garden.md")


def test_a_text_file_outside_the_vault_is_attached_with_its_full_path(attachments, tmp_path):
    file = tmp_path / "log.txt"
    file.write_text("started\n")
    (segment,) = attachments.segments([str(file)])
    assert (segment.kind, segment.source) == ("file", str(file))


def test_lines_are_attached_as_they_stand(attachments):
    (segment,) = attachments.segments([], [Selection("Garden.md", 2, 3)])
    assert (segment.kind, segment.lines) == ("selection", (2, 3))
    assert segment.raw_content == "Beans <need> warm soil.\nSow in May."


def test_an_image_of_the_vault_is_a_segment_with_its_pixels(
    attachments: Attachments, vault: Path
) -> None:
    (vault / "Plans/plan.png").write_bytes(draw(40, 30))
    (segment,) = attachments.segments(["Plans/plan.png"])
    assert (segment.kind, segment.source, segment.title) == ("image", "Plans/plan.png", "plan.png")
    assert segment.content == "[image, 40 × 30 pixels; it follows this text]"
    assert segment.image is not None
    assert decode(b64decode(segment.image.data)).width() == 40


def test_an_image_outside_the_vault_has_its_full_path(
    attachments: Attachments, tmp_path: Path
) -> None:
    file = tmp_path / "photo.jpg"
    file.write_bytes(take_photo(40, 30))
    (segment,) = attachments.segments([str(file)])
    assert (segment.kind, segment.source) == ("image", str(file))
    file.unlink()
    assert attachments.resolve(segment).state == "same"  # it is sent again from the log


def test_an_image_of_the_vault_is_sent_again_only_while_it_may_be(
    attachments: Attachments, vault: Path
) -> None:
    (vault / "plan.png").write_bytes(draw(40, 30))
    (segment,) = attachments.segments(["plan.png"])
    assert attachments.resolve(segment).state == "same"
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["plan.png"]}')
    assert attachments.resolve(segment).state == "excluded"
    with pytest.raises(NoteExcluded):
        attachments.segments(["plan.png"])
    (vault / ".obsidian/app.json").unlink()
    (vault / "plan.png").unlink()
    assert attachments.resolve(segment).state == "gone"


@pytest.mark.parametrize("name", ["Photo.HEIC", "scan.tiff", "old.bmp"])
def test_an_image_that_models_do_not_take_is_refused_by_its_name(
    attachments: Attachments, vault: Path, name: str
) -> None:
    (vault / name).write_bytes(b"II*\0")
    with pytest.raises(InvalidRequest, match=f"{name} is .* It is not attached"):
        attachments.check_names([name])
    assert not attachments.has(name)


def test_an_image_has_no_lines(attachments: Attachments, vault: Path) -> None:
    (vault / "plan.png").write_bytes(draw(40, 30))
    with pytest.raises(InvalidRequest, match=r"plan\.png is an image, which has no lines"):
        attachments.segments([], [Selection("plan.png", 1, 1)])


def test_what_is_attached_is_numbered_and_comes_once(attachments):
    segments = attachments.segments(["Plans", "Garden.md", "Plans/Terrace.md"])
    assert [(s.number, s.source) for s in segments] == [(1, "Plans/Terrace.md"), (2, "Garden.md")]


@pytest.mark.parametrize("path", ["Plans/Secret.md", "Plans/Old/Draft.draft.md", ".obsidian/a.md"])
def test_a_note_that_is_kept_from_models_is_refused(attachments, vault, path):
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/a.md").write_text("settings")
    with pytest.raises(NoteExcluded, match="is not given to a model"):
        attachments.segments([path])


def test_a_link_leads_around_no_rule(attachments, vault):
    (vault / "Open.md").symlink_to(vault / "Plans/Old/Draft.draft.md")
    with pytest.raises(NoteExcluded):
        attachments.segments(["Open.md"])


def test_what_is_not_there_is_not_found(attachments):
    with pytest.raises(NotFound, match=r"no note, folder or file Nothing\.md"):
        attachments.segments(["Nothing.md"])


@pytest.mark.parametrize("path", ["file:///etc/passwd", ""])
def test_what_is_no_file_is_refused(attachments, path):
    with pytest.raises(InvalidRequest):
        attachments.segments([path])


def test_a_folder_outside_the_vault_is_refused(attachments, tmp_path):
    with pytest.raises(InvalidRequest, match="outside the notes"):
        attachments.segments([str(tmp_path)])


def test_lines_that_are_not_there_are_refused(attachments):
    with pytest.raises(InvalidRequest, match="has 3 lines"):
        attachments.segments([], [Selection("Garden.md", 2, 9)])


def test_a_file_that_is_not_text_is_refused(attachments, tmp_path):
    file = tmp_path / "sound.dat"
    file.write_bytes(b"RIFF\0\0")
    with pytest.raises(NoteUnreadable):
        attachments.segments([str(file)])


def test_a_source_is_the_same_until_it_changes(attachments, vault):
    (segment,) = attachments.segments(["Garden.md"])
    assert attachments.resolve(segment).state == "same"
    (vault / "Garden.md").write_text("Peas.\n")
    now = attachments.resolve(segment)
    assert (now.state, now.text) == ("changed", "Peas.\n")
    assert now.version != segment.version


def test_a_source_that_is_gone_or_private_now_is_not_read(attachments, vault):
    (segment,) = attachments.segments(["Garden.md"])
    (vault / "Garden.md").write_text("Peas. #private\n")
    assert attachments.resolve(segment).state == "excluded"
    (vault / "Garden.md").unlink()
    assert attachments.resolve(segment).state == "gone"


@pytest.mark.parametrize("whole", [False, True])
def test_a_name_inside_the_notes_that_leads_outside_is_refused(attachments, vault, tmp_path, whole):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (vault / "link.txt").symlink_to(outside / "secret.txt")
    (vault / "away").symlink_to(outside)
    for name in ("link.txt", "away/secret.txt", "Plans/../link.txt"):
        named = str(vault / name) if whole else name
        with pytest.raises(InvalidRequest, match="is a link out of the folder of notes") as caught:
            attachments.segments([named])
        assert str(outside / "secret.txt") in str(caught.value.hint[0])
        with pytest.raises(InvalidRequest):
            attachments.segments([], [Selection(named, 1, 1)])
    (segment,) = attachments.segments([str(outside / "secret.txt")])
    assert segment.raw_content == "secret"


def test_a_hidden_file_is_attached_only_after_the_user_agreed(
    attachments, vault, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "to-vault").symlink_to(vault)
    (tmp_path / "plain.key").symlink_to(tmp_path / ".ssh" / "id_rsa")
    (vault / ".env").write_text("KEY=1")
    (vault / "Plans" / ".netrc").write_text("KEY=2")
    (vault / "plain.txt").symlink_to(".env")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text("KEY=3")
    names = (
        *(".env", "./.env", "Plans/../.env", "Plans/.netrc", "plain.txt"),
        *(str(vault / name) for name in (".env", "Plans/../.env", "plain.txt")),
        *("to-vault/.env", str(tmp_path / "to-vault" / ".env"), ".ssh/id_rsa", "plain.key"),
        *(str(tmp_path / name) for name in (".ssh/id_rsa", "plain.key", "x/../.ssh/id_rsa")),
    )
    for name in names:
        with pytest.raises(InvalidRequest, match="hidden file") as caught:
            attachments.segments([name])
        assert str(caught.value.hint[0]).endswith(f": hidden:{name}")
        with pytest.raises(InvalidRequest, match="hidden file"):
            attachments.segments([], [Selection(name, 1, 1)])
        (segment,) = attachments.segments([f"hidden:{name}"])
        assert Path(segment.source).is_absolute()
        assert segment.raw_content.startswith("KEY=")
        assert attachments.resolve(segment).state == "same"


def test_hidden_folders_around_the_vault_and_around_our_own_files_do_not_count(
    attachments, tmp_path, monkeypatch
):
    monkeypatch.setenv("STRATA_HOME", str(tmp_path / ".local" / "strata"))
    pasted = tmp_path / ".local" / "strata" / "data" / "pasted" / "long.txt"
    plain = tmp_path / ".work" / "plain.txt"
    for file in (pasted, plain):
        file.parent.mkdir(parents=True)
        file.write_text("A long text.")
    monkeypatch.chdir(plain.parent)
    for name in (str(pasted), "plain.txt"):
        assert attachments.segments([name])[0].raw_content == "A long text."


def test_a_hidden_file_that_a_pattern_excludes_stays_out(attachments, vault):
    (vault / ".x.draft.md").write_text("not yet")
    with pytest.raises(NoteExcluded):
        attachments.segments(["hidden:.x.draft.md"])


def test_a_web_page_is_attached_with_its_title_and_fetched_once(attachments):
    with WebServer() as server:
        server.pages["/oak"] = Page(b"<title>Oaks</title><p>An oak & a beech.")
        url = f"{server.url}/oak"
        (segment,) = attachments.segments([url])
        assert (segment.kind, segment.source, segment.title) == ("url", url, "Oaks")
        assert segment.raw_content.strip() == "An oak & a beech."
        assert attachments.segments([f"{url}#part", "Garden.md"])[0] == segment
        assert len(server.requests) == 1
    assert attachments.resolve(segment).state == "same"


@pytest.mark.parametrize("status", [200, 500])
def test_readers_of_a_web_page_at_the_same_time_share_one_fetch(
    attachments: Attachments, status: int
) -> None:
    start = threading.Barrier(8)

    def read(url: str) -> str:
        start.wait(30)
        try:
            return attachments.segments([url])[0].title or ""
        except FetchFailed:
            return "failed"

    with WebServer() as server, ThreadPoolExecutor(8) as readers:
        server.pages["/oak"] = Page(b"<title>Oaks</title><p>An oak.", status=status)
        titles = set(readers.map(read, [f"{server.url}/oak"] * 8))
        assert len(server.requests) == 1
    assert titles == {"Oaks" if status == 200 else "failed"}


def test_a_web_page_that_failed_is_fetched_again(attachments: Attachments) -> None:
    with WebServer() as server:
        with pytest.raises(FetchFailed):
            attachments.segments([f"{server.url}/oak"])
        server.pages["/oak"] = Page(b"<title>Oaks</title><p>An oak.")
        assert attachments.segments([f"{server.url}/oak"])[0].title == "Oaks"


def test_a_web_page_that_may_not_be_fetched_is_not_attached(attachments):
    attachments.check_names(["https://example.org/"])
    for address in ("http://10.0.0.1/", "http://169.254.169.254/latest/meta-data"):
        with pytest.raises(FetchFailed, match="private network"):
            attachments.segments([address])
    with pytest.raises(FetchFailed, match="user name or password"):
        attachments.check_names(["https://a:b@example.org/"])
    with pytest.raises(InvalidRequest, match="http:// or https://"):
        attachments.check_names(["ftp://example.org/"])


def test_a_selection_that_begins_in_a_code_block_is_read_as_what_it_is(
    attachments: Attachments, vault: Path
) -> None:
    (vault / "Code.md").write_text("# A\n\n```\nx = 1\n# no heading\n```\nText of it.\n")
    (segment,) = attachments.segments([], [Selection("Code.md", 5, 7)])
    text = read_source_text(segment)
    assert [text.is_code(at) for at in range(3)] == [True, True, False]
    assert text.find_headings(2) == ("A",)


EMBEDDING = {
    "Trip.md": "# Trip\n\n![[Packing]]\n\n![[Route#Second day]]\n\n![[Notes#^tent]]\n\n"
    "![[Packing]]\n",
    "Packing.md": "# Packing\n\nA lamp.\n\n![[Lamp]]\n\n![[Trip]]\n",
    "Lamp.md": "# Lamp\n\nIt is green.\n\n![[Battery]]\n",
    "Battery.md": "# Battery\n\nTwo cells.\n",
    "Route.md": "# Route\n\n## First day\n\nThe hut.\n\n## Second day\n\nThe lake.\n\n### Late\n\n"
    "A swim.\n\n## Third day\n\nHome.\n",
    "Notes.md": "# Notes\n\nThe tent leaks. ^tent\n\nThe stove works.\n",
}


@pytest.fixture
def embedding(vault: Path, attachments: Attachments) -> Attachments:
    for path, text in EMBEDDING.items():
        (vault / path).write_text(text)
    return attachments


def test_a_note_brings_what_it_embeds_to_a_depth_of_two_and_once(embedding: Attachments) -> None:
    found = embedding.segments(["Trip.md"])
    assert [(each.kind, each.source, each.lines) for each in found] == [
        ("note", "Trip.md", (1, 9)),
        ("note", "Packing.md", (1, 7)),
        ("note", "Lamp.md", (1, 5)),
        ("selection", "Route.md", (7, 14)),
        ("selection", "Notes.md", (3, 3)),
    ]
    assert found[3].raw_content.startswith("## Second day\n\nThe lake.\n\n### Late\n\nA swim.")
    assert [each.number for each in found] == [1, 2, 3, 4, 5]


def test_an_embedded_note_that_models_may_not_read_is_left_out(
    embedding: Attachments, vault: Path
) -> None:
    (vault / "Album.md").write_text("![[Secret]] ![[Draft.draft]] ![[photo.png]] ![[Nowhere]]\n")
    assert [each.source for each in embedding.segments(["Album.md"])] == ["Album.md"]


def test_an_embedded_note_is_found_by_its_alias(embedding: Attachments, vault: Path) -> None:
    (vault / "Stove.md").write_text("---\naliases: [Cooker]\n---\n# Stove\n\n## Gas\n\nFull.\n")
    (vault / "Menu.md").write_text("# Menu\n\n![[cooker#Gas]]\n\n![[Cooker]]\n")
    embedding._vault.update()
    found = embedding.segments(["Menu.md"])
    assert [(each.source, each.kind) for each in found] == [
        ("Menu.md", "note"),
        ("Stove.md", "selection"),
        ("Stove.md", "note"),
    ]
    (part,) = embedding.segments(["Cooker#Gas"])
    assert (part.source, part.lines) == ("Stove.md", (6, 8))


def test_a_note_brings_its_pictures_last(embedding: Attachments, vault: Path) -> None:
    (vault / "img").mkdir()
    (vault / "img/Lake.png").write_bytes(draw(40, 30))
    (vault / "Plans/hut.png").write_bytes(draw(30, 20))
    (vault / "broken.png").write_bytes(b"no image")
    (vault / "secret.draft.md").write_text("x")
    (vault / "Album.md").write_text(
        "![[Lake.png|300]] ![h](Plans/hut.png) ![[Lake.png]] ![[broken.png]] ![[gone.png]]\n\n"
        "![[Notes#^tent]] ![[film.mp4]] ![web](https://example.org/a.png)\n"
    )
    found = embedding.segments(["Album.md", "Garden.md"])
    assert [(each.source, each.kind, each.is_embedded_image) for each in found] == [
        ("Album.md", "note", False),
        ("Notes.md", "selection", False),
        ("img/Lake.png", "image", True),
        ("Plans/hut.png", "image", True),
        ("Garden.md", "note", False),
    ]
    by_name = embedding.segments(["Album.md", "img/Lake.png"])
    assert [each.is_embedded_image for each in by_name] == [False, False, False, True]


@pytest.mark.parametrize(
    ("name", "path", "lines"),
    [
        ("Notes#^tent", "Notes.md", (3, 3)),
        ("Notes.md#^tent", "Notes.md", (3, 3)),
        ("Route#Third day", "Route.md", (14 + 1, 17)),
    ],
)
def test_a_name_with_a_heading_or_block_attaches_that_part(
    embedding: Attachments, name: str, path: str, lines: tuple[int, int]
) -> None:
    embedding.check_names([name])
    (segment,) = embedding.segments([name])
    assert (segment.kind, segment.source, segment.lines) == ("selection", path, lines)


def test_a_block_that_is_not_there_is_told(embedding: Attachments) -> None:
    with pytest.raises(NotFound):
        embedding.segments(["Notes#^lamp"])
