"""Stored figures of an earlier run (baseline.json), and the comparison of a run with them.

A figure has moved if the intervals `median ± noise` of both runs do not overlap. Noise is three standard deviations of
the samples (estimated from the median absolute deviation), or what runs of the same code differ by (units.py) if that
is more. Counts, such as queries, have no noise.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.machine import Machine
from benchmarks.table import Figure, text_of
from benchmarks.units import HIGHER, LOWER, Unit

BASELINE = Path(__file__).with_name("baseline.json")
DIGITS = 4  # Significant digits of stored figures.
DEVIATIONS = 3.0
# The standard deviation of normally distributed samples, divided by their median absolute deviation.
DEVIATION_PER_MAD = 1.4826
NAME_WIDTH, COLUMN_WIDTH = 90, 12


class StoredFigure(TypedDict):
    """Median, noise and limits of a figure in its unit. `samples` is the number of measurements."""

    unit: str
    median: float
    noise: float
    samples: int
    most: float | None
    least: float | None


class StoredPart(TypedDict):
    """Figures of a part, with the circumstances in which they were measured."""

    share: float
    date: str
    commit: str
    seconds: float
    machine: Machine
    calibration_ms: float
    figures: dict[str, StoredFigure]


class Change(Struct, frozen=True):
    """A figure of two runs. `expected` is the earlier figure, scaled to this machine's speed."""

    name: str
    unit: Unit
    expected: float
    now: float
    noise: float

    @property
    def has_moved(self) -> bool:
        return abs(self.now - self.expected) > self.noise

    @property
    def verdict(self) -> str:
        """Return "better", "worse", or "changed" if neither direction is better."""
        better = {LOWER: self.now < self.expected, HIGHER: self.now > self.expected}
        return {True: "better", False: "worse", None: "changed"}[better.get(self.unit.better)]


def key_of(name: str, share: float, default_share: float) -> str:
    """Return the key of a part in the baseline, such as "api", or "api --share 1" if the share is not the default."""
    return name if share == default_share else f"{name} --share {share:g}"


def stored(figure: Figure) -> StoredFigure:
    """Return a figure as it is stored."""
    median = statistics.median(figure.samples)
    noise = noise_of(figure.samples, figure.unit)
    return {
        "unit": figure.unit.name,
        "median": _rounded(median),
        "noise": _rounded(noise),
        "samples": len(figure.samples),
        "most": None if figure.most is None else _rounded(figure.most),
        "least": None if figure.least is None else _rounded(figure.least),
    }


def noise_of(samples: Sequence[float], unit: Unit) -> float:
    """Return half the width of the interval in which the median of another run is expected."""
    median = statistics.median(samples)
    deviation = statistics.median(abs(sample - median) for sample in samples)
    return max(DEVIATIONS * DEVIATION_PER_MAD * deviation, unit.noise * abs(median), unit.resolution)


def _rounded(value: float) -> float:
    return int(value) if value == int(value) else float(f"{value:.{DIGITS}g}")


def merged(rounds: Sequence[Mapping[str, Figure]]) -> dict[str, Figure]:
    """Return the figures of several rounds. With more than one, their samples are the medians of the rounds.

    Figures that not all rounds have, such as those of the worst check, are left out.
    """
    if len(rounds) == 1:
        return dict(rounds[0])
    figures: dict[str, Figure] = {}
    for name, figure in rounds[0].items():
        if all(name in one for one in rounds):
            medians = tuple(statistics.median(one[name].samples) for one in rounds)
            figures[name] = replace(figure, samples=medians)
    return figures


def changes(
    before: StoredPart, now: StoredPart, units: Mapping[str, Unit]
) -> tuple[list[Change], list[str], list[str]]:
    """Return the changes of figures that both runs have, and the names of new and of missing figures."""
    factor = now["calibration_ms"] / before["calibration_ms"] if before["machine"] != now["machine"] else 1.0
    common = []
    for name, figure in now["figures"].items():
        if name in before["figures"]:
            earlier, unit = before["figures"][name], units[name]
            scale = factor**unit.speed if unit.speed else 1
            noise = earlier["noise"] * scale + figure["noise"]
            common.append(Change(name, unit, earlier["median"] * scale, figure["median"], noise))
    new = [name for name in now["figures"] if name not in before["figures"]]
    missing = [name for name in before["figures"] if name not in now["figures"]]
    return common, new, missing


def comparison(
    before: Mapping[str, StoredPart], now: Mapping[str, StoredPart], units: Mapping[str, Mapping[str, Unit]]
) -> tuple[str, int]:
    """Return the text that compares a run with the baseline, and how many figures are worse by more than noise."""
    lines = [f"{'moved by more than noise':{NAME_WIDTH}}" + _columns("baseline", "now", "± noise", "ratio")]
    counts = {"better": 0, "worse": 0, "changed": 0, "within noise": 0, "new": 0, "missing": 0}
    remarks: dict[str, None] = {}
    for key, part in now.items():
        if key not in before:
            counts["new"] += len(part["figures"])
            remarks[f"The baseline has no figures of `{key}`."] = None
            continue
        remarks |= dict.fromkeys(_remarks(key, before[key], part))
        common, new, missing = changes(before[key], part, units[key])
        counts["new"] += len(new)
        counts["missing"] += len(missing)
        for change in common:
            counts[change.verdict if change.has_moved else "within noise"] += 1
            if change.has_moved:
                lines.append(_line(key, change))
    total = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    return "\n".join([*remarks, *lines, f"figures: {total}"]), counts["worse"]


def _remarks(key: str, before: StoredPart, now: StoredPart) -> Iterator[str]:
    """Yield sentences about circumstances that differ from those of the baseline."""
    ratio = now["calibration_ms"] / before["calibration_ms"]
    if before["machine"] != now["machine"]:
        facts = {**before["machine"]}.items() ^ {**now["machine"]}.items()
        names = ", ".join(sorted({name for name, _ in facts}))
        yield (
            f"The baseline of `{key}` is from another machine ({names}). Times are scaled by {ratio:.2f}, as the "
            "calibration loop takes so many times as long here. Waits and memory are not scaled."
        )
    elif abs(ratio - 1) > 0.1:
        yield f"During `{key}`, the calibration loop took {ratio:.2f} times as long as in the baseline."


def _line(key: str, change: Change) -> str:
    ratio = f"{change.now / change.expected:.2f}" if change.expected else ""
    cells = _columns(text_of(change.expected), text_of(change.now), text_of(change.noise), ratio)
    name = f"{key}: {change.name} ({change.unit.name})"
    return f"{name:{NAME_WIDTH}}{cells}  {change.verdict}"


def _columns(*cells: str) -> str:
    return "".join(f"{cell:>{COLUMN_WIDTH}}" for cell in cells)


def read(path: Path | None = None) -> dict[str, StoredPart]:
    """Return the parts in a file, or in the baseline, by their keys. A missing file has none."""
    path = path or BASELINE
    parts: dict[str, StoredPart] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return parts


def write(parts: Mapping[str, StoredPart], path: Path | None = None) -> None:
    """Write parts to a file, or to the baseline, with one figure on a line, so that differences are readable."""
    texts = []
    for key, part in sorted(parts.items()):
        facts = "".join(
            f"    {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n"
            for name, value in part.items()
            if name != "figures"
        )
        figures = ",\n".join(
            f"      {json.dumps(name, ensure_ascii=False)}: {json.dumps(figure, ensure_ascii=False)}"
            for name, figure in part["figures"].items()
        )
        texts.append(f'  {json.dumps(key)}: {{\n{facts}    "figures": {{\n{figures}\n    }}\n  }}')
    (path or BASELINE).write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def current_commit() -> str:
    """Return the short name of the measured commit, or an empty string outside a clone."""
    command = ["git", "describe", "--always", "--dirty"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=BASELINE.parent)
    return answer.stdout.strip()
