"""The checks: folder = scan type, file = category, function = check."""
