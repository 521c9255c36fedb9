"""Types of values in JSON documents, with constraints and help texts for openapi.yaml that Python's types cannot
express.

`typing.Annotated` adds `Keywords` of JSON Schema, `Values` and a help text (a plain string) to the type of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, TypeVar

from website_scan.findings import ScanType, Severity

Class = TypeVar("Class", bound=type)

GRADES = ("A+", "A", "B", "C", "D", "F")
SEVERITIES = [str(severity) for severity in Severity]
# A pattern instead of an enumeration: client generators derive names from enum values, and A+ would collide with A.
GRADE = r"^(A\+|[ABCDF])$"
FINGERPRINT = r"^[0-9a-f]{16}$"


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords of JSON Schema for a value."""

    pattern: str | None = None
    format: str | None = None
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """Values of an enumeration, with their labels."""

    choices: tuple[tuple[str, str], ...]


def values(choices: Iterable[str | tuple[str, str]]) -> Values:
    """Return the values of an enumeration, from strings or from pairs of value and label like Django's choices."""
    return Values(
        tuple((choice, choice) if isinstance(choice, str) else (choice[0], str(choice[1])) for choice in choices)
    )


@dataclass(frozen=True, slots=True)
class Component:
    """Name and description of a union of TypedDicts. Its component in openapi.yaml has the fields of all of them."""

    name: str
    description: str


class Published(Enum):
    """Constraint on a key in the documents that the API returns, although the key's type allows more.

    The same type also describes documents of failed scans, which only the command writes, and older documents.
    """

    PRESENT = "present"
    NOT_NULL = "not null"
    ABSENT = "absent"


def component(name: str) -> Callable[[Class], Class]:
    """Set the name of a TypedDict's component in openapi.yaml, where the class has another name."""

    def decorate(kind: Class) -> Class:
        kind.component_name = name  # type: ignore[attr-defined]  # read by infrastructure.api.typed
        return kind

    return decorate


def identifier(prefix: str) -> Keywords:
    """Return the JSON Schema keywords of an ID of `website_scan.ids`."""
    return Keywords(pattern=rf"^{prefix}_[0-9A-Za-z]{{22}}$")


# Value of any type in a row of a table.
JsonValue = str | int | float | bool | None
Count = Annotated[int, Keywords(minimum=0)]
Score = Annotated[int, Keywords(minimum=0, maximum=100)]
Grade = Annotated[str, Keywords(pattern=GRADE)]
Timestamp = Annotated[str, Keywords(format="date-time")]
Link = Annotated[str, Keywords(format="uri")]
Fingerprint = Annotated[str, Keywords(pattern=FINGERPRINT)]
ScanId = Annotated[str, identifier("scan")]
TypeName = Annotated[str, values((str(each), each.label) for each in ScanType)]
SeverityName = Annotated[str, values(SEVERITIES)]
