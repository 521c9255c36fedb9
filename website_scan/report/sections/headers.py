"""Table of response headers with the checks' verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from website_scan.priority import STATUS_RANK
from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck

CSP = "Content-Security-Policy"
# If the page sends none of a check's headers, the table lists the first one as missing.
JUDGED: Mapping[str, tuple[str, ...]] = {
    "hsts": ("Strict-Transport-Security",),
    "hsts-preload-consistency": ("Strict-Transport-Security",),
    "csp-present": (CSP, f"{CSP}-Report-Only"),
    "csp-script-inline": (CSP,),
    "csp-script-broad": (CSP,),
    "csp-unsafe-eval": (CSP,),
    "csp-object-base": (CSP,),
    "csp-insecure-source": (CSP,),
    "csp-style-inline": (CSP,),
    "csp-syntax": (CSP,),
    "csp-nonce-static": (CSP,),
    "csp-allowlist-bypass": (CSP,),
    "clickjacking": ("X-Frame-Options",),
    "x-content-type-options": ("X-Content-Type-Options",),
    "content-type": ("Content-Type",),
    "referrer-policy": ("Referrer-Policy",),
    "permissions-policy": ("Permissions-Policy",),
    "cross-origin-policies": (
        "Cross-Origin-Opener-Policy",
        "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Resource-Policy",
    ),
    "cors-credentials": ("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"),
    "cookie-secure": ("Set-Cookie",),
    "cookie-httponly": ("Set-Cookie",),
    "cookie-samesite": ("Set-Cookie",),
    "cookie-prefix": ("Set-Cookie",),
    "server-version": ("Server",),
    # The places of this finding contain the names of the headers.
    "powered-by": (),
    "deprecated-headers": ("Public-Key-Pins", "Public-Key-Pins-Report-Only", "Expect-CT", "Feature-Policy"),
}
# Checks of optional headers, which are never listed as missing.
OPTIONAL_HEADER_CHECKS = frozenset(
    {
        *("cookie-secure", "cookie-httponly", "cookie-samesite", "cookie-prefix", "cors-credentials"),
        *("cross-origin-policies", "deprecated-headers", "powered-by", "server-version"),
    }
)


class HeaderCheck(Struct, frozen=True):
    """Verdict of a check.

    It has a status, a title (`text`), and the anchor of its card.
    """

    status: str
    text: str
    anchor: str

    @classmethod
    def of(cls, check: ExportedCheck, prefix: str) -> HeaderCheck:
        """Return the verdict of a check of a JSON export.

        `prefix` goes before the anchor.
        """
        return cls(check["status"], check["title"], f"{prefix}check-{check['id']}")


class JudgedHeader(Struct, frozen=True):
    """Header with its verdicts.

    `value` is None for a missing header. `status` is the worst status, or empty.
    """

    name: str
    value: str | None
    verdicts: tuple[HeaderCheck, ...]

    @property
    def status(self) -> str:
        return self.verdicts[0].status if self.verdicts else ""


def headers_with_verdicts(
    sent: Sequence[Sequence[str]], checks: Mapping[str, ExportedCheck], prefix: str
) -> tuple[JudgedHeader, ...]:
    """Return the headers sorted by their worst verdict.

    Missing headers come first, headers without a verdict last. Headers of the same rank remain in the order received.
    `sent` has pairs of name and value, `checks` the checks of the export by ID; `prefix` goes before anchors.
    """
    names = {name.lower() for name, _ in sent}
    verdicts: dict[str, list[HeaderCheck]] = {}
    missing: dict[str, list[HeaderCheck]] = {}
    for id, header_names in JUDGED.items():
        if (check := checks.get(id)) is None:
            continue
        verdict = HeaderCheck.of(check, prefix)
        header_places = {str(row["header"]).lower() for row in rows_of(check) if "header" in row}
        sent_names = sorted((header_places or {name.lower() for name in header_names}) & names)
        for name in sent_names:
            verdicts.setdefault(name, []).append(verdict)
        if not sent_names and check["status"] != "pass" and id not in OPTIONAL_HEADER_CHECKS and header_names:
            missing.setdefault(header_names[0], []).append(verdict)
    headers = [JudgedHeader(name, None, _worst_first(judgements)) for name, judgements in missing.items()]
    headers += [JudgedHeader(name, value, _worst_first(verdicts.get(name.lower(), ()))) for name, value in sent]
    return tuple(sorted(headers, key=lambda header: STATUS_RANK.get(header.status, len(STATUS_RANK))))


def _worst_first(verdicts: Sequence[HeaderCheck]) -> tuple[HeaderCheck, ...]:
    return tuple(sorted(verdicts, key=lambda verdict: STATUS_RANK[verdict.status]))
