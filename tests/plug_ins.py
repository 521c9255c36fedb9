"""Fixture of tests with installed plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from website_scan.plugins import registry
from website_scan.plugins.installed import installed_plug_ins


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of packages on the path of this process. The plug-ins in it are not loaded yet."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    _forget()
    yield folder
    registry.close_hosts()
    _forget()


def _forget() -> None:
    installed_plug_ins.cache_clear()
    registry._forget()
