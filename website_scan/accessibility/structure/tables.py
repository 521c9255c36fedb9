"""Table model of browsers (HTML Standard, section 4.9): rows, the grid of cells, and the cells that a header is for.

axe-core 4.12 is the model for what a data table is and which cells a header is for, as far as that does not depend
on how the table is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import VISUAL_TAGS
from website_scan.accessibility.names import has_aria_name, label_text
from website_scan.accessibility.roles import is_focusable, sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.page.markup import MAX_NODES, attribute, elements, select

# Slots of the grids of all tables of a page; a large table has a few thousand.
MAX_SLOTS = 100_000
MAX_COLSPAN = 1_000
HEADER_ROLES = frozenset({"columnheader", "rowheader"})
TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
# Parts that make a table a data table, no matter how it looks.
DATA_PARTS = frozenset({"thead", "tfoot", "caption", "colgroup"})
DATA_ATTRIBUTES = ("scope", "headers", "abbr")
LONG_TABLE, WIDE_TABLE = 20, 5
MIN_LARGE = 3  # rows and columns of a table whose headers matter
MIN_ROWS_WITH_CAPTION = 3  # rows: the caption, headers, data
SCOPES = frozenset({"row", "col", "rowgroup", "colgroup"})
# Comments may stand before the doctype.
DOCTYPE = re.compile(r"(?:\s|\ufeff|<!--.{0,2000}?-->)*+<!doctype\s++html\s*+>", re.IGNORECASE | re.DOTALL)

Row = list[LexborNode | None]


def exposed_tables(document: AccessibleDocument) -> list[LexborNode]:
    """Return the tables that assistive technology treats as tables."""
    return [table for table in document.exposed("table") if role(document, table) in TABLE_ROLES]


def rows(table: LexborNode) -> list[list[LexborNode]]:
    """Return the cells of each row: first the rows of thead, last those of tfoot."""
    parts: dict[str, list[LexborNode]] = {"thead": [], "tbody": [], "tfoot": []}
    for part in elements(table):
        if part.tag == "tr":
            parts["tbody"].append(part)
        elif part.tag in parts:
            parts[part.tag].extend(row for row in elements(part) if row.tag == "tr")
    return [
        [cell for cell in elements(row) if cell.tag in ("td", "th")] for of_part in parts.values() for row in of_part
    ]


def grid(cells_of_rows: Sequence[Sequence[LexborNode]], slots: int) -> list[Row] | None:
    """Return the cell at each place of each row, repeated for each row and column that it spans.

    Returns None if the grid would have more than `slots` places.
    """
    lines: list[Row] = [[] for _ in cells_of_rows]
    for top, cells in enumerate(cells_of_rows):
        left = 0
        for cell in cells:
            while left < len(lines[top]) and lines[top][left] is not None:
                left += 1
            width = min(_number_attribute(cell, "colspan") or 1, MAX_COLSPAN)
            height = _number_attribute(cell, "rowspan")
            bottom = len(lines) if height == 0 else min(top + (height or 1), len(lines))
            slots -= width * (bottom - top)
            if slots < 0:
                return None
            for line in lines[top:bottom]:
                line.extend([None] * (left + width - len(line)))
                line[left : left + width] = [cell] * width
    return lines


@dataclass(frozen=True, slots=True)
class Grid:
    """Data table with its cells: those of each row, and the one at each place of the grid."""

    table: LexborNode
    rows: Sequence[Sequence[LexborNode]]
    lines: Sequence[Row]


def data_table_grids(document: AccessibleDocument) -> Iterator[Grid]:
    """Yield the data tables, in document order. Ends early if the rest would take too long."""
    slots = MAX_SLOTS
    for table in document.exposed("table"):
        cells_of_rows = rows(table)
        if not is_data_table(table, cells_of_rows):
            continue
        lines = grid(cells_of_rows, slots)
        if lines is None:
            return
        slots -= sum(len(line) for line in lines)
        yield Grid(table, cells_of_rows, lines)


def is_data_table(table: LexborNode, cells_of_rows: Sequence[Sequence[LexborNode]]) -> bool:
    """Return True if the table's markup or size is that of a data table. False where only its looks could tell."""
    declared = is_declared(table, cells_of_rows)
    return _is_large(table, cells_of_rows) if declared is None else declared


def is_declared(table: LexborNode, cells_of_rows: Sequence[Sequence[LexborNode]]) -> bool | None:
    """Return True if the markup is that of a data table, False if of a layout table, None if it could be of both."""
    own = sole_role(table)
    if own == "none" and not is_focusable(table):
        return False
    if own in TABLE_ROLES:
        return True
    if attribute(table, "datatable") == "0":
        return False
    if attribute(table, "summary") or any(part.tag in DATA_PARTS for part in elements(table)):
        return True
    return True if any(_is_of_data(cell) for cells in cells_of_rows for cell in cells) else None


def _is_large(table: LexborNode, cells_of_rows: Sequence[Sequence[LexborNode]]) -> bool:
    if len(cells_of_rows) < 2 or len(select(table, "table")) > 1:
        return False
    sample = cells_of_rows[(len(cells_of_rows) + 1) // 2]
    is_one_column = len(sample) == 1 and (_number_attribute(sample[0], "colspan") or 1) == 1
    return not is_one_column and (len(sample) >= WIDE_TABLE or len(cells_of_rows) >= LONG_TABLE)


def _headers_in_use(document: AccessibleDocument, cells: Sequence[LexborNode], lines: Sequence[Row]) -> set[int]:
    """Return the header cells (`mem_id`) that a cell refers to, or that have a data cell below or beside them."""
    named = {
        id for cell in cells for name in ("headers", "aria-labelledby") for id in (attribute(cell, name) or "").split()
    }
    used = {cell.mem_id for cell in cells if attribute(cell, "id") in named}
    scopes = _scopes(lines)
    on_its_own = {cell.mem_id for cell in cells if document.referenced(cell, "headers")}
    below: list[bool] = []
    for line in reversed(lines):
        below.extend([False] * (len(line) - len(below)))
        beside = False
        for x in range(len(below) - 1, -1, -1):
            cell = line[x] if x < len(line) else None
            if cell is None:
                below[x] = beside = False
                continue
            scope = scopes[cell.mem_id]
            is_first = x == 0 or line[x - 1] is not cell
            if is_first and ((scope in ("col", "auto") and below[x]) or (scope in ("row", "auto") and beside)):
                used.add(cell.mem_id)
            if cell.mem_id not in on_its_own:
                below[x] = below[x] or scope not in ("col", "auto")
                beside = beside or scope not in ("row", "auto")
    return used


def _scopes(lines: Sequence[Row]) -> dict[int, str]:
    """Return the scope of each cell (`mem_id`): `col`, `row`, `auto` (both) or empty.

    Attributes decide, else the cell's position.
    """
    width = max((len(line) for line in lines), default=0)
    is_head_column = [all(x < len(line) and _is_th(line[x]) for line in lines) for x in range(width)]
    scopes: dict[int, str] = {}
    for line in lines:
        is_head_row = all(cell is None or _is_th(cell) for cell in line)
        for x, cell in enumerate(line):
            if cell is None or cell.mem_id in scopes:
                continue
            own, scope = sole_role(cell), attribute(cell, "scope")
            if own in HEADER_ROLES:
                scopes[cell.mem_id] = "col" if own == "columnheader" else "row"
            elif scope in ("col", "row"):
                scopes[cell.mem_id] = scope
            elif cell.tag != "th":
                scopes[cell.mem_id] = ""
            else:
                scopes[cell.mem_id] = "col" if is_head_row else "row" if is_head_column[x] else "auto"
    return scopes


def _is_th(cell: LexborNode | None) -> bool:
    return cell is not None and cell.tag == "th"


def _is_of_data(cell: LexborNode) -> bool:
    if cell.tag == "th" or any(attribute(cell, name) for name in DATA_ATTRIBUTES) or sole_role(cell) in HEADER_ROLES:
        return True
    inside = list(elements(cell))
    return len(inside) == 1 and inside[0].tag == "abbr"


def _number_attribute(cell: LexborNode, name: str) -> int | None:
    found = re.match(r"\s*\+?0*(\d{1,6})", attribute(cell, name) or "")
    return int(found[1]) if found else None


def find_invalid_references(document: AccessibleDocument, found: Sequence[LexborNode]) -> Faults:
    """Judge the cells with a headers attribute: faulty are references to anything but header cells of their table.

    Cells with an empty headers attribute are for review.
    """
    cells: list[LexborNode] = []
    wrong: list[LexborNode] = []
    empty: list[LexborNode] = []
    left = MAX_NODES  # for all tables together
    for table in found:
        of_table = [cell for row in rows(table) for cell in row][:left]
        left -= len(of_table)
        roles = {own_id: role(document, cell) for cell in of_table if (own_id := attribute(cell, "id"))}
        for cell in of_table:
            headers = attribute(cell, "headers")
            if headers is None or document.visibility.is_hidden_from_at(cell):
                continue
            cells.append(cell)
            named = headers.split()
            if not named:
                empty.append(cell)
            elif any(id == attribute(cell, "id") or roles.get(id) not in HEADER_ROLES for id in named):
                wrong.append(cell)
    return Faults(cells, wrong, review=empty)


def find_headers_without_cells(document: AccessibleDocument) -> Faults | None:
    """Judge the header cells with text in data tables: faulty are those without a data cell.

    Cells of a footer that repeat the table's head are left out. Returns None if the page has no data table.
    """
    with_text: list[LexborNode] = []
    alone: list[LexborNode] = []
    is_found = False
    for grid in data_table_grids(document):
        is_found = True
        cells = [cell for row in grid.rows for cell in row if _is_header(cell) and _text(cell)]
        in_head = {_text(cell) for cell in cells if _part_tag(cell) == "thead"}
        of_table = [cell for cell in cells if _part_tag(cell) != "tfoot" or _text(cell) not in in_head]
        with_text += of_table
        used = _headers_in_use(document, [cell for row in grid.rows for cell in row], grid.lines)
        alone += [cell for cell in of_table if cell.mem_id not in used]
    return Faults(with_text, alone) if is_found else None


def find_fake_captions(document: AccessibleDocument) -> Faults:
    """Judge the data tables: faulty are those whose first row is one cell across all columns, in place of a caption.

    A row with controls is none, such as that of a calendar's months, nor is one below a real caption. A table of two
    rows, a title above links, lays out the page.
    """
    found = list(data_table_grids(document))
    fake = [grid.table for grid in found if _is_fake_caption(grid)]
    return Faults([grid.table for grid in found], fake)


def find_cells_without_headers(document: AccessibleDocument) -> Faults:
    """Judge the data tables of at least three rows and columns: faulty are those with data cells that have no header.

    A header without text is a fault of its own. Tables that only their size makes data tables may lay out the page:
    they are for review.
    """
    found = [
        grid
        for grid in data_table_grids(document)
        if len(grid.lines) >= MIN_LARGE and min(map(len, grid.lines[:MIN_LARGE])) >= MIN_LARGE
    ]
    faulty = [grid for grid in found if _has_headless_cell(document, grid)]
    return Faults(
        [grid.table for grid in found],
        uncertain=[grid.table for grid in faulty if is_declared(grid.table, grid.rows)],
        review=[grid.table for grid in faulty if not is_declared(grid.table, grid.rows)],
        unless="unless it|they only lays|lay out the page",
    )


def _is_fake_caption(grid: Grid) -> bool:
    first = grid.lines[0] if grid.lines else []
    if (
        len(grid.lines) < MIN_ROWS_WITH_CAPTION
        or len(first) < 2
        or first[0] is None
        or any(cell is not first[0] for cell in first)
    ):
        return False
    has_caption = any(part.tag == "caption" for part in elements(grid.table))
    return not has_caption and bool(_text(first[0])) and not select(first[0], "a, button, input, select, textarea")


def _has_headless_cell(document: AccessibleDocument, grid: Grid) -> bool:
    scopes = _scopes(grid.lines)
    headed: set[int] = set()
    below: dict[int, bool] = {}  # column → a header stands above
    for line in grid.lines:
        beside = False
        for x, cell in enumerate(line):
            if cell is None:
                continue
            if scopes[cell.mem_id]:
                beside = beside or scopes[cell.mem_id] in ("row", "auto")
                below[x] = below.get(x, False) or scopes[cell.mem_id] in ("col", "auto")
            if beside or below.get(x, False):
                headed.add(cell.mem_id)
    return any(
        cell.mem_id not in headed
        and _is_data(cell)
        and _is_filled(document, cell)
        and not has_aria_name(document, cell)
        and not any(_is_filled(document, header) for header in document.referenced(cell, "headers"))
        for row in grid.rows
        for cell in row
    )


def _is_header(cell: LexborNode) -> bool:
    return cell.tag == "th" or sole_role(cell) in HEADER_ROLES


def _is_data(cell: LexborNode) -> bool:
    own = sole_role(cell)
    return cell.tag == "td" if own is None else own in ("cell", "gridcell")


def _is_filled(document: AccessibleDocument, cell: LexborNode) -> bool:
    return bool(_text(cell)) or bool(select(cell, ", ".join(sorted(VISUAL_TAGS)))) or has_aria_name(document, cell)


def _text(cell: LexborNode) -> str:
    return " ".join((cell.text() or "").split())


def _part_tag(cell: LexborNode) -> str | None:
    """Return the tag of the part of the table around the cell's row: thead, tbody or tfoot."""
    row = cell.parent
    return row.parent.tag if row is not None and row.parent is not None else None


def find_invalid_scopes(document: AccessibleDocument) -> Faults:
    """Judge the scope attributes of cells: faulty are values unknown to HTML and, in HTML5, a scope on a data cell."""
    is_html5 = DOCTYPE.match(document.document.text[:10_000]) is not None
    return Faults.find(
        document.exposed("td[scope], th[scope]"),
        lambda cell: (is_html5 and cell.tag == "td") or (attribute(cell, "scope") or "").lower() not in SCOPES,
    )


def repeats_caption(document: AccessibleDocument, table: LexborNode) -> bool:
    """Return True if the table's summary attribute repeats its caption."""
    summary = " ".join((attribute(table, "summary") or "").split())
    caption = next((part for part in elements(table) if part.tag == "caption"), None)
    return bool(summary) and caption is not None and label_text(document, caption, table).lower() == summary.lower()
