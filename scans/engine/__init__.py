"""The engine. `run.scan()` is the one entry: probes make evidence, checks read it, scoring sums up. No Django."""
