"""Tables as browsers interpret them (HTML Standard, section 4.9): rows, the grid of cells, and cells of a header.

The definition of data tables, and of the cells that a header applies to, is that of axe-core 4.12 without rendering.
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

# Limit of grid positions in all tables of a page; a large table has a few thousand.
MAX_SLOTS = 100_000
MAX_COLSPAN = 1_000
HEADER_ROLES = frozenset({"columnheader", "rowheader"})
TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
# Parts that make a table a data table, whatever its looks.
DATA_PARTS = frozenset({"thead", "tfoot", "caption", "colgroup"})
DATA_ATTRIBUTES = ("scope", "headers", "abbr")
LONG_TABLE, WIDE_TABLE = 20, 5
MIN_LARGE = 3  # rows and columns from which a table needs headers
MIN_ROWS_WITH_CAPTION = 3  # rows of a table with a fake caption: caption, headers, data
SCOPES = frozenset({"row", "col", "rowgroup", "colgroup"})
# Doctype of HTML5, perhaps after comments.
DOCTYPE = re.compile(r"(?:\s|\ufeff|<!--.{0,2000}?-->)*+<!doctype\s++html\s*+>", re.IGNORECASE | re.DOTALL)

GridRow = list[LexborNode | None]


def exposed_tables(document: AccessibleDocument) -> list[LexborNode]:
    """Return the tables that assistive technology treats as tables."""
    return [table for table in document.exposed("table") if role(document, table) in TABLE_ROLES]


def rows(table: LexborNode) -> list[list[LexborNode]]:
    """Return the cells of every row: first the rows of thead, last the rows of tfoot."""
    parts: dict[str, list[LexborNode]] = {"thead": [], "tbody": [], "tfoot": []}
    for part in elements(table):
        if part.tag == "tr":
            parts["tbody"].append(part)
        elif part.tag in parts:
            parts[part.tag].extend(row for row in elements(part) if row.tag == "tr")
    return [
        [cell for cell in elements(row) if cell.tag in ("td", "th")]
        for part_rows in parts.values()
        for row in part_rows
    ]


def build_grid(row_cells: Sequence[Sequence[LexborNode]], max_slots: int) -> list[GridRow] | None:
    """Return the cell at every grid position, by row. A cell is repeated for every row and column that it spans.

    Returns None if the grid would have more than `max_slots` positions.
    """
    lines: list[GridRow] = [[] for _ in row_cells]
    for top, cells in enumerate(row_cells):
        left = 0
        for cell in cells:
            while left < len(lines[top]) and lines[top][left] is not None:
                left += 1
            width = min(_number_attribute(cell, "colspan") or 1, MAX_COLSPAN)
            height = _number_attribute(cell, "rowspan")
            bottom = len(lines) if height == 0 else min(top + (height or 1), len(lines))
            max_slots -= width * (bottom - top)
            if max_slots < 0:
                return None
            for line in lines[top:bottom]:
                line.extend([None] * (left + width - len(line)))
                line[left : left + width] = [cell] * width
    return lines


@dataclass(frozen=True, slots=True)
class Grid:
    """Data table with its cells, by row and by grid position."""

    table: LexborNode
    rows: Sequence[Sequence[LexborNode]]
    lines: Sequence[GridRow]


def data_table_grids(document: AccessibleDocument) -> Iterator[Grid]:
    """Yield the data tables in document order. Ends early if the rest would take too long."""
    slots = MAX_SLOTS
    for table in document.exposed("table"):
        row_cells = rows(table)
        if not is_data_table(table, row_cells):
            continue
        lines = build_grid(row_cells, slots)
        if lines is None:
            return
        slots -= sum(len(line) for line in lines)
        yield Grid(table, row_cells, lines)


def is_data_table(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool:
    """Return True if the table's markup or size is that of a data table. False if only its looks could decide."""
    is_declared_as_data = is_declared(table, row_cells)
    return _is_large(table, row_cells) if is_declared_as_data is None else is_declared_as_data


def is_declared(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool | None:
    """Return True if the markup declares a data table, False if a layout table, None if neither."""
    explicit = sole_role(table)
    if explicit == "none" and not is_focusable(table):
        return False
    if explicit in TABLE_ROLES:
        return True
    if attribute(table, "datatable") == "0":
        return False
    if attribute(table, "summary") or any(part.tag in DATA_PARTS for part in elements(table)):
        return True
    return True if any(_suggests_data_table(cell) for cells in row_cells for cell in cells) else None


def _is_large(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool:
    if len(row_cells) < 2 or len(select(table, "table")) > 1:
        return False
    sample = row_cells[(len(row_cells) + 1) // 2]
    is_one_column = len(sample) == 1 and (_number_attribute(sample[0], "colspan") or 1) == 1
    return not is_one_column and (len(sample) >= WIDE_TABLE or len(row_cells) >= LONG_TABLE)


def _headers_in_use(document: AccessibleDocument, cells: Sequence[LexborNode], lines: Sequence[GridRow]) -> set[int]:
    """Return the header cells (`mem_id`) that a cell references, or that have a data cell below or beside them."""
    referenced = {
        id for cell in cells for name in ("headers", "aria-labelledby") for id in (attribute(cell, name) or "").split()
    }
    used = {cell.mem_id for cell in cells if attribute(cell, "id") in referenced}
    scopes = _compute_scopes(lines)
    with_own_headers = {cell.mem_id for cell in cells if document.referenced(cell, "headers")}
    is_below_header: list[bool] = []
    for line in reversed(lines):
        is_below_header.extend([False] * (len(line) - len(is_below_header)))
        is_beside_header = False
        for x in range(len(is_below_header) - 1, -1, -1):
            cell = line[x] if x < len(line) else None
            if cell is None:
                is_below_header[x] = is_beside_header = False
                continue
            scope = scopes[cell.mem_id]
            is_first = x == 0 or line[x - 1] is not cell
            if is_first and (
                (scope in ("col", "auto") and is_below_header[x]) or (scope in ("row", "auto") and is_beside_header)
            ):
                used.add(cell.mem_id)
            if cell.mem_id not in with_own_headers:
                is_below_header[x] = is_below_header[x] or scope not in ("col", "auto")
                is_beside_header = is_beside_header or scope not in ("row", "auto")
    return used


def _compute_scopes(lines: Sequence[GridRow]) -> dict[int, str]:
    """Return the scope of header cells by `mem_id`: `col`, `row` or `auto` (both); empty for data cells.

    Attributes decide, or else the cell's position.
    """
    width = max((len(line) for line in lines), default=0)
    is_head_column = [all(x < len(line) and _is_th(line[x]) for line in lines) for x in range(width)]
    scopes: dict[int, str] = {}
    for line in lines:
        is_head_row = all(cell is None or _is_th(cell) for cell in line)
        for x, cell in enumerate(line):
            if cell is None or cell.mem_id in scopes:
                continue
            explicit, scope = sole_role(cell), attribute(cell, "scope")
            if explicit in HEADER_ROLES:
                scopes[cell.mem_id] = "col" if explicit == "columnheader" else "row"
            elif scope in ("col", "row"):
                scopes[cell.mem_id] = scope
            elif cell.tag != "th":
                scopes[cell.mem_id] = ""
            else:
                scopes[cell.mem_id] = "col" if is_head_row else "row" if is_head_column[x] else "auto"
    return scopes


def _is_th(cell: LexborNode | None) -> bool:
    return cell is not None and cell.tag == "th"


def _suggests_data_table(cell: LexborNode) -> bool:
    if cell.tag == "th" or any(attribute(cell, name) for name in DATA_ATTRIBUTES) or sole_role(cell) in HEADER_ROLES:
        return True
    children = list(elements(cell))
    return len(children) == 1 and children[0].tag == "abbr"


def _number_attribute(cell: LexborNode, name: str) -> int | None:
    match = re.match(r"\s*\+?0*(\d{1,6})", attribute(cell, name) or "")
    return int(match[1]) if match else None


def find_invalid_references(document: AccessibleDocument, tables: Sequence[LexborNode]) -> Faults:
    """Find cells whose headers attribute references anything but header cells of the same table.

    Cells with an empty headers attribute are for review.
    """
    cells: list[LexborNode] = []
    faulty: list[LexborNode] = []
    empty: list[LexborNode] = []
    remaining = MAX_NODES  # limit for all tables together
    for table in tables:
        table_cells = [cell for row in rows(table) for cell in row][:remaining]
        remaining -= len(table_cells)
        roles = {own_id: role(document, cell) for cell in table_cells if (own_id := attribute(cell, "id"))}
        for cell in table_cells:
            headers = attribute(cell, "headers")
            if headers is None or document.visibility.is_hidden_from_at(cell):
                continue
            cells.append(cell)
            ids = headers.split()
            if not ids:
                empty.append(cell)
            elif any(id == attribute(cell, "id") or roles.get(id) not in HEADER_ROLES for id in ids):
                faulty.append(cell)
    return Faults(cells, faulty, review=empty)


def find_headers_without_cells(document: AccessibleDocument) -> Faults | None:
    """Find header cells with text in data tables that apply to no data cell.

    Cells of a footer that repeat the table's head are left out. Returns None if the page has no data table.
    """
    with_text: list[LexborNode] = []
    faulty: list[LexborNode] = []
    has_tables = False
    for grid in data_table_grids(document):
        has_tables = True
        cells = [cell for row in grid.rows for cell in row if _is_header(cell) and _cell_text(cell)]
        in_head = {_cell_text(cell) for cell in cells if _part_tag(cell) == "thead"}
        table_cells = [cell for cell in cells if _part_tag(cell) != "tfoot" or _cell_text(cell) not in in_head]
        with_text += table_cells
        used = _headers_in_use(document, [cell for row in grid.rows for cell in row], grid.lines)
        faulty += [cell for cell in table_cells if cell.mem_id not in used]
    return Faults(with_text, faulty) if has_tables else None


def find_fake_captions(document: AccessibleDocument) -> Faults:
    """Find data tables whose first row is one cell across all columns, in place of a caption.

    A first row with controls, such as the months of a calendar, is no fake caption, nor is a row below a real caption.
    A table of two rows, such as a title above links, is a layout table.
    """
    grids = list(data_table_grids(document))
    fake = [grid.table for grid in grids if _is_fake_caption(grid)]
    return Faults([grid.table for grid in grids], fake)


def find_cells_without_headers(document: AccessibleDocument) -> Faults:
    """Find data tables of at least three rows and columns that have data cells without a header.

    Another check reports headers without text. Tables that are data tables only by their size may be layout tables, and
    are for review.
    """
    grids = [
        grid
        for grid in data_table_grids(document)
        if len(grid.lines) >= MIN_LARGE and min(map(len, grid.lines[:MIN_LARGE])) >= MIN_LARGE
    ]
    faulty = [grid for grid in grids if _has_headless_cell(document, grid)]
    return Faults(
        [grid.table for grid in grids],
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
    return not has_caption and bool(_cell_text(first[0])) and not select(first[0], "a, button, input, select, textarea")


def _has_headless_cell(document: AccessibleDocument, grid: Grid) -> bool:
    scopes = _compute_scopes(grid.lines)
    headed: set[int] = set()
    is_below_header: dict[int, bool] = {}  # by column: whether a header is above
    for line in grid.lines:
        is_beside_header = False
        for x, cell in enumerate(line):
            if cell is None:
                continue
            if scopes[cell.mem_id]:
                is_beside_header = is_beside_header or scopes[cell.mem_id] in ("row", "auto")
                is_below_header[x] = is_below_header.get(x, False) or scopes[cell.mem_id] in ("col", "auto")
            if is_beside_header or is_below_header.get(x, False):
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
    explicit = sole_role(cell)
    return cell.tag == "td" if explicit is None else explicit in ("cell", "gridcell")


def _is_filled(document: AccessibleDocument, cell: LexborNode) -> bool:
    return bool(_cell_text(cell)) or bool(select(cell, ", ".join(sorted(VISUAL_TAGS)))) or has_aria_name(document, cell)


def _cell_text(cell: LexborNode) -> str:
    return " ".join((cell.text() or "").split())


def _part_tag(cell: LexborNode) -> str | None:
    """Return the tag of the table part that contains the cell: thead, tbody or tfoot."""
    row = cell.parent
    return row.parent.tag if row is not None and row.parent is not None else None


def find_invalid_scopes(document: AccessibleDocument) -> Faults:
    """Find cells whose scope attribute has a value that is not in HTML and, in HTML5, data cells with a scope."""
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
