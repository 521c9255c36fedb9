"""The setting DRAIN_S: how long a web process still serves requests after SIGTERM.

Meanwhile, load balancers remove the process.
"""

from __future__ import annotations

from infrastructure.environment import seconds
from website_scan.environment import read

# config.settings also imports DRAIN_S, so that an invalid value is reported like invalid values of other settings.
DRAIN_S = read("DRAIN_S", seconds, 0, "A whole number of seconds, such as 10.")
