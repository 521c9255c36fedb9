"""Refusals: exceptions that become an error response, each with a code of the API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class Refusal(Exception):
    """An error that the caller may see.

    `code` and `status` are the API's error code and HTTP status; `str(error)` is a sentence for people. Any code below
    the API may raise it; one handler (`infrastructure.api.errors`) turns it into a response.
    """

    code: str = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    # The field of the input that is wrong, such as `alert.score_drop`; empty where no single one is.
    field: str = ""
    # Fields of the error response beside `code` and `error`.
    details: Mapping[str, object] = MappingProxyType({})
