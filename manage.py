#!/usr/bin/env python
"""The command line: `python manage.py help`."""

import os
import signal
import sys

# What a shell reports for a process that the signal ended.
INTERRUPTED = 128 + signal.SIGINT
OUTPUT_CLOSED = 128 + signal.SIGPIPE


def execute(arguments: list[str]) -> None:
    """Run a command. `up` reads the settings alone: the applications would cost it a second at every start."""
    if arguments[1:2] == ["up"]:
        from config.management.commands.up import Command

        Command().run_from_argv(arguments)
    else:
        from django.core.management import execute_from_command_line

        execute_from_command_line(arguments)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute(sys.argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads that still end
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has left, as `head` does; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OUTPUT_CLOSED)


if __name__ == "__main__":
    main()
