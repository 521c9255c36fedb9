"""Write the command's output to standard output and to files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from website_scan.command.arguments import Options, Output
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.formats.text import DEFAULT_WIDTH, MAX_WIDTH, colored, join_lines, plain
from website_scan.command.formats.text_document import closing_text, page_texts, text_document
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.plug_ins import plug_in_text
from website_scan.command.terminal import write_out

# The operating system removes the bits of the umask from this mode.
NEW_FILE_MODE = 0o666
# A file cannot be replaced in a read-only folder, or if it is a mount point.
REPLACE_ERRNOS = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS})


class OutputWriter:
    """Writer of reports.

    It prints text after each page, and writes other formats and all files at the end.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._is_grouped = options.site is not None or options.journeys is not None
        self._prints_text = Output("text") in options.outputs
        self._paint = colored if options.may_color and sys.stdout is not None and sys.stdout.isatty() else plain
        self._width = min(shutil.get_terminal_size((DEFAULT_WIDTH, 0)).columns, MAX_WIDTH)
        self._is_first = True

    def show(self, reports: Sequence[CommandReport]) -> None:
        """Print the reports of a page as text if the options say so."""
        if self._is_grouped or not self._prints_text:
            # Findings of a site or of journeys are grouped at the end.
            return
        for words in page_texts(reports, self._paint, self._width, is_quiet=self._options.is_quiet):
            write_out(words if self._is_first else f"\n{words}")
            self._is_first = False

    def end(self, result: CommandResult) -> None:
        """Write all outputs except printed text.

        Raises WrongUsage at the end if some files could not be written.
        """
        if self._prints_text:
            write_out(
                closing_text(
                    result, self._paint, self._width, is_grouped=self._is_grouped, is_quiet=self._options.is_quiet
                )
            )
        problems = []
        for output in self._options.outputs:
            if output == Output("text"):
                continue
            try:
                content = self._content(output, result)
                if output.path is None:
                    write_out(content)
                else:
                    write(output.path, content)
            except WrongUsage as problem:
                problems.append(str(problem))
        if problems:
            raise WrongUsage("\n".join(problems))

    def _content(self, output: Output, result: CommandResult) -> str:
        if output.format == "text":
            return text_document(result, is_grouped=self._is_grouped, is_quiet=self._options.is_quiet)
        if output == Output("conformance"):
            from website_scan.command.formats.conformance import conformance_lines  # Few commands use this format.

            return join_lines(conformance_lines(result, self._paint, self._width))
        return formatted(output.format, result)


def formatted(name: str, result: CommandResult) -> str:
    """Return all reports as the content of an output file.

    `name` is a key of WRITERS, or a format of a plug-in. Raises WrongUsage if the latter fails.
    """
    if name not in WRITERS:
        return plug_in_text(name, result)
    module, function = WRITERS[name]
    content: str = getattr(import_module(f"website_scan.command.formats.{module}"), function)(result)
    return content


def refuse_unwritable(paths: Iterable[Path | None]) -> None:
    """Raise WrongUsage if an output is not writable.

    None is standard output. Called before the first scan.
    """
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
        if target in targets and _is_replaceable(target):
            raise WrongUsage(f"{path} is used twice.")
        targets.add(target)


def write(path: Path, content: str) -> None:
    """Write text to a file in UTF-8, without converting line ends.

    Replaces an existing file atomically. Writes directly to pipes and devices, and to a file that cannot be replaced,
    such as a mount point. Raises WrongUsage.
    """
    target = _target(path)
    try:
        if not _is_replaceable(target) or not _replace(target, content):
            with target.open("w", encoding="utf-8", newline="") as file:
                file.write(content)
    except OSError as error:
        raise WrongUsage(f"{path} can't be written: {error.strerror}") from None


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write an iterable of texts to a file in UTF-8.

    Replaces an existing file only after the last text is written. Raises WrongUsage for a file that cannot be written,
    and the errors of the iterable.
    """
    target = _target(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}") if _is_replaceable(target) else target
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
    """Replace the target file by a new file.

    Returns False if the folder is not writable or the target is mounted.
    """
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
        if error.errno not in REPLACE_ERRNOS:
            raise
        return False
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return True


def _target(path: Path) -> Path:
    """Resolve symbolic links to output files.

    The linked file is replaced, not the link. Links to pipes and devices stay.
    """
    if not _is_replaceable(path):
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        # Python raises these errors for a symbolic link to itself.
        raise WrongUsage(f"{path} can't be written.") from None


def _is_replaceable(path: Path) -> bool:
    return path.absolute().parts[1:2] not in (("dev",), ("proc",)) and (path.is_file() or not path.exists())
