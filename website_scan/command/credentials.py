"""Credentials for pages behind a login: `--header`, `--cookie`, `--basic-auth`. No message repeats a value."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from website_scan.command.arguments import Options
from website_scan.command.errors import WrongUsage

VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")


def request_of(options: Options) -> dict[str, object]:
    """Return the credentials as the API's field `request`, empty without credentials. Raises WrongUsage."""
    basic = _lines(options.basic_auth, "--basic-auth")
    if len(basic) > 1 or any(":" not in line for line in basic):
        raise WrongUsage("--basic-auth takes one USER:PASSWORD.")
    request: dict[str, object] = {
        "headers": _pairs_by_name(options.headers, "--header", ":"),
        "cookies": _pairs_by_name(options.cookies, "--cookie", "="),
    }
    if basic:
        request["basic_auth"] = dict(zip(("username", "password"), basic[0].split(":", 1), strict=True))
    return {name: value for name, value in request.items() if value}


def _pairs_by_name(values: Sequence[str], option: str, separator: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in _lines(values, option):
        name, equals, value = (part.strip() for part in line.partition(separator))
        if not equals or name in pairs:
            raise WrongUsage(f"{option} takes NAME{separator}VALUE, with each name only once.")
        pairs[name] = value
    return pairs


def _lines(values: Sequence[str], option: str) -> list[str]:
    """Return the lines of the values. A value `@FILE` or `$NAME` is replaced by that file or environment variable."""
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
