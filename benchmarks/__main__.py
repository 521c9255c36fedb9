"""`make bench`."""

import sys

from benchmarks.api import main

sys.exit(main())
