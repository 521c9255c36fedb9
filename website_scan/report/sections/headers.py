"""Response headers of the page, each with the verdicts of the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from website_scan.priority import STATUS_RANK
from website_scan.report.places import rows_of
from website_scan.report_json import ExportedCheck

CSP = "Content-Security-Policy"
# The headers that a check judges, by its ID. If none of them is sent, the first one is shown as missing.
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
    "powered-by": (),  # the headers are its places
    "deprecated-headers": ("Public-Key-Pins", "Public-Key-Pins-Report-Only", "Expect-CT", "Feature-Policy"),
}
# Checks that show no missing header, because it is no fault if these headers are not sent.
ONLY_WHERE_SENT = frozenset(
    {
        *("cookie-secure", "cookie-httponly", "cookie-samesite", "cookie-prefix", "cors-credentials"),
        *("cross-origin-policies", "deprecated-headers", "powered-by", "server-version"),
    }
)


@dataclass(frozen=True, slots=True)
class HeaderCheck:
    """HeaderCheck of a check: its status and title. `anchor` is that of its card."""

    status: str
    text: str
    anchor: str

    @classmethod
    def of(cls, check: ExportedCheck, prefix: str) -> HeaderCheck:
        """Return the verdict of a check of the export; `prefix` goes before the anchor."""
        return cls(check["status"], check["title"], f"{prefix}check-{check['id']}")


@dataclass(frozen=True, slots=True)
class JudgedHeader:
    """A header line; the value is None if the header is missing. `status` is the worst verdict's, empty without any."""

    name: str
    value: str | None
    verdicts: tuple[HeaderCheck, ...]

    @property
    def status(self) -> str:
        return self.verdicts[0].status if self.verdicts else ""


def judged_headers(
    sent: Sequence[Sequence[str]], checks: Mapping[str, ExportedCheck], prefix: str
) -> tuple[JudgedHeader, ...]:
    """Return the headers: by their worst verdict, missing ones before sent ones, then those without verdict.

    Headers of the same rank stay in the order received. `sent` has pairs of name and value, `checks` the export's
    checks by ID; `prefix` goes before anchors.
    """
    names = {name.lower() for name, _ in sent}
    verdicts: dict[str, list[HeaderCheck]] = {}
    missing: dict[str, list[HeaderCheck]] = {}
    for id, about in JUDGED.items():
        if (check := checks.get(id)) is None:
            continue
        verdict = HeaderCheck.of(check, prefix)
        named = {str(row["header"]).lower() for row in rows_of(check) if "header" in row}
        here = sorted((named or {name.lower() for name in about}) & names)
        for name in here:
            verdicts.setdefault(name, []).append(verdict)
        if not here and check["status"] != "pass" and id not in ONLY_WHERE_SENT and about:
            missing.setdefault(about[0], []).append(verdict)
    found = [JudgedHeader(name, None, _worst_first(each)) for name, each in missing.items()]
    found += [JudgedHeader(name, value, _worst_first(verdicts.get(name.lower(), ()))) for name, value in sent]
    return tuple(sorted(found, key=lambda each: STATUS_RANK.get(each.status, len(STATUS_RANK))))


def _worst_first(verdicts: Sequence[HeaderCheck]) -> tuple[HeaderCheck, ...]:
    return tuple(sorted(verdicts, key=lambda each: STATUS_RANK[each.status]))
