"""Implementation of the public names of `website_scan`. Import them from there: this package is private."""

import logging

# Without a handler, Python would write warnings of a library to standard error.
logging.getLogger("website_scan").addHandler(logging.NullHandler())
