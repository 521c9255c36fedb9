"""Checks of plug-ins in a scan.

One probe for each plug-in runs all its checks in the plug-in's process, and its evidence are their verdicts.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad, LoadedRequest, Rendered
from website_scan.catalogue import Check, Need, Probe
from website_scan.check_results import check_result
from website_scan.errors import Refusal
from website_scan.extension import Extension
from website_scan.findings import NotApplicable
from website_scan.net.client import Network
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Document, Page, ScanTypes
from website_scan.page.registrable_domain import is_same_site
from website_scan.plugins.description import DescribedCheck
from website_scan.plugins.registry import UsedPlugIn
from website_scan.plugins.requests_of_probes import ProbeRequests
from website_scan.plugins.runner import CheckToRun, PlugInFailed
from website_scan.result import PlugIn
from website_scan.urls import host_of

# All checks of a plug-in on a page, for all scan types, and this share of the visit's time.
PAGE_TIMEOUT_S = 30.0
TIME_SHARE = 0.5
# States of journeys have no network.
STATE_TIMEOUT_S = 10.0
MAX_REQUESTS = 2_000
ENGINE_EVIDENCE: Mapping[str, type] = {
    "page": Page,
    "document": Document,
    "requests": BrowserLoad,
    "rendered": Rendered,
    "network": Network,
}


class CheckFailed(Refusal):
    """Raised by a plug-in's check that could not run."""

    code = "PLUG_IN_FAILED"


class Verdicts(Struct, frozen=True):
    """Verdicts of a plug-in's checks by ID, or clauses on why they could not run."""

    by_check: Mapping[str, Verdict | str] = field(default_factory=dict)


@lru_cache(maxsize=4)
def extension_of(plug_ins: tuple[UsedPlugIn, ...]) -> Extension:
    """Return the checks of plug-ins for scans. Plug-ins that could not be loaded have none."""
    checks: list[Check] = []
    probes: dict[type, Probe] = {}
    sources: dict[str, PlugIn] = {}
    for used in plug_ins:
        described = used.description.checks
        if not described:
            continue
        # Each plug-in has a class of evidence of its own.
        provides = type(f"VerdictsOf{used.name.capitalize()}", (Verdicts,), {})
        probes[provides] = _probe(used, provides)
        checks += [_check(used, check, provides) for check in described]
        sources |= {check.category_id: PlugIn(used.name, used.installed.version) for check in described}
    return Extension(tuple(checks), probes, sources)


def _check(used: UsedPlugIn, described: DescribedCheck, provides: type) -> Check:
    def pick(verdicts: Verdicts, **_: object) -> Verdict:
        verdict = described.problem or verdicts.by_check.get(described.id, "its verdict is missing")
        if isinstance(verdict, str):
            raise CheckFailed(f"This check of the plug-in {used.name} failed: {verdict}.")
        return verdict

    needs = [Need("verdicts", provides, optional=False)]
    needs += [
        Need(name, ENGINE_EVIDENCE[name], optional=not is_required) for name, is_required in described.evidence.items()
    ]
    return replace(described.weighted(used.weight), function=pick, needs=tuple(needs))


def _probe(used: UsedPlugIn, provides: type) -> Probe:
    evidence = {name for check in used.description.checks for name in check.evidence}
    optional: dict[str, type] = {"document": Document, "network": Network}
    optional |= {name: ENGINE_EVIDENCE[name] for name in ("requests", "rendered") if name in evidence}

    def run_plug_in(page: Page, types: ScanTypes, **available: Any) -> Verdicts:
        verdicts: Verdicts = provides(_run(used, page, types, available))
        return verdicts

    needs = [Need("page", Page, optional=False), Need("types", ScanTypes, optional=False)]
    needs += [Need(name, kind, optional=True) for name, kind in optional.items()]
    return Probe(
        f"plug-in {used.name}",
        provides,
        run_plug_in,
        tuple(needs),
        essential=False,
        applies_to_whole_origin=False,
        needs_idle_network=False,
    )


def _run(used: UsedPlugIn, page: Page, types: ScanTypes, available: Mapping[str, Any]) -> dict[str, Verdict | str]:
    """Return the verdicts of the plug-in's checks for whose evidence the visit has sufficed."""
    network: Network | None = available["network"]
    timeout_s = min(PAGE_TIMEOUT_S, network.remaining_s * TIME_SHARE) if network else STATE_TIMEOUT_S
    ends = time.monotonic() + timeout_s
    missing = {name for name, value in available.items() if value is None}
    runnable = {
        check.id: check
        for check in used.description.checks
        if check.type in types
        and not check.problem
        and not any(is_required and name in missing for name, is_required in check.evidence.items())
    }
    if not runnable:
        return {}
    requests = ProbeRequests(network, page.target) if network else None

    def reply(request: Mapping[str, Any], ends: float) -> dict[str, Any]:
        if requests is None:
            return {"error": "There is no network in journeys.", "code": "NO_NETWORK"}
        return requests.answer(request, ends)

    to_run = [CheckToRun(check.id, "network" in check.evidence) for check in runnable.values()]
    try:
        results = used.runner.run_checks(to_run, _page_json(page, available), reply, ends)
    except PlugInFailed as failed:
        return dict.fromkeys(runnable, str(failed))
    return {id: _validated(runnable[id], result) for id, result in results.items()}


def _validated(check: DescribedCheck, result: Verdict | str) -> Verdict | str:
    """Return the verdict, or a clause if it contradicts the check's declaration."""
    if isinstance(result, str | NotApplicable):
        return result
    try:
        check_result(check.declaration, result, None)
    except Exception as error:  # noqa: BLE001 -- a verdict of a plug-in may be wrong in any way
        return f"its verdict contradicts its declaration ({error})"
    return result


def _page_json(page: Page, available: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request with the evidence for the plug-in's process."""
    document: Document | None = available["document"]
    load: BrowserLoad | None = available.get("requests")
    rendered: Rendered | None = available.get("rendered")
    response = page.response
    return {
        "do": "page",
        "page": {
            "url": page.target.url,
            "requested_url": page.requested.url,
            "status": response.status,
            "headers": response.headers.items,
            "body": base64.b64encode(response.body).decode(),
            "encoding": document.encoding if document else "utf-8",
            "is_truncated": response.truncated,
            "is_html": page.is_html,
        },
        "requests": None
        if load is None
        else [_request_json(request, page) for request in load.first.requests][:MAX_REQUESTS],
        "rendered": None if rendered is None else rendered.document.text,
    }


def _request_json(request: LoadedRequest, page: Page) -> list[object]:
    is_third_party = not is_same_site(host_of(request.url), page.target.host)
    kind = str(request.kind) if request.kind else "document"
    return [request.url, kind, request.wire_bytes, request.status, is_third_party]
