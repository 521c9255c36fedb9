"""Files of the folder that `website-scan init` sets up.

A folder may come from a stranger, so no symbolic link in it is followed: nothing outside is read or written.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from website_scan.command.errors import WrongUsage

MAX_READ_BYTES = 1_000_000
NEW_FILE_MODE = 0o666
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SetupFolder:
    """Folder whose files are addressed by relative paths, without symbolic links.

    `path` itself may be a link, because the user has chosen it. Raises WrongUsage if it is not a folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.isdir(path):
            raise WrongUsage(f"{path} is not a folder.")

    def text(self, name: str) -> str | None:
        """Return the content of a text file, or None if there is none that can be read."""
        try:
            with self._parent(name) as (parent, base):
                # O_NONBLOCK: opening a named pipe would wait for a writer.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                with open(os.open(base, flags, dir_fd=parent), "rb") as file:
                    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                        return None
                    return file.read(MAX_READ_BYTES).decode()
        except (OSError, ValueError):
            return None

    def exists(self, name: str) -> bool:
        """Return True if the path exists, also as a broken symbolic link."""
        return self._mode(name) is not None

    def has_file(self, name: str) -> bool:
        return stat.S_ISREG(self._mode(name) or 0)

    def has_folder(self, name: str) -> bool:
        return stat.S_ISDIR(self._mode(name) or 0)

    def refuse_links(self, name: str) -> None:
        """Raise WrongUsage if a file cannot be written without following a symbolic link."""
        path = PurePosixPath(name)
        for part in [*reversed(path.parents[:-1]), path]:
            mode = self._mode(str(part))
            if mode is not None and stat.S_ISLNK(mode):
                raise WrongUsage(f"{self.path / part} is a symbolic link, and init follows none. Nothing was written.")
            if mode is not None and stat.S_ISDIR(mode) != (part != path):
                raise WrongUsage(
                    f"{self.path / part} is {'a' if part == path else 'not a'} folder. Nothing was written."
                )

    def write(self, name: str, content: str, *, replaces: bool) -> None:
        """Write a text file completely or not at all, and create its folders.

        Replaces an existing file only if `replaces` is True. Raises WrongUsage.
        """
        temporary = f".{secrets.token_hex(8)}"
        try:
            with self._parent(name, creates=True) as (parent, base):
                try:
                    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
                    descriptor = os.open(temporary, flags, NEW_FILE_MODE, dir_fd=parent)
                    with open(descriptor, "w", encoding="utf-8", newline="") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                    if replaces:
                        os.replace(temporary, base, src_dir_fd=parent, dst_dir_fd=parent)
                    else:
                        _create_from(temporary, base, parent)
                finally:
                    with contextlib.suppress(OSError):
                        os.unlink(temporary, dir_fd=parent)
        except OSError as error:
            raise WrongUsage(f"{self.path / name} can't be written: {error.strerror}.") from None

    def _mode(self, name: str) -> int | None:
        """Return the mode of a file, a folder or a link; None without one."""
        try:
            with self._parent(name) as (parent, base):
                return os.stat(base, dir_fd=parent, follow_symlinks=False).st_mode
        except OSError:
            return None

    @contextmanager
    def _parent(self, name: str, *, creates: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder of a file, and yield its descriptor with the name of the file. Raises OSError."""
        *folders, base = PurePosixPath(name).parts
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                if creates:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=descriptor)
                inner = os.open(folder, _OPEN_FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, base
        finally:
            os.close(descriptor)


def _create_from(temporary: str, base: str, parent: int) -> None:
    """Give a temporary file its name. Raises FileExistsError if another file has it."""
    try:
        # Unlike a renamed file, a linked one never replaces another.
        os.link(temporary, base, src_dir_fd=parent, dst_dir_fd=parent)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links.
        os.close(os.open(base, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, NEW_FILE_MODE, dir_fd=parent))
        os.replace(temporary, base, src_dir_fd=parent, dst_dir_fd=parent)
