"""Django signals of audits.

Receivers are connected in `apps.ready()`.
"""

from __future__ import annotations

from django.dispatch import Signal

# Sent with the argument `audit` in the transaction that ends the audit, after the audit was saved.
audit_ended = Signal()
