"""Date and time formats of templates. Django's setting FORMAT_MODULE_PATH names this package."""
