"""Tests that the samples and tables in docs/webhooks.md are right."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.models import DELIVERIES_KEPT_DAYS
from tests.targets.server import Answer, Site
from webhooks import services
from webhooks.delivery import claims, schedule, sending
from webhooks.delivery.signing import new_secret, signature_headers
from website_scan.net import errors
from website_scan.net.targets import InvalidUrl

DOC = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
TEXT = " ".join(DOC.split())
BODY = '{"event":"scan.completed","data":{"grade":"Ä"}}'.encode()
OLD, NEW, OTHER = new_secret(), new_secret(), new_secret()


def sample(language: str) -> str:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
    return str(block)


def signed_headers(*valid: str, age_s: int = 0) -> dict[str, str]:
    headers = signature_headers(valid=valid, event_id="evt_1", timestamp_s=int(time.time()) - age_s, body=BODY)
    return {name.lower(): value for name, value in headers.items()}


def own_signature_cases() -> list[tuple[bytes, str, str, bool]]:
    """Return cases of genuine and forged deliveries.

    A case has the body, the X-Service-Signature header, the secret, and whether the delivery is genuine.
    """
    return [
        (BODY, signed_headers(OLD)["x-service-signature"], OLD, True),
        (BODY, signed_headers(OLD, NEW)["x-service-signature"], OLD, True),
        (BODY, signed_headers(OLD, NEW)["x-service-signature"], NEW, False),
        (BODY + b" ", signed_headers(OLD)["x-service-signature"], OLD, False),
        (BODY, signed_headers(OLD)["x-service-signature"], OTHER, False),
        (BODY, "", OLD, False),
        (BODY, "sha256=", OLD, False),
        (BODY, "sha256=ä", OLD, False),
    ]


def standard_headers_cases() -> list[tuple[bytes, dict[str, str], str, bool]]:
    """Return cases with the standard webhook headers.

    X-Service-Signature is left out.
    """
    return [
        (BODY, signed_headers(OLD), OLD, True),
        (BODY, signed_headers(OLD, age_s=200), OLD, True),
        (BODY, signed_headers(OLD, NEW), OLD, True),
        (BODY, signed_headers(OLD, NEW), NEW, True),
        (BODY + b" ", signed_headers(OLD), OLD, False),
        (BODY, signed_headers(OLD), OTHER, False),
        (BODY, signed_headers(OLD, age_s=400), OLD, False),
        (BODY, signed_headers(OLD, age_s=-400), OLD, False),
        (BODY, signed_headers(OLD) | {"webhook-id": "evt_2"}, OLD, False),
        (BODY, signed_headers(OLD) | {"webhook-timestamp": "soon"}, OLD, False),
        (BODY, signed_headers(OLD) | {"webhook-signature": "v1, v2,x ä"}, OLD, False),
        (BODY, {}, OLD, False),
    ]


def test_python_sample_verifies_deliveries() -> None:
    namespace: dict[str, Any] = {}
    exec(sample("python"), namespace)
    for body, signature, secret, expected in own_signature_cases():
        assert namespace["is_genuine"](body, signature, secret) is expected, signature
    for body, headers, secret, expected in standard_headers_cases():
        assert namespace["is_genuine_and_fresh"](body, headers, secret) is expected, headers


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_node_sample_verifies_deliveries() -> None:
    cases_with_results = [*own_signature_cases(), *standard_headers_cases()]
    cases = [[body.decode(), signature, secret] for body, signature, secret, _ in cases_with_results]
    script = f"""{sample("js")}
    for (const [body, given, secret] of {json.dumps(cases)}) {{
      const check = typeof given === "string" ? isGenuine : isGenuineAndFresh;
      console.log(check(Buffer.from(body), given, secret));
    }}"""
    execution = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=30, check=True)
    assert execution.stdout.split() == [str(expected).lower() for *_, expected in cases_with_results]


@pytest.mark.skipif(not (shutil.which("openssl") and shutil.which("curl")), reason="openssl or curl is not installed")
def test_shell_sample_signs_a_delivery() -> None:
    with Site({"/hook": Answer("ok")}) as site:
        (script,) = re.findall(r"^```bash\n(BODY=.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
        environment = {"PATH": os.environ["PATH"], "SECRET": OLD, "RECEIVER": f"{site.url}/hook"}
        subprocess.run(["bash", "-euc", script], env=environment, capture_output=True, timeout=30, check=True)
        (request,) = site.requests
    assert json.loads(request.body)["event"] == request.header("X-Service-Event") == "scan.completed"
    headers = signature_headers(valid=[OLD], event_id="evt_1", timestamp_s=1, body=request.body)
    assert request.header("X-Service-Signature") == headers["X-Service-Signature"]


def table(first_column: str) -> list[list[str]]:
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in match[1].splitlines()]


def test_documented_figures_match_the_code() -> None:
    assert f"varies by ± {schedule.JITTER:.0%}".replace("%", " %") in TEXT
    assert f"up to {schedule.MAX_RETRY_AFTER / timedelta(hours=1):.0f} hours" in TEXT
    assert (sending.TIMEOUT_S, sending.KEPT_BYTES) == (10, 2 * 1024)
    assert f"At most {claims.MAX_ATTEMPTS_PER_RECEIVER} attempts run at a time" in TEXT
    assert f"all attempts failed for {schedule.MAX_FAILING_TIME.days} days" in TEXT
    assert timedelta(hours=24) == services.SECRET_OVERLAP
    assert services.MAX_FORMER_SECRETS == 4
    assert f"has waited for {DELIVERIES_KEPT_DAYS} days has `failed`" in TEXT
    assert f"the log of the last {DELIVERIES_KEPT_DAYS} days" in TEXT
    assert schedule.MAX_RETRY_AFTER * len(schedule.PAUSES) < timedelta(days=8)


def test_delivery_errors_are_explained() -> None:
    documented = {code.strip("`") for code, _ in table("code")}
    # Redirects of receivers are not followed, so TOO_MANY_REDIRECTS cannot occur.
    possible = {
        vars(error)["code"] for error in vars(errors).values() if isinstance(error, type) and "code" in vars(error)
    }
    expected = possible - {"TOO_MANY_REDIRECTS"} | {InvalidUrl.code, sending.INTERNAL_ERROR_CODE, "RECEIVER_STATUS"}
    assert documented == expected
