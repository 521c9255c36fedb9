"""What is generated and committed is what the code would generate: otherwise `make docs` was forgotten."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command

from config.api.pagination import MAX_OFFSET
from reports.serializers import GRADES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("path", "command", "options"),
    [
        ("openapi.yaml", "spectacular", {"validate": True, "fail_on_warn": True}),
        ("docs/checks.md", "checks", {}),
    ],
)
def test_the_committed_file_is_what_the_code_says(path: str, command: str, options: dict[str, object]) -> None:
    output = StringIO()
    call_command(command, stdout=output, **options)
    committed = (ROOT / path).read_text(encoding="utf-8")
    assert committed.strip() == output.getvalue().strip(), f"{path} is not up to date: run `make docs`"


def test_make_docs_writes_all_of_them() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "spectacular --file openapi.yaml" in makefile
    assert "checks > docs/checks.md" in makefile


def test_the_description_is_as_strict_as_the_api() -> None:
    """What a generator of clients or of requests may believe."""
    description = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    schemas = description["components"]["schemas"]
    create = description["paths"]["/v1/scan"]["post"]
    (key,) = [each["schema"] for each in create["parameters"] if each["name"] == "Idempotency-Key"]
    assert (key["minLength"], key["maxLength"]) == (1, 255)
    for path in ("/v1/scans", "/api/webhooks/{webhook_id}/deliveries"):
        parameters = description["paths"][path]["get"]["parameters"]
        (offset,) = [each["schema"] for each in parameters if each["name"] == "offset"]
        assert offset["maximum"] == MAX_OFFSET
    assert schemas["PatchedWebhookChanges"]["minProperties"] == 1
    for name in ("ScanRequest", "WebhookRequest", "PatchedWebhookChanges"):
        url = schemas[name]["properties"]["url"]
        assert url["maxLength"] == 2048
        assert re.search(url["pattern"], "HTTPS://example.com/")
        assert not re.search(url["pattern"], "ftp://example.com/")


def test_no_two_values_of_an_enumeration_get_the_same_name_in_a_client() -> None:
    """Generators leave out what no name may hold: A+ and A would be one."""
    description = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    for name, schema in description["components"]["schemas"].items():
        names = [re.sub(r"\W", "_", value).strip("_").upper() for value in schema.get("enum", ())]
        assert len(names) == len(set(names)), name
    grade = description["components"]["schemas"]["Report"]["properties"]["grade"]["pattern"]
    assert [letter for letter in (*GRADES, "E", "A-", "") if re.search(grade, letter)] == list(GRADES)
