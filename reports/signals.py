"""Signals of mutes."""

from django.dispatch import Signal

# Sent with `organization_id` and `host` in the transaction that creates or ends a mute.
mute_changed = Signal()
