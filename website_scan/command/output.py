"""Outputs of the command to standard output and to files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from website_scan.command.arguments import Options, Output
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text import Paint, colored, plain, text
from website_scan.command.judged import Judged, Outcome
from website_scan.command.terminal import write_out

NEW_FILE_MODE = 0o666  # reduced by the umask
# Errors when no temporary file can be created in the target's folder, or when the target cannot be replaced.
NOT_REPLACEABLE = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS})


class OutputWriter:
    """Writer of all outputs: text on standard output after each page, all other outputs at the end."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._prints_text = Output("text") in options.outputs
        self._saves_text = any(output.format == "text" and output.path is not None for output in options.outputs)
        self._paint = colored if options.may_color and sys.stdout is not None and sys.stdout.isatty() else plain
        self._texts: list[str] = []
        self._is_first = True

    def show(self, reports: Sequence[Judged]) -> None:
        """Print the reports if text goes to standard output, and store their text if text goes to a file."""
        for judged in reports:
            between = "" if self._is_first else "\n"
            if self._prints_text:
                write_out(between + self._text(judged, self._paint, reports))
            if self._saves_text:
                self._texts.append(between + self._text(judged, plain, reports))
            self._is_first = False

    def _text(self, judged: Judged, paint: Paint, others: Sequence[Judged]) -> str:
        return "".join(f"{line}\n" for line in text(judged, paint, is_quiet=self._options.is_quiet, others=others))

    def end(self, outcome: Outcome) -> None:
        """Write the remaining outputs. Raises WrongUsage for files that cannot be written, after all others."""
        problems = []
        for output in self._options.outputs:
            content = "".join(self._texts) if output.format == "text" else formatted(output.format, outcome)
            if output.path is not None:
                try:
                    write(output.path, content)
                except WrongUsage as problem:
                    problems.append(str(problem))
            elif output.format != "text":
                write_out(content)
        if problems:
            raise WrongUsage("\n".join(problems))


def formatted(name: str, outcome: Outcome) -> str:
    """Return the content of an output with all reports, in a format of WRITERS."""
    module, function = WRITERS[name]
    content: str = getattr(import_module(f"website_scan.command.formats.{module}"), function)(outcome)
    return content


def refuse_unwritable(paths: Iterable[Path | None]) -> None:
    """Raise WrongUsage if a file, or standard output (None), cannot be written: scans would be in vain."""
    targets = set()
    for path in paths:
        if path is None:
            if sys.stdout is None:
                raise WrongUsage("Standard output is closed.")
            continue
        target = _target(path)
        access = (target, os.W_OK) if target.exists() else (target.parent, os.W_OK | os.X_OK)
        if target.is_dir() or not target.parent.is_dir() or not os.access(*access):
            raise WrongUsage(f"{path} can't be written.")
        if target in targets and _is_replaced(target):
            raise WrongUsage(f"{path} is given twice.")
        targets.add(target)


def write(path: Path, content: str) -> None:
    """Write the content in UTF-8, with its line ends unchanged. Replaces the file atomically.

    Writes directly to pipes and devices, and to a file that cannot be replaced, such as a mount point. Raises
    WrongUsage.
    """
    target = _target(path)
    try:
        if not _is_replaced(target) or not _replace(target, content):
            with target.open("w", encoding="utf-8", newline="") as file:
                file.write(content)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write pieces of text as they arrive, in UTF-8. The file is replaced only when all pieces have arrived.

    Raises WrongUsage for a file that cannot be written, and the errors of the iterable.
    """
    target = _target(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}") if _is_replaced(target) else target
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        if temporary != target:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            temporary.replace(target)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None
    finally:
        if temporary != target:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _replace(target: Path, content: str) -> bool:
    """Replace the target by a new file. Returns False if the folder or the target does not allow a replacement."""
    temporary = target.with_name(f".{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_FILE_MODE)
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except OSError as error:
        if error.errno not in NOT_REPLACEABLE:
            raise
        return False
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return True


def _target(path: Path) -> Path:
    """Resolve symbolic links, so that the file of a link is replaced. Paths of pipes and devices are not resolved."""
    if not _is_replaced(path):
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a symbolic link to itself
        raise WrongUsage(f"{path} can't be written.") from None


def _is_replaced(path: Path) -> bool:
    return path.absolute().parts[1:2] not in (("dev",), ("proc",)) and (path.is_file() or not path.exists())
