"""The lowest package: files that are shipped with the code, and the operating system's calls.

Prompts, styles, icons, design tokens and the sample vault are found through `importlib.resources`,
so that an installed wheel finds them too. Nothing of them is written at run time.

    system  Files, folders and processes, on Linux, macOS and Windows.

This package may import only the standard library.
"""

from pathlib import Path

__all__ = ["locate_resource", "read_text", "sample_vault"]


def locate_resource(name: str) -> Path:
    """Return the path of a shipped file or folder on disk.

    Args:
        name: the path relative to this package, with `/`, such as `prompts/vault_qa.md`.

    Raises:
        FileNotFoundError: there is no shipped file or folder with that name.
    """
    from importlib.resources import files

    path = Path(str(files(__name__))).joinpath(*name.split("/"))
    if not path.exists():
        raise FileNotFoundError(f"Strata ships no resource named {name}")
    return path


def read_text(name: str) -> str:
    """Return the text of a shipped file, decoded as UTF-8.

    Args:
        name: the path relative to this package, with `/`, such as `prompts/vault_qa.md`.

    Raises:
        FileNotFoundError: there is no shipped file with that name.
    """
    return locate_resource(name).read_text("utf-8")


def sample_vault() -> Path:
    """Return the folder of the sample vault, a folder of notes that is also the user guide."""
    return locate_resource("vault")
