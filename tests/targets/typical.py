"""Twenty typical sites with common default headers.

The headers are those of common software and hosting services.

Each lists the points that the MDN HTTP Observatory takes off by its published table (`src/grader/charts.js` of
mdn/mdn-http-observatory; bonuses count from 90 points on). docs/scoring.md has our scores of these sites.
"""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from tests.targets.server import Answer, Request, Route

NONCE = "NONCE"  # Every response replaces this placeholder with a new nonce.
HTML = ("Content-Type", "text/html; charset=utf-8")
HSTS = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
HSTS_HOST_ONLY = ("Strict-Transport-Security", "max-age=31536000")
NOSNIFF = ("X-Content-Type-Options", "nosniff")
SAMEORIGIN = ("X-Frame-Options", "SAMEORIGIN")
REFERRER = ("Referrer-Policy", "strict-origin-when-cross-origin")
PERMISSIONS = ("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
OPEN_CORS = ("Access-Control-Allow-Origin", "*")
PAGE = '<!doctype html><html lang="en"><title>A site</title><script src="/app.js"></script><h1>Welcome</h1>'
THIRD_PARTY_PAGE = PAGE + '<script src="https://static.tracker.example/t.js"></script><script>start()</script>'
STRICT_PAGE = f'<!doctype html><html lang="en"><title>A site</title><script nonce="{NONCE}">start()</script><h1>Hi</h1>'

NO_CSP, WEAK_CSP, NO_HSTS, SHORT_HSTS, NO_FRAMING, NO_NOSNIFF, NO_REDIRECT, NO_SRI, OPEN_SESSION = (
    ("no CSP", -25),
    ("unsafe CSP", -20),
    ("no HSTS", -20),
    ("short HSTS", -10),
    ("no framing protection", -20),
    ("no nosniff", -5),
    ("no redirect to HTTPS", -20),
    ("no SRI", -5),
    ("session cookie without Secure", -40),
)
MDN_GRADES = ((100, "A+"), (90, "A"), (85, "A-"), (80, "B+"), (70, "B"), (65, "B-"), (60, "C+"), (50, "C"), (45, "C-"),
              (40, "D+"), (30, "D"), (25, "D-"), (0, "F"))  # fmt: skip
BARE = (NO_CSP, NO_HSTS, NO_FRAMING, NO_NOSNIFF)

CARELESS_DNS: Mapping[str, Sequence[str]] = {
    "MX": ["10 mail.example.net."],
    "TXT": ["v=spf1 include:mail.example.net ~all"],
}
CAREFUL_DNS: Mapping[str, Sequence[str]] = {
    "MX": ["10 mail.example.net."],
    "TXT": ["v=spf1 include:mail.example.net -all", "v=DMARC1; p=reject; rua=mailto:dmarc@example.com"],
    "CAA": ['0 issue "letsencrypt.org"'],
    "DS": ["1 13 2 00"],
    "DNSKEY": ["257 3 13 AA"],
}


class TypicalSite(Struct, frozen=True):
    """Site with one page.

    `mdn` has the reasons and points of its MDN HTTP Observatory score.

    `plain` is the answer on port 80: "redirect", "page" (the page itself), or None for no answer.
    """

    name: str
    headers: Sequence[tuple[str, str]]
    mdn: Sequence[tuple[str, int]]
    page: str = PAGE
    host: str = "www.example.com"
    is_https: bool = True
    plain: str | None = "redirect"
    dns: Mapping[str, Sequence[str]] = field(default_factory=lambda: CARELESS_DNS)
    tune: Callable[[ssl.SSLContext], None] | None = None

    @property
    def mdn_score(self) -> int:
        """Return the Observatory's score.

        Bonuses count only if the score without them is at least 90.
        """
        base = max(0, 100 + sum(points for _, points in self.mdn if points < 0))
        return base + (sum(points for _, points in self.mdn if points > 0) if base >= 90 else 0)

    @property
    def mdn_grade(self) -> str:
        return next(grade for least, grade in MDN_GRADES if self.mdn_score >= least)

    def routes(self) -> dict[str, Route]:
        """Return the routes for the scanned scheme.

        Only the front page exists.
        """

        def serve_page(_: Request) -> Answer:
            nonce = secrets.token_urlsafe(16)
            headers = [(name, value.replace(NONCE, nonce)) for name, value in (HTML, *self.headers)]
            return Answer(self.page.replace(NONCE, nonce), headers=headers)

        return {"/": serve_page}

    def plain_routes(self) -> dict[str, Route]:
        """Return the routes on port 80."""
        return self.routes() if self.plain == "page" else {"*": Answer.redirect(f"https://{self.host}/", status=301)}


def _tls12_only(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def _cookie(text: str) -> tuple[str, str]:
    return "Set-Cookie", text


def _csp(text: str) -> tuple[str, str]:
    return "Content-Security-Policy", text


SITES = (
    TypicalSite("Plain HTTP only", (), (*BARE, NO_REDIRECT), is_https=False, plain="page"),
    TypicalSite(
        "PHP shop as installed",
        (("Server", "Apache/2.4.57"), ("X-Powered-By", "PHP/8.2.7"), _cookie("PHPSESSID=3k4j5h6g7f8d9s0a; path=/")),
        (*BARE, OPEN_SESSION, NO_SRI),
        THIRD_PARTY_PAGE,
    ),
    TypicalSite(
        "ASP.NET on IIS as installed",
        (
            ("Server", "Microsoft-IIS/10.0"),
            ("X-AspNet-Version", "4.0.30319"),
            ("X-Powered-By", "ASP.NET"),
            _cookie("ASP.NET_SessionId=3k4j5h6g7f8d9s0a; path=/; HttpOnly; SameSite=Lax"),
        ),
        (*BARE, OPEN_SESSION),
    ),
    TypicalSite("Apache, HTTP beside HTTPS", (("Server", "Apache/2.4.57"),), (*BARE, NO_REDIRECT), plain="page"),
    TypicalSite("nginx with Certbot", (("Server", "nginx/1.24.0"),), BARE),
    TypicalSite(
        "WordPress behind a CDN",
        (("Server", "cloudflare"), ("Link", '<https://www.example.com/wp-json/>; rel="https://api.w.org/"')),
        (*BARE, NO_SRI),
        THIRD_PARTY_PAGE,
    ),
    TypicalSite("Single-page app on S3 and CloudFront", (("Server", "AmazonS3"),), BARE),
    TypicalSite("Cloudflare Pages", (NOSNIFF, REFERRER, OPEN_CORS), (NO_CSP, NO_HSTS, NO_FRAMING)),
    TypicalSite(
        "GitHub Pages",
        (("Server", "GitHub.com"), ("Strict-Transport-Security", "max-age=31556952"), OPEN_CORS),
        (NO_CSP, NO_FRAMING, NO_NOSNIFF),
        host="name.github.io",
    ),
    TypicalSite("Netlify, own domain", (("Server", "Netlify"), HSTS_HOST_ONLY), (NO_CSP, NO_FRAMING, NO_NOSNIFF)),
    TypicalSite(
        "Laravel",
        (
            ("Server", "nginx"),
            SAMEORIGIN,
            NOSNIFF,
            ("X-XSS-Protection", "1; mode=block"),
            _cookie("laravel_session=3k4j5h6g7f8d9s0a; path=/; Secure; HttpOnly; SameSite=Lax"),
        ),
        (NO_CSP, NO_HSTS),
    ),
    TypicalSite(
        "Shopify",
        (
            _csp("block-all-mixed-content; frame-ancestors 'none'; upgrade-insecure-requests;"),
            ("Strict-Transport-Security", "max-age=7889238"),
            ("X-Frame-Options", "DENY"),
            NOSNIFF,
        ),
        (WEAK_CSP, SHORT_HSTS),
    ),
    TypicalSite(
        "News site",
        (_csp("upgrade-insecure-requests; frame-ancestors 'self'"), HSTS, NOSNIFF),
        (WEAK_CSP, NO_SRI),
        THIRD_PARTY_PAGE,
    ),
    TypicalSite(
        "Rails",
        (
            SAMEORIGIN,
            NOSNIFF,
            ("X-XSS-Protection", "0"),
            REFERRER,
            ("Strict-Transport-Security", "max-age=63072000; includeSubDomains"),
            _cookie("_app_session=3k4j5h6g7f8d9s0a; path=/; secure; HttpOnly; SameSite=Lax"),
        ),
        (NO_CSP,),
    ),
    TypicalSite(
        "Django after check --deploy",
        (
            ("X-Frame-Options", "DENY"),
            NOSNIFF,
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            HSTS,
            _cookie("csrftoken=3k4j5h6g7f8d9s0a; path=/; Secure; SameSite=Lax"),
        ),
        (NO_CSP,),
    ),
    TypicalSite(
        "Bank",
        (
            _csp(
                "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' https://static.example.com; "
                "style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'self'"
            ),
            HSTS,
            SAMEORIGIN,
            NOSNIFF,
            REFERRER,
            _cookie("JSESSIONID=3k4j5h6g7f8d9s0a; Path=/; Secure; HttpOnly; SameSite=Strict"),
        ),
        (WEAK_CSP,),
        dns=CAREFUL_DNS,
        tune=_tls12_only,
    ),
    TypicalSite(
        "Careful headers, no HSTS",
        (_csp("default-src 'self'; object-src 'none'; frame-ancestors 'none'"), NOSNIFF, REFERRER, PERMISSIONS),
        (NO_HSTS,),
    ),
    TypicalSite(
        "Express with Helmet",
        (
            _csp(
                "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';"
                "frame-ancestors 'self';img-src 'self' data:;object-src 'none';script-src 'self';"
                "script-src-attr 'none';style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests"
            ),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            HSTS,
            NOSNIFF,
            SAMEORIGIN,
            ("X-XSS-Protection", "0"),
        ),
        (("referrer policy", 5), ("framing by CSP", 5), ("CORP", 10)),
    ),
    TypicalSite(
        "Web app with a strict CSP",
        (
            _csp(
                f"script-src 'nonce-{NONCE}' 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; "
                "base-uri 'none'; frame-ancestors 'self'"
            ),
            HSTS,
            NOSNIFF,
            REFERRER,
            _cookie("__Host-session=3k4j5h6g7f8d9s0a; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ),
        (("referrer policy", 5), ("cookies", 5), ("framing by CSP", 5)),
        STRICT_PAGE,
    ),
    TypicalSite(
        "Government site",
        (
            _csp("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; "
                 "form-action 'self'; frame-ancestors 'none'"),
            ("Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload"),
            NOSNIFF,
            REFERRER,
            PERMISSIONS,
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ),
        (("strict CSP", 10), ("referrer policy", 5), ("framing by CSP", 5)),
        dns=CAREFUL_DNS,
    ),
)  # fmt: skip
