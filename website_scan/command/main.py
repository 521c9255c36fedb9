"""The command `website-scan`: parses the arguments, then loads what they need and no more."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from website_scan.command.arguments import PROGRAM, is_about_lists, options_from
from website_scan.command.errors import EXIT_FAILED, EXIT_USAGE, ServerRefused, WrongUsage
from website_scan.command.terminal import ended_by, ended_like_ctrl_c, say, show_what_can_be_shown

logger = logging.getLogger(__name__)


def main() -> None:
    """Entry point of the installed command; ends the process."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    ended_by(lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run the command. Returns the exit status: 0, 1 if the gate failed, 2 for wrong usage, 3 if a scan failed."""
    show_what_can_be_shown()
    try:
        if list(arguments[:1]) == ["mcp"]:
            from website_scan.command import mcp  # needs the extra

            return mcp.serve(arguments[1:])
        with ended_like_ctrl_c():
            if is_about_lists(arguments):
                from website_scan.command import lists  # loads the client of a service

                return lists.run(arguments, program)
            options = options_from(arguments, program)  # ends the command after --help and --version
            from website_scan.command.scanning import scan_and_judge

            return scan_and_judge(options)
    except WrongUsage as wrong:
        say(f"{program}: {wrong}")
        return EXIT_USAGE
    except ServerRefused as refusal:
        say(f"{program}: {refusal}")
        return EXIT_FAILED
    except BrokenPipeError:
        raise
    except Exception:
        # Python's own status for it is 1, which would say that the gate failed.
        logger.exception("%s has a fault", program)
        return EXIT_FAILED
