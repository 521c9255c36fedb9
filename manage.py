#!/usr/bin/env python
"""Command line of the service: `python manage.py help`."""

import os
import sys
from importlib import import_module

from scanner.command.terminal import ended_by

LIGHT = {
    "diff": "reports.management.commands.diff",
}


def execute(arguments: list[str]) -> int | None:
    """Run a management command. Those in LIGHT need only the settings, and skip a second of loading the apps.

    `up` reads the settings itself, once it has started the servers that they name.
    """
    # The next two do not need Django.
    if arguments[1:2] == ["scan"]:
        from scanner.command.main import run

        return run(arguments[2:], "manage.py scan")
    if arguments[1:2] == ["checks"]:
        from scanner.command.listing import list_checks

        list_checks(arguments[2:], "manage.py checks")
        return 0
    if arguments[1:2] == ["up"]:
        from operations.stack.management.commands.up import Command

        Command().run_from_argv(arguments)
    elif module := LIGHT.get("".join(arguments[1:2])):
        from django.conf import settings
        from django.utils.log import configure_logging

        configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
        import_module(module).Command().run_from_argv(arguments)
    else:
        from infrastructure.loading import uncollected

        with uncollected():
            import django

            django.setup()
        from django.core.management import execute_from_command_line
        from django.db import InterfaceError, OperationalError

        try:
            execute_from_command_line(arguments)
        except (OperationalError, InterfaceError) as error:
            first_line = str(error).partition("\n")[0]
            sys.exit(f"PostgreSQL does not answer ({first_line}). DATABASE_URL names the database.")
    return None


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    ended_by(lambda: execute(sys.argv))


if __name__ == "__main__":
    main()
