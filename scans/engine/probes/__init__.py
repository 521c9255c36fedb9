"""The probes: one file per kind of evidence, each a plain function from evidence to evidence."""
