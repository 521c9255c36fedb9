"""Command `website-scan requirements FILE`: print a file of Lighthouse as a part of website-scan.toml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from website_scan.command.errors import WrongUsage
from website_scan.command.requirement_options import read_text, write_notes
from website_scan.command.terminal import write_out
from website_scan.requirements.lighthouse.files import translate
from website_scan.requirements.lighthouse.translation import UnreadableFile
from website_scan.requirements.toml_text import translation_toml

USAGE = """\
usage: {program} requirements FILE

Prints the budget.json or lighthouserc.json of Lighthouse as a part of website-scan.toml, and writes to standard
error what cannot be translated.
"""


def run(arguments: Sequence[str], program: str) -> int:
    """Run the command. Returns the exit status. Raises WrongUsage."""
    if arguments in (["-h"], ["--help"]):
        write_out(USAGE.format(program=program))
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise WrongUsage(f"Name one file: {program} requirements lighthouserc.json.")
    path = Path(arguments[0])
    try:
        translation = translate(read_text(path))
    except UnreadableFile as error:
        raise WrongUsage(f"{path} can't be translated. {error}") from None
    write_notes(path, translation.notes)
    write_out(translation_toml(translation))
    return 0
