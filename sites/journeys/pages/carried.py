"""Journey between its preview and its creation, in a hidden field of the form.

The field is encrypted, because it contains the passwords that were in a recording. Nothing is stored for journeys that
nobody creates.
"""

from __future__ import annotations

import json
import time

from cryptography.fernet import InvalidToken
from msgspec.structs import replace

from accounts.models import Membership
from infrastructure import encryption
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.recordings import read_recording, recording_of

PURPOSE = "preview of a journey"
MAX_AGE_S = 12 * 3600
MAX_CARRIED_LENGTH = 2_000_000


def carry(membership: Membership, journey_id: str, read: ReadJourney) -> str:
    """Return the value of the hidden field. `journey_id` is empty for a new journey."""
    content = {
        "purpose": PURPOSE,
        "membership": membership.id,
        "journey": journey_id,
        "at": int(time.time()),
        "recording": recording_of(read.journey),
        "lines": [step.line for step in read.journey.steps],
        "secrets": dict(read.secrets),
        "notes": list(read.notes),
    }
    return encryption.encrypt(json.dumps(content)).decode()


def carried_journey(membership: Membership, journey_id: str, carried: str) -> ReadJourney | None:
    """Return the journey in the hidden field. None if it is not genuine, too old, or of another form."""
    if len(carried) > MAX_CARRIED_LENGTH:
        return None
    try:
        content = json.loads(encryption.decrypt(carried.encode()))
    except (InvalidToken, ValueError):
        return None
    if not isinstance(content, dict) or content.get("purpose") != PURPOSE:
        return None
    if (content["membership"], content["journey"]) != (membership.id, journey_id):
        return None
    if time.time() - content["at"] > MAX_AGE_S:
        return None
    journey = read_recording(json.dumps(content["recording"])).journey
    steps = (replace(step, line=line) for step, line in zip(journey.steps, content["lines"], strict=True))
    return ReadJourney(replace(journey, steps=tuple(steps)), tuple(content["notes"]), content["secrets"])
