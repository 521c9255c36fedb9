"""Types of values in JSON documents, with what openapi.yaml says of them and Python's types cannot.

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
# A pattern, not an enumeration: client generators make names from enum values, and A+ would get the same name as A.
GRADE = r"^(A\+|[ABCDF])$"
FINGERPRINT = r"^[0-9a-f]{16}$"


@dataclass(frozen=True, slots=True)
class Keywords:
    """Keywords of JSON Schema."""

    pattern: str | None = None
    format: str | None = None
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """The values of an enumeration, with their labels."""

    choices: tuple[tuple[str, str], ...]


def values(choices: Iterable[str | tuple[str, str]]) -> Values:
    """Return the values of strings, or of pairs of value and label such as Django's choices."""
    return Values(tuple((each, each) if isinstance(each, str) else (each[0], str(each[1])) for each in choices))


@dataclass(frozen=True, slots=True)
class Component:
    """Name and description of a union of TypedDicts, whose component has the fields of all of them."""

    name: str
    description: str


class Published(Enum):
    """What is true of a key in the documents that the API returns, although its type says less.

    The type is also that of documents of failed scans, which only the command writes, and of older documents.
    """

    PRESENT = "present"
    NOT_NULL = "not null"
    ABSENT = "absent"


def component(name: str) -> Callable[[Class], Class]:
    """Decorate a TypedDict whose component in openapi.yaml has another name than the class."""

    def decorate(kind: Class) -> Class:
        kind.component_name = name  # type: ignore[attr-defined]  # read by infrastructure.api.typed
        return kind

    return decorate


def identifier(prefix: str) -> Keywords:
    """Return the keywords of an ID of `website_scan.ids`."""
    return Keywords(pattern=rf"^{prefix}_[0-9A-Za-z]{{22}}$")


# A value of an evidence item, of any type.
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
