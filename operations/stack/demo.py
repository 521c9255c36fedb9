"""The demo organization's login and key, kept in the data folder so that every start can show them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoLogin:
    """What a newcomer needs. Password and key are None when they were made elsewhere."""

    organization: str
    email: str
    password: str | None
    api_key: str | None


def demo_path(data_dir: Path, env: Mapping[str, str], *, embedded: bool, wanted: bool) -> Path | None:
    """Where to keep the login; each database has its own organization, hence its own file.

    None where there is to be none: its owner is a superuser, which nobody's own database gets unless it is `wanted`.
    """
    if embedded:
        return data_dir / "demo.json"
    if not wanted:
        return None
    digest = hashlib.sha256(env.get("DATABASE_URL", "").encode()).hexdigest()
    return data_dir / f"demo-{digest[:12]}.json"


def read_demo(path: Path) -> DemoLogin | None:
    """The login kept in `path`, or None."""
    try:
        return DemoLogin(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def login_to_show(path: Path | None, *, was_known: bool, on_terminal: bool) -> DemoLogin | None:
    """The login kept in `path`. Where output is kept, as under systemd, its secrets stand in it once."""
    login = read_demo(path) if path else None
    if login and was_known and not on_terminal:
        return DemoLogin(login.organization, login.email, None, None)
    return login


def keep_demo(path: Path, login: DemoLogin) -> None:
    """Keep a login, readable by its owner only. What is kept already fills what is not known."""
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
    """Replace a file in one step by one that only its owner can read."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
