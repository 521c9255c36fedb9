"""Descriptions of the events of lists for the `webhooks` of openapi.yaml."""

from __future__ import annotations

from rest_framework import serializers

from sites.lists.serializers import LIST_ID, ListRunSerializer, SnapshotDiffSerializer
from sites.serializers import ByTypeField
from webhooks.event_schema import body_with, described
from webhooks.models import EventKind
from website_scan.json_types import GRADE


class ListMeanSerializer(serializers.Serializer):
    """Scores of a type over the sites that have one; mean and grade are null if no site has."""

    judged = serializers.IntegerField(min_value=0)
    mean = serializers.FloatField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class ListEventDataSerializer(serializers.Serializer):
    """A list, and its run that has ended."""

    list_id = serializers.RegexField(LIST_ID)
    name = serializers.CharField()
    list_url = serializers.URLField()
    run = ListRunSerializer()
    results = ByTypeField(child=ListMeanSerializer())


class ChangedGradesSerializer(serializers.Serializer):
    """Number of sites with a better, and with a worse grade of any type; a site may be in both."""

    better = serializers.IntegerField(min_value=0)
    worse = serializers.IntegerField(min_value=0)


class ListChangesSerializer(SnapshotDiffSerializer):
    """Difference from the snapshot before, as the API returns it, and the number of sites with another grade."""

    grades = ChangedGradesSerializer()


class ListChangedEventDataSerializer(ListEventDataSerializer):
    """A list, its run, and what has changed since the run before."""

    changes = ListChangesSerializer()


LIST_COMPLETED = described(EventKind.LIST_COMPLETED, body_with(ListEventDataSerializer))
LIST_CHANGED = described(EventKind.LIST_CHANGED, body_with(ListChangedEventDataSerializer))
