"""Read website-scan.toml.

It configures a repository's scans and its quality gate. The file may set only what is scanned and judged. Options that
grant access (credentials, networks, a server that gets the API key), start programs or write files are allowed on the
command line only, because a pull request from outside may change the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from website_scan.accessibility.standards import LEVELS
from website_scan.command.category_options import category_names
from website_scan.command.conformance_options import GATE_LEVELS, STANDARDS
from website_scan.command.errors import WrongUsage
from website_scan.command.journey_options import tables
from website_scan.command.requirement_options import read_table
from website_scan.command.site_options import is_url, page_count
from website_scan.command.viewing_options import widths_of_file
from website_scan.findings import ScanType, Severity
from website_scan.viewing import COLOR_SCHEMES

NAME = "website-scan.toml"
ON_COMMAND_LINE_ONLY = frozenset(
    (
        "allow-network", "basic-auth", "basic-auth-for", "cookie", "cookie-for", "header", "header-for", "output",
        "mail-servers", "server", "start", "wait-for", "write-baseline", "secret", "secrets", "pictures", "dry-run",
    )
)  # fmt: skip
MAX_FILE_BYTES = 1_000_000


def configuration(path: Path | None) -> dict[str, Any]:
    """Read a configuration file and return its options.

    By default, it is ./website-scan.toml. The keys are their `argparse` names. Relative paths in the file are relative
    to its folder. Raises WrongUsage.
    """
    if path is None:
        path = Path(NAME)
        if not path.is_file():
            return {}
    import tomllib  # Import tomllib only here, because few repositories have the file.

    try:
        with path.open("rb") as file:
            settings = tomllib.loads(file.read(MAX_FILE_BYTES).decode())
    except OSError as error:
        raise WrongUsage(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        raise WrongUsage(f"{path}: {error}") from None
    options: dict[str, Any] = {}
    for key, value in settings.items():
        if key in ON_COMMAND_LINE_ONLY:
            raise WrongUsage(f"{path}: {key} can only be set on the command line, as --{key}.")
        if key not in KEYS:
            import difflib

            near = difflib.get_close_matches(key, KEYS, 1)
            raise WrongUsage(f"{path}: {key} is unknown.{f' Did you mean {near[0]}?' if near else ''}")
        name, read = KEYS[key]
        try:
            options[name] = read(value)
        except ValueError as error:
            raise WrongUsage(f"{path}: {key}: {error}") from None
    _resolve_paths(path, options)
    return options


def _resolve_paths(path: Path, options: dict[str, Any]) -> None:
    """Make the paths of the file relative to its folder. Raises WrongUsage."""
    if "baseline" in options:
        options["baseline"] = path.parent / options["baseline"]
    if "sitemap" in options and not is_url(options["sitemap"]):
        options["sitemap"] = str(path.parent / options["sitemap"])
    if "journey" in options:
        # Error messages quote lines of the file, so it must not be any file of the machine.
        options["journey"] = [_checked_file(path.parent, name, f"{path}: journey") for name in options["journey"]]
    if "budget" in options:
        options["budget"] = [_checked_file(path.parent, name, f"{path}: budget") for name in options["budget"]]
    if "serve" in options:
        options["serve"] = _checked_subfolder(path.parent, options["serve"], f"{path}: serve")


def refuse_access_without_typed_pages(typed: Mapping[str, Any]) -> None:
    """Refuse options that grant access to a configured host.

    Raises WrongUsage if a configuration file decides which hosts are scanned. A pull request from outside could
    otherwise name a server that collects the secret, or one of a private network. `typed` are the options on the
    command line. An exemption of one address and one port names its host itself.
    """
    for name in ("header", "cookie", "basic_auth"):
        if name in typed:
            option = name.replace("_", "-")
            raise WrongUsage(
                f"--{option} is not sent to a host that a file chooses. Write the URLs on the command "
                f"line, or name the host: --{option}-for HOST VALUE."
            )
    if "server" in typed:
        raise WrongUsage(
            "--server uses your API key, so a file may not choose the pages. Write the URLs on the command line."
        )
    for exemption in typed.get("allow_network", ()):
        if not isinstance(exemption, tuple) or exemption[0].num_addresses > 1:
            raise WrongUsage(
                "--allow-network does not apply to hosts that a file chooses. Write the URLs on the "
                "command line, or allow one address and port, such as 10.0.0.5/32:8080."
            )


def _checked_file(folder: Path, name: str, key: str) -> Path:
    """Return the path of a file in the folder or below it. Raises WrongUsage."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise WrongUsage(f"{key}: must be a file beside this file, or in a folder below.")
    return path


def _checked_subfolder(folder: Path, subfolder: Path, key: str) -> Path:
    """Return the path of a subfolder.

    Raises WrongUsage if the path leads out of the folder.
    """
    path = folder / subfolder
    if not path.resolve().is_relative_to(folder.resolve()):
        raise WrongUsage(f"{key}: must be a folder beside this file.")
    return path


def fail_under(raw: object) -> dict[str, int]:
    """Parse the value of `fail-under`.

    80, "80", "security=90,seo=70" or a table. Raises ValueError. Returns the lowest passing score by scan type, "" for
    all types.
    """
    if isinstance(raw, Mapping):
        pairs = [(str(name), value) for name, value in raw.items()]
    elif isinstance(raw, str):
        words = [word.strip().rpartition("=") for word in raw.split(",")]
        pairs = [(name.strip(), value.strip()) for name, _, value in words]
    else:
        pairs = [("", raw)]
    scores: dict[str, int] = {}
    for name, value in pairs:
        if name and name not in list(ScanType):
            raise ValueError(f"{name!r} is none of {', '.join(ScanType)}")
        if name in scores:
            raise ValueError("each type may appear only once")
        scores[name] = _score(value)
    return scores


def _score(value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", text) is None:
        raise ValueError(f"{text!r} is not a score between 0 and 100; use 80, or by type security=90,seo=70")
    if "." in text:
        raise ValueError(f"{text} is not a whole number, as scores are, between 0 and 100")
    if not 0 <= int(text) <= 100:
        raise ValueError(f"a score must be between 0 and 100, and {text} is not")
    return int(text)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a string, or a list of strings")
    return value


def _choice_reader(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return read


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string")
    return value


def _types(value: object) -> list[str]:
    return [_choice_reader(*ScanType)(name) for name in _texts(value)]


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 -- the reader of the file expects it
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value:
        raise ValueError("must be the path of a file")
    return Path(value)


KEYS: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "urls": ("urls", _texts),
    "site": ("site", _text),
    "sitemap": ("sitemap", _text),
    "max-pages": ("max_pages", page_count),
    "include": ("include", _texts),
    "exclude": ("exclude", _texts),
    "journey": ("journey", _texts),
    "journeys": ("journeys", tables),
    "types": ("type", _types),
    "categories": ("categories", category_names),
    "widths": ("width", widths_of_file),
    "color-scheme": ("color_scheme", _choice_reader(*COLOR_SCHEMES)),
    "fail-under": ("fail_under", fail_under),
    "fail-on": ("fail_on", _choice_reader(*Severity)),
    "fail-on-outcome": ("fail_on_outcome", _texts),
    "fail-on-level": ("fail_on_level", _choice_reader(*GATE_LEVELS)),
    "standard": ("standard", _choice_reader(*STANDARDS)),
    "level": ("level", _choice_reader(*LEVELS)),
    "accept": ("accept", _texts),
    "allow-login": ("allow_login", _boolean),
    "baseline": ("baseline", _path),
    "serve": ("serve", _path),
    "requirements": ("requirements", read_table),
    "budget": ("budget", _texts),
}
