"""The frame: settings, the API's common parts, the embedded stack."""
