"""Tests for `make release`."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deploy import release
from tests.project import ROOT
from website_scan import __version__


def git(folder: Path, *arguments: str) -> str:
    return release.git(folder, *arguments)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Repository with the files of a release and one unreleased change."""
    folder = tmp_path / "tree"
    for path in (*release.PLACES, release.CHANGELOG, release.FRAGMENTS / "README.md", Path("pyproject.toml")):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes((ROOT / path).read_bytes())
    (folder / "Makefile").write_text("docs:\n\t@true\n")
    (folder / ".gitignore").write_text("/var\n")
    (folder / release.FRAGMENTS / "faster.changed.md").write_text("Scans take half as long.\n")
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "Ann")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "ann@example.com")
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


@pytest.mark.parametrize("version", ["", "next", "1.2", "v1.2.0", "1.2.0rc1", "1.2.0+local", "01.2.0"])
def test_version_must_be_three_numbers(version: str, tree: Path) -> None:
    with pytest.raises(release.ReleaseRefused, match="Name three numbers"):
        release.require_ready(version, tree)


def test_working_tree_with_changes_is_refused(tree: Path) -> None:
    (tree / "new.py").touch()
    with pytest.raises(release.ReleaseRefused, match="working tree has changes"):
        release.require_ready("9.9.0", tree)


def test_release_must_be_the_newest(tree: Path) -> None:
    git(tree, "tag", "v9.10.0")
    with pytest.raises(release.ReleaseRefused, match=r"v9\.10\.0 exists already"):
        release.require_ready("9.10.0", tree)
    with pytest.raises(release.ReleaseRefused, match=r"9\.9\.0 is not newer than 9\.10\.0"):
        release.require_ready("9.9.0", tree)
    release.require_ready("9.11.0", tree)


def test_release_needs_a_changelog_entry(tree: Path) -> None:
    (tree / release.FRAGMENTS / "faster.changed.md").unlink()
    git(tree, "commit", "--quiet", "--all", "--message", "Forget")
    with pytest.raises(release.ReleaseRefused, match="Nothing has changed"):
        release.require_ready("9.9.0", tree)


def test_incomplete_handwritten_changelog_is_refused(tree: Path) -> None:
    text = (tree / release.CHANGELOG).read_text()
    (tree / release.CHANGELOG).write_text(text + f"\n## 9.9.0 {release.DASH} some day\n\nBy hand.\n")
    git(tree, "commit", "--quiet", "--all", "--message", "Write it by hand")
    with pytest.raises(release.ReleaseRefused, match="has more entries"):
        release.require_ready("9.9.0", tree)


def test_release_commits_version_and_changelog(tree: Path) -> None:
    release.prepare("9.9.0", tree)
    assert git(tree, "log", "-1", "--format=%s") == "Release 9.9.0"
    for path in release.PLACES:
        text = (tree / path).read_text()
        assert "9.9.0" in text
        assert __version__ not in text
    assert not release.fragments(tree)
    section = release.section_of("9.9.0", (tree / release.CHANGELOG).read_text())
    assert "Scans take half as long." in section
    assert "## " not in section.replace("### ", "")
    before = git(tree, "rev-parse", "HEAD")
    release.require_ready("9.9.0", tree)
    release.prepare("9.9.0", tree)
    assert git(tree, "rev-parse", "HEAD") == before, "an interrupted release can be repeated"


def test_all_files_have_the_current_version() -> None:
    for path, pattern in release.PLACES.items():
        versions = re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        assert versions, path
        assert set(versions) == {__version__}, path
    assert f"\n  version: {__version__}\n" in (ROOT / "openapi.yaml").read_text(encoding="utf-8")


def test_tag_has_the_release_notes(tree: Path) -> None:
    release.tag("9.9.0", "### Changed\n\n- Scans take half as long.\n", tree)
    message = git(tree, "tag", "--list", "--format=%(contents)", "v9.9.0")
    assert message == "Release 9.9.0\n\n### Changed\n\n- Scans take half as long."


def test_checksums_can_be_verified(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    release.write_checksums(tmp_path)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True, capture_output=True)


def test_failed_release_step_is_reported(tmp_path: Path) -> None:
    with pytest.raises(release.ReleaseRefused, match="repeat the release"):
        release.run([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_two_builds_of_a_commit_are_identical(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    release.build_distributions(ROOT, tmp_path, files)
    wheel, source = sorted(files.iterdir(), key=lambda path: path.suffix != ".whl")
    assert wheel.name == f"website_scan-{__version__}-py3-none-any.whl"
    assert source.name == f"website_scan-{__version__}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        assert "website_scan/run.py" in archive.namelist()
    assert {path.name for path in tmp_path.iterdir()} == {"files"}, "no other files are left"


def test_irreproducible_build_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = []

    def build(command: list[str], folder: Path, variables: object) -> None:
        folders.append(folder)
        output = Path(command[-1])
        output.mkdir()
        (output / "website_scan.whl").write_text(f"{len(folders)}")

    monkeypatch.setattr(release, "run", build)
    with pytest.raises(release.ReleaseRefused, match=r"Two builds of one commit differ: website_scan\.whl\."):
        release.build_distributions(ROOT, tmp_path, tmp_path)
