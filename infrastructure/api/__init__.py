"""API infrastructure, such as the base view, parsers, errors, throttling and the schema."""
