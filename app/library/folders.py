"""The folder of notes that a user names."""

from pathlib import Path

from vault.errors import VaultMissing, VaultUnreadable


def check_folder(folder: Path) -> Path:
    """Return the folder's full path.

    Raises:
        VaultMissing: there is no folder there.
        VaultUnreadable: it may not be read.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        next(root.iterdir(), None)
    except NotADirectoryError as error:
        raise VaultMissing(f"{folder} is a file, not a folder of notes.") from error
    except PermissionError as error:
        raise VaultUnreadable(f"The folder {folder} may not be read.") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a home folder that cannot be found
        raise VaultMissing(f"There is no folder at {folder}.") from error
    return root
