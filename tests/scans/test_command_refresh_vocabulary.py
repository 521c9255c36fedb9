"""Tests for `manage.py refresh_vocabulary`.

They use a fake release of schema.org.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import pytest_django
from django.core.management import CommandError, call_command

from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.seo import structured_data

RELEASE = {
    "@graph": [
        {"@id": "schema:Thing", "@type": "rdfs:Class"},
        {"@id": "schema:Event", "@type": "rdfs:Class", "rdfs:subClassOf": {"@id": "schema:Thing"}},
        {
            "@id": "schema:Festival",
            "@type": "rdfs:Class",
            "rdfs:subClassOf": [{"@id": "schema:Event"}, {"@id": "other:Thing"}],
        },
        {"@id": "schema:Text", "@type": ["rdfs:Class", "schema:DataType"]},
        {"@id": "schema:name", "@type": "rdf:Property"},
        {"@id": "other:nonsense", "@type": "rdf:Property"},
        {"@id": "schema:Monday", "@type": "schema:DayOfWeek"},
    ]
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: pytest_django.Settings) -> Path:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    copy = tmp_path / "schema_org.json"
    copy.write_bytes(structured_data.DATA.read_bytes())
    monkeypatch.setattr(structured_data, "DATA", copy)
    return copy


def test_vocabulary_is_replaced_with_the_release(data: Path) -> None:
    out = io.StringIO()
    with Site({"/new": Answer(json.dumps(RELEASE)), "/latest": Answer.redirect("/new")}) as site:
        call_command("refresh_vocabulary", release=f"{site.url}/latest", stdout=out)
    vocabulary = json.loads(data.read_text())
    assert (vocabulary["types"], vocabulary["properties"]) == (["Event", "Festival", "Text", "Thing"], ["name"])
    assert vocabulary["parents"] == {"Event": ["Thing"], "Festival": ["Event"]}
    assert out.getvalue() == "4 types, 1 properties.\n"


@pytest.mark.parametrize("answer", [Answer(status=404), Answer("<html>"), Answer("{}"), Answer('{"@graph": []}')])
def test_unreadable_release_changes_nothing(data: Path, answer: Answer) -> None:
    before = data.read_bytes()
    with Site({"/": answer}) as site, pytest.raises(CommandError):
        call_command("refresh_vocabulary", release=f"{site.url}/")
    assert data.read_bytes() == before
