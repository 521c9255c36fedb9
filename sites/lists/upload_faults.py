"""Errors for uploads with invalid lines."""

from __future__ import annotations

import json

from msgspec import Struct, field

from infrastructure.api.errors import InvalidParams
from website_scan.errors import Refusal
from website_scan.messages import cut

MAX_REPORTED_LINES = 100
MAX_REPORTED_CHARACTERS = 200


class InvalidEntries(Refusal):
    """Refusal of an upload with invalid lines.

    The details have the first invalid lines, `entries` (`line` from 1, `code`, `error`), and the total number, `count`.
    """

    code = "INVALID_ENTRIES"
    status = 400


class Fault(Struct, frozen=True):
    """Invalid line of an upload.

    It has the number, counted from 1, the reason, and the beginning of the text.
    """

    line: int
    refusal: Refusal
    text: str


class Faults(Struct):
    """Invalid lines of an upload.

    Only the first `MAX_REPORTED_LINES` lines are stored, but all are counted.
    """

    reported: list[Fault] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, refusal: Refusal, source: object = "") -> None:
        """Add an invalid line.

        `source` is the line's text or its JSON item.
        """
        self.count += 1
        if len(self.reported) < MAX_REPORTED_LINES:
            self.reported.append(Fault(line, refusal, _text_of(source)))

    def refuse(self, about_header: str = "") -> None:
        """Raise InvalidEntries if any line is invalid.

        `about_header` says how the first line was understood.
        """
        if not self.count:
            return
        first = self.reported[0]
        number = f"{self.count:,} lines are" if self.count > 1 else "One line is"
        text = f"{number} not valid, so nothing was changed. Line {first.line}: {first.refusal}"
        refusal = InvalidEntries(f"{text} {about_header}".rstrip())
        entries = [
            {"line": fault.line, "code": fault.refusal.code, "error": str(fault.refusal)} for fault in self.reported
        ]
        refusal.details = {"entries": entries, "count": self.count}
        raise refusal


def _text_of(source: object) -> str:
    """Return the beginning of a line or JSON item."""
    try:
        text = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
    except RecursionError:
        text = "…"
    # JSON can escape half of a surrogate pair, which UTF-8 cannot encode.
    return cut(text.strip(), MAX_REPORTED_CHARACTERS).encode("utf-8", "replace").decode()


def refuse_line(line: int, message: str) -> None:
    """Raise InvalidEntries for a single invalid line."""
    faults = Faults()
    faults.add(line, InvalidParams(message))
    faults.refuse()
