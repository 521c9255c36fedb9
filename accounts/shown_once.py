"""Secrets that a page shows once, after the redirect that follows the form: API keys, secrets of webhooks.

The response to a form's POST must not show them: reloading it would send the form again.
"""

from __future__ import annotations

from infrastructure.web.session_box import SessionBox

# By the ID of the key or webhook. Whoever does not come for a secret within minutes does not get it.
SECRETS = SessionBox("shown_once", most=5, max_age_s=600)
