"""Signals of scans. Higher packages (reports, webhooks, sites) connect in `apps.ready()`; scans imports none."""

from __future__ import annotations

from collections.abc import Sequence

from django.dispatch import Signal

from scans.models import Scan
from website_scan.result import ScanResult

# The scans of one visit in their final state, each with its result; None if no attempt produced a result.
Ended = Sequence[tuple[Scan, ScanResult | None]]

# Sent with `ended` when the scans of a visit have been saved, inside the transaction that ends them: the receivers'
# writes commit with it, and an error of any receiver rolls back everything.
scan_ended = Signal()

# Sent with `scan_id`, `page` and `network`, outside a transaction, by the worker that has loaded a page of an audit of
# several pages. A receiver that raises a Refusal ends the visit's scans as failed.
page_read = Signal()

# Sent with `organization_id` by the worker after that transaction, because the visit's slot is free; and when it has
# claimed a page of an audit, because the page's place in the queue is free.
place_freed = Signal()
