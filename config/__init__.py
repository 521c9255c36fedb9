"""The service's settings, URLs and process entry points."""
