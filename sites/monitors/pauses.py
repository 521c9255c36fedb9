"""Pauses of monitors that nobody has requested."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sites.models import Monitor
from sites.monitors import notices
from sites.monitors.services import first_run_of_next_month

# Sentences by the reason of the pause, for the dashboard and e-mails.
EXPLANATIONS: Mapping[str, str] = {
    Monitor.Pause.QUOTA: "This month's scans are used up. It resumes automatically next month.",
    Monitor.Pause.PLAN: "Your plan allows fewer monitors than you have. Delete one, or ask the operator of this "
    "service for a larger plan, then resume this one.",
    Monitor.Pause.PROOF: "Your control of the journey's site is no longer proven. Publish the token of the journey, "
    "check the proof on the journey's page, then resume the monitor.",
    Monitor.Pause.SECRET: "A secret of the journey has no value any more. Set it on the journey's page, then resume "
    "the monitor.",
}


def pause(monitor: Monitor, reason: Monitor.Pause, now: datetime) -> None:
    """Pause a locked monitor, and notify its recipients unless the plan is the reason.

    A monitor that is out of quota resumes automatically next month.
    """
    monitor.paused_at = monitor.paused_at or now
    monitor.pause_reason = reason
    monitor.next_run_at = None
    if reason == Monitor.Pause.QUOTA:
        monitor.next_run_at = first_run_of_next_month(monitor, monitor.organization.tier, now)
    monitor.save(update_fields=["paused_at", "pause_reason", "next_run_at"])
    if reason == Monitor.Pause.QUOTA:
        notices.mail_pause(monitor, now)
    elif reason != Monitor.Pause.PLAN:
        notices.mail_pause_of_journey(monitor, EXPLANATIONS[reason], now)
