"""API keys and webhook secrets, which a page displays only once, after a form's redirect.

The response to the form's POST does not display the secret, because reloading that response would send the form again.
"""

from __future__ import annotations

from infrastructure.web.session_values import SessionValues

# The session stores the secrets by the ID of the API key or webhook for ten minutes.
SECRETS = SessionValues("shown_once", most=5, max_age_s=600)
