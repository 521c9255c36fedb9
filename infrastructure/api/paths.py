"""Path converter `any`, which URL patterns of the API use for IDs."""

from __future__ import annotations

from django.urls import register_converter


class AnyString:
    """Path converter that accepts any string as an ID, even with slashes and line breaks.

    Views refuse invalid IDs.
    """

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(AnyString, "any")
