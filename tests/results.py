"""Builders for check results and stored findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, cast

from msgspec import defstruct
from msgspec.structs import replace

from website_scan.findings import HIGH, Severity
from website_scan.places import Column, Element, Identity, Place, Rows, as_written
from website_scan.report.serialization import exported_check
from website_scan.report_json import ExportedCheck, ExportedFinding, StoredTable
from website_scan.result import CheckResult, CheckStatus, HowToFix


class Named(Place, frozen=True):
    """Place that consists only of a name."""

    kind: ClassVar[str] = "name"

    value: Annotated[str, Identity(as_written), Column("Value", "mono")]


def check_of(
    id: str,
    name: str,
    title: str,
    status: CheckStatus,
    severity: Severity | None,
    declared: Severity,
    summary: str,
    fix: str = "",
    places: Sequence[Place] = (),
    references: tuple[str, ...] = (),
    points: float = 0.0,
    **columns: Any,
) -> CheckResult:
    """Return the result of a check.

    Findings have the outcome `faulty` and a fix.
    """
    return replace(
        CheckResult(
            id=id,
            name=name,
            title=title,
            status=status,
            severity=severity,
            declared_severity=declared,
            summary=summary,
            outcome="" if status == "pass" else "faulty",
            how_to_fix=None if status == "pass" else HowToFix(fix),
            places=Rows.of(places),
            references=references,
            points=points,
        ),
        **columns,
    )


def elements(*selectors: str) -> list[Element]:
    return [Element(selector) for selector in selectors]


def read_rows(tables: Sequence[StoredTable]) -> Rows:
    """Convert stored tables to rows.

    Each table gets its own place class.
    """
    return Rows.of([_column_kind(table)(*row) for table in tables for row in table["rows"]])


def _column_kind(table: StoredTable) -> type[Place]:
    names: object = table.get("names", ())
    assert isinstance(names, list | tuple)
    columns = [
        (
            column["name"],
            Annotated[
                object,
                # The stored values are used unchanged.
                Column(column["label"], column["format"], column.get("unit", "")),  # type: ignore[arg-type]
                Identity(as_written) if column["name"] in names else None,
            ],
        )
        for column in table["columns"]
    ]
    kind = table["kind"]
    return cast("type[Place]", defstruct(kind, columns, bases=(Place,), frozen=True, namespace={"kind": kind}))


def stored(check: CheckResult, url: str = "https://example.com/") -> ExportedCheck:
    """Return the check as stored in a report of the page `url`."""
    return exported_check(check, url)


def stored_finding(
    id: str,
    *places: Place,
    status: CheckStatus = "fail",
    severity: Severity = HIGH,
    url: str = "https://example.com/",
    **columns: Any,
) -> ExportedFinding:
    """Return a finding with these places on the page `url`.

    The format is that of stored reports.
    """
    check = check_of(id, id.title(), id.title(), status, severity, severity, "It is so.", "Mend it.", places, **columns)
    finding = stored(check, url)
    assert finding["status"] != "pass"
    return finding
