"""Checks of cookie attributes and name prefixes.

They keep others from reading, sending or replacing cookies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Page
from website_scan.places import Column, Identity, Place, as_host, as_name
from website_scan.security.cookies import Cookie, Cookies
from website_scan.values import Count, Excerpt, Values
from website_scan.written_urls import WrittenUrl

CATEGORY = Category("Cookies", weight=10)

NO_COOKIES = NotApplicable("The site sets no cookies on this page.")
NAMELESS = "(without a name)"
SAFE_COOKIE_EXAMPLE = {Language.HEADER: "Set-Cookie: name=value; Secure; HttpOnly; SameSite=Lax"}


class SentCookie(Place, frozen=True):
    """Cookie that the site sets, with its attributes, but without its value."""

    kind: ClassVar[str] = "cookie"

    cookie: Annotated[str, Identity(as_name), Column("Cookie", "mono")]
    host: Annotated[str, Identity(as_host), Column("Host", "mono")]
    session_like: Annotated[bool, Column("Looks like a session", "short")]
    secure: Annotated[bool, Column("Secure", "short")]
    http_only: Annotated[bool, Column("HttpOnly", "short")]
    same_site: Annotated[str | None, Column("SameSite", "short")]
    fault: Annotated[str | None, Column("What is wrong")]

    @classmethod
    def from_cookie(cls, cookie: Cookie) -> Self:
        return cls(
            cookie=excerpt(cookie.name, 100),
            host=cookie.host,
            session_like=cookie.is_session_like,
            secure=cookie.secure,
            http_only=cookie.http_only,
            same_site="(unknown value)" if cookie.same_site == "" else cookie.same_site,
            fault=cookie.violated_prefix_rule and excerpt(cookie.violated_prefix_rule),
        )

    @property
    def label(self) -> str:
        name = self.cookie or NAMELESS
        return f"{name} ({self.fault})" if self.fault else name

    def normal(self, page: WrittenUrl) -> str:
        """Return the cookie's name and host in normal form, for fingerprints."""
        host = as_host(self.host, page)
        return f"{as_name(self.cookie, page)} {host}" if self.cookie else host


def _make_places(cookies: Sequence[Cookie]) -> list[SentCookie]:
    return [SentCookie.from_cookie(cookie) for cookie in cookies]


def _cookie_names(cookies: Sequence[Cookie]) -> Values:
    return Values([Excerpt(cookie.name or NAMELESS, 60) for cookie in cookies])


@check(
    "cookie-secure",
    name="Cookies have the Secure attribute",
    outcomes={
        "missing": outcome("Cookies without the Secure attribute", MEDIUM),
        "missing-on-session": outcome(
            "Session cookies without the Secure attribute",
            consequence="On public Wi-Fi, someone may be able to take over visitors' log-ins and act in their name.",
        ),
        "missing-on-load-balancer": outcome("Load balancer cookies without the Secure attribute", LOW),
    },
    why="Browsers send a cookie without Secure over plain HTTP too, where anyone on the network can read it.",
    severity=HIGH,
    fix=Fix("Add `Secure` to every cookie.", SAFE_COOKIE_EXAMPLE),
    references=("RFC 6265bis, section 4.1.2.5", "CWE-614", "MDN: Set-Cookie"),
)
def cookie_secure(page: Page, cookies: Cookies) -> Verdict:
    if not cookies.accepted:
        return NO_COOKIES
    if not page.target.is_https:
        return NotApplicable("The page was loaded over plain HTTP, where browsers reject Secure cookies.")
    insecure = [cookie for cookie in cookies.accepted if not cookie.secure]
    if not insecure:
        return Pass(
            "Secure is set on {cookies}.",
            cookies=Count(len(cookies.accepted), "cookie"),
            details=_make_places(cookies.accepted),
        )
    application_cookies = [cookie for cookie in insecure if not cookie.is_set_by_load_balancer]
    if not application_cookies:
        return Warn(
            "missing-on-load-balancer",
            "Secure is missing on {cookies} with which load balancers only name a server.",
            cookies=Count(len(insecure), "cookie"),
            places=_make_places(insecure),
            fix="Switch on Secure in the settings of the load balancer, if it has such a setting.",
        )
    sessions = [cookie for cookie in application_cookies if cookie.is_session_like]
    others = [cookie for cookie in application_cookies if not cookie.is_session_like]
    if not sessions:
        return Fail(
            "missing",
            "Secure is missing on {cookies}.",
            cookies=Count(len(others), "cookie"),
            places=_make_places(others),
        )
    if not others:
        return Fail(
            "missing-on-session",
            "Secure is missing on {sessions}.",
            sessions=Count(len(sessions), "session cookie"),
            places=_make_places(sessions),
        )
    return Fail(
        "missing-on-session",
        "Secure is missing on {sessions} and {others}.",
        sessions=Count(len(sessions), "session cookie"),
        others=Count(len(others), "other cookie"),
        places=_make_places([*sessions, *others]),
    )


@check(
    "cookie-httponly",
    name="Session cookies have the HttpOnly attribute",
    outcomes={"missing": "Session cookies without the HttpOnly attribute"},
    why="An injected script can read the session cookie and send it to an attacker.",
    consequence="If someone manages to slip malicious code into your page, it can take over visitors' log-ins.",
    severity=HIGH,
    fix=Fix("Add `HttpOnly` to the session cookie.", SAFE_COOKIE_EXAMPLE),
    references=("RFC 6265bis, section 4.1.2.6", "CWE-1004", "MDN: Set-Cookie"),
)
def cookie_httponly(cookies: Cookies) -> Verdict:
    sessions = [cookie for cookie in cookies.accepted if cookie.is_session_like]
    if not sessions:
        return NotApplicable("No cookie looks like a session.")
    readable = [cookie for cookie in sessions if not cookie.http_only]
    if readable:
        return Fail(
            "missing",
            "HttpOnly is missing on {cookies}.",
            cookies=Count(len(readable), "session cookie"),
            places=_make_places(readable),
        )
    return Pass("HttpOnly is set on {names}.", names=_cookie_names(sessions), details=_make_places(sessions))


@check(
    "cookie-samesite",
    name="Cookies have a SameSite attribute",
    outcomes={
        "missing": "Cookies without a SameSite attribute",
        "missing-on-load-balancer": outcome("Load balancer cookies without a SameSite attribute", LOW),
        "none-without-secure": "Cookies with SameSite=None without Secure",
        "invalid": "Cookies with an invalid SameSite attribute",
    },
    why="Without a valid SameSite attribute, some browsers send a cookie with requests from other sites, and "
    "cross-site request forgery relies on that.",
    severity=MEDIUM,
    fix=Fix(
        "Add `SameSite=Lax` or `SameSite=Strict` to every cookie. Cookies for embedding in other sites need "
        "`SameSite=None; Secure`.",
        SAFE_COOKIE_EXAMPLE,
    ),
    references=("RFC 6265bis, section 4.1.2.7", "CWE-1275", "MDN: Set-Cookie"),
)
def cookie_samesite(cookies: Cookies) -> Verdict:
    if not cookies.accepted:
        return NO_COOKIES
    unknown = [cookie for cookie in cookies.accepted if cookie.same_site == ""]
    refused = [cookie for cookie in cookies.accepted if cookie.same_site == "none" and not cookie.secure]
    if refused:
        return Fail(
            "none-without-secure",
            "Browsers reject {cookies} with SameSite=None but without Secure.",
            cookies=Count(len(refused), "cookie"),
            places=_make_places(refused),
        )
    if unknown:
        return Fail(
            "invalid",
            "SameSite has an unknown value on {cookies}.",
            cookies=Count(len(unknown), "cookie"),
            places=_make_places(unknown),
        )
    absent = [cookie for cookie in cookies.accepted if cookie.same_site is None]
    if absent:
        are_all_for_load_balancing = all(cookie.is_set_by_load_balancer for cookie in absent)
        return Warn(
            "missing-on-load-balancer" if are_all_for_load_balancing else "missing",
            "SameSite is missing on {cookies}.",
            cookies=Count(len(absent), "cookie"),
            places=_make_places(absent),
        )
    return Pass(
        "SameSite is set on {cookies}.",
        cookies=Count(len(cookies.accepted), "cookie"),
        details=_make_places(cookies.accepted),
    )


@check(
    "cookie-prefix",
    name="Cookie name prefixes are valid",
    outcomes={"broken": "Cookies break the rules of their name prefix"},
    why="Browsers reject a cookie that breaks the rules of its prefix, so it is not set.",
    severity=LOW,
    fix="Send `Set-Cookie: __Host-name=value; Secure; Path=/; HttpOnly; SameSite=Lax` without `Domain`, or "
    "`Set-Cookie: __Secure-name=value; Secure; HttpOnly; SameSite=Lax`. `__Http-` and `__Host-Http-` also require "
    "`HttpOnly`. Otherwise rename the cookie.",
    references=("RFC 6265bis, section 4.1.3", "Layered Cookies, section 4.1.3", "MDN: Set-Cookie"),
)
def cookie_prefix(cookies: Cookies) -> Verdict:
    prefixed = [cookie for cookie in cookies.sent if cookie.prefix is not None]
    if not prefixed:
        return NotApplicable("No cookie has a prefix.")
    broken = [cookie for cookie in prefixed if cookie.violated_prefix_rule is not None]
    if broken:
        return Fail(
            "broken",
            "{cookies} {cookies:breaks the rules of its|break the rules of their} prefix.",
            cookies=Count(len(broken), "cookie"),
            places=_make_places(broken),
        )
    return Pass(
        "{names} {names:meets the rules of its|meet the rules of their} prefix.",
        names=_cookie_names(prefixed),
        details=_make_places(prefixed),
    )
