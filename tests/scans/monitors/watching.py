"""A monitor at work, in this process: its runs by the real services and engine, and what its receiver is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from scans.models import Monitor, MonitorRun
from scans.monitors.conclusion import conclude_run
from scans.monitors.starting import start_run
from tests.scans.audits.cast import work_off
from webhooks.models import Event

# Far enough from now, which scans are dated by, that nothing of them counts as kept no longer.
BEGIN = datetime.now(UTC).replace(microsecond=0)


class Watch:
    """Looks once a day, and knows what was told."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.now = BEGIN
        self._told = 0

    def look(self) -> list[dict[str, Any]]:
        """One run, with its second try where it has one; the bodies of the events that came of it."""
        self.now += timedelta(days=1)
        run = self.monitor.runs.create(due_at=self.now, not_before=self.now)
        while run.status == MonitorRun.Status.DUE:
            now = run.not_before
            assert start_run(run.id, self.monitor.id, now)
            run.refresh_from_db()
            if run.audit is not None:
                work_off(run.audit.id)
            assert conclude_run(run.id, now)
            assert not conclude_run(run.id, now)
            run.refresh_from_db()
        self.run = run
        self.monitor.refresh_from_db()
        bodies = [json.loads(bytes(each.body)) for each in Event.objects.order_by("created_at", "id")]
        new, self._told = bodies[self._told :], len(bodies)
        return new


def told(body: dict[str, Any]) -> dict[str, Any]:
    """The kind of an event, why it was sent, and which checks are in which of its lists."""
    data = body["data"]
    changes = data if body["event"] == "monitor.changed" else data.get("changes") or {}
    found: dict[str, Any] = {"event": body["event"].removeprefix("monitor.")}
    if changes:
        found["reasons"] = changes["reasons"]
    for name in ("new", "fixed", "worse", "better"):
        if checks := sorted({each["check"] for each in changes.get(name, ())}):
            found[name] = checks
    if "error" in data:
        found["error"] = data["error"]["code"]
    return found
