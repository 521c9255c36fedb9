"""`make bench ARGS=upgrade`: from the previous release to this one and back, under load for minutes."""

from __future__ import annotations

import time

from tests.upgrade import rehearse

ROUNDS = 10


def main() -> int:
    """Print what was asked and what was refused; 1 when anything was."""
    begin = time.monotonic()
    rehearsal = rehearse(rounds=ROUNDS)
    print(f"{rehearsal.pages} pages, {time.monotonic() - begin:.0f} s")
    for (name, status), count in sorted(rehearsal.answers.items()):
        print(f"{name:5} {status} {count:7,}")
    print(f"refused or failed: {len(rehearsal.failures)}")
    for failure in rehearsal.failures[:20]:
        print(f"  {failure}")
    return int(bool(rehearsal.failures))
