"""Parse the arguments of the library's functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field

from website_scan import environment
from website_scan import settings as scanning
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.environment import Exemption
from website_scan.errors import Refusal
from website_scan.findings import ScanType as Type
from website_scan.library.errors import Blocked, InvalidOption, InvalidUrl
from website_scan.net import errors as net_errors
from website_scan.net.credentials import OriginCredentials, parse
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.security_categories import Categories, parse_categories
from website_scan.viewing import COLOR_SCHEMES, WIDTHS_RULE, Viewing, are_valid_widths
from website_scan.viewing import ColorScheme as ColorScheme

ScanType = Literal["security", "performance", "accessibility", "seo"]

TYPES: tuple[ScanType, ...] = ("security", "performance", "accessibility", "seo")
STANDARDS: tuple[str, ...] = tuple(standard.value for standard in Standard)
MAX_WORKERS = 32
MAX_TIME_LIMIT_S = 3600
# Maximum length of a URL in a message.
MAX_URL_CHARACTERS = 200


class Credentials(Struct, frozen=True):
    """Credentials for pages behind a log-in. They are sent to the origin of the page only, and never in a result.

    `headers` and `cookies` have values by name. `basic_auth` is a pair of user name and password.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    basic_auth: tuple[str, str] | None = None

    def __repr__(self) -> str:
        """Return the names, because the values are secret."""
        basic_auth = "…" if self.basic_auth else None
        return f"Credentials(headers={[*self.headers]}, cookies={[*self.cookies]}, basic_auth={basic_auth})"


def parse_types(types: Iterable[str] | str | None) -> tuple[Type, ...]:
    """Return the scan types, all of them for None. Raises InvalidOption."""
    names = [types] if isinstance(types, str) else TYPES if types is None else list(types)
    unknown = [name for name in names if name not in TYPES]
    if unknown or not names:
        raise InvalidOption(f"types must be some of {', '.join(TYPES)}{f', not {unknown[0]!r}' if unknown else ''}.")
    return tuple(Type(name) for name in dict.fromkeys(names))


def parse_category_names(names: Iterable[str] | str | None, types: tuple[Type, ...]) -> Categories | None:
    """Return the categories of security to judge, None for all. Raises InvalidOption."""
    if names is None:
        return None
    try:
        return parse_categories([names] if isinstance(names, str) else list(names), types)
    except ValueError as error:
        raise InvalidOption(str(error)) from None


def parse_networks(networks: Iterable[str]) -> tuple[Exemption, ...]:
    """Return private networks that may be scanned. Raises InvalidOption."""
    if isinstance(networks, str):
        networks = [networks]
    try:
        return tuple(environment.exemption(str(network)) for network in networks)
    except ValueError as error:
        raise InvalidOption(f"allow_networks: {error}.") from None


def parse_viewing(widths: Iterable[int] | None, color_scheme: str | None) -> Viewing | None:
    """Return how a browser shows the page, or None if neither is chosen. Raises InvalidOption."""
    if widths is None and color_scheme is None:
        return None
    default = Viewing()
    numbers = default.widths if widths is None else tuple(widths)
    if not all(type(width) is int for width in numbers) or not are_valid_widths(numbers):
        raise InvalidOption(WIDTHS_RULE)
    schemes = [scheme for scheme in COLOR_SCHEMES if color_scheme in (scheme, None)]
    if not schemes:
        raise InvalidOption(f"color_scheme must be {' or '.join(COLOR_SCHEMES)}.")
    return Viewing(numbers, default.color_scheme if color_scheme is None else schemes[0])


def parse_time_limit(time_limit_s: float | None) -> float:
    """Return the time limit of a page in seconds. Raises InvalidOption."""
    if time_limit_s is None:
        return scanning.SCAN_TIME_LIMIT_S
    if not 0 < time_limit_s <= MAX_TIME_LIMIT_S:
        raise InvalidOption(f"time_limit_s must be a number of seconds above 0, at most {MAX_TIME_LIMIT_S}.")
    return time_limit_s


def parse_workers(workers: int) -> int:
    """Return the number of pages to scan at the same time. Raises InvalidOption."""
    if not 1 <= workers <= MAX_WORKERS:
        raise InvalidOption(f"workers must be 1 to {MAX_WORKERS}.")
    return workers


def parse_standard(standard: str, level: str) -> tuple[Standard, str]:
    """Return a standard and a level of its criteria. Raises InvalidOption."""
    if standard not in STANDARDS:
        raise InvalidOption(f"standard must be one of {', '.join(STANDARDS)}.")
    if level not in LEVELS:
        raise InvalidOption(f"level must be one of {', '.join(LEVELS)}.")
    return Standard(standard), level


def refuse_invalid_settings() -> None:
    """Raise InvalidOption if an environment variable of scans is invalid."""
    if problems := scanning.invalid_settings():
        raise InvalidOption("\n".join(problems))


def parse_url(url: str, policy: Policy) -> Target:
    """Return the page to scan. Raises InvalidUrl and Blocked, which contain no password."""
    public = _hide_password(str(url))
    label = public[:MAX_URL_CHARACTERS] or "(empty)"
    try:
        return parse_target(url, policy)
    except net_errors.Blocked as refusal:
        raise Blocked(public, f"{label}: {refusal} The argument allow_networks can allow it.") from None
    except Refusal as refusal:
        raise InvalidUrl(public, f"{label}: {refusal}") from None


def _hide_password(url: str) -> str:
    return f"…@{url.rpartition('@')[2]}" if "@" in url else url


def credentials_by_origin(
    credentials: Credentials | Mapping[str, Credentials] | None, targets: Iterable[Target], policy: Policy
) -> dict[str, OriginCredentials]:
    """Return the credentials by the origin that may receive them. Raises InvalidOption.

    One object is for the only origin of all pages. A mapping has credentials by URL or origin.
    """
    origins = list(dict.fromkeys(target.origin for target in targets))
    if credentials is None:
        return {}
    if isinstance(credentials, Credentials):
        if len(origins) > 1:
            raise InvalidOption("credentials for pages of several origins must be a mapping by origin.")
        return {origin: value for origin in origins if (value := _of_origin(origin, credentials))}
    by_origin = {parse_url(address, policy).origin: value for address, value in credentials.items()}
    if unused := [origin for origin in by_origin if origin not in origins]:
        raise InvalidOption(f"credentials: no page has the origin {unused[0]}.")
    return {origin: value for origin, given in by_origin.items() if (value := _of_origin(origin, given))}


def _of_origin(origin: str, credentials: Credentials) -> OriginCredentials | None:
    request: dict[str, object] = {"headers": dict(credentials.headers), "cookies": dict(credentials.cookies)}
    if credentials.basic_auth is not None:
        request["basic_auth"] = dict(zip(("username", "password"), credentials.basic_auth, strict=True))
    try:
        parsed = parse(request)
    except Refusal as refusal:
        # Messages begin with the name of the API's field, and contain no values.
        raise InvalidOption(str(refusal).replace("request", "credentials", 1)) from None
    return OriginCredentials(origin, parsed) if parsed else None
