"""Signals of audits. Receivers connect in `apps.ready()`."""

from __future__ import annotations

from django.dispatch import Signal

# Sent with `audit` when it has been saved in a final state, inside the transaction that ends it.
audit_ended = Signal()
