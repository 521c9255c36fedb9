"""The demo organization's login and API key.

They are stored in the data folder, so that every start can print them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from website_scan.records import repr_without


class DemoLogin(Struct, frozen=True):
    """The demo organization owner's login.

    `password` and `api_key` are None if another process created them.
    """

    organization: str
    email: str
    password: str | None
    api_key: str | None

    def __repr__(self) -> str:
        return repr_without(self, "password", "api_key")


def demo_path(data_dir: Path, env: Mapping[str, str], *, embedded: bool, with_demo: bool) -> Path | None:
    """Return the path for the demo login.

    Every database has its own demo organization and thus its own file.

    None for a database in DATABASE_URL without `with_demo`: its user must choose the demo, whose owner is a superuser.
    """
    if embedded:
        return data_dir / "demo.json"
    if not with_demo:
        return None
    digest = hashlib.sha256(env.get("DATABASE_URL", "").encode()).hexdigest()
    return data_dir / f"demo-{digest[:12]}.json"


def read_demo(path: Path) -> DemoLogin | None:
    """Return the login stored in `path`, or None if the file does not exist."""
    try:
        return DemoLogin(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def login_to_show(path: Path | None, *, was_known: bool, on_terminal: bool) -> DemoLogin | None:
    """Return the login in `path`. Leaves out secrets that may end up in a log.

    This is the case if the login is old and the output is not a terminal.

    Output that is not a terminal may be a log that others read, for example systemd's.
    """
    login = read_demo(path) if path else None
    if login and was_known and not on_terminal:
        return DemoLogin(login.organization, login.email, None, None)
    return login


def save_demo(path: Path, login: DemoLogin) -> None:
    """Save a login, readable by its owner only.

    Missing secrets are copied from the saved login of the same person, whose organization may have a new name.
    """
    saved = read_demo(path)
    if saved and saved.email == login.email:
        login = DemoLogin(
            login.organization,
            login.email,
            login.password or saved.password,
            login.api_key or saved.api_key,
        )
    write_private(path, json.dumps(asdict(login), indent=2) + "\n")


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically by one that only its owner can read."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
