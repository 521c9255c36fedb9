"""How much of a page's markup can be parsed at a bounded cost: a trial, in a process that may be killed.

Browsers' rules make short pages long: what formatting a paragraph leaves open is opened again in each that
follows, and every tag asks for the elements that are open around it. So a page of 80 KB can cost gigabytes,
and one of 8 MB hours, and the parser can't be interrupted. A trial process can. Run as a program, this file
is that process; it imports nothing of ours, so that it starts within some 20 ms.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from selectolax.lexbor import LexborHTMLParser

# Nothing below both can be costly.
SAFE_TAGS = 2_000
SAFE_BYTES = 32 * 1024

CPU_S = 2
MEMORY_BYTES = 256 * 1024 * 1024
# For a machine that has no time for the trial; then its result so far counts.
WAIT_S = 10.0

FIRST_BYTES = 4 * 1024  # never too costly, so that there is always something to judge
LONGER = 8  # times as long is the next beginning
MAX_ELEMENTS = 400_000
# Blink nests 512 elements at most and flattens what is deeper; some room for tags that are never closed.
MAX_DEPTH = 2_000
# Of so many elements in document order one is looked at: what is nested deeper still can't hide between two.
SAMPLED = 500


def bounded(markup: str) -> str:
    """The markup, or its beginning when all of it would cost too much time, memory or depth.

    A page of at most `SAFE_BYTES` bytes and `SAFE_TAGS` tags is not tried.
    """
    source = markup.encode("utf-8", "surrogatepass")
    if len(source) <= SAFE_BYTES and source.count(b"<") <= SAFE_TAGS:
        return markup
    length = _tried(source)
    return markup if length == len(source) else source[:length].decode("utf-8", "ignore")


def _tried(source: bytes) -> int:
    """Bytes of the longest beginning that the trial came through with, 0 when not even with the first."""
    command = [sys.executable, "-I", __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as trial:
        try:
            output, _ = trial.communicate(source, timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            trial.kill()
            output, _ = trial.communicate()
    lengths = output.split()
    return int(lengths[-1]) if lengths else 0


def is_bounded(source: bytes) -> bool:
    """Parse, and say whether the tree has a size and depth that can be worked with."""
    elements = LexborHTMLParser(source, scripting=True).css("*")
    if len(elements) > MAX_ELEMENTS:
        return False
    for node in elements[::SAMPLED]:
        parent, depth = node.parent, 0
        while parent is not None:
            parent, depth = parent.parent, depth + 1
            if depth > MAX_DEPTH:
                return False
    return True


def main() -> None:
    """Try ever longer beginnings of what comes in, and say which were good.

    A page that is good as a whole costs little more than its own parsing, one that is not fails early.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":  # counts what all programs share, refuses to go below that; there time alone bounds
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    source = sys.stdin.buffer.read()
    length = FIRST_BYTES
    while True:
        length = min(length, len(source))
        if not is_bounded(source[:length]):
            return
        sys.stdout.write(f"{length}\n")
        sys.stdout.flush()
        if length == len(source):
            return
        length *= LONGER


if __name__ == "__main__":
    main()
