"""Parser of the body of POST /v1/audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infrastructure.api.errors import InvalidParams
from scanner.crawl.discovery.patterns import pattern_fault
from scanner.errors import Refusal
from scanner.findings import ScanType
from scanner.net.credentials import Credentials, InvalidRequestField
from scanner.net.credentials import parse as parse_credentials
from scanner.net.errors import Blocked
from scanner.net.policy import Policy
from scanner.net.targets import InvalidUrl, Target, parse_target
from sites.models import Audit

DISCOVER = ("sitemap", "links")
MAX_LISTED = 1_000
MAX_PATTERNS = 50
PATTERN_LENGTH = 500
USUAL_MAX_PAGES = 100
# Maximum number of invalid pages that an error names; the rest appear once these are fixed.
TOLD = 20
OF_A_SITE = frozenset({"discover", "max_pages", "include", "exclude"})


class InvalidPages(Refusal):
    """Refusal of a list with pages that can't be scanned; the message names their positions, from 1."""

    code = "INVALID_PAGES"
    status = 400


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """Parsed request for an audit. `targets` has one item, except for a list of pages.

    `discover`, `include` and `exclude` are only for sites.
    """

    kind: str
    targets: tuple[Target, ...]
    types: tuple[ScanType, ...]
    max_pages: int
    discover: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    credentials: Credentials | None = None


def parse_audit(body: Mapping[str, object], policy: Policy, pages_per_audit: int) -> AuditRequest:
    """Parse the body of a request. Raises InvalidParams naming the field, InvalidUrl, Blocked, or InvalidPages.

    `pages_per_audit` is the limit of the organization's plan.
    """
    named = [kind for kind in Audit.Kind.values if kind in body]
    if len(named) != 1:
        raise InvalidParams("Send exactly one of page, pages and site.")
    kind = named[0]
    allowed = {kind, "types", "request"} | (OF_A_SITE if kind == Audit.Kind.SITE else frozenset())
    if unknown := sorted(set(body) - allowed):
        raise InvalidParams(f"{unknown[0]} is not a field of an audit with {kind}.")
    types = _types(body.get("types"))
    credentials = parse_credentials(body.get("request"))
    if kind == Audit.Kind.PAGES:
        targets = _pages(body["pages"], policy, pages_per_audit)
        if credentials is not None and len({each.origin for each in targets}) > 1:
            raise InvalidRequestField("request can only be used when all pages have the same origin.")
        return AuditRequest(kind, targets, types, len(targets), credentials=credentials)
    target = parse_target(body[kind], policy)
    if kind == Audit.Kind.PAGE:
        return AuditRequest(kind, (target,), types, 1, credentials=credentials)
    return AuditRequest(
        kind,
        (target,),
        types,
        _max_pages(body.get("max_pages"), pages_per_audit),
        _chosen(body.get("discover"), "discover", DISCOVER),
        _patterns(body.get("include"), "include"),
        _patterns(body.get("exclude"), "exclude"),
        credentials,
    )


def _types(value: object) -> tuple[ScanType, ...]:
    return tuple(map(ScanType, _chosen(value, "types", [str(each) for each in ScanType])))


def _chosen(value: object, name: str, known: Sequence[str]) -> tuple[str, ...]:
    """Validate a list of names and return it in the order of `known`; all known names if the value is None."""
    if value is None:
        return tuple(known)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each in known for each in value):
        raise InvalidParams(f"{name} must be a list with one or more of {', '.join(known)}.")
    return tuple(each for each in known if each in value)


def _pages(value: object, policy: Policy, pages_per_audit: int) -> tuple[Target, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidParams("pages must be a list of addresses.")
    if len(value) > pages_per_audit:
        raise InvalidParams(f"pages has {len(value)} addresses; your plan allows {pages_per_audit} in one audit.")
    if len(value) > MAX_LISTED:
        raise InvalidParams(f"pages has {len(value)} addresses; a list may have {MAX_LISTED}.")
    targets: dict[str, Target] = {}
    wrong: list[str] = []
    for position, each in enumerate(value, 1):
        try:
            target = parse_target(each, policy)
            targets.setdefault(target.url, target)
        except (InvalidUrl, Blocked) as refusal:
            wrong.append(f"{position}: {refusal}")
    if wrong:
        more = f" And {len(wrong) - TOLD} more." if len(wrong) > TOLD else ""
        raise InvalidPages(f"Some of the pages cannot be scanned. {' '.join(wrong[:TOLD])}{more}")
    return tuple(targets.values())


def _max_pages(value: object, pages_per_audit: int) -> int:
    if value is None:
        return min(USUAL_MAX_PAGES, pages_per_audit)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidParams("max_pages must be a whole number of at least 1.")
    if value > pages_per_audit:
        raise InvalidParams(f"max_pages is {value}; your plan allows {pages_per_audit} in one audit.")
    return value


def _patterns(value: object, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_PATTERNS:
        raise InvalidParams(f"{name} must be a list of at most {MAX_PATTERNS} patterns.")
    for each in value:
        if not isinstance(each, str) or not 1 <= len(each) <= PATTERN_LENGTH or not each.isprintable():
            raise InvalidParams(f"Each pattern of {name} must have 1 to {PATTERN_LENGTH} characters, such as /docs/*.")
        if fault := pattern_fault(each):
            raise InvalidParams(f"A pattern of {name} can't be used: {fault}")
    return tuple(dict.fromkeys(value))
