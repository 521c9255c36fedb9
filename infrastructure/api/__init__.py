"""Infrastructure of the API: base view, parsers, errors, throttling, schema."""
