"""Data export in a real browser: requested on a page, created by a worker, announced by e-mail, downloaded, opened."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Running
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    ORGANIZATION,
    SCAN_S,
    Journey,
    Person,
    api,
    create_key,
    sign_up,
    travel,
    with_scripts,
)
from tests.operations.stack.processes import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


def test_data_export_contains_the_scans(running: Running, travel: Callable[[Journey], None]) -> None:  # noqa: F811
    address = running.site.url_as("localhost") + "/"

    def journey(bring: Callable[[], Person]) -> None:
        ada = bring()
        sign_up(ada)
        key = create_key(ada, "Nightly build")
        scan = api(ada, key, "POST", "/v1/scan", {"url": address, "type": "seo"}).json()
        wait_until(lambda: api(ada, key, "GET", f"/v1/report/{scan['id']}").status_code == 200, SCAN_S, poll_s=0.5)
        ada.section("Settings")
        ada.go("Export all data …")
        ada.press("Start export")
        ada.told("The export has been requested.")
        wait_until(lambda: mailed(ada) is not None, SCAN_S, poll_s=0.5)
        ada.open(str(mailed(ada)))
        with ada.page.expect_download() as started:
            ada.page.get_by_role("button", name=re.compile("^Download")).click()
        with zipfile.ZipFile(io.BytesIO(Path(started.value.path()).read_bytes())) as archive:
            assert archive.testzip() is None
            (exported,) = json.loads(archive.read("scans.json"))
            (report,) = (name for name in archive.namelist() if name.startswith("reports/"))
            document = json.loads(archive.read(report))
            text = b"".join(map(archive.read, archive.namelist())).decode()
        assert (exported["id"], exported["url"], exported["status"]) == (scan["id"], address, "completed")
        assert document == api(ada, key, "GET", f"/v1/report/{scan['id']}/export?format=json").json()
        assert key not in text

    travel(journey)


def mailed(person: Person) -> str | None:
    """Return the path of the page that the e-mail links to, or None before it has arrived."""
    mails = person.service.service.output.split(f"To: {person.email}")[1:]
    found = [each for each in mails if f"The data export of {ORGANIZATION} is ready" in each]
    match = found and re.search(rf"{re.escape(person.base)}(/o/\S+/settings/export)", found[-1])
    return match[1] if match else None
