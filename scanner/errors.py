"""Refusals: errors that are an answer to the caller, named by the API's code."""

from __future__ import annotations

from typing import ClassVar


class Refusal(Exception):
    """An error that the caller may see.

    `code` and `status` are the API's error code and HTTP status; `str(error)` is the human-readable
    sentence. Raised anywhere below the API; one handler (`infrastructure.api.errors`) turns it into a response.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
