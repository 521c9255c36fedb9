"""How moments are written where a template does not say it otherwise; named by FORMAT_MODULE_PATH."""
