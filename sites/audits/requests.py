"""Parser of the body of POST /v1/audits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from infrastructure.api.inputs import Address, Chosen, Input, Parsed, Whole, refused
from scans.models import Scan
from scans.serializers import CredentialsSerializer, InvalidType
from sites.models import Audit
from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials, InvalidRequestField
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target

DISCOVER = ("sitemap", "links")
MAX_LISTED = 1_000
MAX_PATTERNS = 50
PATTERN_LENGTH = 500
USUAL_MAX_PAGES = 100
OF_A_SITE = frozenset({"discover", "max_pages", "include", "exclude"})


class InvalidPages(Refusal):
    """Refusal of a list with pages that can't be scanned: `pages` has the position, from 1, and the reason of each."""

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


class Addresses(Parsed, serializers.ListField):
    """The URLs of pages, as targets, each once. All that are wrong are named by their positions."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_LISTED, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        policy, most = self.context["policy"], self.context["pages_per_audit"]
        if not isinstance(data, list) or not data:
            raise serializers.ValidationError("pages must be a list of addresses.")
        if len(data) > most:
            raise serializers.ValidationError(f"pages has {len(data)} addresses; your plan allows {most} in one audit.")
        if len(data) > MAX_LISTED:
            raise serializers.ValidationError(f"pages has {len(data)} addresses; a list may have {MAX_LISTED}.")
        return _targets(data, policy, self.context["details"])


def _targets(addresses: list[object], policy: Policy, details: dict[str, object]) -> tuple[Target, ...]:
    targets: dict[str, Target] = {}
    wrong: list[dict[str, object]] = []
    for position, each in enumerate(addresses, 1):
        try:
            target = parse_target(each, policy)
            targets.setdefault(target.url, target)
        except (InvalidUrl, Blocked) as refusal:
            wrong.append({"position": position, "code": refusal.code, "error": str(refusal)})
    if wrong:
        details[InvalidPages.code] = {"pages": wrong}
        number = f"{len(wrong)} of the pages" if len(wrong) > 1 else "One of the pages"
        raise refused(InvalidPages(f"{number} cannot be scanned. {wrong[0]['position']}: {wrong[0]['error']}"))
    return tuple(targets.values())


class Patterns(Parsed, serializers.ListField):
    """Patterns of paths, each once."""

    def __init__(self, **kwargs: Any) -> None:
        child = serializers.CharField(max_length=PATTERN_LENGTH)
        super().__init__(child=child, max_length=MAX_PATTERNS, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        name = self.field_name
        if not isinstance(data, list) or len(data) > MAX_PATTERNS:
            raise serializers.ValidationError(f"{name} must be a list of at most {MAX_PATTERNS} patterns.")
        for each in data:
            if not isinstance(each, str) or not 1 <= len(each) <= PATTERN_LENGTH or not each.isprintable():
                raise serializers.ValidationError(
                    f"Each pattern of {name} must have 1 to {PATTERN_LENGTH} characters, such as /docs/*."
                )
            if fault := pattern_fault(each):
                raise serializers.ValidationError(f"A pattern of {name} can't be used: {fault}")
        return tuple(dict.fromkeys(data))


def _chosen(name: str, choices: Any, known: Any, code: str | None = None) -> Chosen:
    says = f"{name} must be a list with one or more of {', '.join(known)}."
    return Chosen(choices, required=False, says=says, code=code)


class AuditFields(Input):
    """The fields that say what is looked at, of audits and of monitors."""

    page = Address(required=False, help_text="One page.")
    pages = Addresses(required=False)
    site = Address(required=False, help_text="Where a site begins; its pages are looked for.")
    types = _chosen("types", Scan.Type.choices, Scan.Type.values, InvalidType.code)
    discover = _chosen("discover", DISCOVER, DISCOVER)
    max_pages = Whole(min_value=1, required=False, says="max_pages must be a whole number of at least 1.")
    include = Patterns(required=False)
    exclude = Patterns(required=False)
    request = CredentialsSerializer(required=False, allow_null=True)

    def validate_max_pages(self, number: int) -> int:
        if number > (most := self.context["pages_per_audit"]):
            raise serializers.ValidationError(f"max_pages is too high; your plan allows {most} in one audit.")
        return number

    def audit(self, values: Mapping[str, Any]) -> AuditRequest:
        """Return what these valid values ask for."""
        named = [kind for kind in Audit.Kind.values if kind in values]
        if len(named) != 1:
            raise serializers.ValidationError("Send exactly one of page, pages and site.")
        kind = named[0]
        is_site = kind == Audit.Kind.SITE
        if unknown := sorted(name for name in OF_A_SITE if name in values and not is_site):
            raise serializers.ValidationError(f"{unknown[0]} is not a field of an audit with {kind}.")
        targets = values[kind] if kind == Audit.Kind.PAGES else (values[kind],)
        credentials = values.get("request")
        if credentials is not None and len({each.origin for each in targets}) > 1:
            text = "request can only be used when all pages have the same origin."
            raise serializers.ValidationError({"request": [ErrorDetail(text, InvalidRequestField.code)]})
        usual_pages = min(USUAL_MAX_PAGES, self.context["pages_per_audit"])
        types = values.get("types", Scan.Type.values)
        discover = values.get("discover", DISCOVER)
        return AuditRequest(
            kind,
            targets,
            tuple(each for each in ScanType if each in types),
            values.get("max_pages", usual_pages) if is_site else len(targets),
            tuple(each for each in DISCOVER if each in discover) if is_site else (),
            values.get("include", ()),
            values.get("exclude", ()),
            credentials,
        )


class AuditRequestSerializer(AuditFields):
    """The body of POST /v1/audits: exactly one of `page`, `pages` and `site`."""

    def validate(self, values: dict[str, Any]) -> Any:
        return self.audit(values)


def parse_audit(body: Mapping[str, object], policy: Policy, pages_per_audit: int) -> AuditRequest:
    """Parse the body of an audit. Raises the refusal of the first field that is wrong.

    `pages_per_audit` is the limit of the organization's plan.
    """
    audit: AuditRequest = AuditRequestSerializer.judged(body, policy=policy, pages_per_audit=pages_per_audit)
    return audit
