"""Command `manage.py refresh_libraries`, which downloads known vulnerabilities of JavaScript libraries from OSV."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scans.policy import network_policy_from_settings
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Request
from website_scan.net.targets import InvalidUrl
from website_scan.security import javascript_libraries

API = "https://api.osv.dev/v1/query"
MAX_RESPONSE_BYTES = 8 * 1024 * 1024
TIME_LIMIT_S = 300.0


class Command(BaseCommand):
    """Update the vulnerabilities in `website_scan/security/javascript_libraries.json`.

    The list of libraries and their banners do not change.
    """

    help = "Update the known vulnerabilities of JavaScript libraries from the OSV database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--api", default=API, help=f"address of the OSV query API (default: {API})")

    def handle(self, *args: Any, **options: Any) -> None:
        raw = json.loads(javascript_libraries.DATA.read_text(encoding="utf-8"))
        policy = network_policy_from_settings()
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            for library in raw["libraries"]:
                library["vulnerabilities"] = _fetch_vulnerabilities(network, options["api"], library["package"])
        raw["as_of"] = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
        javascript_libraries.DATA.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        total = sum(len(library["vulnerabilities"]) for library in raw["libraries"])
        self.stdout.write(f"{total} entries for {len(raw['libraries'])} libraries, as of {raw['as_of']}.")


def _fetch_vulnerabilities(network: Network, api: str, package: str) -> list[dict[str, str | None]]:
    """Return the vulnerabilities of an npm package in OSV.

    Raises CommandError.
    """
    query = json.dumps({"package": {"name": package, "ecosystem": "npm"}}).encode()
    try:
        response = network.fetch(
            Request(
                api,
                method="POST",
                headers={"Content-Type": "application/json"},
                body=query,
                max_bytes=MAX_RESPONSE_BYTES,
            )
        )
        advisories = json.loads(response.body)
        if response.status != 200:
            raise CommandError(f"{package}: the database answers with status {response.status}.")
        vulnerabilities = [
            entry for advisory in advisories.get("vulns", ()) for entry in _affected_version_ranges(advisory, package)
        ]
    except (NetError, InvalidUrl) as error:
        raise CommandError(f"{package}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{package}: the database's answer can't be read.") from None
    return sorted(vulnerabilities, key=lambda entry: (str(entry["id"]), str(entry["introduced"])))


def _affected_version_ranges(advisory: dict[str, Any], package: str) -> Iterator[dict[str, str | None]]:
    """Yield the affected version ranges of an advisory with its CVE number.

    Without a CVE number, the advisory's own ID is used.
    """
    if "withdrawn" in advisory:
        return
    vulnerability_id = next(
        (alias for alias in advisory.get("aliases", ()) if alias.startswith("CVE-")), advisory["id"]
    )
    for affected in advisory["affected"]:
        if affected["package"]["name"] != package:
            continue
        for version_range in affected.get("ranges", ()):
            if version_range["type"] != "SEMVER":
                continue
            introduced: str | None = None
            for event in version_range["events"]:
                introduced = event.get("introduced", introduced)
                if "fixed" in event:
                    yield {"introduced": introduced or "0", "fixed": event["fixed"], "id": vulnerability_id}
                    introduced = None
                elif "last_affected" in event:
                    last_affected = event["last_affected"]
                    yield {
                        "introduced": introduced or "0",
                        "fixed": None,
                        "id": vulnerability_id,
                        "last": last_affected,
                    }
                    introduced = None
            if introduced is not None:
                yield {"introduced": introduced, "fixed": None, "id": vulnerability_id}
