"""Generated and committed files are up to date with the code: otherwise `make docs` was forgotten."""

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
def test_the_committed_file_is_what_the_code_says(path: str, command: str, options: dict[str, object]) -> None:
    output = StringIO()
    call_command(command, stdout=output, **options)
    committed = (ROOT / path).read_text(encoding="utf-8")
    assert committed.strip() == output.getvalue().strip(), f"{path} is not up to date: run `make docs`"


def test_the_tables_of_the_documents_are_what_the_code_says() -> None:
    call_command("tables", check=True)


def test_make_docs_writes_all_of_them() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "spectacular --file openapi.yaml" in makefile
    assert "manage.py tables\n" in makefile
    assert "checks > docs/checks.md" in makefile
    assert "checks --format json > website_scan/checks.json" in makefile


def test_the_description_is_as_strict_as_the_api() -> None:
    """Generators of clients or of test requests rely on the constraints of the schema."""
    schemas = DESCRIPTION["components"]["schemas"]
    create = DESCRIPTION["paths"]["/v1/scan"]["post"]
    (key,) = [each["schema"] for each in create["parameters"] if each["name"] == "Idempotency-Key"]
    assert (key["minLength"], key["maxLength"]) == (1, 255)
    for path in ("/v1/scans", "/api/webhooks/{webhook_id}/deliveries"):
        parameters = DESCRIPTION["paths"][path]["get"]["parameters"]
        (offset,) = [each["schema"] for each in parameters if each["name"] == "offset"]
        assert offset["maximum"] == MAX_OFFSET
    assert schemas["WebhookChanges"]["minProperties"] == 1
    for name in ("ScanRequest", "WebhookRequest", "WebhookChanges"):
        url = schemas[name]["properties"]["url"]
        assert url["maxLength"] == 2048
        assert re.search(url["pattern"], "HTTPS://example.com/")
        assert not re.search(url["pattern"], "ftp://example.com/")


def test_no_two_values_of_an_enumeration_get_the_same_name_in_a_client() -> None:
    """Generators drop characters that a name may not contain: A+ and A would become the same name."""
    for name, schema in DESCRIPTION["components"]["schemas"].items():
        names = [re.sub(r"\W", "_", value).strip("_").upper() for value in schema.get("enum", ())]
        assert len(names) == len(set(names)), name
    grade = DESCRIPTION["components"]["schemas"]["Report"]["properties"]["grade"]["pattern"]
    assert [letter for letter in (*GRADES, "E", "A-", "") if re.search(grade, letter)] == list(GRADES)


def test_every_example_is_what_its_schema_says() -> None:
    checked = {name for name, *_ in examples()}
    for name, schema, shown in examples():
        try:
            jsonschema.validate(shown, schema | {"components": DESCRIPTION["components"]})
        except jsonschema.ValidationError as error:
            pytest.fail(f"{name}: {error.message}")
    ends = {"export_audit", "cancel_audit", "delete_badge", "delete_monitor", "delete_webhook", "end_mute"}
    ends |= {"delete_entry", "delete_list", "delete_share"}
    assert {"receive_scan_completed", "receive_audit_completed", "receive_monitor_changed"} <= checked
    operations = {each["operationId"] for methods in DESCRIPTION["paths"].values() for each in methods.values()}
    assert operations - checked <= ends, "the documents show no request and answer of it"


def test_every_good_answer_and_body_has_an_example() -> None:
    """Without examples, viewers and mock servers invent values such as "string"."""
    lacking = {
        operation["operationId"]
        for methods in DESCRIPTION["paths"].values()
        for operation in methods.values()
        for answer in (operation.get("requestBody", {}), *map(operation["responses"].get, ("200", "201", "202")))
        for content in (answer or {}).get("content", {}).values()
        if "example" not in content
    }
    # An optional body with a single boolean; and a document of three parts that have their own examples.
    assert lacking <= {"rotate_webhook_secret", "export_audit"}


@pytest.mark.parametrize("kind", EventKind.values)
def test_every_event_is_described(kind: str) -> None:
    assert_described(json.loads(example(EventKind(kind), timezone.now())))
    with pytest.raises(jsonschema.ValidationError):
        assert_described({"event": kind, "timestamp": "2026-11-21T07:15:00Z", "data": {}})


def test_the_headers_of_a_delivery_are_described() -> None:
    secrets = [new_secret(), new_secret()]
    sent = signature_headers(valid=secrets, event_id=new_event_id(), timestamp_s=1_795_267_062, body=b"{}")
    received = [DESCRIPTION["webhooks"][kind]["post"]["parameters"] for kind in EventKind.values]
    described = {each["name"]: each["schema"]["pattern"] for each in received[0]}
    assert described.keys() == {"X-Service-Event", *sent}
    for name, value in sent.items():
        assert re.search(described[name], value), name
    for kind in EventKind.values:
        assert re.search(described["X-Service-Event"], kind)
    assert all(parameters == received[0] for parameters in received)


def test_every_operation_says_who_may_call_it_and_how_it_refuses() -> None:
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    # It also names the lines that are wrong.
    of_import = {"application/json": {"schema": {"$ref": "#/components/schemas/ImportError"}}}
    for path, methods in DESCRIPTION["paths"].items():
        for operation in methods.values():
            assert operation["security"] == [{"ApiKey": []}], path
            assert operation["summary"], path
            assert {"400", "401", "405", "429", "500", "503"} <= operation["responses"].keys(), path
            for status, response in operation["responses"].items():
                assert response["description"], (path, status)
                if status >= "400":
                    schemas = {kind: {"schema": each["schema"]} for kind, each in response["content"].items()}
                    is_import = status == "400" and operation["operationId"] in ("replace_entries", "add_entries")
                    assert schemas == (of_import if is_import else refusal), (path, status)
