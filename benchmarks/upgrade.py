"""`make bench ARGS=upgrade`: upgrade from the previous release and roll back, under load for minutes."""

from __future__ import annotations

import time

from tests.upgrade import rehearse

ROUNDS = 10


def main() -> int:
    """Print the requests and failures; return 1 if any failed."""
    begin = time.monotonic()
    rehearsal = rehearse(rounds=ROUNDS)
    print(f"{rehearsal.pages} pages, {time.monotonic() - begin:.0f} s")
    for (name, status), count in sorted(rehearsal.answers.items()):
        print(f"{name:5} {status} {count:7,}")
    print(f"refused or failed: {len(rehearsal.failures)}")
    for failure in rehearsal.failures[:20]:
        print(f"  {failure}")
    return int(bool(rehearsal.failures))
