"""Signals of scans. Who stands above connects in `apps.ready()`: scans know neither reports nor webhooks nor audits."""

from __future__ import annotations

from collections.abc import Sequence

from django.dispatch import Signal

from scanner.result import ScanResult
from scans.models import Scan

# The scans of one visit in their final state, each with its result; None where the scan never ran to its end.
Ended = Sequence[tuple[Scan, ScanResult | None]]

# Sent with `ended` when the scans of a visit have been saved, inside the transaction that ends them: what a receiver
# writes is written with them, and an error of any receiver undoes all of it.
scan_ended = Signal()

# Sent with `organization_id` by the worker after that transaction: the place that the visit had is free.
place_freed = Signal()

# Sent when the sweeper has put back and ended what was left of scans, in no transaction.
swept = Signal()
