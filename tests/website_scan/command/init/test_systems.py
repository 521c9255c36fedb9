"""Tests for the build systems that `website-scan init` recognizes, and the repository of the command."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.website_scan.command.init.conftest import Init, create
from website_scan.command.init.folder import SetupFolder
from website_scan.command.init.source import PLACEHOLDER, CommandSource, command_source, source_of
from website_scan.command.init.systems import (
    GITHUB,
    GITLAB,
    BuildSystem,
    build_systems,
    host_of,
    remote_hosts,
    repository_root,
)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


def repository(folder: Path, *remotes: str) -> None:
    git(folder, "init", "--quiet")
    for name, url in zip(("upstream", "origin"), remotes, strict=False):
        git(folder, "remote", "add", name, url)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], []),
        ([".github/FUNDING.yml"], []),
        ([".github/workflows/test.yml"], [(GITHUB, ".github/workflows")]),
        ([".gitlab-ci.yml"], [(GITLAB, ".gitlab-ci.yml")]),
        (["Jenkinsfile"], [("Jenkins", "Jenkinsfile")]),
        ([".circleci/config.yml"], [("CircleCI", ".circleci/config.yml")]),
        ([".woodpecker.yml", ".woodpecker/a.yml"], [("Woodpecker", ".woodpecker.yml")]),
        ([".gitlab-ci.yml", "Jenkinsfile"], [(GITLAB, ".gitlab-ci.yml"), ("Jenkins", "Jenkinsfile")]),
    ],
)
def test_build_systems_are_recognized_by_files(folder: Path, files: list[str], expected: list[tuple[str, str]]) -> None:
    create(folder, dict.fromkeys(files, ""))
    assert build_systems(SetupFolder(folder)) == [BuildSystem(*pair) for pair in expected]


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("git@github.com:me/site.git", "github.com", GITHUB),
        ("https://me:secret@GitHub.com/me/site", "github.com", GITHUB),
        ("ssh://git@gitlab.example.com:2222/a/b.git", "gitlab.example.com", GITLAB),
        ("https://bitbucket.org/me/site", "bitbucket.org", "Bitbucket Pipelines"),
        ("git@ssh.dev.azure.com:v3/a/b/c", "ssh.dev.azure.com", "Azure Pipelines"),
        ("https://notgithub.com/me/site", "notgithub.com", None),
        ("/srv/git/site.git", "", None),
        ("../github.com:a", "", None),
        ("https://[::1/", "", None),
    ],
)
def test_build_systems_are_recognized_by_the_host_of_the_remote(
    folder: Path, url: str, host: str, name: str | None
) -> None:
    repository(folder, url)
    assert host_of(url) == host
    assert build_systems(SetupFolder(folder)) == ([BuildSystem(name, host)] if name else [])


def test_remote_origin_comes_first_and_files_decide(folder: Path) -> None:
    repository(folder, "git@github.com:a/b", "https://gitlab.com/a/b")
    assert remote_hosts(folder) == ["gitlab.com", "github.com"]
    create(folder, {"Jenkinsfile": ""})
    assert build_systems(SetupFolder(folder)) == [BuildSystem("Jenkins", "Jenkinsfile")]


def test_variables_of_git_hooks_choose_no_other_repository(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    repository(other, "git@github.com:a/b")
    repository(folder, "https://gitlab.com/a/b")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert remote_hosts(folder) == ["gitlab.com"]


def test_remotes_are_unknown_without_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(folder, "git@github.com:a/b")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert remote_hosts(folder) == []


def test_remotes_of_a_worktree_are_those_of_its_repository(folder: Path, tmp_path: Path) -> None:
    repository(folder, "git@github.com:a/b")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "-m", "Begin")
    git(folder, "worktree", "add", str(tmp_path / "worktree"))
    assert remote_hosts(tmp_path / "worktree") == ["github.com"]


def test_no_job_is_written_into_a_subfolder_of_a_repository(folder: Path, init: Init) -> None:
    repository(folder, "git@github.com:a/b")
    create(folder, {".github/workflows/": "", "web site/public/index.html": "<title>Inn</title>"})
    status, output = init("web site")
    assert status == 0
    assert f"Repository: {repository_root(folder)}\n" in output
    assert "--config 'web site/website-scan.toml'\n" in output
    assert (folder / "web site" / "website-scan.toml").exists()
    assert list((folder / ".github" / "workflows").iterdir()) == []


@pytest.mark.parametrize(
    ("url", "revision", "expected"),
    [
        ("https://git.example.com/tools/scan.git", "v1", CommandSource("git.example.com", "tools/scan", "v1")),
        ("https://me:token@github.com/tools/scan", None, CommandSource("github.com", "tools/scan")),
        ("https://git.example.com:8443/a/b/c", "a/b", CommandSource("git.example.com:8443", "a/b/c", "a/b")),
        ("https://git.example.com/a/b", "x y", PLACEHOLDER),
        ("https://git.example.com/a/b", "-x", PLACEHOLDER),
        ("https://git.example.com/a/$b", "main", PLACEHOLDER),
        ("https://git.example.com/a/b\nrun: x", "main", PLACEHOLDER),
        ("https://git.example.com:x/a/b", "main", PLACEHOLDER),
        ("ssh://git@git.example.com/a/b", "main", PLACEHOLDER),
        ("file:///home/me/scan", "main", PLACEHOLDER),
        (5, "main", PLACEHOLDER),
    ],
)
def test_source_is_the_repository_of_the_installation(url: object, revision: object, expected: CommandSource) -> None:
    assert source_of(json.dumps({"url": url, "vcs_info": {"vcs": "git", "requested_revision": revision}})) == expected


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"url": "https://a.example/b/c", "dir_info": {}}'])
def test_other_installations_have_a_placeholder(content: str) -> None:
    assert source_of(content) == PLACEHOLDER
    assert command_source() == PLACEHOLDER
