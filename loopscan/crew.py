"""Processes that read shares of a scan. One that is killed costs what it was reading; the others' work goes on.

Linux forks them, which is quick and leaves them the hashes of their parent; elsewhere they are started anew with a
seed for hashes in common. They leave Ctrl-C to the parent, which tells them to stop, and end when the parent is gone.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from loopscan.parcel import Parcel
from loopscan.stop import STOP
from loopscan.tray import Laid, Tray, sent

if TYPE_CHECKING:
    from loopscan.shares import Share, Task

S = TypeVar("S", bound="Share")

_LOOK: Final = 0.1
"""Seconds between two looks at whether the scan is to stop."""
_ORPHANED: Final = 1.0
"""Seconds between two looks at whether the parent is there."""
_TRIES: Final = 3
"""Times that processes may be killed one after the other before any of them has read anything."""
FORKS = hasattr(os, "memfd_create") and sys.platform == "linux"
"""Whether a process may fork; elsewhere system libraries do not bear it."""
_SEED: Final = "PYTHONHASHSEED"

_Futures = dict[Future["Parcel | Laid | None"], int]
"""Which share's each one is."""


class NoCrew(Exception):
    """The system gives no processes, or nothing to talk to them by."""


class Killed:
    """What comes of a share whose process was killed. `how`: in words."""

    def __init__(self, how: str) -> None:
        self.how = how


class Crew:
    """A pool of processes, renewed when one of them is killed. Raises NoCrew."""

    def __init__(self, jobs: int, task: Task) -> None:
        self.jobs, self._task = jobs, task
        forks = FORKS and threading.active_count() == 1
        self._context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._forks = forks
        try:
            self._stop = self._context.Event()
        except (ImportError, OSError) as err:
            raise NoCrew from err
        self._pool: ProcessPoolExecutor | None = None
        self._tray: Tray | None = None
        self._others = set(multiprocessing.active_children())
        self._processes: set[Any] = set()
        self._at: Any = None
        """Which share each process is at: pairs of process id and number."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(kill=True)  # were they asked to end, one that is killed meanwhile could keep the others
        self._clear()

    def _clear(self) -> None:
        tray, self._tray = self._tray, None
        if tray is not None:
            tray.close()

    def results(self, shares: Mapping[int, S]) -> Iterator[tuple[int, Parcel | Killed | None]]:
        """Hand out shares. Each one's number with what came of it, as they are done; None where a stop came before.

        A parcel is there until the next one is asked for.
        """
        futures: _Futures = {}
        with suppress(BrokenProcessPool):
            self._submit(shares, futures)
        return self._results(dict(shares), futures)

    def _results(self, left: dict[int, S], futures: _Futures) -> Iterator[tuple[int, Parcel | Killed | None]]:
        idle = 0
        while left:
            try:
                if not futures:
                    self._submit(left, futures)
                for future in self._done(futures):
                    with self._taken(future) as result:
                        del left[futures[future]]
                        yield futures[future], result
            except BrokenProcessPool:
                for future, number in futures.items():
                    if number in left and future.done() and not future.cancelled() and future.exception() is None:
                        with self._taken(future) as result:
                            del left[number]
                            yield number, result
                killed = self._killed()
                idle = 0 if killed else idle + 1
                if idle == _TRIES:
                    killed = dict.fromkeys(left, "the processes that were to read it ended")
                for number, how in killed.items():
                    if left.pop(number, None) is not None:
                        yield number, Killed(how)
            futures = {}

    @contextmanager
    def _taken(self, future: Future[Parcel | Laid | None]) -> Iterator[Parcel | None]:
        found, tray = None if future.cancelled() else future.result(), self._tray
        if not isinstance(found, Laid):
            yield found
        elif tray is not None:
            yield tray.take(found)
            tray.clear(found)

    def _submit(self, shares: Mapping[int, S], futures: _Futures) -> None:
        """Hand out shares. Raises BrokenProcessPool, NoCrew."""
        seed = os.environ.get(_SEED)
        if not self._forks and seed is None:
            os.environ[_SEED] = "1"
        try:
            if self._pool is None:
                self._at = self._context.Array("q", 2 * self.jobs)
                self._clear()
                self._tray = Tray(self._context, self.jobs) if self._forks else None
                known = (self._task, self._stop, self._at, self._tray, os.getpid())
                self._pool = ProcessPoolExecutor(self.jobs, self._context, _begin, known)
            for number, share in shares.items():
                futures[self._pool.submit(_work, number, share)] = number
                self._processes |= set(multiprocessing.active_children()) - self._others
        except (ImportError, NotImplementedError, OSError) as err:
            self._processes |= set(multiprocessing.active_children()) - self._others
            raise NoCrew from err
        finally:
            if seed is None:
                os.environ.pop(_SEED, None)

    def _done(self, futures: _Futures) -> Iterator[Future[Parcel | Laid | None]]:
        """The futures as they are done; after a stop, those not begun are cancelled."""
        pending = set(futures)
        while pending:
            done, pending = wait(pending, _LOOK, FIRST_COMPLETED)
            yield from done
            if STOP.asked and not self._stop.is_set():
                self._stop.set()
                for future in pending:
                    future.cancel()

    def _killed(self) -> dict[int, str]:
        """The shares whose processes were killed, of a pool that is broken, and how."""
        at = list(self._at.get_obj())  # whoever was killed may have had the lock
        self._end()
        codes = {p.pid: p.exitcode for p in self._processes}
        self._processes.clear()
        found = {}
        for pid, number in zip(at[::2], at[1::2], strict=True):
            code = codes.get(pid)
            if number and code not in (None, 0, -signal.SIGTERM):
                found[number - 1] = _words(code)
        return found

    def _end(self, kill: bool = False) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if kill:
            for process in self._processes:
                process.kill()
        pool.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.join()


def _words(code: int) -> str:
    if code > 0:
        return f"the process that read it ended with code {code}"
    name = f"signal {-code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
    return f"the process that read it was killed ({name})"


class _Mine:
    """What a process of the crew knows: the task, and where it notes which share it is at."""

    task: ClassVar[Task]
    tray: ClassVar[Tray | None]
    at: ClassVar[Any]
    slot: ClassVar[int]


def _begin(task: Task, stop: Any, at: Any, tray: Tray | None, parent: int) -> None:
    """Make a process one of the crew."""
    gc.freeze()  # what the parent had is neither garbage nor to be copied for a look at it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _Mine.task, _Mine.at, _Mine.tray = task, at, tray
    with at.get_lock():
        _Mine.slot = next(i for i in range(0, len(at), 2) if not at[i])
        at[_Mine.slot] = os.getpid()
    threading.Thread(target=_heed, args=(stop, parent), daemon=True).start()


def _heed(stop: Any, parent: int) -> None:
    while not stop.wait(_ORPHANED):
        if os.getppid() != parent:
            os._exit(1)
    STOP.asked = True


def _work(number: int, share: Share) -> Parcel | Laid | None:
    """Read a share; None where the scan was stopped before."""
    if STOP.asked:
        return None
    at, slot = _Mine.at.get_obj(), _Mine.slot + 1
    at[slot] = number + 1
    found = share.read(_Mine.task)
    laid = sent(found) if _Mine.tray is None else _Mine.tray.lay(found, _Mine.slot // 2)
    at[slot] = 0
    return laid
