"""Serializers and patterns that several apps share. Without models, so that a command can import them."""

from __future__ import annotations

from rest_framework import serializers

GRADES = ("A+", "A", "B", "C", "D", "F")
# A pattern, not an enumeration: client generators make names from enum values, and A+ would get the same name as A.
GRADE = r"^(A\+|[ABCDF])$"


class SkippedCheckSerializer(serializers.Serializer):
    """A check that could not run."""

    name = serializers.CharField()
    reason = serializers.CharField()
