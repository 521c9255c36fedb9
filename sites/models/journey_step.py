"""Model for the steps of a journey's run, as they were executed."""

from __future__ import annotations

from django.db import models

from sites.models.audit import Audit


class JourneyStep(models.Model):
    """Step of a journey in one of its runs.

    `text` is the step in words, which later changes of the journey do not affect. It contains secrets by name only.
    """

    class Status(models.TextChoices):
        DONE = "done"
        FAILED = "failed"
        NOT_REACHED = "not_reached"

    id = models.BigAutoField(primary_key=True)
    audit = models.ForeignKey(Audit, on_delete=models.CASCADE, related_name="steps", db_index=False)
    position = models.PositiveSmallIntegerField(help_text="From 0.")
    text = models.TextField()
    status = models.CharField(max_length=16, choices=Status)
    url = models.TextField(blank=True, default="", help_text="Address of the page after the step.")
    duration_ms = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True, default="", help_text="Why the step failed, as a sentence.")
    near_matches: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, blank=True, help_text="Elements that resemble the one that was not there."
    )
    state = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        help_text="Name of the state after the step: the one that was judged, or the one that a dry run did not judge.",
    )
    notes: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, blank=True, help_text="What the scanner prevented, such as a new window."
    )
    picture = models.BinaryField(null=True, help_text="JPEG or WebP of the screen after the step, without secrets.")
    width = models.PositiveSmallIntegerField(null=True, blank=True)
    height = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["audit", "position"], name="journey_step_position")]

    def __str__(self) -> str:
        return f"{self.audit_id} {self.position}: {self.text}"
