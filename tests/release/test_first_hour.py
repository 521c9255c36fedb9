"""Tests for the first commands in docs/operations.md on a new server.

The section is "From nothing to a running service".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import Podman, reason_against_images
from tests.operations.stack.processes import wait_until
from tests.project import ROOT
from tests.release.first_hour import SITE, NewServer, can_create_namespaces, command_blocks_of_section

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
MINUTE_S = 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.xdist_group("images"),
    pytest.mark.skipif(reason_against_images() != "", reason=reason_against_images() or "never"),
    pytest.mark.skipif(not can_create_namespaces(), reason="This user may not make a network and mounts of its own."),
]


@pytest.fixture
def server(podman: Podman, tmp_path: Path) -> Iterator[NewServer]:
    try:
        with NewServer(tmp_path, podman.folder) as server:
            yield server
    finally:
        podman.clear()


def test_documented_commands_start_the_service(server: NewServer) -> None:
    outputs: dict[str, str] = {}
    for block in command_blocks_of_section(PAGE):
        if key := re.search(r"wss_\w{20,}", server.output):
            block = block.replace("KEY=wss_…", f"KEY={key[0]}")
        outputs[block] = server.run(block)

    def output_of(command: str) -> str:
        (match,) = [output for block, output in outputs.items() if command in block]
        return match

    assert "Superuser created successfully." in output_of("createsuperuser")
    assert '"https://example.com/"' in output_of('/v1/scan" ')
    doctor = output_of("manage.py doctor")
    assert "Everything works." in doctor
    assert f"https://{SITE}/healthz answers" in doctor
    assert "mail.example.com:587 accepts the log-in" in doctor
    assert "was restored." in output_of("manage.py restore")

    def find_mail(subject: str) -> bool:
        return any(re.search(rf"^Subject: .*{subject}", mail, re.MULTILINE) for mail in server.mails)

    wait_until(lambda: find_mail("Test email from"), MINUTE_S)
    wait_until(lambda: find_mail("Trial"), MINUTE_S)

    def is_queue_age_measured() -> bool:
        query = "http://127.0.0.1:9090/api/v1/query?query=website_scan_queue_age_seconds"
        return "website_scan_queue_age_seconds" in server.run(f"curl --silent '{query}' || true\n")

    wait_until(is_queue_age_measured, MINUTE_S, poll_s=2)

    def scans() -> set[str]:
        output = server.run('curl --fail --silent "https://$SITE/v1/scans" --header "Authorization: Bearer $KEY"\n')
        return {scan["status"] for scan in json.loads(output.partition("«")[0])["scans"]}

    # The rate limit is 60 requests a minute.
    wait_until(lambda: not scans() & {"queued", "scanning"}, MINUTE_S, poll_s=2)
    assert scans() == {"partial"}, "DNS checks fail, because this server has no name server"
