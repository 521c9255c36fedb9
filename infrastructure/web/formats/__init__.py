"""Date and time formats for templates.

Django's setting FORMAT_MODULE_PATH names this package.
"""
