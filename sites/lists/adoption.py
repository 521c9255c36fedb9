"""Share of a list's sites that pass a check, as numbers and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models.fields.json import KeyTransform

from scans.check_catalogue import check_name
from sites.lists.snapshots import WHOLE, snapshots_of
from sites.models import ListCount, ListRun, SiteList

# Endings of sentences such as "87 % of 1,204 sites use HSTS", by check ID.
PREDICATES: Mapping[str, str] = {
    "https-available": "are available over HTTPS",
    "http-to-https-redirect": "redirect to HTTPS",
    "tls-cert-trusted": "have a trusted certificate",
    "tls-cert-hostname": "have a certificate for their host name",
    "tls-cert-expiry": "have a valid certificate",
    "tls-modern-protocols": "support TLS 1.3",
    "tls-legacy-protocols": "refuse outdated TLS versions",
    "tls-weak-ciphers": "offer no weak cipher suites",
    "hsts": "use HSTS",
    "mixed-content": "load no mixed content",
    "csp-present": "have a Content Security Policy",
    "csp-script-inline": "restrict inline scripts",
    "clickjacking": "are protected from clickjacking",
    "x-content-type-options": "switch off MIME sniffing",
    "referrer-policy": "have a safe referrer policy",
    "permissions-policy": "have a Permissions-Policy",
    "cookie-secure": "set all cookies with Secure",
    "cookie-httponly": "set session cookies with HttpOnly",
    "caa": "have CAA records",
    "dnssec": "have DNSSEC",
    "dane": "have a TLSA record that matches their certificate",
    "ipv6": "are available over IPv6",
    "name-server-ipv6": "have name servers with IPv6",
    "name-servers": "have name servers in different networks",
    "https-record": "have no HTTPS record that contradicts the server",
    "dangling-alias": "have no alias that anybody can claim",
    "zone-transfer": "refuse zone transfers",
    "route-origin": "have addresses that RPKI protects",
    "mx": "have correct MX records",
    "spf": "have SPF",
    "dkim": "have strong DKIM keys",
    "dmarc": "enforce DMARC",
    "mta-sts": "have an MTA-STS policy that is followed",
    "tls-rpt": "request reports about the TLS of mail",
    "mail-server-starttls": "have mail servers that encrypt with STARTTLS",
    "mail-server-ipv6": "have mail servers with IPv6",
    "mail-server-dane": "have mail servers with DANE",
    "security-txt": "publish a security.txt",
    "server-version": "show no server version",
    "vulnerable-js-library": "load no JavaScript library with known vulnerabilities",
    "sri-third-party": "use Subresource Integrity",
    "exposed-git": "expose no Git repository",
    "exposed-env": "expose no environment file",
    "http-version": "use HTTP/2 or HTTP/3",
    "text-compressed": "compress text",
    "image-format": "use modern image formats",
    "cache-missing": "let browsers cache static files",
    "lcp": "show their main content quickly",
    "cls": "keep their layout stable",
    "html-has-lang": "declare their language",
    "document-title": "have a page title",
    "image-alt": "have alternative texts for all images",
    "color-contrast": "have sufficient contrast",
    "label": "label all form fields",
    "link-name": "have names for all links",
    "button-name": "have names for all buttons",
    "bypass": "let readers skip repeated content",
    "viewport": "have a viewport for phones",
    "title": "have a title of suitable length",
    "meta-description": "have a meta description",
    "is-indexable": "can be indexed",
    "robots-txt": "have no invalid robots.txt",
    "sitemap-found": "have a sitemap",
    "broken-links": "have no broken links",
    "canonical-valid": "have no invalid canonical URL",
}
SINGULAR = {"are": "is", "can": "can", "compress": "compresses", "have": "has", "pass": "passes"}
SINGULAR |= {"publish": "publishes", "switch": "switches"}


def adoption(site_list: SiteList, check: str, tag: str = "", limit: int = 52) -> list[tuple[ListRun, int, int]]:
    """Return how many sites passed a check in the last snapshots, oldest first.

    Each item is `(run, passed, ran)`. `passed` and `ran` are the numbers of sites that passed the check and on which
    the check ran. Snapshots without the check, and snapshots of cancelled or failed runs, are omitted.
    """
    statuses = KeyTransform(check, KeyTransform("checks", "data"))
    counts = ListCount.objects.filter(run__in=snapshots_of(site_list).filter(status__in=WHOLE), tag=tag)
    rows = counts.annotate(statuses=statuses).exclude(statuses=None).select_related("run").defer("data")
    newest = rows.order_by("-run__started_at", "-run_id")[:limit]
    return [(count.run, count.statuses[2], sum(count.statuses)) for count in newest][::-1]


def has_check(site_list: SiteList, check: str) -> bool:
    """Return True if any snapshot of the list contains the check."""
    return "\0" not in check and snapshots_of(site_list).filter(checks__contains=[check]).exists()


def percent(part: int, of: int) -> int:
    """Return the rounded percentage of `part` in `of`.

    Halves are rounded up. Only exact values become 0 or 100. `of` must be at least 1.
    """
    if part in (0, of):
        return 100 * (part == of)
    return min(99, max(1, (200 * part + of) // (2 * of)))


def sentence(check: str, passed: int, of: int) -> str:
    """Return a sentence such as "87 % of 1,204 sites redirect to HTTPS", without a full stop."""
    if not of:
        return f"No site has a result: {check_name(check)}"
    predicate = PREDICATES.get(check) or f"pass: {check_name(check)}"
    if of == 1:
        verb, _, rest = predicate.partition(" ")
        return f"{percent(passed, of)} % of 1 site {_singular(verb)} {rest}"
    return f"{percent(passed, of)} % of {of:,} sites {predicate}"


def _singular(verb: str) -> str:
    bare = verb.removesuffix(":")
    return SINGULAR.get(bare, f"{bare}s") + verb[len(bare) :]
