"""Errors the command line prints once and turns into an exit code.

LoopscanError
├── UsageError     wrong option, config or value                        exit 2
└── InputError     a named input is missing, unreadable or unknown      exit 3

A damaged record inside a readable input is no error: it is a counted skip (`loopscan.skips.Skips`).
"""

from __future__ import annotations


class LoopscanError(Exception):
    """Base of every error that loopscan raises on purpose. Each argument is one message."""

    exit_code = 1

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class UsageError(LoopscanError):
    """An option, a configuration value or an argument that cannot be used."""

    exit_code = 2


class InputError(LoopscanError):
    """An input that was named but cannot be read as an agent log."""

    exit_code = 3
