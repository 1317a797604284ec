"""Asking a service of others: slowly enough, and again where that may help."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, TypeVar

from focusspider.errors import FocusError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AgainError", "Patience"]

logger = logging.getLogger(__name__)

T = TypeVar("T")


class AgainError(FocusError):
    """A request failed that may succeed a little later.

    Parameters
    ----------
    problem
        What happened, for the log.
    wait
        Seconds that the service asks for, 0 for none.
    last
        The error if this was the last try; None makes one of the problem.
    """

    def __init__(
        self, problem: str, *, wait: float = 0.0, last: ServiceError | None = None
    ) -> None:
        self.problem = problem
        self.wait = wait
        self.last = last
        super().__init__(problem)


class Patience:
    """Keeps requests to one service apart, and repeats what failed.

    Parameters
    ----------
    name
        The service's, for messages.
    delay
        Least seconds between the starts of two requests.
    tries
        Most requests for one answer; the waits between them are 1 s, 2 s, 4 s …, or what the
        service asks for, up to ``max_wait`` seconds.
    """

    def __init__(
        self,
        name: str,
        *,
        delay: float = 1.0,
        tries: int = 5,
        max_wait: float = 300.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._delay = delay
        self._tries = tries
        self._max_wait = max_wait
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0  # when the next request may go

    def ask(self, once: Callable[[], T]) -> T:
        """Return what a request brings; it raises :class:`AgainError` where it may be repeated.

        Raises
        ------
        ServiceError
            There was no answer after the last try, or the service asks for too long a wait.
        """
        wait = 1.0
        for left in range(self._tries - 1, -1, -1):
            self._wait_for_turn()
            try:
                return once()
            except AgainError as failure:
                if not left:
                    raise self._last(failure) from None
                asked = failure.wait or wait
                if asked > self._max_wait:
                    raise ServiceError(
                        f"{self.name} asks to come back in {asked:.0f} s; call this again then: "
                        "what came so far is kept"
                    ) from None
                logger.info("%s: %s; again in %.0f s", self.name, failure.problem, asked)
            self._sleep(asked)
            wait = min(2 * wait, self._max_wait)
        raise AssertionError("the last try returns or raises")

    def _wait_for_turn(self) -> None:
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._delay

    def _last(self, failure: AgainError) -> ServiceError:
        return failure.last or ServiceError(
            f"{self.name} did not answer {self._tries} times, at last: {failure.problem}; "
            "call this again later: what came so far is kept"
        )
