"""Browser test that requests and downloads a data export."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import RunningService
from tests.e2e.test_journeys import (  # noqa: F401  # fixtures
    ORGANIZATION,
    SCAN_TIMEOUT_S,
    Journey,
    Person,
    call_api,
    create_key,
    has_javascript,
    run_journey,
    sign_up,
)
from tests.operations.stack.processes import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]


def test_data_export_contains_the_scans(running: RunningService, run_journey: Callable[[Journey], None]) -> None:  # noqa: F811
    address = running.site.url_as("localhost") + "/"

    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        key = create_key(ada, "Nightly build")
        scan = call_api(ada, key, "POST", "/v1/scan", {"url": address, "type": "seo"}).json()
        wait_until(
            lambda: call_api(ada, key, "GET", f"/v1/report/{scan['id']}").status_code == 200, SCAN_TIMEOUT_S, poll_s=0.5
        )
        ada.open_section("Settings")
        ada.follow_link("Export all data …")
        ada.press("Start export")
        ada.expect_text("The export has been requested.")
        wait_until(lambda: mailed_path(ada) is not None, SCAN_TIMEOUT_S, poll_s=0.5)
        ada.open(str(mailed_path(ada)))
        with ada.page.expect_download() as started:
            ada.page.get_by_role("button", name=re.compile("^Download")).click()
        with zipfile.ZipFile(io.BytesIO(Path(started.value.path()).read_bytes())) as archive:
            assert archive.testzip() is None
            (exported,) = json.loads(archive.read("scans.json"))
            (report,) = (name for name in archive.namelist() if name.startswith("reports/"))
            document = json.loads(archive.read(report))
            text = b"".join(map(archive.read, archive.namelist())).decode()
        assert (exported["id"], exported["url"], exported["status"]) == (scan["id"], address, "completed")
        assert document == call_api(ada, key, "GET", f"/v1/report/{scan['id']}/export?format=json").json()
        assert key not in text

    run_journey(journey)


def mailed_path(person: Person) -> str | None:
    """Return the path of the download page from the export e-mail.

    Returns None before the e-mail has arrived.
    """
    mails = person.service.service.output.split(f"To: {person.email}")[1:]
    export_mails = [mail for mail in mails if f"The data export of {ORGANIZATION} is ready" in mail]
    match = export_mails and re.search(rf"{re.escape(person.base)}(/o/\S+/settings/export)", export_mails[-1])
    return match[1] if match else None
