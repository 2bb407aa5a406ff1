"""What the program ships beside its code: prompts, styles, icons, design tokens, the sample vault.

Everything is found through `importlib.resources`, so that a wheel behaves like a checkout.
May import: the standard library. Holds always: nothing here is written to at run time.
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["read_text", "resource_path", "sample_vault"]


def resource_path(name: str) -> Path:
    """Return where a shipped file or folder lies on disk.

    Args:
        name: relative to this package, with `/`, such as `prompts/vault_qa.md`.

    Raises:
        FileNotFoundError: nothing of that name is shipped.
    """
    path = Path(str(files(__name__))).joinpath(*name.split("/"))
    if not path.exists():
        raise FileNotFoundError(f"Strata ships no resource named {name}")
    return path


def read_text(name: str) -> str:
    """Return the text of a shipped file, as UTF-8; `name` as in `resource_path`."""
    return resource_path(name).read_text("utf-8")


def sample_vault() -> Path:
    """Return the folder of notes that is both user guide and first vault."""
    return resource_path("vault")
