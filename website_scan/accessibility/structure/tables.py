"""Rows, cells and headers of tables as browsers interpret them.

HTML Standard, section 4.9. Data tables, and the cells that a header applies to, are determined as in axe-core 4.12, but
without rendering.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.languages import TAGS_WITH_VISUAL_CONTENT
from website_scan.accessibility.names import has_aria_name, label_text
from website_scan.accessibility.roles import is_focusable, sole_role
from website_scan.accessibility.verdicts import Faults
from website_scan.page.markup import MAX_NODES, attribute, elements, select

# Limit of grid positions in all tables of a page.
MAX_GRID_POSITIONS = 100_000
MAX_COLSPAN = 1_000
HEADER_ROLES = frozenset({"columnheader", "rowheader"})
TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
# Table parts that only data tables have, as opposed to layout tables.
DATA_TABLE_PARTS = frozenset({"thead", "tfoot", "caption", "colgroup"})
HEADED_TABLE_PARTS = DATA_TABLE_PARTS - {"colgroup"}
HEADER_CELL_ATTRIBUTES = ("scope", "headers", "abbr")
MIN_ROWS_OF_LONG_TABLE, MIN_COLUMNS_OF_WIDE_TABLE = 20, 5
MIN_SIZE_THAT_NEEDS_HEADERS = 3
MIN_ROWS_WITH_FAKE_CAPTION = 3  # The three rows are a fake caption, a header row and a data row.
SCOPES = frozenset({"row", "col", "rowgroup", "colgroup"})
# Doctype of HTML5, optionally after comments.
DOCTYPE = re.compile(r"(?:\s|\ufeff|<!--.{0,2000}?-->)*+<!doctype\s++html\s*+>", re.IGNORECASE | re.DOTALL)

GridRow = list[LexborNode | None]


def exposed_tables(document: AccessibleDocument) -> list[LexborNode]:
    """Return the exposed tables with a role of tables.

    The roles are table, grid and treegrid. Exposed means to assistive technology.
    """
    return [table for table in document.exposed("table") if role(document, table) in TABLE_ROLES]


def table_rows(table: LexborNode) -> list[list[LexborNode]]:
    """Return the cells of each table row.

    The rows of thead come first, the rows of tfoot last.
    """
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


def build_grid(row_cells: Sequence[Sequence[LexborNode]], max_positions: int) -> list[GridRow] | None:
    """Return the cell at each grid position, by row. A cell is repeated for each row and column that the cell spans.

    Returns None if the grid would have more than `max_positions` positions.
    """
    lines: list[GridRow] = [[] for _ in row_cells]
    for top, cells in enumerate(row_cells):
        left = 0
        for cell in cells:
            while left < len(lines[top]) and lines[top][left] is not None:
                left += 1
            width = min(_parse_number_attribute(cell, "colspan") or 1, MAX_COLSPAN)
            height = _parse_number_attribute(cell, "rowspan")
            bottom = len(lines) if height == 0 else min(top + (height or 1), len(lines))
            max_positions -= width * (bottom - top)
            if max_positions < 0:
                return None
            for line in lines[top:bottom]:
                line.extend([None] * (left + width - len(line)))
                line[left : left + width] = [cell] * width
    return lines


class TableGrid(Struct, frozen=True):
    """Data table with its cells, by row and by grid position."""

    table: LexborNode
    rows: Sequence[Sequence[LexborNode]]
    lines: Sequence[GridRow]


def data_table_grids(document: AccessibleDocument) -> Iterator[TableGrid]:
    """Yield the data tables in document order.

    Ends when their grids exceed the limit of positions.
    """
    slots = MAX_GRID_POSITIONS
    for table in document.exposed("table"):
        row_cells = table_rows(table)
        if not is_data_table(table, row_cells):
            continue
        lines = build_grid(row_cells, slots)
        if lines is None:
            return
        slots -= sum(len(line) for line in lines)
        yield TableGrid(table, row_cells, lines)


def is_data_table(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool:
    """Return True if the table's markup or size shows a data table. False if only its visual style could show one."""
    declared_use = read_declared_use(table, row_cells)
    return _has_size_of_data_table(table, row_cells) if declared_use is None else declared_use


def read_declared_use(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool | None:
    """Return True for a data table and False for a layout table.

    None if the markup declares neither.
    """
    explicit = sole_role(table)
    if explicit == "none" and not is_focusable(table):
        return False
    if explicit in TABLE_ROLES:
        return True
    if attribute(table, "datatable") == "0":
        return False
    if attribute(table, "summary") or any(part.tag in DATA_TABLE_PARTS for part in elements(table)):
        return True
    return True if any(_cell_suggests_data_table(cell) for cells in row_cells for cell in cells) else None


def _has_size_of_data_table(table: LexborNode, row_cells: Sequence[Sequence[LexborNode]]) -> bool:
    if len(row_cells) < 2 or len(select(table, "table")) > 1:
        return False
    sample = row_cells[(len(row_cells) + 1) // 2]
    has_one_column = len(sample) == 1 and (_parse_number_attribute(sample[0], "colspan") or 1) == 1
    return not has_one_column and (len(sample) >= MIN_COLUMNS_OF_WIDE_TABLE or len(row_cells) >= MIN_ROWS_OF_LONG_TABLE)


def _find_used_headers(document: AccessibleDocument, cells: Sequence[LexborNode], lines: Sequence[GridRow]) -> set[int]:
    """Return the `mem_id` of every header cell in use.

    A cell references it, or it has a data cell below or to the right.
    """
    referenced = {
        id for cell in cells for name in ("headers", "aria-labelledby") for id in (attribute(cell, name) or "").split()
    }
    used = {cell.mem_id for cell in cells if attribute(cell, "id") in referenced}
    scopes = _compute_scopes(lines)
    ids_with_headers_attribute = {cell.mem_id for cell in cells if document.referenced(cell, "headers")}
    has_data_below: list[bool] = []
    for line in reversed(lines):
        has_data_below.extend([False] * (len(line) - len(has_data_below)))
        has_data_to_the_right = False
        for x in range(len(has_data_below) - 1, -1, -1):
            cell = line[x] if x < len(line) else None
            if cell is None:
                has_data_below[x] = has_data_to_the_right = False
                continue
            scope = scopes[cell.mem_id]
            is_first_position = x == 0 or line[x - 1] is not cell
            if is_first_position and (
                (scope in ("col", "auto") and has_data_below[x]) or (scope in ("row", "auto") and has_data_to_the_right)
            ):
                used.add(cell.mem_id)
            if cell.mem_id not in ids_with_headers_attribute:
                has_data_below[x] = has_data_below[x] or scope not in ("col", "auto")
                has_data_to_the_right = has_data_to_the_right or scope not in ("row", "auto")
    return used


def _compute_scopes(lines: Sequence[GridRow]) -> dict[int, str]:
    """Return the scope of all cells by `mem_id`.

    The scope is `col`, `row` or `auto` (both) for header cells, and empty for data cells. Attributes decide, or else
    the cell's position.
    """
    width = max((len(line) for line in lines), default=0)
    is_header_column = [all(x < len(line) and _is_header_element(line[x]) for line in lines) for x in range(width)]
    scopes: dict[int, str] = {}
    for line in lines:
        is_header_row = all(cell is None or _is_header_element(cell) for cell in line)
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
                scopes[cell.mem_id] = "col" if is_header_row else "row" if is_header_column[x] else "auto"
    return scopes


def _is_header_element(cell: LexborNode | None) -> bool:
    return cell is not None and cell.tag == "th"


def _cell_suggests_data_table(cell: LexborNode) -> bool:
    if (
        cell.tag == "th"
        or any(attribute(cell, name) for name in HEADER_CELL_ATTRIBUTES)
        or sole_role(cell) in HEADER_ROLES
    ):
        return True
    children = list(elements(cell))
    return len(children) == 1 and children[0].tag == "abbr"


def _parse_number_attribute(cell: LexborNode, name: str) -> int | None:
    match = re.match(r"\s*\+?0*(\d{1,6})", attribute(cell, name) or "")
    return int(match[1]) if match else None


def find_invalid_references(document: AccessibleDocument, tables: Sequence[LexborNode]) -> Faults:
    """Find cells whose headers attribute references no header cell.

    The header cell must be in the same table. Cells with an empty headers attribute are for review.
    """
    cells: list[LexborNode] = []
    faulty: list[LexborNode] = []
    empty: list[LexborNode] = []
    remaining = MAX_NODES
    for table in tables:
        table_cells = [cell for row in table_rows(table) for cell in row][:remaining]
        remaining -= len(table_cells)
        roles = {cell_id: role(document, cell) for cell in table_cells if (cell_id := attribute(cell, "id"))}
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
    """Find header cells with text that apply to no data cell.

    Cells of a footer that repeat the table's head are left out. Returns None if the page has no data table.
    """
    headers_with_text: list[LexborNode] = []
    faulty: list[LexborNode] = []
    has_tables = False
    for grid in data_table_grids(document):
        has_tables = True
        cells = [cell for row in grid.rows for cell in row if _is_header_cell(cell) and _cell_text(cell)]
        texts_in_head = {_cell_text(cell) for cell in cells if _table_part_tag(cell) == "thead"}
        table_cells = [
            cell for cell in cells if _table_part_tag(cell) != "tfoot" or _cell_text(cell) not in texts_in_head
        ]
        headers_with_text += table_cells
        used = _find_used_headers(document, [cell for row in grid.rows for cell in row], grid.lines)
        faulty += [cell for cell in table_cells if cell.mem_id not in used]
    return Faults(headers_with_text, faulty) if has_tables else None


def find_fake_captions(document: AccessibleDocument) -> Faults:
    """Find data tables whose first row should be a caption.

    The row is a single cell across all columns. A first row with controls, such as the months of a calendar, is no fake
    caption, nor is a row below a real caption. A table of two rows, such as a title above links, is a layout table.
    """
    grids = list(data_table_grids(document))
    fake = [grid.table for grid in grids if _is_fake_caption(grid)]
    return Faults([grid.table for grid in grids], fake)


def find_cells_without_headers(document: AccessibleDocument) -> Faults:
    """Find large data tables with data cells that have no header.

    They have at least three rows and columns. Another check reports headers without text. Tables that are data tables
    only by their size or columns may be layout tables, and are for review: gtk-doc, for example, sets the widths of its
    lists of parameters with colgroup.
    """
    grids = [
        grid
        for grid in data_table_grids(document)
        if len(grid.lines) >= MIN_SIZE_THAT_NEEDS_HEADERS
        and min(map(len, grid.lines[:MIN_SIZE_THAT_NEEDS_HEADERS])) >= MIN_SIZE_THAT_NEEDS_HEADERS
    ]
    faulty = [grid for grid in grids if _has_data_cell_without_header(document, grid)]
    return Faults(
        [grid.table for grid in grids],
        uncertain=[grid.table for grid in faulty if _is_declared_data_table(grid)],
        review=[grid.table for grid in faulty if not _is_declared_data_table(grid)],
        unless="unless it|they only lays|lay out the page",
    )


def _is_declared_data_table(grid: TableGrid) -> bool:
    """Return True if the markup declares a data table.

    Only data tables have such a role, summary or element. A colgroup does not count, because it only sets widths.
    """
    if sole_role(grid.table) in TABLE_ROLES or attribute(grid.table, "summary"):
        return True
    cells = (cell for row in grid.rows for cell in row)
    return any(part.tag in HEADED_TABLE_PARTS for part in elements(grid.table)) or any(
        _is_header_cell(cell) or attribute(cell, "scope") or attribute(cell, "headers") for cell in cells
    )


def _is_fake_caption(grid: TableGrid) -> bool:
    first = grid.lines[0] if grid.lines else []
    if (
        len(grid.lines) < MIN_ROWS_WITH_FAKE_CAPTION
        or len(first) < 2
        or first[0] is None
        or any(cell is not first[0] for cell in first)
    ):
        return False
    has_caption = any(part.tag == "caption" for part in elements(grid.table))
    return not has_caption and bool(_cell_text(first[0])) and not select(first[0], "a, button, input, select, textarea")


def _has_data_cell_without_header(document: AccessibleDocument, grid: TableGrid) -> bool:
    scopes = _compute_scopes(grid.lines)
    headed: set[int] = set()
    has_data_below: dict[int, bool] = {}
    for line in grid.lines:
        has_data_to_the_right = False
        for x, cell in enumerate(line):
            if cell is None:
                continue
            if scopes[cell.mem_id]:
                has_data_to_the_right = has_data_to_the_right or scopes[cell.mem_id] in ("row", "auto")
                has_data_below[x] = has_data_below.get(x, False) or scopes[cell.mem_id] in ("col", "auto")
            if has_data_to_the_right or has_data_below.get(x, False):
                headed.add(cell.mem_id)
    return any(
        cell.mem_id not in headed
        and _is_data_cell(cell)
        and _is_filled_data_cell(document, cell)
        and not has_aria_name(document, cell)
        and not any(_is_filled_data_cell(document, header) for header in document.referenced(cell, "headers"))
        for row in grid.rows
        for cell in row
    )


def _is_header_cell(cell: LexborNode) -> bool:
    return cell.tag == "th" or sole_role(cell) in HEADER_ROLES


def _is_data_cell(cell: LexborNode) -> bool:
    explicit = sole_role(cell)
    return cell.tag == "td" if explicit is None else explicit in ("cell", "gridcell")


def _is_filled_data_cell(document: AccessibleDocument, cell: LexborNode) -> bool:
    return (
        bool(_cell_text(cell))
        or bool(select(cell, ", ".join(sorted(TAGS_WITH_VISUAL_CONTENT))))
        or has_aria_name(document, cell)
    )


def _cell_text(cell: LexborNode) -> str:
    return " ".join((cell.text() or "").split())


def _table_part_tag(cell: LexborNode) -> str | None:
    """Return the tag of the cell's thead, tbody or tfoot."""
    row = cell.parent
    return row.parent.tag if row is not None and row.parent is not None else None


def find_invalid_scopes(document: AccessibleDocument) -> Faults:
    """Find cells with an invalid or misplaced scope attribute.

    In HTML5, data cells must not have one.
    """
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
