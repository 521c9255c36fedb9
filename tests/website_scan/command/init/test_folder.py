"""Tests that `website-scan init` reads and writes nothing outside its folder, and no file by half."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from tests.website_scan.command.init.conftest import Init, create, file_names
from website_scan.command.errors import EXIT_USAGE, WrongUsage
from website_scan.command.init.folder import SetupFolder
from website_scan.command.init.jobs import GITHUB_WORKFLOW

TOML = "website-scan.toml"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    create(folder, {"file": "theirs", "workflows/": ""})
    return folder


@pytest.mark.parametrize(
    ("link", "target", "written"),
    [
        (".github", "", {TOML}),
        (".github/workflows", "workflows", set()),
        (GITHUB_WORKFLOW, "file", set()),
        (GITHUB_WORKFLOW, "missing", set()),
    ],
)
def test_links_of_the_folder_are_not_followed(
    folder: Path, init: Init, outside: Path, link: str, target: str, written: set[str]
) -> None:
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(outside / target)
    status, output = init("--force")
    assert (status, "is a symbolic link" in output) == ((0, False) if written else (EXIT_USAGE, True))
    assert file_names(folder) - {link} == written
    assert file_names(outside) == {"file"}
    assert (outside / "file").read_text() == "theirs"
    assert (folder / link).is_symlink()


@pytest.mark.parametrize("target", ["file", "missing"])
def test_linked_configuration_is_not_replaced(folder: Path, init: Init, outside: Path, target: str) -> None:
    (folder / TOML).symlink_to(outside / target)
    assert init()[0] == EXIT_USAGE
    status, output = init("--force")
    assert (status, "is a symbolic link, and init follows none. Nothing was written." in output) == (EXIT_USAGE, True)
    assert file_names(outside) == {"file"}
    assert (outside / "file").read_text() == "theirs"


@pytest.mark.parametrize("files", [{f"{TOML}/": "", ".github/workflows/": ""}, {TOML: "", f"{GITHUB_WORKFLOW}/": ""}])
def test_folder_in_place_of_a_file_is_refused(folder: Path, init: Init, files: dict[str, str]) -> None:
    create(folder, files)
    before = file_names(folder)
    status, output = init("--force")
    assert (status, "is a folder. Nothing was written." in output) == (EXIT_USAGE, True)
    assert file_names(folder) == before


def test_folder_of_the_user_may_be_a_link(folder: Path, init: Init, outside: Path) -> None:
    (folder / "link").symlink_to(outside)
    assert init("link")[0] == 0
    assert file_names(outside) == {"file", TOML}


def test_read_only_folder_is_refused(folder: Path, init: Init, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def refuse_new_files(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system")
        return real_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse_new_files)
    assert init() == (EXIT_USAGE, "website-scan: website-scan.toml can't be written: Read-only file system.\n")
    assert file_names(folder) == set()


def test_file_that_appears_meanwhile_is_not_replaced(folder: Path) -> None:
    create(folder, {"file": "theirs"})
    with pytest.raises(WrongUsage, match="file can't be written: File exists"):
        SetupFolder(folder).write("file", "ours", replaces=False)
    assert (folder / "file").read_text() == "theirs"
    assert file_names(folder) == {"file"}


def test_file_systems_without_hard_links_are_supported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    SetupFolder(folder).write("a/b/file", "ours", replaces=False)
    assert (folder / "a/b/file").read_text() == "ours"
    with pytest.raises(WrongUsage, match="File exists"):
        SetupFolder(folder).write("a/b/file", "again", replaces=False)
    assert file_names(folder) == {"a/b/file"}


def test_interrupted_write_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(folder, {"file": "theirs"})

    def interrupt(_: int) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SetupFolder(folder).write("file", "ours", replaces=True)
    assert (folder / "file").read_text() == "theirs"
    assert file_names(folder) == {"file"}
