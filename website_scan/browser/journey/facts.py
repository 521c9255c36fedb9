"""Read what a step has changed: the focus, dialogs, messages, responsiveness and what the keyboard reaches."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets as random
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from website_scan.browser.devtools import ProtocolError, Session
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.journey.finder import Element
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.journey.worlds import GROUP, Handle, ScriptFailed, World
from website_scan.journeys.walk import (
    Cookie,
    Focus,
    Interaction,
    KeyboardReach,
    LiveMessage,
    LogOut,
    OpenDialog,
    PasswordField,
    SilentMessage,
    StateSecurity,
    StorageEntry,
)

MAX_COOKIES = 200
MAX_NAME_CHARS = 200
MAX_PASTING_S = 2.0  # Time limit for asking all password fields of a page.
KEY_EVENTS = frozenset({"keydown", "keyup", "keypress"})
# Elements whose listeners may be those of a framework, for events of all elements inside.
MAX_PATH = 20
TOKEN_NAME = re.compile(r"token|jwt|auth|session|bearer|credential|api[-_]?key", re.IGNORECASE)
# JSON Web Token (RFC 7519), or a long text without spaces.
JWT = re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.")
TOKEN_VALUE = re.compile(r"[\w.+/=-]{16,}")


class StepFacts(Struct, frozen=True):
    """What a step has changed in the page."""

    interaction: Interaction | None = None
    focus: Focus | None = None
    dialogs: tuple[OpenDialog, ...] = ()
    messages: tuple[LiveMessage, ...] = ()
    silent_messages: tuple[SilentMessage, ...] = ()


class FactReader:
    """Reader of facts about the page. All methods raise `ProtocolError`, `ScriptFailed`."""

    def __init__(self, page: Session, mask: SecretMask) -> None:
        self._page = page
        self._mask = mask
        # Values of cookies can be compared within one execution, but not be guessed.
        self._digest_key = random.token_bytes(32)

    async def read(self, world: World, has_input: bool, received_bytes: int, requests: int) -> StepFacts:
        """Return what has changed since the step began."""
        observed = await world.call("stepFacts")
        interaction = Interaction(
            next_paint_ms=_optional(observed["nextPaint"]) if has_input else None,
            shift=float(observed["shift"]),
            long_tasks_ms=tuple(map(float, observed["tasks"])),
            transferred_bytes=received_bytes,
            requests=requests,
        )
        messages = _live_messages(observed["messages"])
        silent = tuple(SilentMessage(item["text"], item["selector"]) for item in observed["silentMessages"])
        focus = await self._read_focus(world, is_lost=bool(observed["isFocusLost"]))
        return StepFacts(interaction, focus, await self._read_dialogs(world), messages, silent)

    async def late_messages(self, world: World) -> tuple[LiveMessage, ...]:
        """Return the messages of live regions since the last step was read. Pages often announce after a pause."""
        return _live_messages((await world.call("observed"))["messages"])

    async def _read_focus(self, world: World, *, is_lost: bool) -> Focus:
        handle = await world.handle("focused")
        if handle is None:
            return Focus("", "", "", is_in_dialog=False, is_lost=is_lost)
        facts = await world.call("focusFacts", handle)
        role, name = await self.role_and_name(handle)
        return Focus(facts["selector"], role, name, bool(facts["isInDialog"]), is_lost)

    async def _read_dialogs(self, world: World) -> tuple[OpenDialog, ...]:
        dialogs = []
        for handle in await world.handles("dialogs"):
            facts = await world.call("dialogFacts", handle)
            _, name = await self.role_and_name(handle)
            dialogs.append(OpenDialog(facts["selector"], name, bool(facts["isModal"]), bool(facts["hasFocusInside"])))
        return tuple(dialogs)

    async def role_and_name(self, handle: Handle) -> tuple[str, str]:
        """Return the role and the accessible name of an element. Empty if assistive technology ignores it."""
        try:
            response = await self._page.send(
                "Accessibility.getPartialAXTree", {"objectId": handle.id, "fetchRelatives": False}
            )
        except ProtocolError:
            return "", ""  # The page has removed the element.
        node = response["nodes"][0]
        if node.get("ignored"):
            return "", ""
        values = (str(node.get(key, {}).get("value", "")) for key in ("role", "name"))
        role, name = (" ".join(value.split())[:MAX_NAME_CHARS] for value in values)
        return role, name

    async def keyboard_reach(self, step: int, element: Element) -> KeyboardReach:
        """Judge whether the keyboard reaches the element of a pointer step and can use it.

        The element is not used: a second click would have consequences. Elements that are no controls need a listener
        for keys. A framework's listener on the whole document counts, because it may serve this element.
        """
        world, page = element.world, self._page
        target = await world.handle("keyboardTarget", element.handle)
        assert target is not None
        values = (await page.send("Runtime.getProperties", {"objectId": target.id, "ownProperties": True}))["result"]
        fields: dict[str, Mapping[str, Any]] = {item["name"]: item["value"] for item in values if "value" in item}
        node = Handle(str(fields["node"]["objectId"]))
        reason = str(fields["reason"].get("value", ""))
        if not reason and not fields["isNative"].get("value") and not await self._hears_keys(world, node):
            reason = "no action"
        _, name = await self.role_and_name(element.handle)
        selector = str(await world.call("selectorOf", element.handle))
        return KeyboardReach(step, selector, name, is_reached=not reason, reason=reason)

    async def password_fields(self, world: World) -> tuple[PasswordField, ...]:
        """Return the empty password fields, after asking each whether it blocks pasting. Their values do not change.

        Returns no fields if the page does not answer.
        """
        try:
            async with asyncio.timeout(MAX_PASTING_S):
                return await self._ask_password_fields(world)
        except (ProtocolError, ScriptFailed, TimeoutError):
            return ()

    async def _ask_password_fields(self, world: World) -> tuple[PasswordField, ...]:
        fields = []
        for handle in await world.handles("emptyPasswordFields"):
            selector = str(await world.call("selectorOf", handle))
            _, name = await self.role_and_name(handle)
            response = await self._page.send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": read_script("journey/pasting.js"),
                    "objectId": await self._page_object(handle),
                    "returnByValue": True,
                },
            )
            fields.append(PasswordField(selector, name, blocks_paste=response["result"].get("value") is True))
        return tuple(fields)

    async def _page_object(self, handle: Handle) -> str:
        """Return the DevTools object ID of an element among the page's own scripts. Raises `ProtocolError`."""
        described = await self._page.send("DOM.describeNode", {"objectId": handle.id})
        ids = {"backendNodeId": described["node"]["backendNodeId"], "objectGroup": GROUP}
        return str((await self._page.send("DOM.resolveNode", ids))["object"]["objectId"])

    async def _hears_keys(self, world: World, node: Handle) -> bool:
        """Return True if the element or one around it has a listener for keys."""
        for handle in (await world.handles("keyboardPath", node))[:MAX_PATH]:
            # Chromium reports the listeners of the page only for objects of the page's own world.
            resolved = await self._page_object(handle)
            found = await self._page.send("DOMDebugger.getEventListeners", {"objectId": resolved})
            if any(listener["type"] in KEY_EVENTS for listener in found["listeners"]):
                return True
        return False

    def cookies(self, items: Sequence[Mapping[str, Any]]) -> tuple[Cookie, ...]:
        """Return cookies of the DevTools Protocol with digests of their values."""
        now = time.time()
        return tuple(
            Cookie(
                name=str(item["name"])[:MAX_NAME_CHARS],
                domain=str(item["domain"]).lstrip(".")[:MAX_NAME_CHARS],
                path=str(item["path"])[:MAX_NAME_CHARS],
                value_digest=hmac.new(self._digest_key, str(item["value"]).encode(), hashlib.sha256).hexdigest()[:16],
                value_length=len(str(item["value"])),
                is_secure=bool(item["secure"]),
                is_http_only=bool(item["httpOnly"]),
                same_site=str(item.get("sameSite", "")),
                expires_in_s=None if item.get("session", True) else float(item["expires"]) - now,
                is_host_only=not str(item["domain"]).startswith("."),
            )
            for item in items[:MAX_COOKIES]
        )

    async def storage(self, world: World) -> tuple[StorageEntry, ...]:
        """Return the entries of the page's storage without their values."""
        return tuple(
            StorageEntry(item["area"], item["key"], self._kind(item["key"], item["value"]), int(item["length"]))
            for item in await world.call("storage")
        )

    async def security(
        self,
        world: World,
        cookies: Sequence[Mapping[str, Any]],
        headers: Mapping[str, str],
        addresses: Iterable[str],
        log_out: LogOut | None,
    ) -> StateSecurity:
        """Return what the checks of security judge in a state. `addresses` are those with secrets."""
        return StateSecurity(
            cookies=self.cookies(cookies),
            storage=await self.storage(world),
            document_headers=headers,
            secrets_in_addresses=tuple(addresses),
            password_fields=await self.password_fields(world),
            log_out=log_out,
        )

    def _kind(self, key: str, value: str) -> str:
        if self._mask.occurs_in(value) or self._mask.occurs_in(key):
            return "secret"
        is_token = JWT.search(value) or (TOKEN_NAME.search(key) and TOKEN_VALUE.search(value))
        return "token" if is_token else "other"


def _live_messages(items: Sequence[Mapping[str, Any]]) -> tuple[LiveMessage, ...]:
    return tuple(LiveMessage(item["text"], item["politeness"], item["selector"]) for item in items)


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)
