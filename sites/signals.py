"""Django signals of audits and journeys.

Receivers are connected in `apps.ready()`.
"""

from __future__ import annotations

from django.dispatch import Signal

# Sent with the argument `audit` in the transaction that ends the audit, after the audit was saved.
audit_ended = Signal()
# Sent with the argument `journey` in the transaction that changes the journey, after it was saved.
journey_changed = Signal()
