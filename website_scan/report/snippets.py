"""Fixes for web servers and frameworks, from `fixes/<category>.toml` beside the checks of a type.

A file is a list of `[[fix]]`. `checks` lists the checks that it fixes, in any category of the type. `note` is a remark
for the reader, and every other key is one of `SERVERS` with the code to write there.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import website_scan
from website_scan.findings import ScanType

SERVERS = {
    "nginx": "nginx",
    "apache": "Apache",
    "iis": "IIS",
    "caddy": "Caddy",
    "django": "Django",
    "express": "Express",
    "html": "HTML",
    "css": "CSS",
    "dns": "DNS",
    "file": "File",
}
ANYWHERE = ("HTML", "CSS", "DNS", "File")  # the same whatever the server


@dataclass(frozen=True, slots=True)
class Snippet:
    """Snippet for a server's configuration or a framework's code."""

    server: str
    code: str


@dataclass(frozen=True, slots=True)
class ServerFix:
    """A fix: equivalent snippets for several servers or frameworks."""

    note: str
    snippets: tuple[Snippet, ...]


@functools.cache
def fixes() -> dict[str, tuple[ServerFix, ...]]:
    """Return all fixes by the ID of the check."""
    found: dict[str, tuple[ServerFix, ...]] = {}
    for path in _files():
        for written in tomllib.loads(path.read_text(encoding="utf-8"))["fix"]:
            snippets = (
                Snippet(label, written[server].strip()) for server, label in SERVERS.items() if server in written
            )
            fix = ServerFix(written.get("note", ""), tuple(snippets))
            for check in written["checks"]:
                found[check] = (*found.get(check, ()), fix)
    return found


@dataclass(frozen=True, slots=True)
class HowTo:
    """Snippets that a finding shows, and the names of the servers for which the check's page has others."""

    snippets: tuple[Snippet, ...] = ()
    others: tuple[str, ...] = ()


NO_HOW_TO = HowTo()


@functools.lru_cache(maxsize=1024)
def how_to(check_id: str, server: str, known: tuple[str, ...], *, has_page: bool) -> HowTo:
    """Return the snippets of a check for the server that answered, and those that depend on no server.

    `server` is a value of `website_scan.findings.Server`, or empty. Code that the fix itself has (`known`) is left
    out. Without a snippet for the server, all are returned if there is no page of the check to link to.
    """
    found = [each for fix in fixes().get(check_id, ()) for each in fix.snippets]
    is_known = any(each.server == server for each in found)
    shown = [each for each in found if each.server in (server, *ANYWHERE) or not (is_known or has_page)]
    others = dict.fromkeys(each.server for each in found if each not in shown) if has_page else {}
    return HowTo(tuple(each for each in shown if each.code not in known), tuple(others))


def _files() -> Iterator[Path]:
    for scan_type in ScanType:
        yield from sorted((Path(website_scan.__file__).parent / scan_type / "fixes").glob("*.toml"))
