"""Bounds for parsing a page's markup: a trial parse in a killable process determines how much markup is affordable.

By the HTML parsing rules, a short page can become a large tree: formatting elements that a paragraph leaves open are
opened again in each that follows, and every tag searches the stack of open elements. So a page of 80 KB can cost
gigabytes, and one of 8 MB hours, and the parser can't be interrupted. A trial process can be killed. Executed as a
program, this module is the trial process; it imports nothing of this project, so that it starts within about 20 ms.
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
# Limit for a busy machine, after which the last result of the trial counts.
WAIT_S = 10.0

FIRST_BYTES = 4 * 1024  # always affordable, so that checks always have something to judge
LONGER = 8  # factor between the lengths of two consecutive trials
MAX_ELEMENTS = 400_000
# Blink nests at most 512 elements and flattens deeper ones; the limit leaves room for tags that are never closed.
MAX_DEPTH = 2_000
# The depth of every 500th element in document order is checked: no deeper nesting fits between two of them.
SAMPLED = 500


def bounded(markup: str) -> str:
    """Return the markup, or its beginning if parsing all of it would cost too much time, memory or depth.

    Markup of at most `SAFE_BYTES` bytes and `SAFE_TAGS` tags is returned without a trial.
    """
    source = markup.encode("utf-8", "surrogatepass")
    if len(source) <= SAFE_BYTES and source.count(b"<") <= SAFE_TAGS:
        return markup
    length = _tried(source)
    return markup if length == len(source) else source[:length].decode("utf-8", "ignore")


def _tried(source: bytes) -> int:
    """Return the length in bytes of the longest beginning that the trial parsed; 0 if it parsed none."""
    import subprocess  # slow, and not needed by the trial process, which imports this module

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
    """Return True if the tree of the source is within the limits on size and depth."""
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

    The trial of an ordinary page costs little more than parsing it once; a hostile page fails early.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "darwin":  # macOS also counts shared memory and refuses the limit, so only time is limited there
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
