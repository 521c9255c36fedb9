"""Serializers of lists, for the API and openapi.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from infrastructure.api.schema import ErrorBody
from infrastructure.api.typed import DocumentField
from scans.documents import CredentialNames, ScanFailure, credential_names_of, failure_of
from scans.models import Scan
from sites.lists.tags import MAX_TAGS, NOTE_LENGTH
from sites.models import ListEntry, ListRun, SiteList
from sites.models.site_list import ListInterval
from sites.recipients import WithRecipients, recipients_of
from sites.serializers import RUN_ID, ByTypeField
from website_scan.json_types import GRADE, Keywords, component

LIST_ID = r"^lst_[0-9A-Za-z]{22}$"
ENTRY_ID = r"^ent_[0-9A-Za-z]{22}$"
SHARE_ID = r"^shr_[0-9A-Za-z]{22}$"


class ListRunSerializer(serializers.Serializer):
    """Run of a list. `entries` is the number of its sites; those neither `done` nor `failed` wait or are `left_out`."""

    id = serializers.RegexField(RUN_ID)
    status = serializers.ChoiceField(ListRun.Status.choices)
    requested = serializers.BooleanField(source="is_requested")
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    pages_per_entry = serializers.IntegerField(min_value=1)
    window_hours = serializers.IntegerField(min_value=0)
    entries = serializers.IntegerField(min_value=0)
    done = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    left_out = serializers.IntegerField(min_value=0)
    error = DocumentField(ScanFailure, failure_of, source="failure", allow_null=True)


class ListRunListSerializer(serializers.Serializer):
    runs = ListRunSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class SiteListSerializer(WithRecipients, serializers.Serializer):
    """A list of sites. `entries` is their number, `run` the latest run."""

    # `all_shown` gathers for the context what is not in the list's row.

    id = serializers.RegexField(LIST_ID)
    name = serializers.CharField()
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    pages_per_entry = serializers.IntegerField(min_value=1)
    every = serializers.ChoiceField(ListInterval.choices, allow_null=True)
    window_hours = serializers.IntegerField(min_value=0)
    timezone = serializers.CharField()
    notify = serializers.SerializerMethodField()
    unsubscribed = serializers.SerializerMethodField(help_text="Recipients who have unsubscribed from its e-mails.")
    warning = serializers.SerializerMethodField(help_text="Says so where nobody is notified; else null.")
    request = DocumentField(CredentialNames, credential_names_of, source="credential_names", required=False)
    entries = serializers.IntegerField(source="entries_count", min_value=0)
    next_run_at = serializers.DateTimeField(allow_null=True)
    run = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    list_url = serializers.URLField()

    def to_representation(self, site_list: SiteList) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(site_list)
        shown["every"] = site_list.every or None
        if shown["request"] is None:
            del shown["request"]
        return shown

    @extend_schema_field(ListRunSerializer(allow_null=True))
    def get_run(self, site_list: SiteList) -> dict[str, Any] | None:
        run = self.context["runs"].get(site_list.id)
        return ListRunSerializer(run).data if run else None


def shown(site_list: SiteList) -> dict[str, Any]:
    """Return a list as the API shows it."""
    return all_shown([site_list])[0]


def all_shown(lists: Sequence[SiteList]) -> list[dict[str, Any]]:
    """Return lists of one organization as the API shows them; at most three queries for any number of them."""
    latest = ListRun.objects.filter(site_list__in=lists).order_by("site_list", "-started_at", "-id")
    runs = {run.site_list_id: run for run in latest.distinct("site_list")} if lists else {}
    serializer = SiteListSerializer(context={"recipients": recipients_of(lists), "runs": runs})
    return [serializer.to_representation(each) for each in lists]


class SiteListListSerializer(serializers.Serializer):
    lists = SiteListSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class EntryScoreSerializer(serializers.Serializer):
    """Score of a type in the latest result, and its change since the result before."""

    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)
    change = serializers.IntegerField(min_value=-100, max_value=100, allow_null=True)


class EntrySerializer(serializers.Serializer):
    """Entry of a list with its latest result. A result that failed leaves `results` and `failing` as they were."""

    id = serializers.RegexField(ENTRY_ID)
    url = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField()
    state = serializers.ChoiceField(ListEntry.State.choices)
    results = serializers.SerializerMethodField(help_text="By type.")
    failing = serializers.ListField(child=serializers.CharField(), help_text="IDs of failed checks.")
    history = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=100), help_text="Means of its scores, oldest first."
    )
    moved_to = serializers.CharField(
        allow_null=True, help_text="The other host that it permanently redirects to, which is not followed."
    )
    judged_at = serializers.DateTimeField(allow_null=True)
    audit_id = serializers.CharField(allow_null=True)
    error = DocumentField(ScanFailure, failure_of, source="failure", allow_null=True)
    created_at = serializers.DateTimeField()

    def to_representation(self, entry: ListEntry) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(entry)
        shown["moved_to"] = entry.moved_to or None
        return shown

    @extend_schema_field(ByTypeField(child=EntryScoreSerializer()))
    def get_results(self, entry: ListEntry) -> dict[str, Any]:
        return {
            each: {"score": score, "grade": entry.grade_of(each), "change": entry.change_of(each)}
            for each in Scan.Type.values
            if (score := entry.score_of(each)) is not None
        }


class EntryListSerializer(serializers.Serializer):
    """Page of entries. The cursors are null where there is no further page."""

    entries = EntrySerializer(many=True)
    total = serializers.IntegerField(min_value=0, help_text="Of all pages.")
    limit = serializers.IntegerField()
    next_cursor = serializers.CharField(allow_null=True)
    previous_cursor = serializers.CharField(allow_null=True)


class EntryRequestSerializer(serializers.Serializer):
    """Site of a list. An address without a scheme gets https://."""

    url = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), max_length=MAX_TAGS, required=False)
    note = serializers.CharField(max_length=NOTE_LENGTH, allow_blank=True, required=False)


class EntriesRequestSerializer(serializers.Serializer):
    """The JSON body of PUT and POST /v1/lists/:id/entries. It is parsed like the other forms, in `importing`."""

    entries = EntryRequestSerializer(many=True)


class ImportSerializer(serializers.Serializer):
    """Numbers of entries that an import has added, removed, changed (tags or note) and left as they were."""

    added = serializers.IntegerField(min_value=0)
    removed = serializers.IntegerField(min_value=0)
    changed = serializers.IntegerField(min_value=0)
    unchanged = serializers.IntegerField(min_value=0)


class InvalidEntry(TypedDict):
    """Line of an import that is wrong, counted from 1; for JSON the item of `entries`."""

    line: Annotated[int, Keywords(minimum=1)]
    code: str
    error: str


@component("ImportError")
class ImportErrorBody(ErrorBody):
    """Refusal of an import. `INVALID_ENTRIES` also has the first 100 wrong lines, and the number of all."""

    entries: NotRequired[list[InvalidEntry]]
    count: NotRequired[Annotated[int, Keywords(minimum=1)]]


class ResultSerializer(serializers.Serializer):
    """Look at an entry outside of a run. It is news of the entry; no snapshot changes."""

    entry_id = serializers.RegexField(ENTRY_ID)
    url = serializers.CharField()
    audit_id = serializers.CharField(allow_null=True, help_text="Null until its audit has begun.")


class TypeFiguresSerializer(serializers.Serializer):
    """Scores of a type over the sites that have one. All but `judged` and `grades` are null if no site has."""

    judged = serializers.IntegerField(min_value=0)
    mean = serializers.FloatField(allow_null=True)
    lower_quartile = serializers.FloatField(allow_null=True)
    median = serializers.FloatField(allow_null=True)
    upper_quartile = serializers.FloatField(allow_null=True)
    grades = serializers.DictField(child=serializers.IntegerField(min_value=0), help_text="Number of sites by grade.")


class CheckFiguresSerializer(serializers.Serializer):
    """Numbers of sites that fail, warn and pass, and of those on which the check ran."""

    check = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    failed = serializers.IntegerField(min_value=0)
    warned = serializers.IntegerField(min_value=0)
    passed = serializers.IntegerField(min_value=0)
    of = serializers.IntegerField(min_value=0)


class NotReachedSerializer(serializers.Serializer):
    """Number of sites that could not be judged, in all and by error code."""

    total = serializers.IntegerField(min_value=0)
    codes = serializers.DictField(child=serializers.IntegerField(min_value=1))


class TagFiguresSerializer(serializers.Serializer):
    """Figures of the sites with a tag."""

    tag = serializers.CharField()
    sites = serializers.IntegerField(min_value=0)
    judged = serializers.IntegerField(min_value=0)
    types = ByTypeField(child=TypeFiguresSerializer())


class UnreachedSiteSerializer(serializers.Serializer):
    url = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class SnapshotSerializer(serializers.Serializer):
    """Snapshot: the run, and what it found. Checks with the most failures come first."""

    run = ListRunSerializer()
    sites = serializers.IntegerField(min_value=0)
    judged = serializers.IntegerField(min_value=0)
    left_out = serializers.IntegerField(min_value=0)
    not_reached = NotReachedSerializer()
    types = ByTypeField(child=TypeFiguresSerializer())
    checks = CheckFiguresSerializer(many=True)
    tags = TagFiguresSerializer(many=True, help_text="The most frequent ones; none if the answer is of one tag.")
    unreached = UnreachedSiteSerializer(many=True, help_text="The first of them.")


class SiteScoreSerializer(serializers.Serializer):
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)


class ScorePairSerializer(serializers.Serializer):
    before = SiteScoreSerializer()
    after = SiteScoreSerializer()


class ChangedSiteSerializer(serializers.Serializer):
    """Site with another mean of the scores that it has in both snapshots."""

    url = serializers.CharField()
    entry_id = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    change = serializers.FloatField()
    types = ByTypeField(child=ScorePairSerializer())


class ChangedCheckSerializer(serializers.Serializer):
    """Check that fails on more or on fewer of the sites on which it ran in both snapshots, `of` in number."""

    check = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    of = serializers.IntegerField(min_value=0)
    failed_before = serializers.IntegerField(min_value=0)
    failed_after = serializers.IntegerField(min_value=0)
    fixed = serializers.IntegerField(min_value=0)
    broken = serializers.IntegerField(min_value=0)


class ComparedSitesSerializer(serializers.Serializer):
    """Numbers of sites: judged in both snapshots (of these better, worse), in one only, and lost or regained since."""

    compared = serializers.IntegerField(min_value=0)
    better = serializers.IntegerField(min_value=0)
    worse = serializers.IntegerField(min_value=0)
    added = serializers.IntegerField(min_value=0)
    removed = serializers.IntegerField(min_value=0)
    lost = serializers.IntegerField(min_value=0)
    regained = serializers.IntegerField(min_value=0)


class SnapshotDiffSerializer(serializers.Serializer):
    """Difference between two snapshots; the lists have the largest changes first, and an end."""

    run_id = serializers.RegexField(RUN_ID)
    with_run_id = serializers.RegexField(RUN_ID, help_text="The snapshot that it is compared with.")
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    sites = ComparedSitesSerializer()
    better = ChangedSiteSerializer(many=True)
    worse = ChangedSiteSerializer(many=True)
    lost = serializers.ListField(child=serializers.CharField())
    regained = serializers.ListField(child=serializers.CharField())
    fewer_failures = ChangedCheckSerializer(many=True)
    more_failures = ChangedCheckSerializer(many=True)
    checks_added = serializers.ListField(child=serializers.CharField())
    checks_removed = serializers.ListField(child=serializers.CharField())


class AdoptionPointSerializer(serializers.Serializer):
    """Number of sites that passed a check in a run, of those on which it ran."""

    run_id = serializers.RegexField(RUN_ID)
    started_at = serializers.DateTimeField()
    passed = serializers.IntegerField(min_value=0)
    of = serializers.IntegerField(min_value=0)


class AdoptionSerializer(serializers.Serializer):
    """Adoption of a check over time, oldest first."""

    check = serializers.CharField()
    runs = AdoptionPointSerializer(many=True)


class ShareSerializer(serializers.Serializer):
    """Public page of a snapshot. `run_id` is null if it always shows the latest one."""

    id = serializers.RegexField(SHARE_ID)
    run_id = serializers.CharField(allow_null=True)
    table = serializers.BooleanField(source="has_table")
    share_url = serializers.URLField()
    created_at = serializers.DateTimeField()


class ShareListSerializer(serializers.Serializer):
    shares = ShareSerializer(many=True)
