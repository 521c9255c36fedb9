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

import scanner
from scanner.findings import ScanType

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


def _files() -> Iterator[Path]:
    for scan_type in ScanType:
        yield from sorted((Path(scanner.__file__).parent / scan_type / "fixes").glob("*.toml"))
