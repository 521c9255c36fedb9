"""Setting DRAIN_S: seconds for which a web process serves requests after SIGTERM, until load balancers remove it."""

from __future__ import annotations

from infrastructure.environment import seconds
from website_scan.environment import read

# config.settings also imports DRAIN_S, so that an invalid value is reported like invalid values of other settings.
DRAIN_S = read("DRAIN_S", seconds, 0, "A whole number of seconds, such as 10.")
