"""Truncate markup that would be too expensive to parse.

By the HTML parsing rules, a short page can become a large tree: formatting elements that a paragraph leaves open are
opened again in each following paragraph, and every tag searches the stack of open elements. So a page of 80 KB can cost
gigabytes, and one of 8 MB hours, and the parser can't be interrupted. A trial process can be killed. Executed as a
program, this module is the trial process; it imports nothing of this project, so that it starts within about 20 ms.
"""

from __future__ import annotations

import resource
import sys

from selectolax.lexbor import LexborHTMLParser

# A page within both limits is parsed without a trial, because it can't be expensive.
MAX_UNTRIED_TAGS = 2_000
MAX_UNTRIED_BYTES = 32 * 1024

TRIAL_CPU_LIMIT_S = 2
TRIAL_MEMORY_LIMIT_BYTES = 256 * 1024 * 1024
# After this time, the trial's last result counts, even if the machine was busy.
TRIAL_TIMEOUT_S = 10.0

MIN_PARSED_BYTES = 4 * 1024  # The first trial is so small that it always succeeds.
LENGTH_FACTOR = 8  # Each trial parses eight times as much markup as the previous one.
MAX_ELEMENTS = 400_000
# The limit is higher than Blink's 512 nested elements, because some tags are never closed.
MAX_TREE_DEPTH = 2_000
# Only every 500th element is checked, because 500 elements add at most 500 levels.
DEPTH_SAMPLE_INTERVAL = 500


def limit_markup(markup: str) -> str:
    """Return as much markup as can be parsed.

    Time, memory and nesting are limited.

    Markup of at most `MAX_UNTRIED_BYTES` bytes and `MAX_UNTRIED_TAGS` tags is returned without a trial.
    """
    source = markup.encode("utf-8", "surrogatepass")
    if len(source) <= MAX_UNTRIED_BYTES and source.count(b"<") <= MAX_UNTRIED_TAGS:
        return markup
    length = _run_trial(source)
    return markup if length == len(source) else source[:length].decode("utf-8", "ignore")


def _run_trial(source: bytes) -> int:
    """Return how many bytes of the source can be parsed.

    A trial process parses them within the limits.
    """
    # The import is here, because it is slow, and the trial process does not need it.
    import subprocess

    command = [sys.executable, "-I", __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as trial:
        try:
            output, _ = trial.communicate(source, timeout=TRIAL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            trial.kill()
            output, _ = trial.communicate()
    lengths = output.split()
    return int(lengths[-1]) if lengths else 0


def is_within_limits(source: bytes) -> bool:
    """Return True if the tree is within the limits for size and depth."""
    elements = LexborHTMLParser(source, scripting=True).css("*")
    if len(elements) > MAX_ELEMENTS:
        return False
    for node in elements[::DEPTH_SAMPLE_INTERVAL]:
        parent, depth = node.parent, 0
        while parent is not None:
            parent, depth = parent.parent, depth + 1
            if depth > MAX_TREE_DEPTH:
                return False
    return True


def main() -> None:
    """Find out how much of the standard input is within the limits.

    The program parses longer and longer prefixes and writes the length of each.

    The trial of an ordinary page costs little more than parsing it once; a hostile page fails early.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # macOS also counts shared memory and refuses a memory limit, so only time is limited there.
    if sys.platform != "darwin":
        resource.setrlimit(resource.RLIMIT_AS, (TRIAL_MEMORY_LIMIT_BYTES, TRIAL_MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (TRIAL_CPU_LIMIT_S, TRIAL_CPU_LIMIT_S))
    source = sys.stdin.buffer.read()
    length = MIN_PARSED_BYTES
    while True:
        length = min(length, len(source))
        if not is_within_limits(source[:length]):
            return
        sys.stdout.write(f"{length}\n")
        sys.stdout.flush()
        if length == len(source):
            return
        length *= LENGTH_FACTOR


if __name__ == "__main__":
    main()
