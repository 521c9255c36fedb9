"""Checks of third-party code and links to other sites.

They also find vulnerable JavaScript libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.catalogue import Category, States, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.outcomes import Fail, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve
from website_scan.page.references import JAVASCRIPT_TYPES
from website_scan.page.registrable_domain import is_same_site
from website_scan.places import Column, ElementType, Identity, Place, PlaceUrl, as_written
from website_scan.security.csp import Policies
from website_scan.security.evidence import LoadedScripts
from website_scan.security.javascript_libraries import (
    UsedLibrary,
    find_libraries_in_script,
    find_library_by_url,
    last_update,
    version_sort_key,
)
from website_scan.values import Count, Excerpt, Values, Word

CATEGORY = Category("Page content", weight=5, html=True)

INTEGRITY = re.compile(r"(?:^|\s)sha(?:256|384|512)-[A-Za-z0-9+/_-]{43,88}={0,2}(?=\s|\?|$)", re.IGNORECASE)

# Hosts whose files change by design, so that no integrity hash is possible.
SELF_UPDATING_HOSTS = (
    *("www.googletagmanager.com", "www.google-analytics.com", "www.google.com", "www.gstatic.com", "apis.google.com"),
    *("accounts.google.com", "maps.googleapis.com", "maps.google.com", "fonts.googleapis.com", "www.recaptcha.net"),
    *("pagead2.googlesyndication.com", "securepubads.g.doubleclick.net", "www.googleadservices.com"),
    *("js.stripe.com", "www.paypal.com", "www.paypalobjects.com", "js.braintreegateway.com", "checkout.stripe.com"),
    *("connect.facebook.net", "platform.twitter.com", "platform.linkedin.com", "snap.licdn.com"),
    *("static.ads-twitter.com", "js.hs-scripts.com", "js.hsforms.net", "www.clarity.ms", "bat.bing.com"),
    *("use.typekit.net", "p.typekit.net", "use.fontawesome.com", "kit.fontawesome.com", "fonts.bunny.net"),
    *("js.hcaptcha.com", "hcaptcha.com", "challenges.cloudflare.com", "static.cloudflareinsights.com"),
    *("static.hotjar.com", "script.hotjar.com"),
    *("cdn.segment.com", "widget.intercom.io", "js.intercomcdn.com", "static.zdassets.com", "embed.tawk.to"),
    *("consent.cookiebot.com", "cdn.cookielaw.org", "cmp.osano.com", "cdn-cookieyes.com", "player.vimeo.com"),
    *("www.youtube.com", "code.tidio.co", "plausible.io", "cdn.usefathom.com", "cdn.matomo.cloud", "js.sentry-cdn.com"),
)
# Domains that served malicious scripts in 2023 and 2024 (Sansec, "Polyfill supply chain attack").
COMPROMISED_DOMAINS = (
    *("polyfill.io", "polyfill.com", "polyfillcache.com", "bootcss.com", "bootcdn.net"),
    *("staticfile.net", "staticfile.org"),
    *("unionadjs.com", "xhsbpza.com", "macoms.la", "newcrbpc.com"),
)


class EmbeddedFile(Place, frozen=True):
    """Script, style sheet or frame on the page."""

    kind: ClassVar[str] = "embedded-file"
    are_counted: ClassVar[bool] = True

    element: ElementType
    url: PlaceUrl

    @property
    def label(self) -> str:
        return f"<{self.element}> {self.url}"


class VulnerableLibrary(Place, frozen=True):
    """JavaScript library with known vulnerabilities.

    A script that the page loads contains it.
    """

    kind: ClassVar[str] = "library"

    library: Annotated[str, Identity(as_written), Column("Library", "short")]
    version: Annotated[str, Column("Version", "short")]
    vulnerabilities: Annotated[str, Column("Vulnerabilities")]
    fixed_in: Annotated[str | None, Column("Fixed in", "short")]
    url: PlaceUrl

    @classmethod
    def from_library(cls, used: UsedLibrary, url: str) -> Self:
        fixes = [entry.fixed for entry in used.known_vulnerabilities if entry.fixed is not None]
        return cls(
            library=used.library.name,
            version=used.version_text,
            vulnerabilities=", ".join(dict.fromkeys(entry.id for entry in used.known_vulnerabilities)),
            fixed_in=max(fixes, key=version_sort_key) if len(fixes) == len(used.known_vulnerabilities) else None,
            url=excerpt(url),
        )

    @property
    def label(self) -> str:
        numbers = some(self.vulnerabilities.split(", "))
        remedy = f"fixed in {self.fixed_in}" if self.fixed_in else "no version fixes all of them"
        return f"{self.library} {self.version} ({numbers}; {remedy}) in {self.url}"


class LinkedPage(Place, frozen=True):
    """Link or form that opens another site in a new tab."""

    kind: ClassVar[str] = "linked-page"

    url: PlaceUrl


class _EmbeddedResource(Struct, frozen=True):
    """Script, style sheet or frame of the page.

    It has its element, absolute URL and host.
    """

    node: LexborNode
    url: str
    host: str
    is_over_plain_http: bool

    @property
    def has_integrity(self) -> bool:
        return INTEGRITY.search(attribute(self.node, "integrity") or "") is not None


def _embedded_resources(document: Document, selector: str) -> Iterator[_EmbeddedResource]:
    for node in live(document, selector):
        relations = (attribute(node, "rel") or "").lower().split()
        if node.tag == "link" and not {"stylesheet", "modulepreload"} & set(relations):
            continue
        if node.tag == "script" and not JAVASCRIPT_TYPES.fullmatch((attribute(node, "type") or "").strip()):
            continue
        reference = attribute(node, "href" if node.tag == "link" else "src")
        url = resolve(document, reference) if reference and reference.strip() else None
        if url is not None and url.is_http:
            yield _EmbeddedResource(node, url.href, url.hostname, url.scheme == "http")


def _is_in_domains(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _make_places(files: list[_EmbeddedResource]) -> list[EmbeddedFile]:
    return [EmbeddedFile(file.node.tag or "", excerpt(file.url)) for file in files]


@check(
    "sri-third-party",
    name="Subresource Integrity",
    outcomes={
        "missing": "Third-party files without an integrity attribute",
        "over-http": outcome(
            "Third-party files over plain HTTP",
            HIGH,
            consequence="On public Wi-Fi, someone may be able to change what visitors see on the page.",
        ),
    },
    why="Anyone who can change such a file can change this page, and may read what visitors type.",
    severity=LOW,
    fix='Add the hash of the file, as in `<script src="https://cdn.example/lib.js" integrity="sha384-…" '
    'crossorigin="anonymous">`, or serve the file yourself.',
    references=("W3C Subresource Integrity", "CWE-353", "MDN: integrity"),
    states=States.NONE,
)
def sri_third_party(page: Page, document: Document, policies: Policies) -> Verdict:
    others = [
        file
        for file in _embedded_resources(document, "script[src], link[href]")
        if not is_same_site(file.host, page.target.host)
    ]
    if not others:
        return NotApplicable("No third-party script or style sheet.")
    # Browsers load http resources over https because of upgrade-insecure-requests.
    are_requests_upgraded = page.target.is_https and policies.upgrades_insecure_requests
    plain = [file for file in others if file.is_over_plain_http and not are_requests_upgraded]
    if plain:
        return Fail(
            "over-http",
            "The page loads {files} over plain HTTP.",
            files=Count(len(plain), "third-party file"),
            places=_make_places(plain),
            fix="Load the files over HTTPS, or serve them yourself.",
        )
    unpinned = [
        file for file in others if not file.has_integrity and not _is_in_domains(file.host, SELF_UPDATING_HOSTS)
    ]
    if unpinned:
        return Warn(
            "missing",
            "The page loads {files} without an integrity attribute.",
            files=Count(len(unpinned), "third-party file"),
            places=_make_places(unpinned),
        )
    return Pass(
        "{files} {files:has|have} an integrity attribute, or {files:comes|come} from services that change their files.",
        files=Count(len(others), "third-party file"),
    )


@check(
    "compromised-cdn",
    name="No files from compromised hosts",
    outcomes={"loaded": "Files from a compromised host"},
    why="Such hosts have served malicious scripts to visitors of other sites.",
    consequence="Visitors may receive malicious code, because the page uses a service that has spread it before.",
    severity=CRITICAL,
    fix="Remove the reference at once, and serve the file yourself or from a CDN that you trust.",
    references=("CVE-2024-38526", "CWE-506", "CWE-829"),
)
def compromised_cdn(document: Document) -> Verdict:
    compromised = [
        file
        for file in _embedded_resources(document, "script[src], link[href], iframe[src]")
        if _is_in_domains(file.host, COMPROMISED_DOMAINS)
    ]
    if compromised:
        return Fail(
            "loaded",
            "The page loads {files} from {hosts:a compromised host|compromised hosts}.",
            files=Count(len(compromised), "file"),
            hosts=Count(len({file.host for file in compromised})),
            places=_make_places(compromised),
        )
    return Pass("No script, style sheet or frame from a host known to be compromised.")


@check(
    "vulnerable-js-library",
    name="JavaScript libraries without known vulnerabilities",
    outcomes={
        "several-libraries": "JavaScript libraries with known vulnerabilities",
        "one-library": "{library} {version} has known vulnerabilities",
    },
    why="Attackers try published vulnerabilities first.",
    severity=MEDIUM,
    fix="Update the library to the version named, or to the newest. Replace a library that is no longer maintained.",
    references=("CWE-1395", "OWASP Top 10, A06:2021"),
)
def vulnerable_js_library(scripts: LoadedScripts) -> Verdict:
    used: dict[tuple[str, str], tuple[UsedLibrary, str]] = {}
    for script in scripts.scripts:
        library = find_library_by_url(script.url)
        for entry in [library] if library else find_libraries_in_script(script.text):
            used.setdefault((entry.library.package, entry.version_text), (entry, script.url))
    if not used:
        return NotApplicable("No script was recognized as a known library.")
    vulnerable = [(entry, url) for entry, url in used.values() if entry.known_vulnerabilities]
    if not vulnerable:
        return Pass(
            "No known vulnerabilities in {libraries} as of {day}.",
            libraries=Values([Excerpt(f"{entry.library.name} {entry.version_text}") for entry, _ in used.values()]),
            day=Word(last_update()),
        )
    summary = "The page loads {libraries} with known vulnerabilities."
    libraries = Count(len(vulnerable), "JavaScript library", "JavaScript libraries")
    places = [VulnerableLibrary.from_library(entry, url) for entry, url in vulnerable]
    if len(places) > 1:
        return Fail("several-libraries", summary, libraries=libraries, places=places)
    return Fail(
        "one-library",
        summary,
        libraries=libraries,
        library=Word(places[0].library),
        version=Excerpt(places[0].version, 20),
        places=places,
    )


@check(
    "link-noopener",
    name="Links do not expose window.opener",
    outcomes={"exposed": "Links expose window.opener to other sites"},
    why="A page opened with rel=opener can send this tab to a fake login page.",
    severity=LOW,
    fix='Remove `rel="opener"`, or write `<a href="https://…" target="_blank" rel="noopener">`.',
    references=("HTML, link type opener", "CWE-1022", "MDN: noopener"),
)
def link_noopener(page: Page, document: Document) -> Verdict:
    exposed = []
    new_tab_count = 0
    for node in live(document, "a[target], area[target], form[target]"):
        if (attribute(node, "target") or "").strip().lower() != "_blank":
            continue
        new_tab_count += 1
        relations = (attribute(node, "rel") or "").lower().split()
        reference = attribute(node, "action" if node.tag == "form" else "href") or ""
        url = resolve(document, reference)
        if "opener" not in relations or {"noopener", "noreferrer"} & set(relations) or url is None:
            continue
        if url.is_http and url.origin != page.target.origin:
            exposed.append(url.href)
    if not new_tab_count:
        return NotApplicable("No link opens a new tab.")
    if exposed:
        return Warn(
            "exposed",
            "{links} {links:has|have} rel=opener.",
            links=Count(len(exposed), "link to another site", "links to other sites"),
            places=[LinkedPage(excerpt(url)) for url in exposed],
        )
    return Pass("No link to another site has rel=opener, so browsers do not give them window.opener.")
