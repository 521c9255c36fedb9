"""Command `manage.py refresh_vocabulary`, which downloads the types and properties of schema.org."""

from __future__ import annotations

import datetime
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scans.policy import network_policy_from_settings
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Request
from website_scan.net.targets import InvalidUrl
from website_scan.seo import structured_data

RELEASE = "https://schema.org/version/latest/schemaorg-current-https.jsonld"
MAX_RESPONSE_BYTES = 40 * 1024 * 1024


class Command(BaseCommand):
    """Update `website_scan/seo/schema_org.json` with the types and properties of schema.org."""

    help = "Bring the vocabulary of schema.org up to date, from its newest release."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--release", default=RELEASE, help=f"address of the release in JSON-LD (default: {RELEASE})"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        policy = network_policy_from_settings()
        limits = Limits(body_bytes=MAX_RESPONSE_BYTES, decoded_bytes=MAX_RESPONSE_BYTES)
        try:
            with Network(policy, limits=limits) as network:
                response = network.follow(Request(options["release"], max_bytes=MAX_RESPONSE_BYTES))[-1]
            if response.status != 200:
                raise CommandError(f"The release answers with status {response.status}.")
            release = json.loads(response.body)
            names, parents = _schema_names(release), _parents(release)
        except (NetError, InvalidUrl) as error:
            raise CommandError(str(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CommandError("The release can't be read.") from None
        fields = {
            "source": "the schema.org vocabulary",
            "as_of": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            "types": sorted(names["rdfs:Class"]),
            "properties": sorted(names["rdf:Property"]),
            "parents": parents,
        }
        lines = [f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in fields.items()]
        structured_data.DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        self.stdout.write(f"{len(fields['types'])} types, {len(fields['properties'])} properties.")


def _schema_names(release: dict[str, Any]) -> dict[str, set[str]]:
    """Return the names of schema.org's classes and properties by kind. Raises ValueError if none are found."""
    names: dict[str, set[str]] = {"rdfs:Class": set(), "rdf:Property": set()}
    for node in release["@graph"]:
        kinds = node["@type"] if isinstance(node["@type"], list) else [node["@type"]]
        prefix, _, name = node["@id"].partition(":")
        for kind in set(kinds) & set(names):
            if prefix == "schema":
                names[kind].add(name)
    if not all(names.values()):
        raise ValueError
    return names


def _parents(release: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of the direct parents of every schema.org type."""
    parents: dict[str, list[str]] = {}
    for node in release["@graph"]:
        prefix, _, name = node["@id"].partition(":")
        superior = node.get("rdfs:subClassOf", [])
        references = [reference["@id"] for reference in (superior if isinstance(superior, list) else [superior])]
        if prefix == "schema" and references:
            parents[name] = sorted(id.partition(":")[2] for id in references if id.startswith("schema:"))
    return {name: parents[name] for name in sorted(parents)}
