"""How long a web process that was told to stop goes on serving, while load balancers take it away."""

from __future__ import annotations

from infrastructure.environment import seconds
from scanner.environment import read

# Read by settings as well, so that a wrong value is refused like any other.
DRAIN_S = read("DRAIN_S", seconds, 0, "A whole number of seconds, such as 10.")
