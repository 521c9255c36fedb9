#!/usr/bin/env python
"""The service's command line. `python manage.py help` lists its commands."""

import os
import sys

from website_scan.command.terminal import run_and_exit


def execute(arguments: list[str]) -> int | None:
    """Run a management command.

    Commands that need no Django apps start a second faster.

    `scan` and `checks` do not need Django, and `diff` needs only the settings. `up` reads the settings itself, once it
    has started the servers that they name.
    """
    if arguments[1:2] == ["scan"]:
        from website_scan.command.main import run

        return run(arguments[2:], "manage.py scan")
    if arguments[1:2] == ["checks"]:
        from website_scan.command.listing import list_checks

        return list_checks(arguments[2:], "manage.py checks")
    if arguments[1:2] == ["up"]:
        from operations.stack.management.commands.up import Command as Up

        Up().run_from_argv(arguments)
    elif arguments[1:2] == ["diff"]:
        from django.conf import settings
        from django.utils.log import configure_logging

        from reports.management.commands.diff import Command as Diff

        configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
        Diff().run_from_argv(arguments)
    else:
        from infrastructure.loading import without_garbage_collection

        with without_garbage_collection():
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
    run_and_exit(lambda: execute(sys.argv))


if __name__ == "__main__":
    main()
