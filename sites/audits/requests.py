"""Validation of audit requests from the API, the dashboard, monitors and lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct
from rest_framework import serializers

from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Address, Chosen, Input, Parsed, Whole, parse_address, refusal_as_error
from scans.requests import (
    CredentialsSerializer,
    OwnRequirements,
    Widths,
    categories_field,
    categories_of,
    chosen_types,
    color_scheme_field,
    types_of,
    viewing_of,
)
from sites.models import Audit
from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials, InvalidRequestField
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target
from website_scan.requirements.model import Requirements
from website_scan.security_categories import Categories
from website_scan.viewing import Viewing

DISCOVER = ("sitemap", "links")
DISCOVER_RULE = f"discover must be a list with one or more of {', '.join(DISCOVER)}."
MAX_PAGES_PER_LIST = 1_000
MAX_PATTERNS = 50
MAX_PATTERN_LENGTH = 500
DEFAULT_MAX_PAGES = 100
SITE_FIELDS = frozenset({"discover", "max_pages", "include", "exclude"})
# Arguments of `AuditRequest.of` that are also fields in the request body.
OPTIONS = SITE_FIELDS | {"types", "requirements", "categories"}


class InvalidPages(Refusal):
    """Raised for a list with invalid page URLs.

    `pages` has the position of each invalid URL, counted from 1, and the reason.
    """

    code = "INVALID_PAGES"
    status = 400


class AuditRequest(Struct, frozen=True):
    """Validated request for an audit, created by `AuditRequest.of`.

    `targets` has one item, except for a list of pages. `discover`, `include` and `exclude` are only for sites.
    """

    kind: str
    targets: tuple[Target, ...]
    types: tuple[ScanType, ...]
    max_pages: int
    discover: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    credentials: Credentials | None = None
    viewing: Viewing | None = None
    requirements: Requirements | None = None
    categories: Categories | None = None

    @classmethod
    def of(  # noqa: PLR0913 -- the audit's target, and the API's options as keyword arguments
        cls,
        kind: str,
        targets: Sequence[Target],
        pages_per_audit: int,
        *,
        types: Collection[str] = tuple(ScanType),
        max_pages: int | None = None,
        discover: Collection[str] = DISCOVER,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        credentials: Credentials | None = None,
        viewing: Viewing | None = None,
        requirements: Requirements | None = None,
        categories: Collection[str] | None = None,
    ) -> Self:
        """Validate the options and return the request.

        Most options are only for sites. `pages_per_audit` is the plan's limit. Raises InvalidType, InvalidParams or
        InvalidRequestField, which name the field of the API.
        """
        if credentials is not None and len({target.origin for target in targets}) > 1:
            refusal = InvalidRequestField("request can only be used when all pages have the same origin.")
            refusal.field = "request"
            raise refusal
        if kind != Audit.Kind.SITE:
            return cls(
                kind,
                tuple(targets),
                types_of(types),
                len(targets),
                credentials=credentials,
                viewing=viewing,
                requirements=requirements,
                categories=categories_of(categories, types),
            )
        most = min(DEFAULT_MAX_PAGES, pages_per_audit) if max_pages is None else max_pages
        return cls(
            kind,
            tuple(targets),
            types_of(types),
            pages_within_plan(most, pages_per_audit),
            discover_of(discover),
            patterns_of("include", include),
            patterns_of("exclude", exclude),
            credentials,
            viewing,
            requirements,
            categories_of(categories, types),
        )


def targets_of(kind: str, urls: Sequence[str], policy: Policy, pages_per_audit: int) -> tuple[Target, ...]:
    """Parse the URLs of an audit and return its targets.

    Raises InvalidUrl, Blocked, InvalidPages or InvalidParams, which name the field of the API.
    """
    if kind == Audit.Kind.PAGES:
        return listed_targets(urls, policy, pages_per_audit)
    return (parse_address(urls[0], policy, kind),)


def listed_targets(addresses: Sequence[object], policy: Policy, pages_per_audit: int) -> tuple[Target, ...]:
    """Parse a list of page URLs without duplicates.

    Raises InvalidParams, or InvalidPages with the positions of all invalid URLs.
    """
    number = len(addresses)
    if not number:
        raise InvalidParams("pages must be a list of addresses.", "pages")
    if number > pages_per_audit:
        text = f"pages has {number} addresses; your plan allows {pages_per_audit} in one audit."
        raise InvalidParams(text, "pages")
    if number > MAX_PAGES_PER_LIST:
        raise InvalidParams(f"pages has {number} addresses; a list may have {MAX_PAGES_PER_LIST}.", "pages")
    targets: dict[str, Target] = {}
    invalid_pages: list[dict[str, object]] = []
    for position, address in enumerate(addresses, 1):
        try:
            target = parse_target(address, policy)
            targets.setdefault(target.url, target)
        except (InvalidUrl, Blocked) as refusal:
            invalid_pages.append({"position": position, "code": refusal.code, "error": str(refusal)})
    if invalid_pages:
        some = f"{len(invalid_pages)} of the pages" if len(invalid_pages) > 1 else "One of the pages"
        refusal_of_list = InvalidPages(
            f"{some} cannot be scanned. {invalid_pages[0]['position']}: {invalid_pages[0]['error']}"
        )
        refusal_of_list.field, refusal_of_list.details = "pages", {"pages": invalid_pages}
        raise refusal_of_list
    return tuple(targets.values())


def pages_within_plan(number: int, pages_per_audit: int) -> int:
    """Return `number` if the plan allows that many pages, else raise InvalidParams."""
    if number > pages_per_audit:
        text = f"max_pages is too high; your plan allows {pages_per_audit} in one audit."
        raise InvalidParams(text, "max_pages")
    return number


def discover_of(names: Collection[str]) -> tuple[str, ...]:
    """Return the names of discovery methods in their standard order.

    Raises InvalidParams for unknown names.
    """
    if not names or not set(names) <= set(DISCOVER):
        raise InvalidParams(DISCOVER_RULE, "discover")
    return tuple(name for name in DISCOVER if name in names)


def patterns_of(field: str, patterns: Sequence[object]) -> tuple[str, ...]:
    """Return the valid path patterns without duplicates. Raises InvalidParams."""
    if len(patterns) > MAX_PATTERNS:
        raise InvalidParams(f"{field} must be a list of at most {MAX_PATTERNS} patterns.", field)
    valid: dict[str, None] = {}
    for pattern in patterns:
        if not isinstance(pattern, str) or not 1 <= len(pattern) <= MAX_PATTERN_LENGTH or not pattern.isprintable():
            text = f"Each pattern of {field} must have 1 to {MAX_PATTERN_LENGTH} characters, such as /docs/*."
            raise InvalidParams(text, field)
        if fault := pattern_fault(pattern):
            raise InvalidParams(f"A pattern of {field} can't be used: {fault}", field)
        valid[pattern] = None
    return tuple(valid)


class Addresses(Parsed, serializers.ListField):
    """Serializer field for a list of page URLs.

    The error names the positions of all invalid URLs.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_PAGES_PER_LIST, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        addresses = data if isinstance(data, list) else []
        with refusal_as_error(self.context["details"]):
            return listed_targets(addresses, self.context["policy"], self.context["pages_per_audit"])


class Patterns(Parsed, serializers.ListField):
    """Serializer field for a list of path patterns without duplicates."""

    def __init__(self, **kwargs: Any) -> None:
        child = serializers.CharField(max_length=MAX_PATTERN_LENGTH)
        super().__init__(child=child, max_length=MAX_PATTERNS, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        name = str(self.field_name)
        if not isinstance(data, list):
            raise serializers.ValidationError(f"{name} must be a list of at most {MAX_PATTERNS} patterns.")
        with refusal_as_error():
            return patterns_of(name, data)


class AuditFields(Input):
    """Fields that define the target and the options of an audit or a monitor."""

    page = Address(required=False, help_text="One page.")
    pages = Addresses(required=False)
    site = Address(required=False, help_text="Start page of a site, whose pages are discovered.")
    types = chosen_types()
    discover = Chosen(DISCOVER, required=False, says=DISCOVER_RULE)
    max_pages = Whole(min_value=1, required=False, says="max_pages must be a whole number of at least 1.")
    include = Patterns(required=False)
    exclude = Patterns(required=False)
    request = CredentialsSerializer(required=False, allow_null=True)
    widths = Widths(required=False)
    color_scheme = color_scheme_field()
    requirements = OwnRequirements()

    def validate_max_pages(self, number: int) -> int:
        with refusal_as_error():
            return pages_within_plan(number, self.context["pages_per_audit"])

    def audit(self, values: Mapping[str, Any]) -> AuditRequest:
        """Return the audit request for the valid values.

        Raises InvalidParams or InvalidRequestField.
        """
        named = [kind for kind in Audit.Kind.values if kind in values]
        if len(named) != 1:
            raise InvalidParams("Send exactly one of page, pages and site.")
        kind = named[0]
        targets = values[kind] if kind == Audit.Kind.PAGES else (values[kind],)
        return self.audit_of(kind, targets, values)

    def audit_of(self, kind: str, targets: Sequence[Target], values: Mapping[str, Any]) -> AuditRequest:
        """Return the audit request for the targets, with the options that `values` contains."""
        if kind != Audit.Kind.SITE and (unknown := sorted(SITE_FIELDS & values.keys())):
            raise InvalidParams(f"{unknown[0]} is not a field of an audit with {kind}.")
        options = {name: values[name] for name in OPTIONS & values.keys()}
        return AuditRequest.of(
            kind,
            targets,
            self.context["pages_per_audit"],
            credentials=values.get("request"),
            viewing=viewing_of(values),
            **options,
        )


class AuditRequestSerializer(AuditFields):
    """Body of POST /v1/audits with exactly one of `page`, `pages` and `site`."""

    categories = categories_field()

    def validate(self, values: dict[str, Any]) -> AuditRequest:
        return self.audit(values)
