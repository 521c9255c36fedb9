"""Open closed shadow trees.

Scripts such as axe-core cannot see their content.
"""

from __future__ import annotations

import asyncio

from website_scan.browser.devtools import ProtocolError, Target
from website_scan.browser.injected_scripts import read_script

MAX_HOSTS = 100
# Closed trees may contain further ones.
MAX_DEPTH = 4
SHOW_TREE = "function (root) { globalThis.__showClosedTree(this, root); }"


async def open_closed_trees(cdp: Target, world: int) -> None:
    """Make closed shadow trees visible in an isolated world.

    The trees are of custom elements. Raises `ProtocolError`. One command is sent for each custom element without an
    open tree, and two more for each closed tree.
    """
    await cdp.send("Runtime.evaluate", {"expression": f"{read_script('closed_trees.js')};0", "contextId": world})
    for _ in range(MAX_DEPTH):
        hosts = f"globalThis.__newHosts({MAX_HOSTS})"
        response = await cdp.send("Runtime.evaluate", {"expression": hosts, "contextId": world})
        items = await cdp.send(
            "Runtime.getProperties", {"objectId": response["result"]["objectId"], "ownProperties": True}
        )
        object_ids = [item["value"]["objectId"] for item in items["result"] if item["name"].isdecimal()]
        opened = await asyncio.gather(*(_open_tree(cdp, world, object_id) for object_id in object_ids))
        if not any(opened):
            return


async def _open_tree(cdp: Target, world: int, host: str) -> bool:
    try:
        node = (await cdp.send("DOM.describeNode", {"objectId": host, "depth": 1, "pierce": True}))["node"]
    except ProtocolError:
        return False  # The page has removed the element.
    closed = [root for root in node.get("shadowRoots", ()) if root.get("shadowRootType") == "closed"]
    for root in closed:
        ids = {"backendNodeId": root["backendNodeId"], "executionContextId": world}
        resolved = await cdp.send("DOM.resolveNode", ids)
        await cdp.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": SHOW_TREE,
                "objectId": host,
                "arguments": [{"objectId": resolved["object"]["objectId"]}],
            },
        )
    return bool(closed)
