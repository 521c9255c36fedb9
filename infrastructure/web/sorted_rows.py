"""Pages of rows in any order that SQL can compute, with filters.

Like in `keyset`, a page begins after a row. Links name the row by its ID, and the database looks up its place in the
order. So values of any type can be sorted, and links stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from infrastructure.web.keyset import LinkedPage, Order, linked

MAX_ID_LENGTH = 300
# In links, IDs stand for places in the order. On a page without rows, there is no row to go back to.
BY_ROW: Order[str] = Order(
    parse=lambda raw: raw.replace("\0", "")[:MAX_ID_LENGTH] or None,
    text=str,
    beside=lambda _id, _is_backward: None,
)


class Source(Struct, frozen=True):
    """SQL of the rows to sort: all parts are constants of the code.

    `tables` follows FROM, and `scope` is the condition for all rows of the organization. `id` is the expression of a
    unique text. `keys` has the expressions that rows can be sorted by, which must not be NULL, by name.
    """

    tables: str
    scope: str
    id: str
    keys: Mapping[str, str]

    def within(self, condition: str) -> Source:
        """Return the source of those rows only that meet an SQL condition. Links cannot refer to any other row."""
        return replace(self, scope=f"{self.scope} AND {condition}")

    @property
    def default_sort(self) -> str:
        return next(iter(self.keys))

    def sort_of(self, query: Mapping[str, str]) -> str:
        """Return the sort order in the query string, such as `name` or `-name`, or the default order."""
        sort = query.get("sort", "")
        return sort if sort.removeprefix("-") in self.keys else self.default_sort


class Column(Struct, frozen=True):
    """Heading of a table's column with the query string that sorts by it.

    `direction` is a value of aria-sort, or empty if the table is sorted by another column.
    """

    label: str
    query: str
    direction: str


def sorted_page(
    source: Source,
    query: Mapping[str, str],
    *,
    conditions: Mapping[str, Any],
    filters: Mapping[str, str],
    size: int,
    fetch: Callable[..., list[tuple[Any, ...]]],
) -> LinkedPage[str, str]:
    """Return a page of the IDs of rows that meet all conditions.

    `conditions` maps SQL conditions to the values of their parameters. `filters` are the query parameters for links,
    and `fetch` executes a statement for the organization.
    """
    sort = source.sort_of(query)
    key, is_descending = source.keys[sort.removeprefix("-")], sort.startswith("-")
    parameters = {name: value for values in conditions.values() for name, value in values.items()}
    where = " AND ".join([source.scope, *conditions])

    def read(beyond: str | None, *, is_backward: bool) -> tuple[list[str], str | None]:
        ascends = is_descending == is_backward
        place = ""
        if beyond is not None:
            place = f""" AND ({key}, {source.id}) {">" if ascends else "<"} (
                SELECT {key}, {source.id} FROM {source.tables} WHERE {source.scope} AND {source.id} = %(beyond)s
            )"""  # noqa: S608  # of constants
        direction = "ASC" if ascends else "DESC"
        statement = (
            f"SELECT {source.id} FROM {source.tables} WHERE {where}{place}"  # noqa: S608  # of constants
            f" ORDER BY {key} {direction}, {source.id} {direction} LIMIT {size + 1:d}"
        )
        ids = [id for (id,) in fetch(statement, **parameters, **({} if beyond is None else {"beyond": beyond}))]
        if not ids and beyond is not None and not is_backward:
            return read(None, is_backward=False)  # The row of the link has been deleted meanwhile.
        return ids[:size], ids[size - 1] if len(ids) > size else None

    links = {**filters, **({"sort": sort} if sort != source.default_sort else {})}
    return linked(read, query, order=BY_ROW, size=size, key=str, filters=links)


def sort_choices(event: str) -> tuple[tuple[str, str], ...]:
    """Return the sort orders of tables of scanned things, as pairs of value and label."""
    return (
        ("state", "Most urgent first"),
        ("-state", "Least urgent first"),
        ("score", "Lowest score first"),
        ("-score", "Highest score first"),
        ("name", "Name"),
        ("-name", "Name, backwards"),
        ("-scanned", f"Latest {event} first"),
        ("scanned", f"Oldest {event} first"),
    )


def columns_of(source: Source, labels: Mapping[str, str], sort: str, filters: Mapping[str, str]) -> dict[str, Column]:
    """Return the headings of sortable columns. The link of the column that sorts the table reverses its order."""
    columns = {}
    for name, label in labels.items():
        direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        order = f"-{name}" if direction == "ascending" else name
        query = urlencode({**filters, **({"sort": order} if order != source.default_sort else {})})
        columns[name] = Column(label, query, direction)
    return columns
