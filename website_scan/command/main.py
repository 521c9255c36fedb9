"""Entry point of the command `website-scan`.

Parses the arguments, then imports only the modules that they need.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from website_scan.command.arguments import PROGRAM, is_list_command, parse_arguments
from website_scan.command.errors import EXIT_FAILED, EXIT_USAGE, ServerRefused, WrongUsage
from website_scan.command.terminal import escape_unencodable, interrupt_on_signals, run_and_exit, write_err

logger = logging.getLogger(__name__)


def main() -> None:
    """Run the installed command, and end the process."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    run_and_exit(lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run the command.

    Returns the exit status: 0, 1 if the gate failed, 2 for wrong usage, 3 if a scan failed.
    """
    escape_unencodable()
    try:
        if list(arguments[:1]) == ["mcp"]:
            # Importing this module requires the package extra `mcp`.
            from website_scan.command import mcp

            return mcp.serve(arguments[1:])
        if list(arguments[:1]) == ["checks"]:
            from website_scan.command.listing import list_checks

            return list_checks(arguments[1:], f"{program} checks")
        with interrupt_on_signals():
            if is_list_command(arguments):
                from website_scan.command import lists

                return lists.run(arguments, program)
            if list(arguments[:1]) == ["init"]:
                from website_scan.command.init import command

                return command.run(arguments[1:], program)
            if list(arguments[:1]) == ["requirements"]:
                from website_scan.command import translating

                return translating.run(list(arguments[1:]), program)
            options = parse_arguments(arguments, program)
            if options.journeys and options.journeys.is_dry_run:
                from website_scan.command.journey_preview import print_journeys

                return print_journeys(options.journeys)
            from website_scan.command.scanning import scan_and_judge

            return scan_and_judge(options)
    except WrongUsage as wrong:
        write_err(f"{program}: {wrong}")
        return EXIT_USAGE
    except ServerRefused as refusal:
        write_err(f"{program}: {refusal}")
        return EXIT_FAILED
    except BrokenPipeError:
        raise
    except Exception:
        # Python would exit with status 1, which means that the gate failed.
        logger.exception("%s has a fault", program)
        return EXIT_FAILED
