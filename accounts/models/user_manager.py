"""Manager for people with an account. They are found by e-mail address."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower

from infrastructure import mail_addresses

Person = TypeVar("Person", bound=AbstractUser)


class UserManager(BaseUserManager[Person]):
    """User manager. The e-mail address identifies a user."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> Person:
        """Create a user who can log in.

        Without a password, the user must reset the password first.
        """
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> Person:
        """Create a user with all permissions in the Django admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> Person:
        """Return the user with this e-mail address, comparing normal forms.

        PostgreSQL finds candidates by the index on the lower-case address. It may lower more letters than the normal
        form, so the normal forms decide.
        """
        typed = username or ""
        if len(typed) <= mail_addresses.MAX_CHARACTERS and "\0" not in typed:
            lower = [Lower(models.Value(spelling)) for spelling in sorted(mail_addresses.spellings(typed))]
            for user in self.alias(lower=Lower("email")).filter(lower__in=lower).order_by("id"):
                if mail_addresses.normal_form(user.email) == mail_addresses.normal_form(typed):
                    return user
        raise self.model.DoesNotExist

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """Return the address for storage, with its domain in normal form."""
        return mail_addresses.with_normal_domain(email or "")
