"""Hostile sites (the zoo) by name, and how their scans must end.

    for animal in ZOO:
        with animal.start() as site:
            scan(animal.url(site), …)

Nothing is downloaded: each animal is a few lines and is built when it is started.
"""

from __future__ import annotations

from tests.targets import zoo_pages, zoo_tls, zoo_wire
from tests.targets.zoo_cage import Animal

ZOO: tuple[Animal, ...] = (*zoo_wire.ANIMALS, *zoo_tls.ANIMALS, *zoo_pages.ANIMALS)
ANIMALS_BY_NAME: dict[str, Animal] = {animal.name: animal for animal in ZOO}
assert len(ANIMALS_BY_NAME) == len(ZOO), "two animals share a name"
