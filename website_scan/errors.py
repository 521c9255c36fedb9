"""Exceptions that become error responses.

Each has an error code of the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class Refusal(Exception):
    """Error whose message the caller of the API may see.

    `code` and `status` are the API's error code and HTTP status; `str(error)` is a sentence for people. Any code below
    the API may raise a refusal; one handler (`infrastructure.api.errors`) turns it into a response.
    """

    code: str = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    # Name of the invalid input field, or empty if there is no single one.
    field: str = ""
    # Additional fields of the error response, next to `code` and `error`.
    details: Mapping[str, object] = MappingProxyType({})
