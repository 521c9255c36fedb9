"""Run a small HTTPS site for trying out the service.

It listens on loopback (`make site`).
"""

from __future__ import annotations

import threading

from tests.targets.sample import sample_site

if __name__ == "__main__":
    with sample_site() as site:
        print(f"The site: {site.url_as('localhost')}/")
        print("Start the service so that it may scan it:")
        print(f"  SCAN_ALLOWED_NETWORKS=127.0.0.0/8 SCAN_CA_BUNDLE={site.ca_file} make run", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
