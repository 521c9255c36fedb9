"""Settings for a service that scans the domains of `benchmarks/registry.py`."""

import os

from config.settings import *  # noqa: F403
from website_scan.net.dnssec import anchors

# Only scans of this benchmark trust its root zone, so the product needs no setting for it.
if TRUST_ANCHORS := tuple(filter(None, os.environ.get("BENCHMARK_TRUST_ANCHORS", "").split(";"))):
    anchors.root_anchors = lambda: TRUST_ANCHORS  # type: ignore[assignment]
