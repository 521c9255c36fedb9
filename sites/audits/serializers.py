"""Serializers of audits, for the API and openapi.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from infrastructure.api.typed import DocumentField
from scans.documents import CredentialNames, ScanFailure, credential_names_of, failure_of
from scans.models import Scan
from sites.audits.findings import ListedFinding, ListedPlace
from sites.audits.muting import ALL, NONE, SOME, AuditMutes
from sites.audits.requests import DISCOVER
from sites.models import Audit, AuditPage
from sites.models.audit import PageResult, SamplePage, TypeScore
from website_scan.document import CHECK_STATUSES
from website_scan.json_types import GRADE, SEVERITIES
from website_scan.report.muting import MuteDocument, mute_document_of

AUDIT_ID = r"^aud_[0-9A-Za-z]{22}$"
SCAN_ID = r"^scan_[0-9A-Za-z]{22}$"
WORST_PAGES = 5
PAGES_OF_PLACE = 3  # of each place, because a list has a thousand places and a URL may have kilobytes
MUTED_PAGES = (ALL, SOME, NONE)


class WorstPage(TypedDict):
    """One of the pages with the lowest scores of a type."""

    url: str
    scan_id: str
    score: int


class TypeResult(TypeScore):
    """Score of a type with the pages that lower it most."""

    worst_pages: list[WorstPage]


class ShownPlace(TypedDict):
    """Place of a finding as AuditPlaceSerializer shows it."""

    fingerprint: str
    place: str
    pages_affected: int
    sample_pages: list[SamplePage]
    muted: str  # ALL, SOME or NONE


class ShownFinding(TypedDict):
    """Finding of an audit as AuditFindingSerializer shows it."""

    type: str
    check: str
    status: str
    severity: str
    title: str
    message: str
    fix: str
    pages_affected: int
    critical_pages: int
    holds: bool
    points: float
    later: float
    told_by: str | None
    sample_pages: list[SamplePage]
    places: list[ShownPlace]
    places_total: int
    muted: str  # ALL, SOME or NONE
    mutes: list[MuteDocument]


class AuditPagesCountSerializer(serializers.Serializer):
    """How many pages were found, are looked at, and have been."""

    found = serializers.IntegerField(min_value=0)
    planned = serializers.IntegerField(min_value=0)
    done = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)


class AuditScansCountSerializer(serializers.Serializer):
    """How many scans there will be, and how many have ended."""

    planned = serializers.IntegerField(min_value=0)
    done = serializers.IntegerField(min_value=0)


class WorstPageSerializer(serializers.Serializer):
    """One of the pages with the lowest scores."""

    url = serializers.CharField()
    scan_id = serializers.RegexField(SCAN_ID)
    score = serializers.IntegerField(min_value=0, max_value=100)


class AuditScoreSerializer(serializers.Serializer):
    """The mean of the scores of a type's pages, as far as they are known."""

    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class AuditResultSerializer(AuditScoreSerializer):
    """Result of one type."""

    worst_pages = WorstPageSerializer(many=True)


class AuditSummarySerializer(serializers.Serializer):
    """An audit in a list."""

    id = serializers.RegexField(AUDIT_ID)
    kind = serializers.ChoiceField(Audit.Kind.choices)
    target = serializers.CharField(source="url")
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    status = serializers.ChoiceField(Audit.Status.choices)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)
    pages = serializers.SerializerMethodField()
    scans = serializers.SerializerMethodField()
    results = serializers.SerializerMethodField()
    audit_url = serializers.URLField()
    error = DocumentField(ScanFailure, failure_of, source="failure", allow_null=True)

    @extend_schema_field(AuditPagesCountSerializer)
    def get_pages(self, audit: Audit) -> dict[str, int]:
        return {
            "found": audit.pages_found,
            "planned": audit.pages_planned,
            "done": audit.pages_done,
            "failed": audit.pages_failed,
        }

    @extend_schema_field(AuditScansCountSerializer)
    def get_scans(self, audit: Audit) -> dict[str, int]:
        return {"planned": audit.pages_planned * len(audit.types), "done": audit.scans_done}

    @extend_schema_field(serializers.DictField(child=AuditScoreSerializer()))
    def get_results(self, audit: Audit) -> Mapping[str, TypeScore]:
        return audit.scores


class AuditSerializer(AuditSummarySerializer):
    """The answer of POST /v1/audits and GET /v1/audits/:id."""

    discover = serializers.ListField(child=serializers.ChoiceField(DISCOVER))
    include = serializers.ListField(child=serializers.CharField())
    exclude = serializers.ListField(child=serializers.CharField())
    max_pages = serializers.IntegerField(min_value=1)
    notes = serializers.ListField(child=serializers.CharField())
    request = DocumentField(CredentialNames, credential_names_of, source="credential_names", required=False)

    def to_representation(self, audit: Audit) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(audit)
        if shown["request"] is None:
            del shown["request"]
        return shown

    @extend_schema_field(serializers.DictField(child=AuditResultSerializer()))
    def get_results(self, audit: Audit) -> Mapping[str, TypeResult]:
        worst = _worst_pages(audit)
        return {each: {**score, "worst_pages": worst[each]} for each, score in audit.scores.items()}


class PageErrorSerializer(serializers.Serializer):
    """The reason why a page or a scan of it has no result."""

    code = serializers.CharField()
    message = serializers.CharField()


class PageScanSerializer(serializers.Serializer):
    """A scan of a page of an audit."""

    scan_id = serializers.RegexField(SCAN_ID)
    status = serializers.ChoiceField(Scan.Status.choices)
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)
    error = PageErrorSerializer(required=False, help_text="Why it has no score; absent if it has one.")


class AuditPageSerializer(serializers.Serializer):
    """A page of an audit, with its scans by type once they have ended."""

    url = serializers.CharField()
    status = serializers.ChoiceField(AuditPage.Status.choices)
    error = PageErrorSerializer(allow_null=True, help_text="Why a `failed` or `left_out` page has no score.")
    results = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=PageScanSerializer()))
    def get_results(self, page: AuditPage) -> Mapping[str, PageResult]:
        return page.results  # stored in this format


class SamplePageSerializer(serializers.Serializer):
    """A page on which a finding was made."""

    url = serializers.CharField()
    scan_id = serializers.RegexField(SCAN_ID)


class AuditPlaceSerializer(serializers.Serializer):
    """A place of a finding, such as an element, a header or a file."""

    fingerprint = serializers.CharField(source="row.fingerprint", help_text="The same in every audit.")
    place = serializers.CharField(source="row.place", help_text="Empty if the check names no place.")
    pages_affected = serializers.IntegerField(source="row.pages_affected", min_value=1)
    sample_pages = serializers.SerializerMethodField()
    muted = serializers.ChoiceField(MUTED_PAGES, source="muted_on.pages")

    @extend_schema_field(SamplePageSerializer(many=True))
    def get_sample_pages(self, listed: ListedPlace) -> list[SamplePage]:
        return listed.row.samples[:PAGES_OF_PLACE]  # stored in this format


class AuditFindingSerializer(serializers.Serializer):
    """A failed or warned check of an audit, with its places and pages."""

    type = serializers.ChoiceField(Scan.Type.choices, source="row.type")
    check = serializers.CharField(source="row.check_id")
    status = serializers.ChoiceField(CHECK_STATUSES, source="row.status", help_text="The worst of its pages.")
    severity = serializers.ChoiceField(SEVERITIES, source="row.severity")
    title = serializers.CharField(source="row.title")
    message = serializers.CharField(source="row.message")
    fix = serializers.CharField(source="row.fix")
    pages_affected = serializers.IntegerField(source="row.pages_affected", min_value=1)
    critical_pages = serializers.IntegerField(
        source="row.critical_pages", min_value=0, help_text="On how many of them it is a critical failure."
    )
    holds = serializers.BooleanField(help_text="Whether a cap that lowers the score of a page counts it.")
    points = serializers.FloatField(help_text="Points that the audit's score gains if it is fixed on all pages.")
    later = serializers.FloatField(help_text="What the score would win if no cap applied.")
    told_by = serializers.SerializerMethodField(
        help_text="The check of another type that tells the same; such findings are listed only with `type`."
    )
    sample_pages = serializers.SerializerMethodField(help_text="The first pages on which it is worst.")
    places = AuditPlaceSerializer(many=True, help_text="The most frequent ones.")
    places_total = serializers.IntegerField(min_value=0)
    muted = serializers.ChoiceField(
        MUTED_PAGES, source="muted_on.pages", help_text="On how many of its pages it is muted now."
    )
    mutes = serializers.SerializerMethodField(help_text="What mutes it; empty for those who only hold the link.")

    def get_told_by(self, listed: ListedFinding) -> str | None:
        return listed.row.told_by or None

    @extend_schema_field(SamplePageSerializer(many=True))
    def get_sample_pages(self, listed: ListedFinding) -> list[SamplePage]:
        return listed.row.samples  # stored in this format

    @extend_schema_field(DocumentField(list[MuteDocument], list))
    def get_mutes(self, listed: ListedFinding) -> list[MuteDocument]:
        mutes: AuditMutes = self.context["mutes"]
        return list(map(mute_document_of, listed.muted_on.rules)) if mutes.shows_rules else []


class _ListSerializer(serializers.Serializer):
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=1)
    offset = serializers.IntegerField(min_value=0)


class AuditListSerializer(_ListSerializer):
    """The answer of GET /v1/audits."""

    audits = AuditSummarySerializer(many=True)


class AuditPageListSerializer(_ListSerializer):
    """The answer of GET /v1/audits/:id/pages."""

    pages = AuditPageSerializer(many=True)


class AuditFindingListSerializer(_ListSerializer):
    """The answer of GET /v1/audits/:id/findings."""

    findings = AuditFindingSerializer(many=True)


class AuditExportSerializer(serializers.Serializer):
    """The JSON export of an audit: all of it in one document."""

    audit = AuditSerializer()
    findings = AuditFindingSerializer(many=True)
    pages = AuditPageSerializer(many=True)


def _worst_pages(audit: Audit) -> dict[str, list[WorstPage]]:
    """Return the pages with the lowest scores, by type, lowest first.

    They are chosen from the pages with the lowest `worst_score`, the minimum over their types.
    """
    judged = AuditPage.objects.filter(audit=audit, worst_score__isnull=False).order_by("worst_score", "position")
    pages = list(judged.values_list("url", "results")[: WORST_PAGES * len(audit.types) * 5])
    found: dict[str, list[WorstPage]] = {}
    for each in audit.types:
        scored: list[WorstPage] = [
            {"url": url, "scan_id": result["scan_id"], "score": result["score"]}
            for url, results in pages
            if (result := results.get(each)) is not None and result["score"] is not None
        ]
        found[each] = sorted(scored, key=lambda page: page["score"])[:WORST_PAGES]
    return found
