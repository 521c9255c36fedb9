"""Where documents go: to standard output and into files, several of one scan."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from scanner.command.arguments import Document, Options
from scanner.command.errors import WrongUsage
from scanner.command.formats.text import Paint, colored, plain, text
from scanner.command.judged import Judged, Outcome

# The module and function of each format but text: it loads when it is wanted.
WRITERS = {
    "json": ("data", "reports_as_json"),
    "full": ("data", "exports_as_json"),
    "sarif": ("sarif", "sarif"),
    "csv": ("data", "csv_table"),
    "junit": ("junit", "junit"),
    "codequality": ("codequality", "codequality"),
    "markdown": ("markdown", "markdown"),
    "html": ("page", "page"),
}
NEW_FILE = 0o666  # less what the umask takes
# Why a folder takes no new file, or a file gives its place to none.
NOT_BESIDE = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS})


class Output:
    """Text on standard output is shown as soon as a page is judged, every other document at the end, as one."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._shows_text = Document("text") in options.documents
        self._keeps_text = any(each.format == "text" and each.path is not None for each in options.documents)
        self._paint = colored if options.may_color and sys.stdout.isatty() else plain
        self._kept: list[str] = []
        self._is_first = True

    def show(self, reports: Sequence[Judged]) -> None:
        """What of these can be shown now."""
        for each in reports:
            between = "" if self._is_first else "\n"
            if self._shows_text:
                sys.stdout.write(between + self._text(each, self._paint))
            if self._keeps_text:
                self._kept.append(between + self._text(each, plain))
            self._is_first = False
        sys.stdout.flush()

    def _text(self, judged: Judged, paint: Paint) -> str:
        return "".join(f"{line}\n" for line in text(judged, paint, is_quiet=self._options.is_quiet))

    def end(self, outcome: Outcome) -> None:
        """Raises WrongUsage for a file that can't be written any more, once all the others are."""
        troubles = []
        for wanted in self._options.documents:
            document = "".join(self._kept) if wanted.format == "text" else formatted(wanted.format, outcome)
            if wanted.path is not None:
                try:
                    write(wanted.path, document)
                except WrongUsage as trouble:
                    troubles.append(str(trouble))
            elif wanted.format != "text":
                sys.stdout.write(document)
                sys.stdout.flush()
        if troubles:
            raise WrongUsage("\n".join(troubles))


def formatted(name: str, outcome: Outcome) -> str:
    """The document in one of WRITERS, of all reports that were asked for."""
    module, function = WRITERS[name]
    document: str = getattr(import_module(f"scanner.command.formats.{module}"), function)(outcome)
    return document


def refuse_what_cannot_be_written(paths: Iterable[Path]) -> None:
    """Raises WrongUsage: told now, and not after minutes of scanning."""
    seen = set()
    for path in paths:
        target = _target(path)
        needed = (target, os.W_OK) if target.exists() else (target.parent, os.W_OK | os.X_OK)
        if target.is_dir() or not target.parent.is_dir() or not os.access(*needed):
            raise WrongUsage(f"{path} can't be written.")
        if target in seen and _is_replaced(target):
            raise WrongUsage(f"{path} is given twice.")
        seen.add(target)


def write(path: Path, document: str) -> None:
    """In UTF-8, with line ends as they are; whoever reads the file meanwhile has the old document or the new one.

    Pipes and devices are written to, and so is a file whose folder takes no other, as one that is mounted alone.
    Raises WrongUsage.
    """
    target = _target(path)
    try:
        if not _is_replaced(target) or not _replaced(target, document):
            with target.open("w", encoding="utf-8", newline="") as file:
                file.write(document)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None


def _replaced(target: Path, document: str) -> bool:
    """Whether another file could take its place."""
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
    """The file itself, so that a link to it stays one. What stands for a pipe leads to no file."""
    if not _is_replaced(path):
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link to itself
        raise WrongUsage(f"{path} can't be written.") from None


def _is_replaced(path: Path) -> bool:
    return path.absolute().parts[1:2] not in (("dev",), ("proc",)) and (path.is_file() or not path.exists())
