"""Login and API key of the demo organization, kept in the data folder so that every start can show them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoLogin:
    """Login of the demo organization's owner. Password and key are None if another process created them."""

    organization: str
    email: str
    password: str | None
    api_key: str | None


def demo_path(data_dir: Path, env: Mapping[str, str], *, embedded: bool, wanted: bool) -> Path | None:
    """Return the file for the login; each database has its own demo organization, hence its own file.

    None if there is no demo: its owner is a superuser, which a user's own database gets only if it is `wanted`.
    """
    if embedded:
        return data_dir / "demo.json"
    if not wanted:
        return None
    digest = hashlib.sha256(env.get("DATABASE_URL", "").encode()).hexdigest()
    return data_dir / f"demo-{digest[:12]}.json"


def read_demo(path: Path) -> DemoLogin | None:
    """Return the login kept in `path`, or None."""
    try:
        return DemoLogin(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def login_to_show(path: Path | None, *, was_known: bool, on_terminal: bool) -> DemoLogin | None:
    """Return the login kept in `path`. Its secrets are shown at first only, unless the output goes to a terminal.

    Other output is kept, for example by systemd.
    """
    login = read_demo(path) if path else None
    if login and was_known and not on_terminal:
        return DemoLogin(login.organization, login.email, None, None)
    return login


def keep_demo(path: Path, login: DemoLogin) -> None:
    """Save a login, readable by its owner only. Missing secrets are taken from the login that is already saved."""
    known = read_demo(path)
    if known and (known.organization, known.email) == (login.organization, login.email):
        login = DemoLogin(
            login.organization,
            login.email,
            login.password or known.password,
            login.api_key or known.api_key,
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
