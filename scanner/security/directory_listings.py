"""Listings of folders that web servers make by themselves: the title names the folder, a link leads to its parent."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

from scanner.net.http.response import Response

READ_CHARACTERS = 64 * 1024
TITLE = re.compile(r"<title>([^<]{1,2000})</title>", re.IGNORECASE)
# Which server, and its title with the folder's path.
TITLES = (
    ("Apache, nginx or lighttpd", r"Index of {path}"),
    ("IIS", r"[\w.:\[\]-]{1,300} - {path}"),
    ("Python", r"Directory listing for {path}"),
    ("Jetty", r"Directory: {path}(?:;jsessionid=\S{0,100})?"),
    ("Tomcat", r"Directory Listing For \[?{path}\]?"),
    ("Caddy", r"{path}"),
    ("Node.js", r"listing directory {path}|Files within {path}"),
)
# An element up to its end; one that another begins in is left out, as links do not nest.
ANCHOR = re.compile(r"<a\b([^<>]{0,1000}+)>((?:[^<]|<(?!/?a\b)){0,1500}+)</a\b", re.IGNORECASE)
TO_PARENT = re.compile(r"\bhref=[\"']?(?:\.\.|/)", re.IGNORECASE)
PARENT = re.compile(r"\.\./?|\[?(?:To )?Parent Directory\]?|(?:Go )?Up(?: To \S{1,300})?", re.IGNORECASE)
# What only such listings have: Apache's links to sort by, where a root has no parent, and Python's whole form.
SORT_LINKS = re.compile(r"href=\"\?C=[NMSD];O=[AD]\"", re.IGNORECASE)
PYTHON_FORM = re.compile(
    r"<h1>Directory listing for [^<]{1,2000}</h1>\s*<hr>\s*<ul>\s*(?:<li><a href=\"|</ul>)", re.IGNORECASE
)


def listing_server(response: Response, path: str) -> str | None:
    """Which server's listing of the folder it is; None for other pages. `path` is the folder's, without a query."""
    if response.status != 200:
        return None
    text = response.body.decode("utf-8", "replace")[:READ_CHARACTERS]
    found = TITLE.search(text)
    if found is None:
        return None
    title = html.unescape(found[1]).strip()
    folder = unquote(path).rstrip("/")
    for server, pattern in TITLES:
        if re.fullmatch(pattern.replace("{path}", re.escape(folder) + "/?"), title) and _has_form(text, server):
            return server
    return None


def _has_form(text: str, server: str) -> bool:
    if server == "Python":  # which has no link to the parent
        return PYTHON_FORM.search(text) is not None
    return SORT_LINKS.search(text) is not None or any(_is_to_parent(*found.groups()) for found in ANCHOR.finditer(text))


def _is_to_parent(attributes: str, content: str) -> bool:
    label = re.sub(r"<[^>]{0,500}>", " ", content).strip()
    return TO_PARENT.search(attributes) is not None and PARENT.fullmatch(label) is not None
