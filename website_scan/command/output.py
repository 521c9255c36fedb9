"""Output of documents to standard output and to files; one scan may write several."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from website_scan.command.arguments import Document, Options
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text import Paint, colored, plain, text
from website_scan.command.judged import Judged, Outcome
from website_scan.command.terminal import write_out

NEW_FILE = 0o666  # mode, less the umask
# Errors when no file can be created in the folder, or when the target cannot be replaced.
NOT_BESIDE = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS})


class Output:
    """Writer of all documents: text on standard output after each page, every other document at the end."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._shows_text = Document("text") in options.documents
        self._keeps_text = any(each.format == "text" and each.path is not None for each in options.documents)
        self._paint = colored if options.may_color and sys.stdout is not None and sys.stdout.isatty() else plain
        self._kept: list[str] = []
        self._is_first = True

    def show(self, reports: Sequence[Judged]) -> None:
        """Print the reports if text goes to standard output, and keep their text if it goes to a file."""
        for each in reports:
            between = "" if self._is_first else "\n"
            if self._shows_text:
                write_out(between + self._text(each, self._paint, reports))
            if self._keeps_text:
                self._kept.append(between + self._text(each, plain, reports))
            self._is_first = False

    def _text(self, judged: Judged, paint: Paint, others: Sequence[Judged]) -> str:
        return "".join(f"{line}\n" for line in text(judged, paint, is_quiet=self._options.is_quiet, others=others))

    def end(self, outcome: Outcome) -> None:
        """Write the remaining documents. Raises WrongUsage for files that failed, after all others are written."""
        troubles = []
        for wanted in self._options.documents:
            document = "".join(self._kept) if wanted.format == "text" else formatted(wanted.format, outcome)
            if wanted.path is not None:
                try:
                    write(wanted.path, document)
                except WrongUsage as trouble:
                    troubles.append(str(trouble))
            elif wanted.format != "text":
                write_out(document)
        if troubles:
            raise WrongUsage("\n".join(troubles))


def formatted(name: str, outcome: Outcome) -> str:
    """Return the document in a format of WRITERS, with all reports."""
    module, function = WRITERS[name]
    document: str = getattr(import_module(f"website_scan.command.formats.{module}"), function)(outcome)
    return document


def refuse_what_cannot_be_written(paths: Iterable[Path | None]) -> None:
    """Raise WrongUsage if a file, or standard output (None), cannot be written, before minutes of scanning."""
    seen = set()
    for path in paths:
        if path is None:
            if sys.stdout is None:
                raise WrongUsage("Standard output is closed.")
            continue
        target = _target(path)
        needed = (target, os.W_OK) if target.exists() else (target.parent, os.W_OK | os.X_OK)
        if target.is_dir() or not target.parent.is_dir() or not os.access(*needed):
            raise WrongUsage(f"{path} can't be written.")
        if target in seen and _is_replaced(target):
            raise WrongUsage(f"{path} is given twice.")
        seen.add(target)


def write(path: Path, document: str) -> None:
    """Write the document in UTF-8, with its line ends unchanged. Replaces the file atomically.

    Writes directly to pipes and devices, and to a file that cannot be replaced, such as a file that is a mount point.
    Raises WrongUsage.
    """
    target = _target(path)
    try:
        if not _is_replaced(target) or not _replaced(target, document):
            with target.open("w", encoding="utf-8", newline="") as file:
                file.write(document)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write pieces of a document as they come, in UTF-8. The file is replaced only when all have come.

    Raises WrongUsage for a file that cannot be written, and what `pieces` raises.
    """
    target = _target(path)
    beside = target.with_name(f".{secrets.token_hex(8)}") if _is_replaced(target) else target
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        if beside != target:
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o7777)
            beside.replace(target)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None
    finally:
        if beside != target:
            with contextlib.suppress(OSError):
                beside.unlink()


def _replaced(target: Path, document: str) -> bool:
    """Replace the target by a new file. Returns False if the folder or the target doesn't allow it."""
    beside = target.with_name(f".{secrets.token_hex(8)}")
    try:
        created = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_FILE)
        with open(created, "w", encoding="utf-8", newline="") as file:
            file.write(document)
            file.flush()
            os.fsync(created)
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o7777)
        beside.replace(target)
    except OSError as error:
        if error.errno not in NOT_BESIDE:
            raise
        return False
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
    return True


def _target(path: Path) -> Path:
    """Resolve symbolic links, so that a link stays a link. Paths of pipes and devices are not resolved."""
    if not _is_replaced(path):
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a symbolic link to itself
        raise WrongUsage(f"{path} can't be written.") from None


def _is_replaced(path: Path) -> bool:
    return path.absolute().parts[1:2] not in (("dev",), ("proc",)) and (path.is_file() or not path.exists())
