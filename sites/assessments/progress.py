"""Progress of an assessment: how many criteria people and checks have decided.

All pages and documents use these numbers and words.
"""

from __future__ import annotations

from collections.abc import Iterable

from sites.assessments.schemas import AssessmentProgress
from sites.models import AssessmentResult
from website_scan.messages import counted

Result = AssessmentResult.Result


def progress_of(criteria: Iterable[dict[str, int]]) -> AssessmentProgress:
    """Return the progress. `criteria` has the number of pages by result for each criterion.

    A criterion is tested if no page is untested, and decided if nobody chose "cannot tell" on a page either.
    """
    progress: AssessmentProgress = {
        "criteria": 0,
        "criteria_tested": 0,
        "criteria_decided": 0,
        "results": 0,
        "results_tested": 0,
    }
    for pages in criteria:
        number, untested = sum(pages.values()), pages.get(Result.UNTESTED, 0)
        is_tested = number > 0 and not untested
        progress["criteria"] += 1
        progress["criteria_tested"] += is_tested
        progress["criteria_decided"] += is_tested and not pages.get(Result.CANNOT_TELL)
        progress["results"] += number
        progress["results_tested"] += number - untested
    return progress


def undecided_words(progress: AssessmentProgress) -> str:
    """Return the numbers of undecided criteria by reason, such as "2 untested, 3 cannot tell"; empty without any."""
    untested = progress["criteria"] - progress["criteria_tested"]
    cannot_tell = progress["criteria_tested"] - progress["criteria_decided"]
    numbers = ((untested, "untested"), (cannot_tell, "cannot tell"))
    return ", ".join(f"{number:,} {words}" for number, words in numbers if number)


def decided_words(progress: AssessmentProgress) -> str:
    """Return the progress in words, such as "47 of 50 criteria decided, 3 cannot tell"."""
    decided = f"{progress['criteria_decided']:,} of {counted(progress['criteria'], 'criterion', 'criteria')} decided"
    return ", ".join(filter(None, (decided, undecided_words(progress))))
