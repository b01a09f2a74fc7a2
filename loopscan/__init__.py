"""Find the agent runs that went round in circles, what they cost, and which exit would have ended them first.

`audit(paths, ...)` scans logs and returns a `Report`; `Guard` runs the same detector and exits in a live loop.
Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from loopscan._version import __version__

if TYPE_CHECKING:
    from loopscan.exits import Caps
    from loopscan.guard import Guard, Hit
    from loopscan.model import Call, End, Turn, Usage
    from loopscan.records import record
    from loopscan.report import Report, RunReport
    from loopscan.scan import audit
    from loopscan.settings import CapSettings, Settings

_HOME = {
    "audit": "scan",
    "Settings": "settings",
    "CapSettings": "settings",
    "Report": "report",
    "RunReport": "report",
    "record": "records",
    "Guard": "guard",
    "Hit": "guard",
    "Call": "model",
    "Turn": "model",
    "Usage": "model",
    "End": "model",
    "Caps": "exits",
}

__all__ = [
    "Call",
    "CapSettings",
    "Caps",
    "End",
    "Guard",
    "Hit",
    "Report",
    "RunReport",
    "Settings",
    "Turn",
    "Usage",
    "__version__",
    "audit",
    "record",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'loopscan' has no attribute {name!r}")
    return getattr(import_module(f"loopscan.{_HOME[name]}"), name)
