"""Tests for several outputs of one command.

A file is written completely or not at all.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT, run_here
from tests.website_scan.command.reports import check_result, judged_report
from website_scan.command.arguments import Output, parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.command.gate import CommandResult
from website_scan.command.output import OutputWriter, refuse_unwritable, write

URL = "https://example.com/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", [("text", None)]),
        ("--format json", [("json", None)]),
        ("--output a", [("text", "a")]),
        ("--output a --format html", [("html", "a")]),
        ("--format html --output a", [("html", "a")]),
        ("--format text --format sarif --output a", [("text", None), ("sarif", "a")]),
        ("--format sarif --output a --format text", [("sarif", "a"), ("text", None)]),
        ("--format csv --output a --format csv --output b", [("csv", "a"), ("csv", "b")]),
    ],
)
def test_output_follows_its_format_option(arguments: str, expected: list[tuple[str, str | None]]) -> None:
    outputs = parse_arguments([URL, *arguments.split()]).outputs
    assert outputs == tuple(Output(name, Path(path) if path else None) for name, path in expected)


@pytest.mark.parametrize(
    "arguments",
    [
        "--format json --format html",
        "--output a --output b",
        "--output a --format html --format csv",
        "--output a --format html --output b",
        "--format html --output a --output b",
    ],
)
def test_ambiguous_outputs_are_refused(arguments: str) -> None:
    with pytest.raises(WrongUsage, match="--output"):
        parse_arguments([URL, *arguments.split()])


def test_all_outputs_are_from_one_scan(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    arguments = (
        "--format text --format sarif --output a.sarif --format text --output a.txt --format codequality --output q"
    )
    writer = OutputWriter(parse_arguments([URL, *arguments.split()]))
    reports = [judged_report(check_result("hsts")), judged_report(check_result("csp"), url="https://example.com/shop")]
    for report in reports:
        writer.show([report])
    writer.end(CommandResult(reports, [], requested=2))
    text = capsys.readouterr().out
    assert text == (folder / "a.txt").read_text()
    assert text.count("\n\nhttps://example.com/shop  security") == 1
    assert {file.name for file in folder.iterdir()} == {"a.sarif", "a.txt", "q"}


def test_unwritable_file_keeps_other_outputs(folder: Path) -> None:
    (folder / "gone").mkdir()
    writer = OutputWriter(
        parse_arguments([URL, *["--format", "csv", "--output", "gone/a", "--format", "json", "--output", "b"]])
    )
    (folder / "gone").rmdir()
    with pytest.raises(WrongUsage, match="gone/a can't be written"):
        writer.end(CommandResult([judged_report(check_result("hsts"))], [], requested=1))
    assert (folder / "b").read_text().startswith("{")


@pytest.mark.parametrize("path", [".", "nowhere/a", "file/a", "loop"])
def test_unwritable_file_is_reported_early(path: str, folder: Path) -> None:
    (folder / "file").touch()
    (folder / "loop").symlink_to("loop")
    for option in ("--output", "--write-baseline"):
        ran = run_here("scan", "http://nobody.invalid/", option, path)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f"{path} can't be written." in ran.stderr


def test_two_outputs_to_the_same_file_are_refused(folder: Path) -> None:
    (folder / "link").symlink_to("a")
    ran = run_here("scan", URL, "--output", "a", "--write-baseline", "link")
    assert (ran.returncode, ran.stderr) == (2, "manage.py scan: link is used twice.\n")
    refuse_unwritable([Path(os.devnull), Path(os.devnull)])


def test_only_a_complete_file_replaces_the_old_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "report"
    path.write_text("old")
    path.chmod(0o640)

    def full(_: int) -> None:
        assert path.read_text() == "old"
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(WrongUsage, match="report can't be written: No space left on device"):
            write(path, "new")
    assert path.read_text() == "old"
    write(path, "new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(folder.iterdir()) == [path]


def test_write_follows_a_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "link").symlink_to("report")
    write(folder / "link", "one")
    assert (folder / "link").is_symlink()
    assert (folder / "report").read_text() == "one"

    def busy(*_: object) -> None:
        raise OSError(16, "Device or resource busy")  # The kernel raises this error for a file that is a mount point.

    monkeypatch.setattr(Path, "replace", busy)
    write(folder / "report", "two")
    assert (folder / "report").read_text() == "two"
    assert len(list(folder.iterdir())) == 2


def test_pipe_is_written_directly() -> None:
    code = "import sys; from pathlib import Path; from website_scan.command.output import *; p = Path(sys.argv[1]); "
    code += "refuse_unwritable([p]); write(p, 'document')"
    command = ["bash", "-c", 'exec 3>&1; "$0" -c "$1" >(cat >&3); wait $!', sys.executable, code]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "document", "")
