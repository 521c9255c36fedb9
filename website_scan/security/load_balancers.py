"""Cookies of load balancers.

They identify the server of a session (session affinity, sticky sessions).
"""

from __future__ import annotations

import re

# Patterns of cookie names, by the vendor's documentation.
NAMES_BY_SOURCE = {
    "Akamai: Application Load Balancer, stickiness": r"akaalb_.+",
    "Apache HTTP Server: mod_proxy_balancer, stickyness": r"ROUTEID",
    "AWS: sticky sessions of Application Load Balancers": r"AWSALB(?:CORS|TG|TGCORS|APP-\d+)?",
    "AWS: sticky sessions of Classic Load Balancers": r"AWSELB(?:CORS)?",
    "Azure: ARR affinity of App Service": r"ARRAffinity(?:SameSite)?",
    "Azure: cookie-based affinity of Application Gateway": r"ApplicationGatewayAffinity(?:CORS)?",
    "Azure: session affinity of Front Door": r"ASLBSA(?:CORS)?",
    "Barracuda: persistence of the Load Balancer ADC": r"BNI_(?:_BARRACUDA_LB_COOKIE|persistence).*",
    "Citrix NetScaler: HTTP cookie persistence": r"NSC_.+",
    "Cloudflare: cookies of Load Balancing": r"__cflb",
    "Contour: session affinity": r"X-Contour-Session-Affinity",
    "DigitalOcean: sticky sessions of Load Balancers": r"DO-LB",
    "F5: BIG-IP persistence cookies (K6917)": r"BIGipServer.+",
    "Google Cloud: generated cookie affinity": r"GC(?:LB|ILB)",
    "HAProxy: cookie persistence": r"SERVERID",
    "Heroku: session affinity": r"heroku-session-affinity",
    "Imperva: cookies of Cloud WAF, load balancing": r"nlbi_\d+(?:_\d+)*",
    "Ingress NGINX: session affinity": r"INGRESSCOOKIE",
    "Oracle Cloud: session persistence of Load Balancers": r"X-Oracle-BMC-LBS-Route",
}
_NAME = re.compile("|".join(NAMES_BY_SOURCE.values()))


def is_load_balancer_cookie(name: str) -> bool:
    """Return True if only load balancers set cookies with this name.

    The comparison is case-sensitive.
    """
    return _NAME.fullmatch(name) is not None
