"""The body parser: JSON objects up to 64 KiB, and a named refusal for everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from config.api.errors import InvalidParams, PayloadTooLarge

MAX_BODY_BYTES = 64 * 1024


class StrictJSONParser(BaseParser):
    """Reads one JSON object, UTF-8, without NaN and the like."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The object in the body. Raises `PayloadTooLarge` or `InvalidParams`."""
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise PayloadTooLarge(f"The body is larger than {MAX_BODY_BYTES // 1024} KiB.")
        try:
            value = json.loads(body.decode(), parse_constant=_refuse_constant)
        # RecursionError: a body of nothing but opening brackets.
        except (ValueError, RecursionError):
            raise InvalidParams("The body is not valid JSON.") from None
        if not isinstance(value, dict):
            raise InvalidParams("The body must be a JSON object.")
        return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
