"""API body parsers for JSON objects and uploads of limited size. They refuse other bodies with an error code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Any

from msgspec import Struct
from rest_framework.parsers import BaseParser

from infrastructure.api.errors import InvalidParams, PayloadTooLarge
from website_scan.errors import Refusal

MAX_BODY_BYTES = 64 * 1024
# Limit for JSON requests that contain many addresses.
MAX_LONG_BODY_BYTES = 1024 * 1024
# Maximum size of uploaded list entries.
MAX_UPLOAD_BYTES = 16 * 1024 * 1024
# Regular expression for the beginning of a page's or receiver's URL.
WEB_ADDRESS = r"^[hH][tT][tT][pP][sS]?://"
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class UnsupportedEncoding(Refusal):
    code = "UNSUPPORTED_MEDIA_TYPE"
    status = 415


class StrictJSONParser(BaseParser):
    """Parser for one JSON object in UTF-8, without NaN and Infinity."""

    media_type = "application/json"
    max_bytes = MAX_BODY_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the object in the body. Raises `PayloadTooLarge`, `UnsupportedEncoding` or `InvalidParams`."""
        body = _read(stream, parser_context, self.max_bytes)
        try:
            value = json.loads(body.decode(), parse_constant=_refuse_constant)
        # Deeply nested brackets raise RecursionError.
        except (ValueError, RecursionError):
            raise InvalidParams("The body is not valid JSON.") from None
        if not isinstance(value, dict):
            raise InvalidParams("The body must be a JSON object.")
        return value


class LongJSONParser(StrictJSONParser):
    """Parser for one JSON object of up to 1 MiB."""

    max_bytes = MAX_LONG_BODY_BYTES


class Upload(Struct, frozen=True):
    """Raw body of up to `MAX_UPLOAD_BYTES`, which the view parses. `media_type` includes parameters such as charset."""

    content: bytes
    media_type: str


class UploadParser(BaseParser):
    """Parser that returns the raw body as an `Upload`."""

    max_bytes = MAX_UPLOAD_BYTES

    def parse(  # type: ignore[override]  # Views with upload parsers expect an Upload, not a dictionary.
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Upload:
        """Return the raw body. Raises `PayloadTooLarge` or `UnsupportedEncoding`."""
        return Upload(_read(stream, parser_context, self.max_bytes), media_type or self.media_type)


class JSONUpload(UploadParser):
    media_type = "application/json"


class CSVUpload(UploadParser):
    media_type = "text/csv"


class TextUpload(UploadParser):
    media_type = "text/plain"


class WorkbookUpload(UploadParser):
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


UPLOADS: tuple[type[BaseParser], ...] = (JSONUpload, CSVUpload, TextUpload, WorkbookUpload)


def _read(stream: IO[Any], context: Mapping[str, Any] | None, max_bytes: int) -> bytes:
    request = (context or {}).get("request")
    if request is not None and request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedEncoding("Send the body as it is: no Content-Encoding is supported.")
    body: bytes = stream.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise PayloadTooLarge(f"The body is larger than {max_bytes // 1024:,} KiB.")
    return body


def moment(name: str, value: object) -> datetime:
    """Parse an RFC 3339 timestamp, in UTC or with an offset. Raises InvalidParams with `name` in its message."""
    if isinstance(value, str) and MOMENT.fullmatch(value):
        try:
            return as_moment(value)
        except (ValueError, OverflowError):
            pass
    raise InvalidParams(f"{name} must be a time such as 2026-11-21T07:15:00Z.")


def as_moment(value: str) -> datetime:
    """Convert a timestamp that matches `MOMENT` to UTC. Raises ValueError or OverflowError for impossible dates."""
    return datetime.fromisoformat(value.upper()).astimezone(UTC)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
