"""Which web server answers, by its own word, so that a fix can show its configuration."""

from __future__ import annotations

import re

from scanner.findings import Server
from scanner.net.http.response import Headers

# LiteSpeed reads Apache's configuration.
NAMES = (
    (re.compile(r"nginx|openresty|tengine|angie", re.IGNORECASE), Server.NGINX),
    (re.compile(r"apache(?!-coyote)|litespeed", re.IGNORECASE), Server.APACHE),
    (re.compile(r"microsoft-(?:iis|httpapi)", re.IGNORECASE), Server.IIS),
    (re.compile(r"github\.com|netlify|amazons3|surge|uploadserver|neocities|windows-azure-blob", re.I), Server.STATIC),
)


def server_of(headers: Headers) -> Server | None:
    """The server that a response names in `Server`, else by `X-Powered-By`; None for others and where none is named."""
    name = headers.get("Server") or ""
    for pattern, server in NAMES:
        if pattern.match(name.strip()):
            return server
    is_bare = not name.strip()
    return Server.IIS if is_bare and (headers.get("X-Powered-By") or "").strip() == "ASP.NET" else None
