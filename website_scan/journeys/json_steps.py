"""Parse the JSON of a recording, and the line on which each step begins.

`json` reports no positions of values. So this module splits the outermost object and its list of steps itself, and
lets `json` decode everything inside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from msgspec import Struct

from website_scan.journeys.journey import MAX_STEPS, JourneyRefused

MAX_RECORDING_BYTES = 256 * 1024
# Some steps of a recording become no step of the journey, for example `close`.
MAX_RECORDED_STEPS = 2 * MAX_STEPS
# `@puppeteer/replay` appends this comment, which is not part of JSON.
SOURCE_MAP = re.compile(r"//# recorderSourceMap=[A-Za-z0-9+/=]*\s*")
BLANK = re.compile(r"[ \t\r\n]*")
HOW_TO_EXPORT = "In Chrome's Recorder, choose Export, then JSON."


class RecordingJson(Struct, frozen=True):
    """Decoded recording. All numbers are floats. `lines` are the lines of the items of `fields["steps"]`."""

    fields: dict[str, Any]
    lines: tuple[int, ...]


def read_json(data: bytes | str) -> RecordingJson:
    """Decode a recording.

    Raises JourneyRefused, which names the line, for text that is too long or not a JSON object with unique keys.
    """
    if len(data) > MAX_RECORDING_BYTES:
        raise JourneyRefused(f"The recording is larger than {MAX_RECORDING_BYTES // 1024} KiB.")
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise JourneyRefused(f"The file is not text in UTF-8. {HOW_TO_EXPORT}") from None
    return _Splitter(text).read()


class _Splitter:
    """Splits the text of one JSON object at its outermost level."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: tuple[int, ...] = ()
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_object_with_unique_keys, parse_int=float, parse_constant=_refuse_constant
        )

    def read(self) -> RecordingJson:
        if self._next_character() != "{":
            self._refuse(f"A recording begins with “{{”. {HOW_TO_EXPORT}")
        pairs: list[tuple[str, Any]] = []
        self._read_items("}", lambda: pairs.append(self._pair()))
        if self._next_character() and not SOURCE_MAP.fullmatch(self._text, self._at):
            self._refuse("The recording continues after its last “}”.")
        try:
            fields = _object_with_unique_keys(pairs)
        except ValueError as error:
            raise JourneyRefused(str(error)) from None
        return RecordingJson(fields, self._lines)

    def _pair(self) -> tuple[str, Any]:
        if self._next_character() != '"':
            self._refuse("The name of a field in double quotes is missing here.")
        name = self._decode()
        if self._next_character() != ":":
            self._refuse(f"A colon is missing here, after {json.dumps(name[:40], ensure_ascii=False)}.")
        self._at += 1
        return name, self._steps() if name == "steps" and self._next_character() == "[" else self._decode()

    def _steps(self) -> list[Any]:
        steps: list[Any] = []
        positions: list[int] = []

        def read_step() -> None:
            self._next_character()
            if len(steps) == MAX_RECORDED_STEPS:
                self._refuse(f"The recording has too many steps. No more than {MAX_STEPS} are possible.")
            positions.append(self._at)
            steps.append(self._decode())

        self._read_items("]", read_step)
        self._lines = tuple(self._line(position) for position in positions)
        return steps

    def _read_items(self, end: str, read_item: Callable[[], None]) -> None:
        """Read the items of a list or an object, from its opening bracket to behind its closing one."""
        self._at += 1
        if self._next_character() == end:
            self._at += 1
            return
        while True:
            read_item()
            separator = self._next_character()
            if separator not in (",", end):
                self._refuse(f"“,” or “{end}” is missing here.")
            self._at += 1
            if separator == end:
                return

    def _decode(self) -> Any:
        self._next_character()
        try:
            value, self._at = self._decoder.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._at = error.pos
            self._refuse(f"{error.msg}. {HOW_TO_EXPORT}")
        except ValueError as error:
            self._refuse(str(error))
        except RecursionError:
            self._refuse("The recording is nested too deeply.")
        return value

    def _next_character(self) -> str:
        match = BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _line(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def _refuse(self, reason: str) -> NoReturn:
        raise JourneyRefused(f"Line {self._line(self._at)}: {reason}") from None


def _object_with_unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises ValueError for a repeated key, because other readers would use another value."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"The field {json.dumps(name[:40], ensure_ascii=False)} is repeated in one object.")
        fields[name] = value
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON.")
