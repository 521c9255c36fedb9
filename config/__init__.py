"""Configuration of the service: settings, URLs, and entry points of its processes."""
