"""`make bench`: run all benchmarks, or those that ARGS names, such as `ARGS=browser`."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import (
    admin,
    api,
    audit_faults,
    audits,
    browser,
    clients,
    deletion,
    fairness,
    growth,
    hosts,
    lists,
    metrics,
    metrics_size,
    monitor_faults,
    monitors,
    pages,
    scans,
    upgrade,
    visits,
    vitals,
    webhooks,
)

PARTS = {
    "scans": scans.main,
    "browser": browser.main,
    "visits": visits.main,
    "audits": audits.main,
    "audit-faults": audit_faults.main,
    "monitors": monitors.main,
    "monitor-faults": monitor_faults.main,
    "hosts": hosts.main,
    "growth": growth.main,
    "vitals": vitals.main,
    "webhooks": webhooks.main,
    "api": api.main,
    "clients": clients.main,
    "fairness": fairness.main,
    "pages": pages.main,
    "lists": lists.main,
    "metrics": metrics.main,
    "metrics-size": metrics_size.main,
    "admin": admin.main,
    "deletion": deletion.main,
    "upgrade": upgrade.main,
}

chosen = sys.argv[1:] or list(PARTS)
if len(chosen) > 1:
    # Each benchmark needs its own process, because it sets up Django with its own settings.
    ended = [subprocess.run([sys.executable, "-m", "benchmarks", name], check=False).returncode for name in chosen]
    sys.exit(int(any(ended)))
sys.exit(PARTS[chosen[0]]())
