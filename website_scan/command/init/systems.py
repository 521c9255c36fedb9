"""Recognize the build systems that a repository uses, by its files, or by the host of its Git remotes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from msgspec import Struct

from website_scan.command.init.folder import SetupFolder
from website_scan.written_urls import written_host

GITHUB = "GitHub Actions"
GITLAB = "GitLab CI"
GITLAB_FILE = ".gitlab-ci.yml"
# Files and folders of build systems.
SYSTEMS_BY_FILE = {
    ".github/workflows": GITHUB,
    GITLAB_FILE: GITLAB,
    "Jenkinsfile": "Jenkins",
    "azure-pipelines.yml": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket Pipelines",
    ".circleci/config.yml": "CircleCI",
    ".buildkite": "Buildkite",
    ".drone.yml": "Drone",
    ".woodpecker.yml": "Woodpecker",
    ".woodpecker.yaml": "Woodpecker",
    ".woodpecker": "Woodpecker",
    ".forgejo/workflows": "Forgejo Actions",
    ".gitea/workflows": "Gitea Actions",
    ".travis.yml": "Travis CI",
    "appveyor.yml": "AppVeyor",
}
# Build systems of hosts, by labels of their names: gitlab.com and gitlab.example.com are GitLab.
SYSTEMS_BY_LABEL = {"github": GITHUB, "gitlab": GITLAB, "bitbucket": "Bitbucket Pipelines", "azure": "Azure Pipelines"}
GIT_TIMEOUT_S = 10.0
# Variables that would make Git read another repository, for example in its hooks.
GIT_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CONFIG")
_SCP_ADDRESS = re.compile(r"(?:[^@/:]+@)?([^/:]+):(?!//)")


class BuildSystem(Struct, frozen=True):
    """Build system of the repository, with the file or the host by which it was recognized."""

    name: str
    sign: str


def build_systems(folder: SetupFolder) -> list[BuildSystem]:
    """Return the build systems of the repository's files, otherwise that of the host of a remote."""
    systems: dict[str, BuildSystem] = {}
    for file, name in SYSTEMS_BY_FILE.items():
        if folder.exists(file):
            systems.setdefault(name, BuildSystem(name, file))
    if not systems:
        for host in remote_hosts(folder.path):
            if name := _system_of_host(host):
                systems.setdefault(name, BuildSystem(name, host))
    return list(systems.values())


def repository_root(folder: Path) -> Path | None:
    """Return the root of the Git repository that contains the folder, or None outside of repositories."""
    resolved = folder.resolve()
    return next((path for path in (resolved, *resolved.parents) if os.path.exists(path / ".git")), None)


def remote_hosts(folder: Path) -> list[str]:
    """Return the hosts of the Git remotes, `origin` first. Empty without Git or a repository."""
    if not os.path.exists(folder / ".git"):
        return []
    environment = {name: value for name, value in os.environ.items() if name not in GIT_VARIABLES}
    command = ["git", "-C", str(folder.resolve()), "config", "--null", "--get-regexp", r"^remote\..*\.url$"]
    try:
        ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=GIT_TIMEOUT_S, check=False)  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return []
    pairs = (line.partition("\n") for line in ran.stdout.decode(errors="replace").split("\0"))
    urls = sorted((name != "remote.origin.url", url) for name, _, url in pairs)
    return list(dict.fromkeys(filter(None, (host_of(url) for _, url in urls))))


def host_of(url: str) -> str:
    """Return the host of a remote: of a URL, or of an address such as git@example.com:a/b.git; empty for a path."""
    if match := _SCP_ADDRESS.match(url):
        return match[1].lower()
    return written_host(url)


def _system_of_host(host: str) -> str:
    return next((SYSTEMS_BY_LABEL[label] for label in host.split(".") if label in SYSTEMS_BY_LABEL), "")
