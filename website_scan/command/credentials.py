"""Credentials from the command's options.

They are `--header`, `--cookie`, `--basic-auth` and their variants that end with `-for`. Error messages never contain
the values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct, field

from website_scan.command.arguments import Options
from website_scan.command.errors import WrongUsage
from website_scan.command.pages import SYNTAX
from website_scan.errors import Refusal
from website_scan.net.addresses import loopback_addresses
from website_scan.net.credentials import OriginCredentials, parse
from website_scan.net.targets import parse_target

VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")

ONE_ORIGIN = "--header, --cookie and --basic-auth are for URLs of one origin."


def has_credentials(options: Options) -> bool:
    """Return True if an option sets credentials.

    Credentials are headers, cookies and basic authentication.
    """
    for_typed_urls = options.headers or options.cookies or options.basic_auth
    return bool(for_typed_urls or options.headers_for or options.cookies_for or options.basic_auth_for)


def audit_credentials(options: Options) -> dict[str, object]:
    """Return the credentials for an audit of all pages.

    They have the form of the API field `request`. Raises WrongUsage.
    """
    if not has_credentials(options):
        return {}
    try:
        origins = {parse_target(url, SYNTAX).origin for url in options.urls}
    except Refusal as refusal:
        raise WrongUsage(str(refusal)) from None
    if len(origins) > 1:
        raise WrongUsage(ONE_ORIGIN)
    requests = [each.credentials.request for each in credentials_by_origin(options, origins).values()]
    return requests[0] if requests else {}


def credentials_by_origin(options: Options, origins: Collection[str]) -> dict[str, OriginCredentials]:
    """Return the credentials of the pages' origins, by origin.

    Raises WrongUsage. `--header`, `--cookie` and `--basic-auth` are for the only origin of all pages, the others for
    the host they name.
    """
    values: dict[str, _Values] = {}
    if options.headers or options.cookies or options.basic_auth:
        if len(origins) > 1:
            raise WrongUsage(ONE_ORIGIN)
        for origin in origins:
            values[origin] = _Values([*options.headers], [*options.cookies], [*options.basic_auth])
    for kind, option, pairs in (
        ("headers", "--header-for", options.headers_for),
        ("cookies", "--cookie-for", options.cookies_for),
        ("basic_auth", "--basic-auth-for", options.basic_auth_for),
    ):
        for host, value in pairs:
            for origin in _named_origins(option, host, origins):
                getattr(values.setdefault(origin, _Values()), kind).append(value)
    try:
        parsed = {origin: parse(each.request()) for origin, each in values.items()}
    except Refusal as refusal:
        raise WrongUsage(str(refusal)) from None
    return {origin: OriginCredentials(origin, each) for origin, each in parsed.items() if each is not None}


def _named_origins(option: str, host: str, origins: Collection[str]) -> list[str]:
    """Return the pages' origins on HOST.

    Raises WrongUsage if HOST is invalid or no page is on it. HOST stands for HTTPS, so that a file cannot have a secret
    sent in plain text. HTTP needs `http://HOST`, except on this machine.
    """
    try:
        targets = [parse_target(host if "://" in host else f"https://{host}", SYNTAX)]
        if "://" not in host and loopback_addresses(targets[0].host):
            targets.append(parse_target(f"http://{host}", SYNTAX))
    except Refusal:
        targets = []
    if not targets or any(target.path != "/" for target in targets):
        # The message does not contain HOST, which may be a misplaced secret value.
        raise WrongUsage(f"{option} needs a host such as staging.example.com, and then the value for it.") from None
    named = [target.origin for target in targets if target.origin in origins]
    if not named:
        raise WrongUsage(f"{option}: no page has the origin {' or '.join(target.origin for target in targets)}.")
    return named


class _Values(Struct, frozen=True):
    """Option values for one origin.

    A value may name a variable or file that contains it.
    """

    headers: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)
    basic_auth: list[str] = field(default_factory=list)

    def request(self) -> dict[str, object]:
        """Return the credentials in the form of the API field `request`.

        Raises WrongUsage.
        """
        basic = _lines(self.basic_auth, "--basic-auth")
        if len(basic) > 1 or any(":" not in line for line in basic):
            raise WrongUsage("--basic-auth accepts one USER:PASSWORD.")
        request: dict[str, object] = {
            "headers": _pairs_by_name(self.headers, "--header", ":"),
            "cookies": _pairs_by_name(self.cookies, "--cookie", "="),
        }
        if basic:
            request["basic_auth"] = dict(zip(("username", "password"), basic[0].split(":", 1), strict=True))
        return {name: value for name, value in request.items() if value}


def _pairs_by_name(values: Sequence[str], option: str, separator: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in _lines(values, option):
        name, equals, value = (part.strip() for part in line.partition(separator))
        if not equals or name in pairs:
            raise WrongUsage(f"{option} accepts NAME{separator}VALUE, with each name only once.")
        pairs[name] = value
    return pairs


def _lines(values: Sequence[str], option: str) -> list[str]:
    """Return the values of an option, one per line.

    `@FILE` stands for the content of a file, and `$NAME` for that of an environment variable.
    """
    lines: list[str] = []
    for value in values:
        if value.startswith("@"):
            try:
                value = Path(value[1:]).read_text()
            except (OSError, UnicodeError) as error:
                raise WrongUsage(f"{option}: {error}") from None
        elif VARIABLE.fullmatch(value):
            if value[1:] not in os.environ:
                raise WrongUsage(f"{option}: {value} is not set.")
            value = os.environ[value[1:]]
        lines += filter(None, (line.strip() for line in value.splitlines()))
    return lines
