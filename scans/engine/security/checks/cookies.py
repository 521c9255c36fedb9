"""Cookies: what keeps them from being read, sent or replaced by others."""

from __future__ import annotations

from collections.abc import Sequence

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Clock, Page
from scans.engine.security.cookies import Cookie, cookies_of

CATEGORY = Category("Cookies", weight=10)

EVIDENCE_ITEMS = 20
NO_COOKIES = NotApplicable("The site sets no cookies on this page.")


def _cookies(page: Page, clock: Clock) -> list[Cookie]:
    """Those that browsers keep."""
    found = cookies_of(page.hops, page.target.host, clock.now)
    return [cookie for cookie in found if cookie.broken_prefix is None]


def _names(cookies: Sequence[Cookie]) -> str:
    return some([excerpt(cookie.name, 60) or "(without a name)" for cookie in cookies])


def _evidence(cookies: Sequence[Cookie]) -> tuple[EvidenceItem, ...]:
    """Names and attributes; a value is never stored."""
    return tuple(
        {
            "cookie": excerpt(cookie.name, 100),
            "host": cookie.host,
            "session_like": cookie.is_session_like,
            "secure": cookie.secure,
            "http_only": cookie.http_only,
            "same_site": "(unknown value)" if cookie.same_site == "" else cookie.same_site,
        }
        for cookie in cookies[:EVIDENCE_ITEMS]
    )


@check(
    "cookie-secure",
    name="Cookies only over HTTPS",
    severity=HIGH,
    fix="Add Secure to every cookie: Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax",
    references=("RFC 6265bis, section 4.1.2.5", "CWE-614"),
)
def cookie_secure(page: Page, clock: Clock) -> Finding:
    """Without Secure a browser sends the cookie over plain HTTP too, where everybody on the way reads it."""
    cookies = _cookies(page, clock)
    if not cookies:
        return NO_COOKIES
    if not page.target.is_https:
        return NotApplicable("The page came over plain HTTP, where browsers take no Secure cookies.")
    open_ones = sorted((each for each in cookies if not each.secure), key=lambda each: not each.is_session_like)
    if not open_ones:
        return Pass(f"{counted(len(cookies), 'cookie')}, all with Secure.", _evidence(cookies))
    sessions = [each for each in open_ones if each.is_session_like]
    if sessions:
        return Fail(
            f"{_names(sessions)} {'looks' if len(sessions) == 1 else 'look'} like a session and would be sent over "
            "plain HTTP too: Secure is missing.",
            evidence=_evidence(open_ones),
        )
    return Fail(
        f"Secure is missing on {_names(open_ones)}, so browsers send {'it' if len(open_ones) == 1 else 'them'} over "
        "plain HTTP too.",
        severity=MEDIUM,
        evidence=_evidence(open_ones),
    )


@check(
    "cookie-httponly",
    name="Session cookies out of scripts' reach",
    severity=HIGH,
    fix="Add HttpOnly to the session cookie: Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax",
    references=("RFC 6265bis, section 4.1.2.6", "CWE-1004"),
)
def cookie_httponly(page: Page, clock: Clock) -> Finding:
    """A script that gets into the page could read the session and send it away."""
    sessions = [each for each in _cookies(page, clock) if each.is_session_like]
    if not sessions:
        return NotApplicable("No cookie looks like a session.")
    readable = [each for each in sessions if not each.http_only]
    if readable:
        return Fail(
            f"Scripts can read {_names(readable)}: HttpOnly is missing, so an injected script can steal the session.",
            evidence=_evidence(readable),
        )
    return Pass(f"{_names(sessions)}: with HttpOnly.", _evidence(sessions))


@check(
    "cookie-samesite",
    name="Cookies stay with their site",
    severity=MEDIUM,
    fix="Send Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax (or Strict). "
    "What other sites must embed needs SameSite=None; Secure.",
    references=("RFC 6265bis, section 4.1.2.7", "CWE-1275"),
)
def cookie_samesite(page: Page, clock: Clock) -> Finding:
    """Says whether other sites' requests carry the cookie, which forged requests rely on."""
    cookies = _cookies(page, clock)
    if not cookies:
        return NO_COOKIES
    unknown = [each for each in cookies if each.same_site == ""]
    refused = [each for each in cookies if each.same_site == "none" and not each.secure]
    if refused:
        return Fail(f"Browsers refuse {_names(refused)}: SameSite=None without Secure.", evidence=_evidence(refused))
    if unknown:
        return Fail(
            f"SameSite has an unknown value on {_names(unknown)}, so browsers fall back to their default.",
            evidence=_evidence(unknown),
        )
    absent = [each for each in cookies if each.same_site is None]
    if absent:
        return Warn(
            f"SameSite is missing on {_names(absent)}; browsers differ in what they make of that.",
            evidence=_evidence(absent),
        )
    return Pass(f"{counted(len(cookies), 'cookie')}, all with SameSite.", _evidence(cookies))


@check(
    "cookie-prefix",
    name="Cookie prefixes kept",
    severity=LOW,
    fix="Send Set-Cookie: __Host-name=value; Secure; Path=/; HttpOnly; SameSite=Lax (no Domain), or "
    "Set-Cookie: __Secure-name=value; Secure; HttpOnly; SameSite=Lax. Else rename the cookie.",
    references=("RFC 6265bis, section 4.1.3",),
)
def cookie_prefix(page: Page, clock: Clock) -> Finding:
    """Browsers refuse a cookie that breaks the promise of its name."""
    cookies = cookies_of(page.hops, page.target.host, clock.now)
    prefixed = [each for each in cookies if each.name.lower().startswith(("__host-", "__secure-"))]
    if not prefixed:
        return NotApplicable("No cookie has a prefix.")
    broken = [each for each in prefixed if each.broken_prefix is not None]
    if broken:
        return Fail(f"Browsers refuse {_names(broken)}: {broken[0].broken_prefix}.", evidence=_evidence(broken))
    return Pass(f"{_names(prefixed)}: as the prefix demands.", _evidence(prefixed))
