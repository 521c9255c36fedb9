#!/usr/bin/env python
"""The command line: `python manage.py help`."""

import os
import signal
import sys
from importlib import import_module

# What a shell reports for a process that the signal ended.
INTERRUPTED = 128 + signal.SIGINT
OUTPUT_CLOSED = 128 + signal.SIGPIPE

LIGHT = {"up": "config.stack.management.commands.up"} | {
    name: f"scans.management.commands.{name}" for name in ("checks", "diff", "scan")
}


def execute(arguments: list[str]) -> None:
    """Run a command; one that needs the settings alone without the applications, which take a second to load."""
    if module := LIGHT.get("".join(arguments[1:2])):
        from django.conf import settings
        from django.utils.log import configure_logging

        configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
        import_module(module).Command().run_from_argv(arguments)
    else:
        from django.core.management import execute_from_command_line
        from django.db import InterfaceError, OperationalError

        try:
            execute_from_command_line(arguments)
        except (OperationalError, InterfaceError) as error:
            first_line = str(error).partition("\n")[0]
            sys.exit(f"PostgreSQL does not answer ({first_line}). DATABASE_URL names the database.")


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
