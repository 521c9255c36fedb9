"""Tests that generated files are up to date.

If one fails, run `make docs`.
"""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from django.core.management import call_command
from django.utils import timezone

from infrastructure.api.pagination import MAX_OFFSET
from tests.generated import assert_described, description, examples
from webhooks.delivery.signing import new_secret, signature_headers
from webhooks.examples import example
from webhooks.models import EventKind, new_event_id
from website_scan.json_types import GRADES

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTION = description()


@pytest.mark.parametrize(
    ("path", "command", "options"),
    [
        ("openapi.yaml", "spectacular", {"validate": True, "fail_on_warn": True}),
        ("docs/checks.md", "checks", {}),
        ("website_scan/checks.json", "checks", {"format": "json"}),
    ],
)
def test_committed_file_is_up_to_date(path: str, command: str, options: dict[str, object]) -> None:
    output = StringIO()
    call_command(command, stdout=output, **options)
    committed = (ROOT / path).read_text(encoding="utf-8")
    assert committed.strip() == output.getvalue().strip(), f"{path} is not up to date: run `make docs`"


def test_generated_tables_are_up_to_date() -> None:
    call_command("tables", check=True)


def test_make_docs_writes_all_files() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "spectacular --file openapi.yaml" in makefile
    assert "manage.py tables\n" in makefile
    assert "checks > docs/checks.md" in makefile
    assert "checks --format json > website_scan/checks.json" in makefile


def test_description_is_as_strict_as_the_api() -> None:
    """Client and test generators rely on the constraints in the schema."""
    schemas = DESCRIPTION["components"]["schemas"]
    create = DESCRIPTION["paths"]["/v1/scan"]["post"]
    (key,) = [parameter["schema"] for parameter in create["parameters"] if parameter["name"] == "Idempotency-Key"]
    assert (key["minLength"], key["maxLength"]) == (1, 255)
    for path in ("/v1/scans", "/api/webhooks/{webhook_id}/deliveries"):
        parameters = DESCRIPTION["paths"][path]["get"]["parameters"]
        (offset,) = [parameter["schema"] for parameter in parameters if parameter["name"] == "offset"]
        assert offset["maximum"] == MAX_OFFSET
    assert schemas["WebhookChanges"]["minProperties"] == 1
    for name in ("ScanRequest", "WebhookRequest", "WebhookChanges"):
        url = schemas[name]["properties"]["url"]
        assert url["maxLength"] == 2048
        assert re.search(url["pattern"], "HTTPS://example.com/")
        assert not re.search(url["pattern"], "ftp://example.com/")


def test_enumeration_values_have_distinct_names() -> None:
    """Names of enumeration values must differ.

    Generators drop characters that names may not contain, so A+ and A would get the same name.
    """
    for name, schema in DESCRIPTION["components"]["schemas"].items():
        names = [re.sub(r"\W", "_", value).strip("_").upper() for value in schema.get("enum", ())]
        assert len(names) == len(set(names)), name
    grade = DESCRIPTION["components"]["schemas"]["Report"]["properties"]["grade"]["pattern"]
    assert [letter for letter in (*GRADES, "E", "A-", "") if re.search(grade, letter)] == list(GRADES)


def test_every_example_matches_its_schema() -> None:
    checked = {name for name, *_ in examples()}
    for name, schema, value in examples():
        try:
            jsonschema.validate(value, schema | {"components": DESCRIPTION["components"]})
        except jsonschema.ValidationError as error:
            pytest.fail(f"{name}: {error.message}")
    operations_without_body = {
        "export_audit",
        "cancel_audit",
        "delete_badge",
        "delete_maintenance_window",
        "delete_monitor",
        "delete_webhook",
        "end_mute",
    }
    operations_without_body |= {"delete_assessment", "delete_assessment_page", "delete_journey"}
    operations_without_body |= {"delete_entry", "delete_list", "delete_share"}
    # Workbooks and pictures are not text.
    operations_without_body |= {"export_snapshot_xlsx", "get_audit_step_picture"}
    assert {"receive_scan_completed", "receive_audit_completed", "receive_monitor_changed"} <= checked
    operations = {
        operation["operationId"] for methods in DESCRIPTION["paths"].values() for operation in methods.values()
    }
    assert operations - checked <= operations_without_body, (
        "no document shows a request and a response of the operation"
    )


def test_every_request_body_has_an_example() -> None:
    """Every body needs an example.

    Without examples, viewers and mock servers invent values such as "string".
    """
    operations_without_example = {
        operation["operationId"]
        for methods in DESCRIPTION["paths"].values()
        for operation in methods.values()
        for message in (operation.get("requestBody", {}), *map(operation["responses"].get, ("200", "201", "202")))
        for content in (message or {}).get("content", {}).values()
        if "example" not in content
    }
    # A workbook and a picture are not text, an optional boolean needs no example, and exports have their own.
    assert operations_without_example <= {
        *("rotate_webhook_secret", "export_audit", "export_snapshot_xlsx", "get_audit_step_picture"),
    }


@pytest.mark.parametrize("kind", EventKind.values)
def test_every_event_matches_its_description(kind: str) -> None:
    assert_described(json.loads(example(EventKind(kind), timezone.now())))
    with pytest.raises(jsonschema.ValidationError):
        assert_described({"event": kind, "timestamp": "2026-11-21T07:15:00Z", "data": {}})


def test_delivery_headers_are_described() -> None:
    secrets = [new_secret(), new_secret()]
    headers = signature_headers(valid=secrets, event_id=new_event_id(), timestamp_s=1_795_267_062, body=b"{}")
    parameters_of_events = [DESCRIPTION["webhooks"][kind]["post"]["parameters"] for kind in EventKind.values]
    described = {parameter["name"]: parameter["schema"]["pattern"] for parameter in parameters_of_events[0]}
    assert described.keys() == {"X-Service-Event", *headers}
    for name, value in headers.items():
        assert re.search(described[name], value), name
    for kind in EventKind.values:
        assert re.search(described["X-Service-Event"], kind)
    assert all(parameters == parameters_of_events[0] for parameters in parameters_of_events)


def test_every_operation_describes_its_errors() -> None:
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    conflict = {"application/json": {"schema": {"$ref": "#/components/schemas/ResultConflict"}}}
    # The error INVALID_ENTRIES also contains the invalid lines.
    import_refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/ImportError"}}}
    for path, methods in DESCRIPTION["paths"].items():
        for operation in methods.values():
            assert operation["security"] == [{"ApiKey": []}], path
            assert operation["summary"], path
            assert {"400", "401", "405", "429", "500", "503"} <= operation["responses"].keys(), path
            for status, response in operation["responses"].items():
                assert response["description"], (path, status)
                if status >= "400":
                    schemas = {
                        kind: {"schema": media_type["schema"]} for kind, media_type in response["content"].items()
                    }
                    is_import = status == "400" and operation["operationId"] in ("replace_entries", "add_entries")
                    is_conflict = status == "409" and operation["operationId"] == "set_assessment_result"
                    expected = import_refusal if is_import else conflict if is_conflict else refusal
                    assert schemas == expected, (path, status)
