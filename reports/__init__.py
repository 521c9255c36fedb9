"""Reports: frozen when the scan ends, never recomputed."""
