"""Reports that can leave the house: names and figures stay, what was said and where it lies becomes a short hash.

A hash is stable, so that two reports can be compared. It hides, it does not seal: who can guess a text can check it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loopscan.decode import canonical

if TYPE_CHECKING:
    from loopscan.episodes import Episode
    from loopscan.model import JSON
    from loopscan.report import Report, RunReport
    from loopscan.skips import Skips

_DIGITS: Final = 10
_PATH_LABELS: Final = re.compile(r"(?i)(^|[_.-])(cwd|path|dir|directory|folder|file|repo|repository|workspace|home)$")
_SAID: Final = "ended: "
_SPLIT: Final = re.compile(r"#\d+$")


def hashed(value: JSON) -> str:
    """A value as `h:` and ten hex digits; equal values have equal hashes."""
    from hashlib import sha256  # seldom needed, slow to load

    return f"h:{sha256(canonical(value)).hexdigest()[:_DIGITS]}"


def is_path(text: str) -> bool:
    """Whether a text is spelt like a path or an address."""
    return "/" in text or "\\" in text or text.startswith("~")


def redacted(report: Report) -> Report:
    """The same report without arguments, texts, paths and the logs' own words."""
    return replace(
        report,
        runs=[_run(r) for r in report.runs],
        skipped=_skips(report.skipped),
        not_logs=[hashed(p) for p in report.not_logs],
        failures=[hashed(f) for f in report.failures],
    )


def _run(run: RunReport) -> RunReport:
    def name(text: str | None) -> str | None:
        return None if text is None else run_name(text, run.source)

    return run.altered(
        run=run_name(run.run, run.source),
        session=name(run.session),
        parent=name(run.parent),
        source=hashed(run.source),
        labels={k: hashed(v) if is_path(v) or _PATH_LABELS.search(k) else v for k, v in run.labels.items()},
        episodes=[_episode(e) for e in run.episodes],
        notes=[_note(n) for n in run.notes],
    )


def run_name(text: str, source: str) -> str:
    """A run id as it is, unless it is a path or made of one; `#k` of a session stays."""
    match = _SPLIT.search(text)
    base, number = (text[: match.start()], match[0]) if match else (text, "")
    return f"{hashed(base)}{number}" if is_path(base) or base == source or base.startswith(f"{source}:") else text


def _episode(episode: Episode) -> Episode:
    return replace(episode, block=[_entry(e) for e in episode.block])


def _entry(entry: dict[str, JSON]) -> dict[str, JSON]:
    return {k: v if k == "name" else hashed(v) for k, v in entry.items()}


def _note(note: str) -> str:
    return f"{_SAID}{hashed(note.removeprefix(_SAID))}" if note.startswith(_SAID) else note


def _skips(skips: Skips) -> Skips:
    files: Counter[str] = Counter()
    for file, count in skips.by_file.items():
        files[hashed(file)] += count
    return replace(skips, by_file=files)
