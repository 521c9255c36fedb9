"""Maximum request body lengths.

They depend on a view's parsers, or on `accepts_file`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infrastructure.api.parsing import MAX_BODY_BYTES, MAX_LONG_BODY_BYTES

# Maximum length of a form's fields other than the file.
MAX_FORM_FIELDS_BYTES = 1024 * 1024


def max_body_bytes(view: Callable[..., Any]) -> int:
    """Return the length in bytes of the longest body that a view accepts from anybody."""
    api_view = getattr(view, "cls", None)
    if api_view is not None:
        return max((parser.max_bytes for parser in api_view.parser_classes), default=MAX_BODY_BYTES)
    file_bytes: int = getattr(view, "accepts_file", 0)
    return file_bytes + MAX_FORM_FIELDS_BYTES if file_bytes else MAX_LONG_BODY_BYTES
