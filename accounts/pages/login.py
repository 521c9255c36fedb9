"""Pages to log in and out, to sign up, and to reset a password."""

from __future__ import annotations

from typing import Any

from allauth.account import views as allauth_views
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import url_has_allowed_host_and_scheme, urlsafe_base64_encode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access, drafts, limits, mail, sessions
from accounts.addresses import mailbox
from accounts.identity import devices, freshness
from accounts.identity.freshness import session_suffices
from accounts.limits import Limit
from accounts.models import User
from accounts.pages.forms import EmailForm, SignUpForm
from accounts.services import SIGN_UP_LIFETIME_S, AccountRefused, parse_sign_up_token, sign_up, sign_up_token
from infrastructure.mail_addresses import MAX_CHARACTERS, normal_form
from website_scan.written_urls import split_url

MAX_ATTEMPTS_PER_ADDRESS = 20
MAX_ATTEMPTS_PER_NETWORK = 60  # This limit protects the CPU, because each login attempt takes 250 ms of CPU time.
MAX_ATTEMPTS_PER_ACCOUNT = 10  # This limit applies to the attempts of one client.
# Limit for all clients together, except for browsers with a device cookie, so that strangers cannot lock the user out.
MAX_ATTEMPTS_PER_ACCOUNT_ANYWHERE = 60
# Maximum attempts per hour, from all clients together and from one network.
MAX_ATTEMPTS_PER_ACCOUNT_AND_HOUR = 100
MAX_ATTEMPTS_PER_ACCOUNT_NETWORK_AND_HOUR = 30
# Maximum e-mails per hour, to one recipient and by one client.
MAX_MAILS_PER_RECIPIENT = 5
MAX_MAILS_PER_CLIENT = 20
MAX_NEXT_URL_LENGTH = 1_000
PATHS_OF_REPORTS = ("/report/", "/audit/")


@session_suffices("proves the identity itself")
class LoginView(allauth_views.LoginView):
    """Page to log in with e-mail address and password, and with the second factor if the user has one.

    Redirects to `next` if that is a page of this host. Attempts are limited per client address and per account; a
    browser in which the person has logged in before has its own limit. Without Redis, nobody can log in.
    """

    template_name = "accounts/login.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = limit_login_attempts(request, request.POST.get("login", "")) or super().post(
            request, *args, **kwargs
        )
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        next_page = self.get_next_url() or ""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {
            "next": next_page,
            "wanted": requested_scan_url(next_page),
            # The sentence is the same for reports that do not exist, so that strangers learn nothing about IDs.
            "may_be_private": next_page.startswith(PATHS_OF_REPORTS),
            "providers": settings.OIDC_PROVIDERS,
        }


@session_suffices("takes access away")
class LogoutView(allauth_views.LogoutView):
    """Page to log out, by POST only.

    Logging out also cancels a login that waits for the second factor.
    """

    http_method_names = ("post", "options")


def csrf_failure(request: HttpRequest, **_: str) -> HttpResponse:
    """Handle a wrong CSRF token.

    A form has one if the user has since logged in or out.

    If a page of this host has sent the form, redirect to the form with its input, which the person can send again.
    """
    is_same_origin = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    if is_same_origin and drafts.save(request):
        return redirect(request.get_full_path())
    context = {
        "status": 403,
        "message": "The form has expired.",
        "detail": "Nothing was changed. You have logged in or out since the page was opened, or your browser refuses "
        "cookies. Go back, reload the page and try again.",
    }
    return render(request, "error.html", context, status=403)


def limit_login_attempts(request: HttpRequest, email: str) -> HttpResponse | None:
    """Count a login attempt for an account.

    Returns an error page if there were too many, otherwise None.

    Attempts beyond the limit of a minute or of a network do not count for the account's hourly limit, so strangers need
    several networks to exhaust the hourly limit. An attempt counts for the account that it reaches, whatever was typed.
    """
    person = access.find_person(email)
    account = f"account {person.pk}" if person else normal_form(email[:MAX_CHARACTERS])
    device = devices.read_device_id(request, person.email if person else email)
    if device is not None:
        minute = [Limit(f"device {device}", MAX_ATTEMPTS_PER_ACCOUNT)]
        hourly = [Limit(f"device {device}", MAX_ATTEMPTS_PER_ACCOUNT_AND_HOUR)]
        return limits.refusal(request, "login", minute) or limits.refusal(
            request, "log-ins", hourly, window_s=limits.HOUR_S
        )
    client, network = limits.client(request), f"network {limits.network(request)}"
    minute = [
        Limit(client, MAX_ATTEMPTS_PER_ADDRESS),
        Limit(network, MAX_ATTEMPTS_PER_NETWORK),
        Limit(f"{client} {account}", MAX_ATTEMPTS_PER_ACCOUNT),
        Limit(account, MAX_ATTEMPTS_PER_ACCOUNT_ANYWHERE),
    ]
    hourly = [Limit(f"{network} {account}", MAX_ATTEMPTS_PER_ACCOUNT_NETWORK_AND_HOUR)]
    anywhere = [Limit(account, MAX_ATTEMPTS_PER_ACCOUNT_AND_HOUR)]
    return (
        limits.refusal(request, "login", minute)
        or limits.refusal(request, "log-ins", hourly, window_s=limits.HOUR_S)
        or limits.refusal(request, "log-ins", anywhere, window_s=limits.HOUR_S)
    )


def admin_login(request: HttpRequest) -> HttpResponse:
    """Redirect from the Django admin's login page, which has no rate limit, to the service's login page."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"), reverse("account_login"))
    if not request.user.is_staff:
        raise PermissionDenied
    return HttpResponseRedirect(reverse("admin:index"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def signup(request: HttpRequest) -> HttpResponse:
    """E-mail a sign-up link, which includes `next`.

    Only the e-mail reveals if an account exists.
    """
    next_page = own_next_page(request)
    if request.user.is_authenticated:
        return redirect(next_page or settings.LOGIN_REDIRECT_URL)
    if not settings.SIGN_UP_OPEN:
        return _sign_up_closed_page(request)
    form = EmailForm(request.POST or None)
    if not form.is_valid():
        context = {"form": form, "next": next_page, "wanted": requested_scan_url(next_page)}
        return render(request, "accounts/signup.html", context)
    email = form.cleaned_data["email"]
    if refusal := limit_mails(request, email):
        return refusal
    try:
        if access.find_person(email):
            mail.send("account_exists", email, "You already have an account")
        else:
            hours, token = SIGN_UP_LIFETIME_S // 3600, sign_up_token(email, next_page)
            mail.send("signup", email, "Finish your sign-up", token=token, hours=hours)
    except mail.MailNotSent:
        return mail_not_sent_page(request)
    return redirect("signup-sent")


@require_safe
def signup_sent(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/mail_sent.html", {"title": "Sign up", "what": "a link to finish your sign-up"})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def signup_finish(request: HttpRequest, token: str) -> HttpResponse:
    """Finish a sign-up from the e-mailed link, by choosing a password and the organization's name."""
    if not settings.SIGN_UP_OPEN:
        return _sign_up_closed_page(request)
    sign_up_data = parse_sign_up_token(token)
    if sign_up_data is None:
        return invalid_link_page(request, "Sign up again, and we will send you a new one.")
    email = sign_up_data.email
    if access.find_person(email):
        messages.info(request, "You already have an account. Log in with it.")
        return redirect("account_login")
    form = SignUpForm(request.POST or None, email=email)
    if form.is_valid():
        name = form.cleaned_data["organization"]
        try:
            user, organization = sign_up(email=email, password=form.cleaned_data["password"], organization=name)
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            sessions.delete_current_session(request)  # Another user may be logged in with the same browser.
            freshness.log_in_new_person(request, user)
            messages.success(request, f"Welcome. {organization} is ready for its first scan.")
            response = redirect(sign_up_data.next_page or settings.LOGIN_REDIRECT_URL)
            devices.set_cookie(request, response, email)
            return response
    context = {"form": form, "email": email, "wanted": requested_scan_url(sign_up_data.next_page)}
    return render(request, "accounts/signup_finish.html", context)


def own_next_page(request: HttpRequest) -> str:
    """Return the parameter `next` if it is a local page and short enough for an e-mail link, otherwise ""."""
    url = request.POST.get("next") or request.GET.get("next", "")
    is_page_of_this_host = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return url if is_page_of_this_host and len(url) <= MAX_NEXT_URL_LENGTH else ""


def requested_scan_url(next_page: str) -> str:
    """Return the URL that the visitor wants to scan if `next_page` starts a scan, otherwise ""."""
    parts = split_url(next_page)
    return QueryDict(parts.query).get("url", "") if parts.path == reverse("scan-start") else ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def password_reset(request: HttpRequest) -> HttpResponse:
    """E-mail a link to reset the password.

    Only the e-mail, not the page, reveals if an account exists.
    """
    form = EmailForm(request.POST or None)
    if not form.is_valid():
        return render(request, "accounts/password_reset.html", {"form": form})
    email = form.cleaned_data["email"]
    if refusal := limit_mails(request, email):
        return refusal
    try:
        user = access.find_person(email)
        if user is None or not user.is_active:
            mail.send("no_account", email, "There is no account with this address")
        else:
            uid = urlsafe_base64_encode(force_bytes(user.pk))
            token = default_token_generator.make_token(user)
            minutes = settings.PASSWORD_RESET_TIMEOUT // 60
            # The e-mail goes to the stored address, because the entered address may only look the same (homoglyphs).
            mail.send("password_reset", user.email, "Choose a new password", uid=uid, token=token, minutes=minutes)
    except mail.MailNotSent:
        return mail_not_sent_page(request)
    return redirect("password-reset-sent")


@require_safe
def password_reset_sent(request: HttpRequest) -> HttpResponse:
    context = {"title": "Reset your password", "what": "a link to choose a new password"}
    return render(request, "accounts/mail_sent.html", context)


@session_suffices("the link from the e-mail proves the address")
class PasswordResetConfirmView(views.PasswordResetConfirmView):
    """Page for setting a new password.

    The link works once. The new password ends all the user's sessions.
    """

    template_name = "accounts/password_new.html"
    success_url = reverse_lazy("account_login")
    reset_url_token = "new"  # noqa: S105  # Django replaces the token in the URL by this word.

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        response = super().form_valid(form)
        notify_of_new_password(form.user)
        sessions.end_other_sessions(form.user)
        messages.success(self.request, "Your password has been changed. Log in with it.")
        # The user has read the account's e-mail, so a device cookie exempts them from limits that strangers can
        # exhaust.
        devices.set_cookie(self.request, response, form.user.email)
        return response

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        if not self.validlink:
            return invalid_link_page(self.request, "Ask for a new one on the page “Forgot your password?”.")
        return super().render_to_response(context, **kwargs)


def notify_of_new_password(user: User) -> None:
    """E-mail the user that the password was changed, in case somebody else changed it.

    A failure to send the e-mail has no consequence.
    """
    try:
        mail.send("password_changed", user.email, "Your password was changed")
    except mail.MailNotSent:
        return


def limit_mails(request: HttpRequest, recipient: str) -> HttpResponse | None:
    """Count an e-mail to any address.

    Returns an error page if there were too many, otherwise None.

    If the address leads to an account, the e-mail goes to the account's address, and counts for that.
    """
    person = access.find_person(recipient)
    box = mailbox(person.email if person else recipient)
    attempts = (Limit(limits.client(request), MAX_MAILS_PER_CLIENT), Limit(box, MAX_MAILS_PER_RECIPIENT))
    return limits.refusal(request, "mail", attempts, window_s=limits.HOUR_S)


def mail_not_sent_page(request: HttpRequest) -> HttpResponse:
    """Return the error page for an e-mail that the mail server did not accept."""
    context = {"status": 503, "message": "The e-mail could not be sent. Try again in a few minutes."}
    return render(request, "error.html", context, status=503)


def invalid_link_page(request: HttpRequest, advice: str) -> HttpResponse:
    """Return the error page for a link that is forged, used or expired."""
    context = {"status": 410, "message": "This link is no longer valid.", "detail": advice}
    return render(request, "error.html", context, status=410)


def _sign_up_closed_page(request: HttpRequest) -> HttpResponse:
    detail = "Accounts are created by invitation: ask an admin of your organization for an invitation."
    context = {"status": 403, "message": "Sign-up is closed.", "detail": detail}
    return render(request, "error.html", context, status=403)
