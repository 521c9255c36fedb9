"""Print the steps of journeys in words, without executing them (`--dry-run`)."""

from __future__ import annotations

from collections.abc import Iterator

from website_scan.command.journey_options import JourneyOptions
from website_scan.command.terminal import printable, write_out
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.words import states_in_words, step_in_words
from website_scan.messages import counted


def print_journeys(journeys: JourneyOptions) -> int:
    """Print all journeys. Returns the exit status."""
    blocks = ["".join(f"{printable(line)}\n" for line in _lines(read)) for read in journeys.read("")]
    write_out("\n".join(blocks))
    return 0


def _lines(read: ReadJourney) -> Iterator[str]:
    journey = read.journey
    yield f"{journey.title}  {counted(len(journey.steps), 'step')}"
    for number, step in enumerate(journey.steps, 1):
        yield f"  {number:>2}  {step_in_words(step)}"
    yield f"  {states_in_words(journey)}"
    if journey.identity_providers:
        yield f"  Log-in is allowed at {', '.join(journey.identity_providers)}."
    if journey.secret_names:
        yield f"  Secrets: {', '.join(journey.secret_names)}."
    yield from (f"  {note}" for note in read.notes)
