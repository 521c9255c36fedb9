"""Checks for internal details that the site discloses needlessly."""

from __future__ import annotations

import html
import itertools
import re
from typing import Annotated, ClassVar
from urllib.parse import unquote

from website_scan.addresses import normal_address
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, Server
from website_scan.messages import cut, excerpt
from website_scan.net.http.response import Response
from website_scan.outcomes import Fail, Fix, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import MAX_NODES
from website_scan.places import Column, Header, Identity, Place, as_prose
from website_scan.security.comments import has_credentials, html_comments, line_numbers, mentions_unfinished_work
from website_scan.security.error_pages import recognize_debug_page
from website_scan.security.evidence import AssetDirectories, NotFoundBaseline
from website_scan.security.private_addresses import addresses_in_fields, addresses_in_prose, addresses_in_source
from website_scan.urls import Url
from website_scan.values import Code, Count, Values, Word

CATEGORY = Category("Information leakage", weight=5)

# Product with its version ("nginx/1.25.3", "Apache 2.4", "Jetty(9.4.53)"), but not a node or commit ("Fly/6f91d33b").
PRODUCT_VERSION = re.compile(r"[A-Za-z][\w.-]*(?:/v?\d+(?:\.\d|(?!\w))|[ (]v?\d+\.\d)")
HEADER_COMMENT = re.compile(r"\s\([^()]{0,300}\)")
TECHNOLOGY_HEADERS = (
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
# ID of a request or node, which discloses no product.
REQUEST_OR_NODE_ID = re.compile(r"[0-9a-f-]{8,}|\d+", re.IGNORECASE)
VERSIONED_HEADERS = ("X-AspNet-Version", "X-AspNetMvc-Version", "X-OWA-Version", "MicrosoftSharePointTeamServices")
MAX_TEXT_CHARACTERS = 1024 * 1024

# A directory listing has the folder's path in its title and links to the parent folder.
MAX_LISTING_CHARACTERS = 64 * 1024
LISTING_TITLE = re.compile(r"<title>([^<]{1,2000})</title>", re.IGNORECASE)
# Web servers, with the title patterns of their directory listings.
LISTING_TITLE_BY_SERVER = (
    ("Apache, nginx or lighttpd", r"Index of {path}"),
    ("IIS", r"[\w.:\[\]-]{1,300} - {path}"),
    ("Python", r"Directory listing for {path}"),
    ("Jetty", r"Directory: {path}(?:;jsessionid=\S{0,100})?"),
    ("Tomcat", r"Directory Listing For \[?{path}\]?"),
    ("Caddy", r"{path}"),
    ("Node.js", r"listing directory {path}|Files within {path}"),
)
# <a> element up to its end tag, without a nested <a>, because links do not nest.
ANCHOR = re.compile(r"<a\b([^<>]{0,1000}+)>((?:[^<]|<(?!/?a\b)){0,1500}+)</a\b", re.IGNORECASE)
PARENT_FOLDER_HREF = re.compile(r"\bhref=[\"']?(?:\.\.|/)", re.IGNORECASE)
PARENT_FOLDER_LABEL = re.compile(r"\.\./?|\[?(?:To )?Parent Directory\]?|(?:Go )?Up(?: To \S{1,300})?", re.IGNORECASE)
# Some listings have no link to the parent folder, but Apache's sort links or Python's markup.
APACHE_SORT_LINKS = re.compile(r"href=\"\?C=[NMSD];O=[AD]\"", re.IGNORECASE)
PYTHON_LISTING = re.compile(
    r"<h1>Directory listing for [^<]{1,2000}</h1>\s*<hr>\s*<ul>\s*(?:<li><a href=\"|</ul>)", re.IGNORECASE
)


class DebugOutput(Place, frozen=True):
    """Debug output of a framework on a missing page."""

    kind: ClassVar[str] = "debug-output"

    path: Annotated[str, Column("Path", "address")]
    status: Annotated[int, Column("HTTP status", "number")]
    shows: Annotated[str, Identity(as_prose), Column("Shows")]


class ListedDirectory(Place, frozen=True):
    """Directory with a public listing of its files."""

    kind: ClassVar[str] = "directory"

    path: Annotated[str, Identity(normal_address), Column("Path", "address")]
    server: Annotated[str, Column("Server", "mono")]

    @property
    def label(self) -> str:
        return f"{self.path} ({self.server})"


class PrivateAddress(Place, frozen=True):
    """IP address of an internal network.

    It comes with the part of the response that discloses it.
    """

    kind: ClassVar[str] = "private-address"

    address: Annotated[str, Column("IP address", "mono")]
    where: Annotated[str, Identity(as_prose), Column("Found in")]

    @property
    def label(self) -> str:
        return f"{self.address} in {self.where}"


class SecretComment(Place, frozen=True):
    """HTML comment with credentials.

    Its text is not stored, because masking cannot recognize every password.
    """

    kind: ClassVar[str] = "secret-comment"

    line: Annotated[int | None, Column("Line", "number")]
    names: Annotated[str, Identity(as_prose), Column("Names", "mono")]

    @property
    def label(self) -> str:
        return f"{_describe_line(self.line)} ({self.names})"


class UnfinishedWorkComment(Place, frozen=True):
    """HTML comment about unfinished security work."""

    kind: ClassVar[str] = "comment"

    line: Annotated[int | None, Column("Line", "number")]
    comment: Annotated[str, Identity(as_prose), Column("Comment", "code")]

    @property
    def label(self) -> str:
        return f"{_describe_line(self.line)} (“{cut(self.comment, 120)}”)"


@check(
    "server-version",
    name="Server header names no version",
    outcomes={"named": "Server header names a version"},
    why="A version tells attackers which published vulnerabilities to try first.",
    severity=LOW,
    fix=Fix(
        "Send the `Server` header without versions.",
        {
            Server.NGINX: "server_tokens off;",
            Server.APACHE: "ServerTokens Prod",
            Server.IIS: '<requestFiltering removeServerHeader="true"/>',
        },
    ),
    references=("RFC 9110, section 10.2.4", "CWE-200", "OWASP WSTG-INFO-02", "MDN: Server"),
)
def server_version(page: Page) -> Verdict:
    value = page.headers.get("Server")
    if value is None:
        return Pass("No Server header is sent.")
    if PRODUCT_VERSION.search(HEADER_COMMENT.sub("", value[:1000])):
        return Fail(
            "named",
            "Server: {value} names a version.",
            value=Code(value),
            places=Header.of("Server", [value]),
        )
    return Pass("Server: {value} names no version.", value=Code(value))


@check(
    "powered-by",
    name="Headers do not name the software in use",
    outcomes={
        "several-headers": "Headers name the software in use",
        "one-header": "{header} names the software in use",
    },
    why="The name of a framework tells attackers which published vulnerabilities to try first.",
    severity=LOW,
    fix="Do not send such headers: `expose_php = Off` in PHP, `app.disable('x-powered-by')` in Express, "
    '`<httpRuntime enableVersionHeader="false"/>` in ASP.NET, or remove them at the proxy.',
    references=("CWE-200", "OWASP WSTG-INFO-08"),
)
def powered_by(page: Page) -> Verdict:
    naming = [
        Header(name, excerpt(value))
        for name in TECHNOLOGY_HEADERS
        if (value := (page.headers.get(name) or "").strip())
        and (name in VERSIONED_HEADERS or not REQUEST_OR_NODE_ID.fullmatch(value))
    ]
    summary = "The response sends {headers} that {headers:names|name} the software in use."
    headers = Count(len(naming), "header")
    if len(naming) > 1:
        return Fail("several-headers", summary, headers=headers, places=naming)
    if naming:
        return Fail("one-header", summary, headers=headers, header=Word(naming[0].header), places=naming)
    return Pass("No header names the software behind the site.")


@check(
    "debug-error-page",
    name="Error pages without debug output",
    outcomes={"shown": "Error page with debug output"},
    why="Stack traces and settings show paths, versions, queries and sometimes secrets.",
    severity=MEDIUM,
    fix="Turn off debug output in production: `DEBUG = False` (Django), `APP_DEBUG=false` (Laravel), `APP_ENV=prod` "
    "(Symfony), `RAILS_ENV=production`, `NODE_ENV=production`, `display_errors = Off` (PHP), "
    '`<customErrors mode="On"/>` (ASP.NET), `server.error.include-stacktrace=never` (Spring Boot).',
    references=("CWE-209", "CWE-489", "OWASP WSTG-ERRH-01"),
)
def debug_error_page(document: Document, baseline: NotFoundBaseline) -> Verdict:
    for answer in baseline.answers:
        framework = recognize_debug_page(answer, document.text)
        if framework is not None:
            return Fail(
                "shown",
                "A path that does not exist returns status {status} and debug output ({shows}).",
                status=answer.status,
                shows=Word(framework),
                places=[DebugOutput(excerpt(Url.of(answer.url).path), answer.status, framework)],
            )
    return Pass(
        "Paths that do not exist are answered without debug output (status {statuses}).",
        statuses=Values([Word(status) for status in dict.fromkeys(str(answer.status) for answer in baseline.answers)]),
    )


@check(
    "directory-listing",
    name="No directory listing",
    outcomes={"public": "Directory listing is public"},
    why="Anyone can browse the directory and find files that nothing links to.",
    severity=MEDIUM,
    fix=Fix(
        "Turn off directory listings.",
        {
            Server.NGINX: "autoindex off;",
            Server.APACHE: "Options -Indexes",
            Server.IIS: '<directoryBrowse enabled="false"/>',
        },
    ),
    references=("CWE-548", "OWASP WSTG-CONF-04"),
)
def directory_listing(page: Page, directories: AssetDirectories) -> Verdict:
    responses = (page.response, *directories.answers)
    listed = [
        ListedDirectory(excerpt(path), server)
        for response in responses
        if (server := _identify_listing_server(response, path := Url.of(response.url).path)) is not None
    ]
    if listed:
        return Fail(
            "public",
            "The server lists the files of {directories}.",
            directories=Count(len(listed), "directory", "directories"),
            places=listed,
        )
    if not directories.answers:
        return Pass("The page is not a directory listing.")
    return Pass(
        "Neither the page nor {directories} of its assets is a directory listing.",
        directories=Count(len(directories.answers), "directory", "directories"),
    )


@check(
    "private-ip",
    name="No private IP addresses disclosed",
    outcomes={"disclosed": "Private IP addresses disclosed"},
    why="Internal addresses show attackers who get into the network where to go next.",
    severity=LOW,
    fix="Correct what proxies and backends insert (`server_name_in_redirect` in nginx, `UseCanonicalName` in Apache, "
    "the application's own base URL), and remove the header or text that names the address.",
    references=("RFC 1918", "RFC 4193", "CWE-497"),
)
def private_ip(page: Page, document: Document) -> Verdict:
    own = {page.requested.host, page.target.host, *(hop.address for hop in page.hops)}
    sources: dict[str, str] = {}
    for hop in page.hops:
        for name, value in hop.headers:
            for address in addresses_in_fields(f"{name}: {value[:4000]}"):
                sources.setdefault(address, f"the header {excerpt(name)}")
    for address in addresses_in_fields("\n".join(html_comments(document))[:MAX_TEXT_CHARACTERS]):
        sources.setdefault(address, "a comment")
    text = document.text[:MAX_TEXT_CHARACTERS]
    for address in addresses_in_source(text):
        sources.setdefault(address, "a URL or script")
    for address in addresses_in_prose(_visible_text(document) if page.is_html else text):
        sources.setdefault(address, "the text")
    leaks = [PrivateAddress(address, where) for address, where in sources.items() if address not in own]
    if leaks:
        return Warn(
            "disclosed",
            "The response discloses {addresses} of an internal network.",
            addresses=Count(len(leaks), "address", "addresses"),
            places=leaks,
        )
    return Pass("No address of an internal network in headers, markup or text.")


@check(
    "security-comments",
    name="No sensitive comments in the markup",
    outcomes={
        "credentials": "Comments with credentials in the markup",
        "unfinished-work": outcome("Comment about unfinished security work", LOW),
    },
    why="Every visitor can read comments; passwords and notes about weaknesses help attackers.",
    consequence="Anyone can read a password or key that was left in a hidden note on the page.",
    severity=HIGH,
    fix="Strip the comment before the page is sent, for example in the build, and change any credentials in it.",
    references=("CWE-615", "OWASP WSTG-INFO-05"),
    html=True,
)
def security_comments(document: Document) -> Verdict:
    texts = list(html_comments(document))
    secret = [text for text in texts if has_credentials(text)]
    unfinished = [text for text in texts if mentions_unfinished_work(text)]
    if secret:
        lines = line_numbers(secret, document.text)
        return Fail(
            "credentials",
            "{comments} {comments:contains|contain} what looks like credentials.",
            comments=Count(len(secret), "comment"),
            places=[SecretComment(line, _secret_words(comment)) for line, comment in zip(lines, secret, strict=True)],
        )
    if unfinished:
        lines = line_numbers(unfinished, document.text)
        return Warn(
            "unfinished-work",
            "{comments} {comments:mentions|mention} unfinished security work.",
            comments=Count(len(unfinished), "comment"),
            places=[
                UnfinishedWorkComment(line, excerpt(comment)) for line, comment in zip(lines, unfinished, strict=True)
            ],
        )
    if not texts:
        return Pass("No comments in the markup.")
    return Pass("{comments} in the markup, none with credentials.", comments=Count(len(texts), "comment"))


def _identify_listing_server(response: Response, path: str) -> str | None:
    """Return the web server that generated a directory listing.

    None if the response is no directory listing.
    """
    if response.status != 200:
        return None
    text = response.body.decode("utf-8", "replace")[:MAX_LISTING_CHARACTERS]
    match = LISTING_TITLE.search(text)
    if match is None:
        return None
    title = html.unescape(match[1]).strip()
    folder = unquote(path).rstrip("/")
    for server, pattern in LISTING_TITLE_BY_SERVER:
        if re.fullmatch(pattern.replace("{path}", re.escape(folder) + "/?"), title) and _is_directory_listing(
            text, server
        ):
            return server
    return None


def _is_directory_listing(text: str, server: str) -> bool:
    if server == "Python":  # Python's listings have no link to the parent folder.
        return PYTHON_LISTING.search(text) is not None
    return APACHE_SORT_LINKS.search(text) is not None or any(
        _is_link_to_parent(*match.groups()) for match in ANCHOR.finditer(text)
    )


def _is_link_to_parent(attributes: str, content: str) -> bool:
    label = re.sub(r"<[^>]{0,500}>", " ", content).strip()
    return PARENT_FOLDER_HREF.search(attributes) is not None and PARENT_FOLDER_LABEL.fullmatch(label) is not None


def _visible_text(document: Document) -> str:
    """Return the text of the document's body, without scripts and style sheets."""
    body = document.tree.body
    texts: list[str] = []
    remaining = MAX_TEXT_CHARACTERS
    for node in itertools.islice(body.traverse(include_text=True) if body is not None else (), MAX_NODES):
        if node.is_text_node and (node.parent is None or node.parent.tag not in ("script", "style")):
            texts.append((node.text_content or "")[:remaining])
            remaining -= len(texts[-1])
            if remaining <= 0:
                break
    return " ".join(texts)


def _describe_line(line: int | None) -> str:
    return f"line {line}" if line else "the markup"


def _secret_words(comment: str) -> str:
    """Return the words in a comment that name a secret, such as "password"."""
    words = re.findall(
        r"passw(?:or)?d|passphrase|pwd|secret|api[-_ ]?key|access[-_ ]?key|token|private[-_ ]?key|login|user(?:name)?",
        comment,
        re.IGNORECASE,
    )
    return ", ".join(dict.fromkeys(word.lower() for word in words)) or "a key by its form"
