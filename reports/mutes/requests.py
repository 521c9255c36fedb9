"""Parse mute requests from the API and the form, and define the body of POST /v1/mutes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Self

from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Input, Lines, Moment, Pattern, Text, checked, refusal_as_error
from scans.check_catalogue import is_check_id, outcomes_of_check
from scans.policy import scan_policy
from website_scan.json_types import FINGERPRINT
from website_scan.net.errors import Blocked
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.report.mute_matching import host_and_path

# Mutes last at most a year, so that somebody must renew them.
MAX_DURATION = timedelta(days=366)
DEFAULT_DURATION = timedelta(days=365)
MAX_REASON_LENGTH = 500
MAX_PATH_LENGTH = 1_000
WRONG_PATH_MESSAGE = (
    f"path_prefix must begin with / and have no query, such as /shop, in at most {MAX_PATH_LENGTH:,} characters."
)


class MuteRequest(Struct, frozen=True):
    """Validated request to mute a check, created by `of`.

    DEFAULT_DURATION applies if `expires_at` is None.

    An empty outcome means all outcomes of the check, an empty fingerprint all places. `host` and `path_prefix` are
    normalized as in URLs of reports, without a trailing slash.
    """

    check_id: str
    host: str
    path_prefix: str
    outcome: str
    fingerprint: str
    reason: str
    expires_at: datetime | None = None

    @classmethod
    def of(  # noqa: PLR0913 -- the fields of the request
        cls,
        *,
        check: str,
        host: str,
        reason: str,
        now: datetime,
        path_prefix: str = "",
        outcome: str = "",
        fingerprint: str = "",
        expires_at: datetime | None = None,
    ) -> Self:
        """Return a validated request with these values.

        Raises InvalidParams with the invalid field's name.
        """
        check, host, path_prefix, reason = (
            checked(MuteRequestSerializer, name, value)
            for name, value in (("check", check), ("host", host), ("path_prefix", path_prefix), ("reason", reason))
        )
        if outcome and outcome not in outcomes_of_check(check):
            outcomes = ", ".join(outcomes_of_check(check))
            raise InvalidParams(f"outcome must be one of those of {check}: {outcomes}.", "outcome")
        expires_at = expires_at and validate_mute_end(expires_at, now)
        try:
            # Default ports are removed from the host, as in the URLs of reports.
            scheme = "http" if host.endswith(":80") else "https"
            target = parse_target(f"{scheme}://{host}{path_prefix or '/'}", scan_policy())
        except (InvalidUrl, Blocked) as refusal:
            text = f"host and path_prefix make no address that can be scanned: {refusal}"
            raise InvalidParams(text, "path_prefix") from None
        host, path = host_and_path(target.url)
        if len(path.rstrip("/")) > MAX_PATH_LENGTH:
            raise InvalidParams(WRONG_PATH_MESSAGE, "path_prefix")
        return cls(check, host, path.rstrip("/"), outcome, fingerprint, reason, expires_at)


def validate_mute_end(end: datetime, now: datetime) -> datetime:
    """Validate and return a mute's end.

    Raises InvalidParams if it is in the past or too far ahead.
    """
    if not timedelta() < end - now <= MAX_DURATION:
        text = f"expires_at must be in the future, and at most {MAX_DURATION.days} days ahead."
        raise InvalidParams(text, "expires_at")
    return end


class MuteRequestSerializer(Input):
    """The body of POST /v1/mutes."""

    check = Text(
        help_text="The ID of a check, such as `hsts`, or of an own requirement, such as `own-imprint-is-linked`.",
        says="check must be the ID of a check, such as hsts. Exports of reports and the docs name them.",
        accepts=is_check_id,
    )
    host = Text(
        help_text="The host, as in reports; with the port if that is not the default.",
        says="host must be a host as in reports, such as example.com or example.com:8443.",
        accepts=lambda host: not re.search(r"[/\\?#@\s]", host),
    )
    path_prefix = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_PATH_LENGTH,
        help_text="Only on pages below this path: `/shop` includes `/shop` and `/shop/shoes`, but not `/shopping`.",
        says=WRONG_PATH_MESSAGE,
        accepts=lambda path: bool(re.fullmatch(r"(?:/[^?#\\]*)?", path)),
    )
    outcome = Text(
        required=False,
        allow_null=True,
        max_length=80,
        help_text="Only this outcome of the check, such as `short` of `hsts`; exports name them.",
        says="outcome must be the name of an outcome of the check, or be left out to mute all of them.",
    )
    fingerprint = Pattern(
        FINGERPRINT,
        required=False,
        allow_null=True,
        help_text="Only at this place; comparisons and audits have the fingerprints.",
        says="fingerprint must be 16 hexadecimal digits, or be left out to mute all places.",
    )
    reason = Lines(
        max_length=MAX_REASON_LENGTH,
        says=f"reason must explain in 1 to {MAX_REASON_LENGTH} characters why this is muted.",
    )
    expires_at = Moment(
        required=False,
        allow_null=True,
        help_text="At most 366 days ahead; default: 365 days.",
        says="expires_at must be a time such as 2026-11-21T07:15:00Z.",
    )

    def validate_expires_at(self, end: datetime | None) -> datetime | None:
        with refusal_as_error():
            return end and validate_mute_end(end, self.context["now"])

    def validate(self, values: dict[str, Any]) -> MuteRequest:
        fields = {name: value for name, value in values.items() if value is not None}
        return MuteRequest.of(now=self.context["now"], **fields)
