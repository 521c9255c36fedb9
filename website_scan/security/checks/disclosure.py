"""Information leakage checks: details of its internals that the site discloses without need."""

from __future__ import annotations

import html
import itertools
import re
from urllib.parse import unquote

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, Fail, Finding, Fix, Pass, Server, Warn
from website_scan.messages import counted, excerpt, some
from website_scan.net.http.response import Response
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import MAX_NODES
from website_scan.security.comments import comments, has_credentials, is_undone, places
from website_scan.security.error_pages import debug_page
from website_scan.security.evidence import AssetDirectories, NotFoundBaseline
from website_scan.security.private_addresses import in_fields, in_prose, in_source
from website_scan.urls import Url

CATEGORY = Category("Information leakage", weight=5)

# A product's version: "nginx/1.25.3", "Apache 2.4", "Jetty(9.4.53)"; not a node's name or a commit ("Fly/6f91d33b").
PRODUCT_VERSION = re.compile(r"[A-Za-z][\w.-]*(?:/v?\d+(?:\.\d|(?!\w))|[ (]v?\d+\.\d)")
COMMENT = re.compile(r"\s\([^()]{0,300}\)")
POWERED_BY = (
    "X-Powered-By",
    "X-AspNet-Version",
    "X-AspNetMvc-Version",
    "X-Generator",
    "X-Powered-CMS",
    "X-CMS",
    "X-Framework",
    "X-OWA-Version",
    "MicrosoftSharePointTeamServices",
    "Liferay-Portal",
)
# The number of a request or a node. It does not name a product.
IDENTIFIER = re.compile(r"[0-9a-f-]{8,}|\d+", re.IGNORECASE)
VERSIONED_HEADERS = ("X-AspNet-Version", "X-AspNetMvc-Version", "X-OWA-Version", "MicrosoftSharePointTeamServices")
MAX_TEXT = 1024 * 1024

# Listings that web servers generate: the title names the folder, a link leads to its parent.
LISTING_CHARACTERS = 64 * 1024
LISTING_TITLE = re.compile(r"<title>([^<]{1,2000})</title>", re.IGNORECASE)
# Server, and its title with the folder's path.
LISTING_TITLES = (
    ("Apache, nginx or lighttpd", r"Index of {path}"),
    ("IIS", r"[\w.:\[\]-]{1,300} - {path}"),
    ("Python", r"Directory listing for {path}"),
    ("Jetty", r"Directory: {path}(?:;jsessionid=\S{0,100})?"),
    ("Tomcat", r"Directory Listing For \[?{path}\]?"),
    ("Caddy", r"{path}"),
    ("Node.js", r"listing directory {path}|Files within {path}"),
)
# An anchor element up to its end tag. Without those that contain another, because links do not nest.
ANCHOR = re.compile(r"<a\b([^<>]{0,1000}+)>((?:[^<]|<(?!/?a\b)){0,1500}+)</a\b", re.IGNORECASE)
TO_PARENT = re.compile(r"\bhref=[\"']?(?:\.\.|/)", re.IGNORECASE)
PARENT = re.compile(r"\.\./?|\[?(?:To )?Parent Directory\]?|(?:Go )?Up(?: To \S{1,300})?", re.IGNORECASE)
# Marks that only such listings have: Apache's sort links (a root has no parent), and the whole form of Python's.
SORT_LINKS = re.compile(r"href=\"\?C=[NMSD];O=[AD]\"", re.IGNORECASE)
PYTHON_FORM = re.compile(
    r"<h1>Directory listing for [^<]{1,2000}</h1>\s*<hr>\s*<ul>\s*(?:<li><a href=\"|</ul>)", re.IGNORECASE
)


@check(
    "server-version",
    name="Server header names no version",
    found="Server header names a version",
    why="A version tells attackers which published vulnerabilities to try first.",
    severity=LOW,
    fix=Fix(
        "Send Server without versions ({example}).",
        {
            Server.NGINX: "server_tokens off;",
            Server.APACHE: "ServerTokens Prod",
            Server.IIS: '<requestFiltering removeServerHeader="true"/>',
        },
    ),
    references=("RFC 9110, section 10.2.4", "CWE-200", "OWASP WSTG-INFO-02", "MDN: Server"),
)
def server_version(page: Page) -> Finding:
    value = page.headers.get("Server")
    if value is None:
        return Pass("No Server header is sent.")
    if PRODUCT_VERSION.search(COMMENT.sub("", value[:1000])):
        return Fail(
            f"Server: {excerpt(value)} names a version.",
            evidence=[{"header": "Server", "value": excerpt(value)}],
        )
    return Pass(f"Server: {excerpt(value)} names no version.")


@check(
    "powered-by",
    name="Headers do not name the software in use",
    found="Headers name the software in use",
    why="The name of a framework tells attackers which published vulnerabilities to try first.",
    severity=LOW,
    fix="Stop sending the header: expose_php = Off in PHP, app.disable('x-powered-by') in Express, "
    '<httpRuntime enableVersionHeader="false"/> in ASP.NET, or remove it at the proxy.',
    references=("CWE-200", "OWASP WSTG-INFO-08"),
)
def powered_by(page: Page) -> Finding:
    found = [
        (name, value)
        for name in POWERED_BY
        if (value := (page.headers.get(name) or "").strip())
        and (name in VERSIONED_HEADERS or not IDENTIFIER.fullmatch(value))
    ]
    if found:
        shown = some([f"{name}: {excerpt(value)}" for name, value in found])
        items = [{"header": name, "value": excerpt(value)} for name, value in found]
        title = f"{found[0][0]} names the software in use" if len(found) == 1 else ""
        return Fail(f"The response sends {shown}.", evidence=items, title=title)
    return Pass("No header names the software behind the site.")


@check(
    "debug-error-page",
    name="Error pages without debug output",
    found="Error page with debug output",
    why="Stack traces and settings show paths, versions, queries and sometimes secrets.",
    severity=MEDIUM,
    fix="Turn off debug output in production: DEBUG = False (Django), APP_DEBUG=false (Laravel), APP_ENV=prod "
    "(Symfony), RAILS_ENV=production, NODE_ENV=production, display_errors = Off (PHP), "
    '<customErrors mode="On"/> (ASP.NET), server.error.include-stacktrace=never (Spring Boot).',
    references=("CWE-209", "CWE-489", "OWASP WSTG-ERRH-01"),
)
def debug_error_page(document: Document, baseline: NotFoundBaseline) -> Finding:
    for answer in baseline.answers:
        found = debug_page(answer, document.text)
        if found is not None:
            return Fail(
                f"A path that does not exist returns status {answer.status} and debug output ({found}).",
                evidence=[{"path": excerpt(Url.of(answer.url).path), "status": answer.status, "shows": found}],
            )
    statuses = ", ".join(dict.fromkeys(str(answer.status) for answer in baseline.answers))
    return Pass(f"Paths that do not exist are answered without debug output (status {statuses}).")


@check(
    "directory-listing",
    name="No directory listing",
    found="Directory listing is public",
    why="Anyone can browse the folder and find files that nothing links to.",
    severity=MEDIUM,
    fix=Fix(
        "Turn off directory listings ({example}).",
        {
            Server.NGINX: "autoindex off;",
            Server.APACHE: "Options -Indexes",
            Server.IIS: '<directoryBrowse enabled="false"/>',
        },
    ),
    references=("CWE-548", "OWASP WSTG-CONF-04"),
)
def directory_listing(page: Page, directories: AssetDirectories) -> Finding:
    seen = (page.response, *directories.answers)
    found = [
        (path, server) for each in seen if (server := _listing_of(each, path := Url.of(each.url).path)) is not None
    ]
    if found:
        shown = some([f"{excerpt(path)} ({server})" for path, server in found])
        items = [{"path": excerpt(path), "server": server} for path, server in found]
        return Fail(f"The server lists the files of {shown}.", evidence=items)
    if not directories.answers:
        return Pass("The page is not a directory listing.")
    asked = counted(len(directories.answers), "directory", "directories")
    return Pass(f"Neither the page nor {asked} of its assets is a directory listing.")


@check(
    "private-ip",
    name="No private IP addresses disclosed",
    found="Private IP addresses disclosed",
    why="Internal addresses show attackers who get into the network where to go next.",
    severity=LOW,
    fix="Correct what proxies and backends insert: server_name_in_redirect, UseCanonicalName, the application's own "
    "base URL; and remove the header or text that names the address.",
    references=("RFC 1918", "RFC 4193", "CWE-497"),
)
def private_ip(page: Page, document: Document) -> Finding:
    own = {page.requested.host, page.target.host, *(each.address for each in page.hops)}
    found: dict[str, str] = {}
    for hop in page.hops:
        for name, value in hop.headers:
            for address in in_fields(f"{name}: {value[:4000]}"):
                found.setdefault(address, f"the header {excerpt(name)}")
    for address in in_fields("\n".join(comments(document))[:MAX_TEXT]):
        found.setdefault(address, "a comment")
    text = document.text[:MAX_TEXT]
    for address in in_source(text):
        found.setdefault(address, "a URL or script")
    for address in in_prose(_visible_text(document) if page.is_html else text):
        found.setdefault(address, "the text")
    leaks = {address: where for address, where in found.items() if address not in own}
    if leaks:
        shown = some([f"{address} in {where}" for address, where in leaks.items()])
        items = [{"address": address, "where": where} for address, where in leaks.items()]
        return Warn(f"The response discloses addresses of an internal network: {shown}.", evidence=items)
    return Pass("No address of an internal network in headers, markup or text.")


@check(
    "security-comments",
    name="No sensitive comments in the markup",
    found="Sensitive comments in the markup",
    why="Every visitor can read comments; passwords and notes about weaknesses help attackers.",
    severity=HIGH,
    fix="Strip the comment before the page is sent, for example in the build, and change any credentials in it.",
    references=("CWE-615", "OWASP WSTG-INFO-05"),
    html=True,
)
def security_comments(document: Document) -> Finding:
    every = list(comments(document))
    secret = [each for each in every if has_credentials(each)]
    undone = [each for each in every if is_undone(each)]
    if secret:
        named = list(zip(places(secret, document.text), map(_names, secret), strict=True))
        shown = some([f"{_place(line)} ({names})" for line, names in named])
        return Fail(
            f"{counted(len(secret), 'comment contains', 'comments contain')} what looks like credentials: {shown}.",
            evidence=[{"line": line, "names": names} for line, names in named],
            title="Comments with credentials in the markup",
        )
    if undone:
        (line,) = places(undone[:1], document.text)
        return Warn(
            f"A comment in {_place(line)} mentions unfinished security work: “{excerpt(undone[0])}”.",
            LOW,
            [{"comment": excerpt(each)} for each in undone],
            title="Comment about unfinished security work",
        )
    if not every:
        return Pass("No comments in the markup.")
    return Pass(f"{counted(len(every), 'comment')} in the markup, none with credentials.")


def _listing_of(response: Response, path: str) -> str | None:
    """Return the server whose listing of the folder the response is, or None. `path` is without a query."""
    if response.status != 200:
        return None
    text = response.body.decode("utf-8", "replace")[:LISTING_CHARACTERS]
    found = LISTING_TITLE.search(text)
    if found is None:
        return None
    title = html.unescape(found[1]).strip()
    folder = unquote(path).rstrip("/")
    for server, pattern in LISTING_TITLES:
        if re.fullmatch(pattern.replace("{path}", re.escape(folder) + "/?"), title) and _is_listing(text, server):
            return server
    return None


def _is_listing(text: str, server: str) -> bool:
    if server == "Python":  # Python's listing has no link to the parent
        return PYTHON_FORM.search(text) is not None
    return SORT_LINKS.search(text) is not None or any(_is_to_parent(*found.groups()) for found in ANCHOR.finditer(text))


def _is_to_parent(attributes: str, content: str) -> bool:
    label = re.sub(r"<[^>]{0,500}>", " ", content).strip()
    return TO_PARENT.search(attributes) is not None and PARENT.fullmatch(label) is not None


def _visible_text(document: Document) -> str:
    """Return the body's text without scripts and style sheets."""
    body = document.tree.body
    texts: list[str] = []
    left = MAX_TEXT
    for node in itertools.islice(body.traverse(include_text=True) if body is not None else (), MAX_NODES):
        if node.is_text_node and (node.parent is None or node.parent.tag not in ("script", "style")):
            texts.append((node.text_content or "")[:left])
            left -= len(texts[-1])
            if left <= 0:
                break
    return " ".join(texts)


def _place(line: int | None) -> str:
    return f"line {line}" if line else "the markup"


def _names(comment: str) -> str:
    """Return the words for secrets in a comment. Its text is not shown: masking cannot recognize every password."""
    words = re.findall(
        r"passw(?:or)?d|passphrase|pwd|secret|api[-_ ]?key|access[-_ ]?key|token|private[-_ ]?key|login|user(?:name)?",
        comment,
        re.IGNORECASE,
    )
    return ", ".join(dict.fromkeys(word.lower() for word in words)) or "a key by its form"
