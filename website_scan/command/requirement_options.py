"""Options of own requirements: `--requirements` and `--budget`, also in website-scan.toml."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from website_scan.command.errors import WrongUsage
from website_scan.command.terminal import write_err
from website_scan.requirements.model import NO_REQUIREMENTS, Requirements

MAX_FILE_BYTES = 1_000_000


class RequirementOptions(Struct, frozen=True):
    """Own requirements, and conditions of the gate that files of Lighthouse have.

    `under` maps scan types to the lowest passing score.
    """

    requirements: Requirements = NO_REQUIREMENTS
    under: Mapping[str, int] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()


def add_requirement_options(group: argparse._ArgumentGroup) -> None:
    """Add the options to the parser. The help mentions them in one line."""
    about = "rules of your own; also --budget FILE of Lighthouse"
    group.add_argument("--requirements", type=Path, metavar="FILE", help=about)
    group.add_argument("--budget", type=Path, action="append", metavar="FILE", help=argparse.SUPPRESS)


def requirement_options(chosen: Mapping[str, Any]) -> RequirementOptions:
    """Return the requirements of all files, and of the table of website-scan.toml.

    Writes to standard error what files of Lighthouse have that cannot be translated. Raises WrongUsage.
    """
    requirements: Requirements | Path = chosen.get("requirements", NO_REQUIREMENTS)
    if isinstance(requirements, Path):
        requirements = read_requirements_file(requirements)
    under: dict[str, int] = {}
    outcomes: list[str] = []
    for path in chosen.get("budget", ()):
        # Few commands have files of Lighthouse.
        from website_scan.requirements.lighthouse.files import translate
        from website_scan.requirements.lighthouse.translation import UnreadableFile
        from website_scan.requirements.reading import joined

        try:
            translation = translate(read_text(path))
            requirements = joined(requirements, translation.requirements)
        except UnreadableFile as error:
            raise WrongUsage(f"{path} can't be translated. {error}") from None
        except ValueError as error:
            raise WrongUsage(f"{path}: {error}") from None
        write_notes(path, translation.notes)
        under |= translation.under
        outcomes += translation.outcomes
    return RequirementOptions(requirements, under, tuple(outcomes))


def write_notes(path: Path, notes: Iterable[str]) -> None:
    """Write to standard error what is not translated."""
    for note in notes:
        write_err(f"{path.name}: {note}.")


def read_table(value: object) -> Requirements:
    """Validate the table `[requirements]`, or what a file of requirements has. Raises ValueError."""
    from website_scan.requirements.reading import read_requirements  # Few commands have requirements.

    return read_requirements(value)


def read_requirements_file(path: Path) -> Requirements:
    """Read a file of requirements in TOML or JSON.

    In TOML, they may be in a table `[requirements]`, as in website-scan.toml. Raises WrongUsage.
    """
    text = read_text(path)
    try:
        if path.suffix.lower() == ".json":
            import json

            data = json.loads(text)
        else:
            import tomllib

            data = tomllib.loads(text)
        if isinstance(data, dict) and set(data) == {"requirements"}:
            data = data["requirements"]
        return read_table(data)
    except RecursionError:
        raise WrongUsage(f"{path}: it is nested too deeply.") from None
    except ValueError as error:
        raise WrongUsage(f"{path}: {error}") from None


def read_text(path: Path) -> str:
    """Read a text file of limited size. Raises WrongUsage."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise WrongUsage(f"{path} can't be read: {error.strerror}.") from None
    if len(content) > MAX_FILE_BYTES:
        raise WrongUsage(f"{path} has more than {MAX_FILE_BYTES:,} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUsage(f"{path} is not text in UTF-8.") from None
