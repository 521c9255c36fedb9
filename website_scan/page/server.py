"""Detection of the web server from response headers.

A fix can then show the server's configuration.
"""

from __future__ import annotations

import re

from website_scan.findings import Server
from website_scan.net.http.response import Headers

# Patterns of the `Server` header. LiteSpeed uses Apache's configuration format.
NAMES = (
    (re.compile(r"nginx|openresty|tengine|angie", re.IGNORECASE), Server.NGINX),
    (re.compile(r"apache(?!-coyote)|litespeed", re.IGNORECASE), Server.APACHE),
    (re.compile(r"caddy\b", re.IGNORECASE), Server.CADDY),
    (re.compile(r"microsoft-(?:iis|httpapi)", re.IGNORECASE), Server.IIS),
    (re.compile(r"github\.com|netlify|amazons3|surge|uploadserver|neocities|windows-azure-blob", re.I), Server.STATIC),
)


def server_of(headers: Headers) -> Server | None:
    """Return the web server that the `Server` or `X-Powered-By` header names.

    None if it is unknown.
    """
    name = headers.get("Server") or ""
    for pattern, server in NAMES:
        if pattern.match(name.strip()):
            return server
    is_server_header_empty = not name.strip()
    return Server.IIS if is_server_header_empty and (headers.get("X-Powered-By") or "").strip() == "ASP.NET" else None
