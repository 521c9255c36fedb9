"""The roof: settings, addresses, processes."""
