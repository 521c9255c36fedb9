"""Parser of Set-Cookie (RFC 6265bis, sections 5.4 to 5.7), and recognition of a cookie's purpose by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from website_scan.net.http.response import Response
from website_scan.page.registrable_domain import is_same_site, site_of
from website_scan.security.load_balancers import is_load_balancer_cookie
from website_scan.urls import Url

MAX_NAME_AND_VALUE = 4096
MAX_ATTRIBUTE = 1024
MAX_COOKIES = 300

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]+")
# Grammar of cookie dates (section 5.1.1). Any text that does not begin with a digit may follow a part.
_DATE_DELIMITER = re.compile(r"[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_MONTH = re.compile("(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MIN_YEAR = 1601
# One word of a name such as camelCase or ALLCAPSWord.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SESSION_WORDS = frozenset(
    {
        *("sid", "sess", "session", "sessionid", "sessid", "auth", "token", "jwt", "phpsessid", "jsessionid"),
        *("aspxauth", "cftoken", "authtoken", "accesstoken", "authorization", "sessiontoken", "sso", "login"),
    }
)
# Minimum length of a session ID. Values of flags, themes and languages are shorter than an unguessable ID.
_MIN_SESSION_ID = 8
# Names of session cookies, whatever their value: PHP, Java, ASP, ASP.NET, Drupal, WordPress, TYPO3, ….
_SESSION_NAMES = re.compile(
    r"(?:__(?:host|secure)-)?(?:sid|sess|session|jwt|connect\.sid)|(?:\w*_|j)?sess(?:ion)?[._-]?(?:id|hash)"
    r"|[a-z]{2,4}sess(?:id|ionhash)"
    r"|aspsessionid[a-z]{8}|s?sess[0-9a-f]{32}|wordpress(?:_sec|_logged_in)?_[0-9a-f]{32}|asp\.net_sessionid"
    r"|\.aspnetcore\.(?:session|cookies|identity\.application)|\.aspnet\.applicationcookie|\.aspxauth"
    r"|oscsid|(?:fe|be)_typo_user|remember_web_[0-9a-f]{40}",
    re.IGNORECASE,
)
# Names of analytics cookies: Application Insights, Hotjar, Google, Adobe, Stripe, Mautic, ….
_TRACKERS = re.compile(
    r"_?(?:ai|ga|gd|rl|mtc|utm|amplitude|intercom|crisp|optimizely|nrba)[_.-]|_hj|__stripe_|s_sess\Z",
    re.IGNORECASE,
)
# Words in names of cookies that concern a session or log-in but do not identify the session.
_NON_SESSION_WORDS = frozenset(
    {
        *("affinity", "sticky", "route", "routing", "balancer", "analytics", "tracking", "stats", "visit", "visits"),
        *("hint", "redirect", "return", "referrer", "referer", "url", "type", "provider", "method", "mode", "state"),
        *("consent", "banner", "popup", "seen", "dismissed", "theme", "lang", "language", "locale", "country"),
        *("timeout", "expires", "expiry", "expiration", "expired", "start", "started", "time", "timestamp", "count"),
        *("counter", "depth", "views", "pages", "test", "check", "enabled", "status", "flag", "captcha", "recaptcha"),
        *("experiment", "variant", "bucket", "error", "message", "attempts", "preferences", "currency"),
    }
)
# Names of CSRF tokens. The last two are ASP.NET's.
_CSRF = re.compile(r"csrf|xsrf|antiforgery|requestverificationtoken", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cookie:
    """Cookie as a server sent it. `same_site` is None without the attribute, "" if its value is unknown."""

    name: str
    host: str  # whose response set the cookie
    over_https: bool
    value_length: int  # in characters; the value is never stored
    domain: str | None = None
    path: str | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str | None = None
    expires: datetime | None = None  # from Max-Age or Expires; None: expires with the browser's session

    @property
    def is_csrf_token(self) -> bool:
        """True if the cookie's name is that of a CSRF token that scripts send back (double submit)."""
        return _CSRF.search(self.name) is not None

    @property
    def is_session_like(self) -> bool:
        """True if the cookie probably authenticates the user, by its name and the length of its value."""
        words = _split_words(self.name)
        is_other = self.is_csrf_token or _TRACKERS.match(self.name) or not _NON_SESSION_WORDS.isdisjoint(words)
        if is_other or self.is_for_load_balancing or self.value_length == 0:
            return False
        if _SESSION_NAMES.fullmatch(self.name):
            return True
        return self.value_length >= _MIN_SESSION_ID and not _SESSION_WORDS.isdisjoint(words)

    @property
    def is_for_load_balancing(self) -> bool:
        """True if a load balancer set the cookie to name a server. Sites often cannot change the attributes."""
        return is_load_balancer_cookie(self.name)

    @property
    def broken_prefix_rule(self) -> str | None:
        """Rule of `__Host-` or `__Secure-` that the cookie breaks, as a clause. None if none (section 4.1.3)."""
        name = self.name.lower()
        if name.startswith("__host-"):
            if self.domain is not None:
                return "__Host- forbids Domain"
            if self.path != "/":
                return "__Host- requires Path=/"
        if name.startswith(("__host-", "__secure-")) and not (self.secure and self.over_https):
            return f"{self.name[: self.name.index('-') + 1]} requires Secure over HTTPS"
        return None


@dataclass(frozen=True, slots=True)
class Cookies:
    """First-party cookies that the page's responses set, including those that break the rules of their name prefix."""

    sent: tuple[Cookie, ...]

    @property
    def accepted(self) -> list[Cookie]:
        """Return the cookies that browsers accept."""
        return [cookie for cookie in self.sent if cookie.broken_prefix_rule is None]


def cookies_of(hops: Iterable[Response], site_host: str, now: datetime) -> list[Cookie]:
    """Return the first-party cookies that a browser has after a chain of responses (redirects, then the page).

    Later cookies replace or delete earlier ones. Cookies that break the rules of their name prefix are included.
    """
    jar: dict[tuple[str, str, str], Cookie] = {}
    for hop in hops:
        address = Url.of(hop.url)
        host = address.hostname
        if not is_same_site(host, site_host):
            continue
        for line in hop.headers.all("Set-Cookie")[:MAX_COOKIES]:
            cookie = parse_cookie(line, host, now, over_https=address.scheme == "https")
            if cookie is None or (cookie.secure and not cookie.over_https and cookie.broken_prefix_rule is None):
                continue  # browsers reject a Secure cookie over plain HTTP
            key = (cookie.name, cookie.domain or host, cookie.path or address.path.rpartition("/")[0] or "/")
            if cookie.expires is not None and cookie.expires <= now:
                jar.pop(key, None)
            else:
                jar[key] = cookie
    return list(jar.values())


def parse_cookie(line: str, host: str, now: datetime, *, over_https: bool) -> Cookie | None:
    """Parse one Set-Cookie field line. None if browsers ignore the cookie."""
    pair, *parts = line.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(" \t"), value.strip(" \t")
    if _CONTROL.search(line) or not (name or value) or len(name) + len(value) > MAX_NAME_AND_VALUE:
        return None
    attributes = dict(_attributes(parts))
    domain = attributes.get("domain", "").removeprefix(".").lower() or None
    if domain is not None and not _is_allowed_domain(domain, host):
        return None
    same_site = attributes.get("samesite")
    if same_site is not None:
        same_site = same_site.lower() if same_site.lower() in ("strict", "lax", "none") else ""
    path = attributes.get("path", "")
    return Cookie(
        name=name,
        host=host,
        over_https=over_https,
        value_length=len(value),
        domain=domain,
        path=path if path.startswith("/") else None,
        secure="secure" in attributes,
        http_only="httponly" in attributes,
        same_site=same_site,
        expires=_expiry_date(attributes, now),
    )


def _attributes(parts: list[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, _, value = part.partition("=")
        value = value.strip(" \t")
        name = name.strip(" \t").lower()
        if len(value) <= MAX_ATTRIBUTE and _is_parsable(name, value):
            yield name, value


def _is_parsable(name: str, value: str) -> bool:
    """Return True if browsers can parse the attribute. If not, an earlier attribute of the same name counts."""
    if name == "max-age":
        return _MAX_AGE.fullmatch(value) is not None
    return name != "expires" or parse_date(value) is not None


def _is_allowed_domain(domain: str, host: str) -> bool:
    """Return True if the host may set a cookie for the domain: its own or a parent, but never a public suffix."""
    if domain == host:
        return True
    return host.endswith(f".{domain}") and domain.endswith(site_of(host))


def _expiry_date(attributes: dict[str, str], now: datetime) -> datetime | None:
    if "max-age" in attributes:
        seconds = int(attributes["max-age"])
        return now if seconds <= 0 else now + timedelta(seconds=min(seconds, 10**9))
    return parse_date(attributes["expires"]) if "expires" in attributes else None


def parse_date(text: str) -> datetime | None:
    """Parse a cookie date as browsers do (section 5.1.1), ignoring time zone and weekday. None if it is not a date."""
    parts: dict[re.Pattern[str], re.Match[str]] = {}
    for token in _DATE_DELIMITER.split(text):
        # Each token sets the first part that is still missing and matches (section 5.1.1, step 2).
        for part in (_TIME, _DAY, _MONTH, _YEAR):
            if part not in parts and (match := part.match(token)) is not None:
                parts[part] = match
                break
    if len(parts) < 4:
        return None
    year = int(parts[_YEAR][1])
    if year < 100:
        year += 1900 if year >= 70 else 2000
    month = _MONTHS.index(parts[_MONTH][1].lower()) + 1
    hour, minute, second = map(int, parts[_TIME].groups())
    try:
        date = datetime(year, month, int(parts[_DAY][1]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return date if year >= _MIN_YEAR else None


def _split_words(name: str) -> set[str]:
    """Return the words of a cookie name in lower case, split by punctuation and by capitals."""
    parts = re.split(r"[^0-9A-Za-z]+", name)
    return {part.lower() for part in parts} | {word.lower() for part in parts for word in _WORD.findall(part)}
