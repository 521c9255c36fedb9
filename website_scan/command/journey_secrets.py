"""Secrets of journeys: values that steps type into forms, such as passwords.

They come from `--secret`, `--secrets` or environment variables. Error messages never contain the values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from website_scan.command.errors import WrongUsage
from website_scan.command.journey_source import JourneySource
from website_scan.command.terminal import write_err
from website_scan.journeys.passwords import ReadJourney

MAX_FILE_BYTES = 64 * 1024
# The browser's evidence is not searched for shorter values, which also occur elsewhere by chance.
MIN_CHARACTERS = 4


def variable_of(name: str) -> str:
    """Return the environment variable of a secret."""
    return f"WEBSITE_SCAN_SECRET_{name.replace('-', '_').upper()}"


def read_secrets(typed: Mapping[str, Any], journeys: Sequence[ReadJourney]) -> dict[str, str]:
    """Return the values of all secrets of the journeys by name.

    `--secret` precedes `--secrets`, environment variables, and values that a recording contains. Raises WrongUsage for
    a missing secret, and for `--secret` with a name that no journey uses.
    """
    names = list(dict.fromkeys(name for read in journeys for name in read.journey.secret_names))
    values: dict[str, str] = {}
    for read in journeys:
        values |= read.secrets
    values |= {name: os.environ[variable_of(name)] for name in names if os.environ.get(variable_of(name))}
    if "secrets" in typed:
        values |= {name: value for name, value in _read_file(typed["secrets"]).items() if name in names}
    values |= dict(_typed_secret(text, names) for text in typed.get("secret", ()))
    for read in journeys:
        for name in read.journey.secret_names:
            if not values.get(name):
                raise WrongUsage(
                    f"The journey “{read.journey.title}” needs the secret {name}: use the variable "
                    f"{variable_of(name)}, --secrets FILE or --secret {name}=VALUE."
                )
    _warn_of_short(values)
    return values


def refuse_secrets_for_chosen_host(source: JourneySource, read: ReadJourney, *, is_base_typed: bool) -> None:
    """Raise WrongUsage if website-scan.toml would decide which host receives a secret.

    A pull request from outside could otherwise name a server that collects it. A journey that the command line names
    is trusted, and so is a site that it names.
    """
    outside = [name for name in read.journey.secret_names if name not in read.secrets]
    if source.is_typed or not outside:
        return
    if not is_base_typed:
        raise WrongUsage(
            f"The secret {outside[0]} is not typed into a host that a file chooses. Write the URL of the site on the "
            "command line, or name the file of the journey with --journey."
        )
    if read.journey.identity_providers:
        raise WrongUsage(
            f"The secret {outside[0]} is not typed into {read.journey.identity_providers[0]}, which a file chooses. "
            "Name the file of the journey with --journey."
        )


def _typed_secret(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the name and value of `--secret name=VALUE`, or of `--secret name` with the environment variable."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if name not in names:
        # The text may be a misplaced value, so the message does not contain it.
        raise WrongUsage(f"--secret accepts NAME=VALUE or the NAME of a secret. {_sentence(names)}")
    if not equals:
        value = os.environ.get(variable_of(name), "")
        if not value:
            raise WrongUsage(f"--secret {name}: {variable_of(name)} is not set.")
    if not value:
        raise WrongUsage(f"--secret {name}: the value is empty.")
    return name, value


def _sentence(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"The journey uses: {listed}." if listed else "The journey uses none."


def _read_file(path: Path) -> dict[str, str]:
    """Return the secrets of a file with lines such as `password=VALUE`. Empty lines and comments (#) are ignored."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
        lines = text.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise WrongUsage(f"--secrets: {path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise WrongUsage(f"--secrets: {path} is not text in UTF-8.") from None
    if len(text) > MAX_FILE_BYTES:
        raise WrongUsage(f"--secrets: {path} has more than {MAX_FILE_BYTES // 1024} KiB.")
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not value or name.strip() in values:
            raise WrongUsage(f"--secrets: line {number} of {path} is not NAME=VALUE, with each name only once.")
        values[name.strip()] = value
    return values


def _warn_of_short(values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if len(value) < MIN_CHARACTERS:
            write_err(
                f"Warning: the secret {name} has fewer than {MIN_CHARACTERS} characters, so it is not removed from "
                "reports where the site repeats it."
            )
