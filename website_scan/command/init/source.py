"""Repository from which the command was installed: builds install it from there, too."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution

from msgspec import Struct

from website_scan.written_urls import split_url

DISTRIBUTION = "website-scan"
# Characters that need no quoting in YAML, a shell or a GitHub action's reference.
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?")
_PATH = re.compile(r"[A-Za-z0-9_~][A-Za-z0-9_.~-]*(?:/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)+")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


class CommandSource(Struct, frozen=True):
    """Git repository of the command. `host` is empty in the placeholder, which users replace by their copy."""

    host: str
    path: str
    revision: str = "main"

    @property
    def requirement_url(self) -> str:
        """Address from which pip and uv install the command."""
        return f"git+https://{self.host or 'git.example.com'}/{self.path}@{self.revision}"

    @property
    def is_placeholder(self) -> bool:
        return not self.host


PLACEHOLDER = CommandSource("", "your-organization/website-scan-service")


def command_source() -> CommandSource:
    """Return the repository from which this command was installed, or the placeholder if it is not known."""
    try:
        installed = distribution(DISTRIBUTION).read_text("direct_url.json")
    except (PackageNotFoundError, OSError):
        return PLACEHOLDER
    return source_of(installed or "")


def source_of(direct_url: str) -> CommandSource:
    """Return the repository that `direct_url.json` of an installed distribution names (PEP 610).

    The user name and password of its URL are left out.
    """
    try:
        content = json.loads(direct_url)
        revision = content["vcs_info"].get("requested_revision") or PLACEHOLDER.revision
        url = split_url(content["url"])
        host = (url.hostname or "") + (f":{url.port}" if url.port else "")
        path = url.path.strip("/").removesuffix(".git")
        is_git = content["vcs_info"]["vcs"] == "git" and url.scheme == "https"
    except (ValueError, LookupError, TypeError, AttributeError):
        return PLACEHOLDER
    if not (is_git and _HOST.fullmatch(host) and _PATH.fullmatch(path) and _REVISION.fullmatch(str(revision))):
        return PLACEHOLDER
    return CommandSource(host, path, str(revision))
