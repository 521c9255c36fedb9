"""Serializers and patterns that several apps share; without models, so that a command needs no database."""

from __future__ import annotations

from rest_framework import serializers

GRADES = ("A+", "A", "B", "C", "D", "F")
# Not an enumeration: generators of clients make names of its values, and A+ becomes the same as A.
GRADE = r"^(A\+|[ABCDF])$"


class SkippedCheckSerializer(serializers.Serializer):
    """A check that could not run."""

    name = serializers.CharField()
    reason = serializers.CharField()
