"""Secrets that a page displays once, after the redirect that follows a form: API keys and secrets of webhooks.

The response to the form's POST does not display the secret, because reloading that response would send the form again.
"""

from __future__ import annotations

from infrastructure.web.session_values import SessionValues

# Secrets in the session, by the ID of the key or webhook. Secrets expire after ten minutes.
SECRETS = SessionValues("shown_once", most=5, max_age_s=600)
