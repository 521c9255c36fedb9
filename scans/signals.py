"""Signals of scans.

The packages reports, webhooks and sites connect to them in `apps.ready()`.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.dispatch import Signal

from scans.models import Scan
from website_scan.result import ScanResult

# Scans of a visit in their final state, each with its result. The result is None if no attempt produced one.
Ended = Sequence[tuple[Scan, ScanResult | None]]

# Sent with `ended` in the transaction that ends the scans of a visit, after they were saved. The writes of all
# receivers commit together, and an error of any receiver rolls everything back.
scan_ended = Signal()

# Sent with `scan_id`, `page` and `network` by a worker that has loaded a page of an audit of several pages, outside a
# transaction. If a receiver raises a Refusal, the scans of the visit fail.
page_loaded = Signal()

# Sent with `organization_id` by a worker when the organization has a free slot: after the end of a visit, and after the
# claim of a page of an audit, because that page no longer occupies a slot of the queue.
slot_freed = Signal()
