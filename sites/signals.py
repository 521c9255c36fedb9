"""Signals of audits. Receivers connect in `apps.ready()`."""

from __future__ import annotations

from django.dispatch import Signal

# Sent with `audit` after it was saved in a final state, inside the transaction that ends the audit.
audit_ended = Signal()
