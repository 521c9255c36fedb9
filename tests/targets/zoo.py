"""The zoo: hostile sites by name, each with the end that a scan of it must come to.

    for animal in ZOO:
        with animal.start() as site:
            scan(animal.url(site), …)

Nothing here is fetched from anywhere else: an animal is a few lines, and made when it is asked for.
"""

from __future__ import annotations

from tests.targets import zoo_pages, zoo_tls, zoo_wire
from tests.targets.zoo_cage import Animal

ZOO: tuple[Animal, ...] = (*zoo_wire.ANIMALS, *zoo_tls.ANIMALS, *zoo_pages.ANIMALS)
BY_NAME: dict[str, Animal] = {animal.name: animal for animal in ZOO}
assert len(BY_NAME) == len(ZOO), "two animals share a name"
