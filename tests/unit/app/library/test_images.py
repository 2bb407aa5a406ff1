"""The images that a note shows are files inside the vault, and nothing else."""

from pathlib import Path

import pytest

from app.library.images import find_image, is_image_name, read_image


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
        ("Note.md", ""),
    ],
)
def test_an_image_is_found_as_written(vault: Path, source: str, path: str) -> None:
    assert find_image(vault, source, "a/Note.md") == path


def test_an_image_outside_the_vault_is_not_read_even_by_a_link(vault: Path) -> None:
    assert read_image(vault, "near.jpg", "a/Note.md") == b"a/near.jpg"
    assert read_image(vault, "link.png", "a/Note.md") == b""
    assert read_image(vault, "/etc/near.png", "a/Note.md") == b""


def test_files_that_can_refer_to_others_are_no_images() -> None:
    assert is_image_name("Plan.PNG")
    assert not is_image_name("plan.svg")
