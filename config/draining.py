"""DRAIN_S: how long a web process goes on serving after SIGTERM, while load balancers remove it."""

from __future__ import annotations

from infrastructure.environment import seconds
from website_scan.environment import read

# config.settings imports it too, so that an invalid value is reported like any other.
DRAIN_S = read("DRAIN_S", seconds, 0, "A whole number of seconds, such as 10.")
