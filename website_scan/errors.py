"""Refusals: exceptions that become error responses, each with an error code of the API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class Refusal(Exception):
    """Error that the caller may see.

    `code` and `status` are the API's error code and HTTP status; `str(error)` is a sentence for people. Any code below
    the API may raise a refusal; one handler (`infrastructure.api.errors`) turns it into a response.
    """

    code: str = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    # The invalid field of the input, such as `alert.score_drop`; empty if no single field is invalid.
    field: str = ""
    # Additional fields of the error response, beside `code` and `error`.
    details: Mapping[str, object] = MappingProxyType({})
