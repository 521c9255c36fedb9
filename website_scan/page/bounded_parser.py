"""Bounds for parsing a page's markup: try it in a process that may be killed, to find how much has a bounded cost.

By the HTML parsing rules a short page can become a large tree: formatting elements that a paragraph leaves open are
opened again in each that follows, and every tag searches the stack of open elements. So a page of 80 KB can cost
gigabytes, and one of 8 MB hours, and the parser can't be interrupted. A trial process can. Run as a program, this file
is that process; it imports nothing of this project, so that it starts within some 20 ms.
"""

from __future__ import annotations

import resource
import sys

from selectolax.lexbor import LexborHTMLParser

# A page below both limits can't be costly.
SAFE_TAGS = 2_000
SAFE_BYTES = 32 * 1024

CPU_S = 2
MEMORY_BYTES = 256 * 1024 * 1024
# Limit for a busy machine: after it the trial's result so far counts.
WAIT_S = 10.0

FIRST_BYTES = 4 * 1024  # never too costly, so that checks always have something to judge
LONGER = 8  # factor from one tried beginning to the next
MAX_ELEMENTS = 400_000
# Blink nests at most 512 elements and flattens deeper ones; the limit leaves room for tags that are never closed.
MAX_DEPTH = 2_000
# The depth of every 500th element in document order is checked: no deeper nesting fits between two of them.
SAMPLED = 500


def bounded(markup: str) -> str:
    """Return the markup, or its beginning if all of it would cost too much time, memory or depth.

    A page of at most `SAFE_BYTES` bytes and `SAFE_TAGS` tags is not tried.
    """
    source = markup.encode("utf-8", "surrogatepass")
    if len(source) <= SAFE_BYTES and source.count(b"<") <= SAFE_TAGS:
        return markup
    length = _tried(source)
    return markup if length == len(source) else source[:length].decode("utf-8", "ignore")


def _tried(source: bytes) -> int:
    """Return the length in bytes of the longest beginning that the trial parsed; 0 if it parsed none."""
    import subprocess  # takes the trial, which imports this file, as long as the rest of its start

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
    """Parse the source and return True if the tree is within the limits on size and depth."""
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
    """Parse ever longer beginnings of the standard input, and write the length of each that is within the limits.

    A good page costs little more than its own parsing; a bad one fails early.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":  # macOS counts shared memory, too, and refuses the limit; time alone bounds
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
