"""The images that a note shows are files inside the vault, and nothing else."""

from contextlib import closing
from pathlib import Path

import pytest

from app.errors import InvalidRequest, NotFound
from app.library.image_reader import ImageReader
from app.library.images import VaultImages, is_image_link
from tests.support.vaults.image_files import draw
from vault.errors import UnsafePath


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for name in ("a/deep/plan.png", "files/plan.png", "a/near.jpg", ".hidden/secret.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())
    (tmp_path / "outside.png").write_bytes(b"outside")
    (root / "a" / "link.png").symlink_to(tmp_path / "outside.png")
    return root


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("near.jpg", "a/near.jpg"),
        ("deep/plan.png", "a/deep/plan.png"),
        ("files/plan.png", "files/plan.png"),
        ("../files/plan.png", "files/plan.png"),
        ("/files/plan.png", "files/plan.png"),
        ("PLAN.PNG", "files/plan.png"),
        ("secret.png", ""),
        ("../../outside.png", ""),
        ("nowhere/plan.png", ""),
        ("/etc/near.png", ""),
    ],
)
def test_an_image_is_found_as_written(vault: Path, source: str, path: str) -> None:
    with closing(ImageReader()) as reader:
        images = VaultImages(lambda: vault, reader)
        if path:
            assert images.find(source, "a/Note.md") == path
        else:
            with pytest.raises(NotFound, match="There is no image named"):
                images.find(source, "a/Note.md")


def test_an_image_is_named_by_links_whether_it_is_shown_or_not() -> None:
    assert is_image_link("plan.svg")
    assert is_image_link("Photo.HEIC")
    assert not is_image_link("Note.md")


def test_an_image_is_read_with_its_own_size(vault: Path) -> None:
    (vault / "a" / "near.jpg").write_bytes(draw(3_000, 1_500, "bmp"))
    with closing(ImageReader()) as reader:
        images = VaultImages(lambda: vault, reader)
        read = images.read(images.find("near.jpg", "a/Note.md"))
        assert (read.own_size, read.width) == ((3_000, 1_500), 2_048)
        (vault / "plan.svg").write_text("<svg/>", "utf-8")
        for path in ("files/plan.png", "a/gone.png", "plan.svg"):
            refused = r"^The image \w+.\w+ cannot be shown: it (?:is|does)"
            with pytest.raises(InvalidRequest, match=refused):
                images.read(path)
        with pytest.raises(UnsafePath):
            images.read("a/link.png")


def test_an_image_is_found_by_a_link_or_named_as_missing(vault: Path) -> None:
    with closing(ImageReader()) as reader:
        images = VaultImages(lambda: vault, reader)
        assert images.find("plan.png", "a/Note.md") == "files/plan.png"
        for target in ("pond.png", "../../outside.png"):
            with pytest.raises(NotFound, match=f"There is no image named {target}"):
                images.find(target, "a/Note.md")


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("plan.png", "a/deep/plan.png"),
        ("near.jpg", "a/near.jpg"),
        ("../../files/plan.png", "files/plan.png"),
        ("NEAR.JPG", "a/near.jpg"),
        ("link.png", ""),
        ("../../outside.png", ""),
        ("/etc/near.png", ""),
    ],
)
def test_an_image_of_a_project_outside_the_vault_is_found_in_the_project(
    vault: Path, tmp_path: Path, source: str, path: str
) -> None:
    with closing(ImageReader()) as reader:
        images = VaultImages(lambda: tmp_path / "other", reader, lambda _file: vault)
        note = str(vault / "a" / "deep" / "Note.md")
        if path:
            assert images.find(source, note) == str(vault / path)
        else:
            with pytest.raises(NotFound, match="There is no image named"):
                images.find(source, note)


def test_an_image_of_a_note_outside_all_projects_is_found_beside_the_note(vault: Path) -> None:
    with closing(ImageReader()) as reader:
        images = VaultImages(lambda: None, reader)
        note = str(vault / "a" / "Note.md")
        assert images.find("near.jpg", note) == str(vault / "a" / "near.jpg")
        assert images.find("deep/plan.png", note) == str(vault / "a" / "deep" / "plan.png")
        for source in ("plan.png", "../files/plan.png"):
            with pytest.raises(NotFound, match="There is no image named"):
                images.find(source, note)
