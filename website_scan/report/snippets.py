"""Code snippets for web servers and frameworks.

They are in `website_scan/<type>/fixes/<category>.toml`.

A file is a list of `[[fix]]`. `checks` lists the checks with this fix, in any category of the scan type. `note` is a
remark for the reader, and every other key is one of `SERVERS` with the code for that server.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

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
# Labels of snippets that do not depend on the web server.
ANYWHERE = ("HTML", "CSS", "DNS", "File")


class Snippet(Struct, frozen=True):
    """Snippet of server configuration or code."""

    server: str
    code: str


class ServerFix(Struct, frozen=True):
    """Fix with equivalent code snippets for several servers and frameworks."""

    note: str
    snippets: tuple[Snippet, ...]


@functools.cache
def fixes() -> dict[str, tuple[ServerFix, ...]]:
    """Read all fixes from the TOML files, by check ID.

    Snippets are included.
    """
    fixes_by_check: dict[str, tuple[ServerFix, ...]] = {}
    for path in _files():
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fix"]:
            snippets = (Snippet(label, entry[server].strip()) for server, label in SERVERS.items() if server in entry)
            fix = ServerFix(entry.get("note", ""), tuple(snippets))
            for check in entry["checks"]:
                fixes_by_check[check] = (*fixes_by_check.get(check, ()), fix)
    return fixes_by_check


class HowTo(Struct, frozen=True):
    """Snippets on a finding's card.

    `others` are servers whose snippets are only in the documentation.
    """

    snippets: tuple[Snippet, ...] = ()
    others: tuple[str, ...] = ()


NO_SNIPPETS = HowTo()


@functools.lru_cache(maxsize=1024)
def how_to(check_id: str, server: str, codes_of_fix: tuple[str, ...], *, has_page: bool) -> HowTo:
    """Return a check's snippets for the page's web server.

    Snippets that fit any server are included.

    `server` is a value of `website_scan.findings.Server`, or empty. Omits code that the fix itself contains
    (`codes_of_fix`). Without a snippet for the server, all snippets are returned if the check has no page to link to.
    """
    snippets = [snippet for fix in fixes().get(check_id, ()) for snippet in fix.snippets]
    has_server_snippet = any(snippet.server == server for snippet in snippets)
    chosen = [
        snippet for snippet in snippets if snippet.server in (server, *ANYWHERE) or not (has_server_snippet or has_page)
    ]
    others = dict.fromkeys(snippet.server for snippet in snippets if snippet not in chosen) if has_page else {}
    return HowTo(tuple(snippet for snippet in chosen if snippet.code not in codes_of_fix), tuple(others))


def _files() -> Iterator[Path]:
    for scan_type in ScanType:
        yield from sorted((Path(website_scan.__file__).parent / scan_type / "fixes").glob("*.toml"))
