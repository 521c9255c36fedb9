"""View model for the live updates of a list's page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import QueryDict
from msgspec import Struct

from sites.lists.entries import annotated_entries
from sites.lists.pages.runs import RunRow
from sites.lists.pages.table import SITES_PER_PAGE, SiteRow, fact_columns_of, rows_of
from sites.models import SiteList
from website_scan.ids import is_id


class Live(Struct, frozen=True):
    """Run in progress, if any, and the displayed rows of a list.

    `changed` are the rows that the page still shows in an older state.
    """

    running: RunRow | None
    rows: Sequence[SiteRow]
    facts: Sequence[str] = ()
    changed: Sequence[SiteRow] = ()

    @property
    def scanned(self) -> int:
        """Return the number of displayed sites that are being scanned."""
        return sum(row.is_in_progress for row in self.rows)

    @property
    def goes_on(self) -> bool:
        return self.running is not None or bool(self.scanned)

    @property
    def query(self) -> str:
        """Return the query string with which the page requests the next update.

        It has the ID of the run and the state of every row.
        """
        run = [("run", self.running.run.id)] if self.running else []
        return urlencode(
            [*run, *((f"show_{fact}", "yes") for fact in self.facts), *(("row", _mark(row)) for row in self.rows)]
        )


def live_of(site_list: SiteList, running: RunRow | None, query: QueryDict) -> Live:
    """Return the current run and the rows that have changed since the last request.

    Executes two queries.
    """
    known = {mark.partition(".")[0]: mark for mark in query.getlist("row")[:SITES_PER_PAGE]}
    facts = fact_columns_of(query)
    ids = [id for id in known if is_id("ent", id)]
    entries = annotated_entries(site_list).in_bulk(ids)
    rows = rows_of(site_list, [entries[id] for id in ids if id in entries], facts)
    return Live(running, rows, facts, [row for row in rows if _mark(row) != known[row.entry.id]])


def _mark(row: SiteRow) -> str:
    """Return the state of a row as text.

    It has the entry, its latest result and whether it is being scanned.
    """
    return f"{row.entry.id}.{row.entry.result_id or 0}.{int(row.is_in_progress)}"
