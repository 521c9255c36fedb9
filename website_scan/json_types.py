"""Annotated types of JSON values.

They have constraints and descriptions for openapi.yaml. `typing.Annotated` adds `Keywords` of JSON Schema, `Values` and
a help text (a plain string) to the type of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Annotated, TypeVar

from msgspec import Struct

from website_scan.findings import ScanType, Severity
from website_scan.security_categories import CATEGORY_KEYS

Class = TypeVar("Class", bound=type)

GRADES = ("A+", "A", "B", "C", "D", "F")
SEVERITIES = [str(severity) for severity in Severity]
# Client generators would use the same enum name for A+ and A.
GRADE = r"^(A\+|[ABCDF])$"
FINGERPRINT = r"^[0-9a-f]{16}$"


class Keywords(Struct, frozen=True):
    """Additional JSON Schema keywords for a value."""

    pattern: str | None = None
    format: str | None = None
    minimum: int | None = None
    maximum: int | None = None


class Values(Struct, frozen=True):
    """Values of an enum in openapi.yaml, with their labels."""

    choices: tuple[tuple[str, str], ...]


def values(choices: Iterable[str | tuple[str, str]]) -> Values:
    """Return the values of an enum in openapi.yaml.

    `choices` are strings or (value, label) pairs, as in Django's choices.
    """
    return Values(
        tuple((choice, choice) if isinstance(choice, str) else (choice[0], str(choice[1])) for choice in choices)
    )


class Component(Struct, frozen=True):
    """Name and description of an openapi.yaml component.

    The component merges several TypedDicts.
    """

    name: str
    description: str


class Published(Enum):
    """Constraint on a JSON key in API responses.

    It is stricter than the key's Python type. The type also describes JSON of failed scans, which only the command
    writes, and of older reports.
    """

    PRESENT = "present"
    NOT_NULL = "not null"
    ABSENT = "absent"


def component(name: str) -> Callable[[Class], Class]:
    """Decorator that sets a TypedDict's name in openapi.yaml.

    The name is that of the component.
    """

    def decorate(kind: Class) -> Class:
        kind.component_name = name  # type: ignore[attr-defined]  # read by infrastructure.api.typed
        return kind

    return decorate


def identifier(prefix: str) -> Keywords:
    """Return the JSON Schema keywords for IDs with this prefix."""
    return Keywords(pattern=rf"^{prefix}_[0-9A-Za-z]{{22}}$")


# Value of a table cell in a report.
JsonValue = str | int | float | bool | None
Count = Annotated[int, Keywords(minimum=0)]
Score = Annotated[int, Keywords(minimum=0, maximum=100)]
Grade = Annotated[str, Keywords(pattern=GRADE)]
Timestamp = Annotated[str, Keywords(format="date-time")]
Link = Annotated[str, Keywords(format="uri")]
Fingerprint = Annotated[str, Keywords(pattern=FINGERPRINT)]
ScanId = Annotated[str, identifier("scan")]
TypeName = Annotated[str, values((str(scan_type), scan_type.label) for scan_type in ScanType)]
ChosenCategories = Annotated[
    list[Annotated[str, values(CATEGORY_KEYS)]],
    "Categories of security that the scan was limited to; absent if all were judged. Score and grade are of these "
    "alone.",
]
SeverityName = Annotated[str, values(SEVERITIES)]
