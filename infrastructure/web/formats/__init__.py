"""Default date and time formats of templates, named by the setting FORMAT_MODULE_PATH."""
