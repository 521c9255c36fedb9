"""Cookie checks: attributes and name prefixes that keep others from reading, sending or replacing cookies."""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import counted, excerpt, some
from website_scan.page.evidence import Page
from website_scan.security.cookies import Cookie, Cookies

CATEGORY = Category("Cookies", weight=10)

NO_COOKIES = NotApplicable("The site sets no cookies on this page.")


def _names(cookies: Sequence[Cookie]) -> str:
    return some([excerpt(cookie.name, 60) or "(without a name)" for cookie in cookies])


def _evidence(cookies: Sequence[Cookie]) -> list[EvidenceItem]:
    """Return names and attributes. A value is never stored."""
    return [
        {
            "cookie": excerpt(cookie.name, 100),
            "host": cookie.host,
            "session_like": cookie.is_session_like,
            "secure": cookie.secure,
            "http_only": cookie.http_only,
            "same_site": "(unknown value)" if cookie.same_site == "" else cookie.same_site,
        }
        for cookie in cookies
    ]


@check(
    "cookie-secure",
    name="Cookies have the Secure attribute",
    found="Cookies without the Secure attribute",
    why="Browsers send a cookie without Secure over plain HTTP too, where anyone on the network can read it.",
    severity=HIGH,
    fix="Add Secure to every cookie: Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax",
    references=("RFC 6265bis, section 4.1.2.5", "CWE-614", "MDN: Set-Cookie"),
)
def cookie_secure(page: Page, cookies: Cookies) -> Finding:
    if not cookies.kept:
        return NO_COOKIES
    if not page.target.is_https:
        return NotApplicable("The page was loaded over plain HTTP, where browsers reject Secure cookies.")
    insecure = sorted((each for each in cookies.kept if not each.secure), key=lambda each: not each.is_session_like)
    if not insecure:
        return Pass(f"Secure is set on {counted(len(cookies.kept), 'cookie')}.", _evidence(cookies.kept))
    if all(each.is_of_load_balancer for each in insecure):
        return Warn(
            f"Secure is missing on {_names(insecure)}, with which load balancers only name a server.",
            LOW,
            _evidence(insecure),
            "Switch on Secure in the settings of the load balancer, if it has such a setting.",
        )
    insecure = [each for each in insecure if not each.is_of_load_balancer]
    sessions = [each for each in insecure if each.is_session_like]
    if sessions:
        return Fail(
            f"Secure is missing on {_names(sessions)}.",
            evidence=_evidence(insecure),
            title="Session cookies without the Secure attribute",
        )
    return Fail(
        f"Secure is missing on {_names(insecure)}.",
        severity=MEDIUM,
        evidence=_evidence(insecure),
    )


@check(
    "cookie-httponly",
    name="Session cookies have the HttpOnly attribute",
    found="Session cookies without the HttpOnly attribute",
    why="An injected script can read the session cookie and send it to an attacker.",
    severity=HIGH,
    fix="Add HttpOnly to the session cookie: Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax",
    references=("RFC 6265bis, section 4.1.2.6", "CWE-1004", "MDN: Set-Cookie"),
)
def cookie_httponly(cookies: Cookies) -> Finding:
    sessions = [each for each in cookies.kept if each.is_session_like]
    if not sessions:
        return NotApplicable("No cookie looks like a session.")
    readable = [each for each in sessions if not each.http_only]
    if readable:
        return Fail(f"HttpOnly is missing on {_names(readable)}.", evidence=_evidence(readable))
    return Pass(f"HttpOnly is set on {_names(sessions)}.", _evidence(sessions))


@check(
    "cookie-samesite",
    name="Cookies have a SameSite attribute",
    found="Cookies without a SameSite attribute",
    why="Cross-site request forgery relies on cookies that browsers send with requests from other sites.",
    severity=MEDIUM,
    fix="Send Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax (or Strict). "
    "Cookies for embedding in other sites need SameSite=None; Secure.",
    references=("RFC 6265bis, section 4.1.2.7", "CWE-1275", "MDN: Set-Cookie"),
)
def cookie_samesite(cookies: Cookies) -> Finding:
    if not cookies.kept:
        return NO_COOKIES
    unknown = [each for each in cookies.kept if each.same_site == ""]
    refused = [each for each in cookies.kept if each.same_site == "none" and not each.secure]
    if refused:
        return Fail(
            f"SameSite is None without Secure on {_names(refused)}, which browsers reject.",
            evidence=_evidence(refused),
            title="Cookies with SameSite=None without Secure",
        )
    if unknown:
        return Fail(
            f"SameSite has an unknown value on {_names(unknown)}, so browsers apply their default.",
            evidence=_evidence(unknown),
            title="Cookies with an invalid SameSite attribute",
        )
    absent = [each for each in cookies.kept if each.same_site is None]
    if absent:
        return Warn(
            f"SameSite is missing on {_names(absent)}; browsers differ in their default.",
            LOW if all(each.is_of_load_balancer for each in absent) else None,
            _evidence(absent),
        )
    return Pass(f"SameSite is set on {counted(len(cookies.kept), 'cookie')}.", _evidence(cookies.kept))


@check(
    "cookie-prefix",
    name="Cookie name prefixes are valid",
    found="Cookies break the rules of their name prefix",
    why="Browsers reject a cookie that breaks the rules of its prefix, so it is not set.",
    severity=LOW,
    fix="Send Set-Cookie: __Host-name=value; Secure; Path=/; HttpOnly; SameSite=Lax (no Domain), or "
    "Set-Cookie: __Secure-name=value; Secure; HttpOnly; SameSite=Lax. Otherwise rename the cookie.",
    references=("RFC 6265bis, section 4.1.3", "MDN: Set-Cookie"),
)
def cookie_prefix(cookies: Cookies) -> Finding:
    prefixed = [each for each in cookies.sent if each.name.lower().startswith(("__host-", "__secure-"))]
    if not prefixed:
        return NotApplicable("No cookie has a prefix.")
    broken = [each for each in prefixed if each.broken_prefix is not None]
    if broken:
        rule = f"{'breaks' if len(broken) == 1 else 'break'} a rule: {broken[0].broken_prefix}"
        return Fail(f"{_names(broken)} {rule}.", evidence=_evidence(broken))
    return Pass(f"{_names(prefixed)}: as the prefix requires.", _evidence(prefixed))
