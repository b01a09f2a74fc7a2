"""Made cases: small runs of every pattern, stuck and healthy, each with the turn a careful reader would name.

`CASES`: id -> Case. The part of an id before the dash is its class; a class is left out as a whole when the figures
are checked for tuning.
"""

from __future__ import annotations

from tests.cases.build import Case
from tests.cases.healthy import CASES as HEALTHY
from tests.cases.healthy_other import CASES as OTHER
from tests.cases.healthy_work import CASES as WORK
from tests.cases.shell import CASES as SHELL
from tests.cases.stuck_calls import CASES as CALLS
from tests.cases.stuck_drift import CASES as DRIFT
from tests.cases.stuck_files import CASES as FILES
from tests.cases.stuck_words import CASES as WORDS

_PARTS = (CALLS, DRIFT, FILES, WORDS, SHELL, HEALTHY, WORK, OTHER)
CASES: dict[str, Case] = {case.id: case for part in _PARTS for case in part}
