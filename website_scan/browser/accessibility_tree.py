"""Read facts about custom elements from the accessibility tree.

It is Chromium's tree. The facts are for axe_internals.js.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import ProtocolError, Target

# Roles of elements that assistive technology looks through.
ROLES_WITHOUT_MEANING = frozenset({"generic", "none", "presentation"})
# The browser adds these values even if the page does not set them.
DEFAULT_VALUES: Mapping[str, frozenset[object]] = {
    "checked": frozenset({"false"}),
    "level": frozenset({2}),
    "selected": frozenset({False}),
    "valuemax": frozenset({100}),
    "valuemin": frozenset({0}),
    "valuenow": frozenset({0, 50}),
}
STATES = frozenset(DEFAULT_VALUES) | {"expanded", "pressed"}


async def read_accessibility_facts(cdp: Target, array_id: str) -> list[dict[str, Any] | None]:
    """Return role, name and states of each element of a JavaScript array.

    None for elements outside the tree. The array belongs to an isolated world. One to three commands are sent for each
    element. Raises `ProtocolError`.
    """
    items = await cdp.send("Runtime.getProperties", {"objectId": array_id, "ownProperties": True})
    object_ids = [item["value"]["objectId"] for item in items["result"] if item["name"].isdecimal()]
    await cdp.send("Accessibility.enable")
    try:
        return [await _read_facts(cdp, object_id) for object_id in object_ids]
    finally:
        await cdp.send("Accessibility.disable")


async def _read_facts(cdp: Target, object_id: str) -> dict[str, Any] | None:
    try:
        response = await cdp.send("Accessibility.getPartialAXTree", {"objectId": object_id, "fetchRelatives": False})
    except ProtocolError:
        return None  # The page has removed the element.
    node = response["nodes"][0]
    if node["ignored"]:
        return None
    states = _read_states(node)
    defaults = {name for name, value in states.items() if value in DEFAULT_VALUES.get(name, ())}
    if defaults and not await _has_internals(cdp, node["backendDOMNodeId"]):
        states = {name: value for name, value in states.items() if name not in defaults}
    return {
        "role": _read_role(node),
        "name": _read_name(node),
        "states": {name: str(value).lower() for name, value in states.items()},
    }


def _read_role(node: Mapping[str, Any]) -> str | None:
    role = node["role"]
    return None if role["type"] != "role" or role["value"] in ROLES_WITHOUT_MEANING else str(role["value"])


def _read_name(node: Mapping[str, Any]) -> str:
    """Return the name that the page sets for the element.

    Empty if the name is the element's content, which axe-core reads itself.
    """
    for source in node.get("name", {}).get("sources", []):
        if source.get("superseded") or "value" not in source:
            continue
        return str(source["value"]["value"]) if source["type"] in ("attribute", "relatedElement") else ""
    return ""


def _read_states(node: Mapping[str, Any]) -> dict[str, Any]:
    properties = {item["name"]: item["value"].get("value") for item in node.get("properties", ())}
    if "value" in node:
        properties["valuenow"] = node["value"].get("value")
    return {name: value for name, value in properties.items() if name in STATES}


async def _has_internals(cdp: Target, backend_node_id: int) -> bool:
    """Return True if the element's object has ElementInternals.

    They are in a property or private field. Only then may a default value come from the page. Reading properties runs
    none of the page's code.
    """
    resolved = await cdp.send("DOM.resolveNode", {"backendNodeId": backend_node_id})
    properties = await cdp.send(
        "Runtime.getProperties", {"objectId": resolved["object"]["objectId"], "ownProperties": True}
    )
    fields = [*properties["result"], *properties.get("privateProperties", ())]
    return any(field.get("value", {}).get("className") == "ElementInternals" for field in fields)
