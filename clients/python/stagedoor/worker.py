"""A worker outside Node: leases jobs over HTTP, keeps its lease, completes and fails. Handlers are functions."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

if TYPE_CHECKING:
    from .api import Client

MAX_ERROR = 2000


class Fatal(Exception):
    """No retry helps: the job becomes a dead letter at once."""


class LeasePassed(Exception):
    """Others have its jobs by now; nothing that was said of them counts."""


Handler = Callable[[Dict[str, Any], Callable[[], bool]], Any]


class Worker:
    """`worker = Worker(client)`, then `@worker.handler("send_report")`, then `worker.run()`. Needs a token of stagedoor_executor.

    A handler gets the job and `cancelled()`, which a long one looks at now and then. What it returns is the result (JSON); an exception is a
    retry, later each time, and at last a dead letter; Fatal is one at once. A job may run twice (at least once), its result is taken once.
    """

    def __init__(self, client: "Client", *, executor: str = "external_worker", name: str = "stagedoor-python", lease_s: int = 15):
        self._client = client
        self._executor = executor
        self._name = name
        self._lease_s = lease_s
        self._handlers: Dict[str, Handler] = {}
        self._stopping = threading.Event()

    def handler(self, kind: str) -> Callable[[Handler], Handler]:
        def register(function: Handler) -> Handler:
            if kind in self._handlers:
                raise ValueError(f"there is a handler of {kind} already")
            self._handlers[kind] = function
            return function

        return register

    def stop(self) -> None:
        """Takes no more jobs; the one that runs ends."""
        self._stopping.set()

    def run(self, *, until_idle: bool = False, signals: bool = True) -> None:
        """Until `stop`, SIGTERM or SIGINT; with `until_idle` until nothing is due."""
        from .api import ApiError, Unreachable

        if not self._handlers:
            raise ValueError("the worker has no handler: decorate a function with @worker.handler(kind)")
        if signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: self.stop())
        lease: Optional[_Lease] = None
        while not self._stopping.is_set():
            try:
                lease = lease or _Lease(self._client, self._executor, self._name, self._lease_s, self._handlers)
                jobs = lease.claim(0 if until_idle else 10)
                for job in jobs:
                    lease.run(job)
                if until_idle and not jobs:
                    break
            except LeasePassed:
                lease = None
            except (ApiError, Unreachable) as error:  # no answer: whether it counted is not known, so a new lease begins
                if lease is None and isinstance(error, ApiError) and error.status < 500:
                    raise  # not even a lease is to be had: a wrong token, or an executor that it is not for
                say(f"will be retried: {error}")
                leave(lease)
                lease = None
                self._stopping.wait(1)
        leave(lease)


class _Lease:
    """Its heartbeat runs in a thread of its own, so that a job may take longer than the lease."""

    def __init__(self, client: "Client", executor: str, name: str, lease_s: int, handlers: Dict[str, Handler]):
        self._client = client
        self._handlers = handlers
        self._lease_s = lease_s
        self._cancelled: set = set()
        self._over = threading.Event()
        self._begun = False
        body = {"executor": executor, "kinds": list(handlers), "name": name, "lease_s": lease_s}
        self._id = client.call("POST", "/workers", body)["worker"]
        threading.Thread(target=self._beat, daemon=True).start()

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        from .api import ApiError

        try:
            return self._client.call(method, f"/workers/{self._id}{path}", body, timeout=self._lease_s * 2)
        except ApiError as error:
            if error.code == "lease_passed":
                raise LeasePassed from None
            raise

    def _beat(self) -> None:
        from .api import ApiError, Unreachable

        while not self._over.wait(self._lease_s / 3):
            try:
                self._cancelled = set(self._call("POST", "/heartbeat", {})["cancelled"])
            except LeasePassed:
                self._over.set()
            except (ApiError, Unreachable) as error:  # the next one may come through; if none does, the lease passes
                say(f"no heartbeat: {error}")

    def claim(self, wait_s: int) -> List[Dict[str, Any]]:
        return self._call("POST", "/claim", {"limit": 1, "wait_s": wait_s})["jobs"]

    def run(self, job: Dict[str, Any]) -> None:
        attempt = {"job_id": job["job_id"], "epoch": job["lease_epoch"]}
        self._begun = True  # until the API knows what became of it
        try:
            result = self._handlers[job["job_kind"]](job, lambda: job["job_id"] in self._cancelled or self._over.is_set())
        except Exception as error:  # noqa: BLE001
            self._fail(attempt, f"{type(error).__name__}: {error}", isinstance(error, Fatal))
        else:
            self._complete(attempt, result)
        self._begun = False

    def _fail(self, attempt: Dict[str, Any], reason: str, fatal: bool = False) -> None:
        from .api import ApiError

        failed = {**attempt, "error": reason[:MAX_ERROR], "fatal": fatal}
        try:
            outcome = self._deliver("fail", failed)["failed"]
        except ApiError as error:  # its words are refused, not the failure: the attempt ends all the same
            refused = f"it failed, and its error was refused: {error}"[:MAX_ERROR]
            outcome = self._deliver("fail", {**failed, "error": refused})["failed"]
        say(f"failed: {reason} -> {outcome[0]['outcome'] if outcome else 'not ours any more'}")

    def _complete(self, attempt: Dict[str, Any], result: Any) -> None:
        """What was done is done: a result that is refused costs the result and not another run."""
        from .api import ApiError

        try:
            self._deliver("complete", {**attempt, "result": result})
            return
        except (ApiError, TypeError, ValueError, RecursionError) as error:  # refused, or no JSON
            say(f"the result cannot be kept: {error}")
        try:
            self._deliver("complete", attempt)
        except ApiError as error:
            self._fail(attempt, f"the completion was refused: {error}")

    def _deliver(self, what: str, job: Dict[str, Any]) -> Any:
        """Delivered again when there is no answer: it counts once. If none comes, the lease passes, and the job is charged with it."""
        from .api import ApiError, Unreachable

        for pause in (1, 2, 4, None):
            try:
                return self._call("POST", f"/{what}", {"jobs": [job]})
            except (Unreachable, ApiError) as error:
                if isinstance(error, ApiError) and error.status < 500:
                    raise
                if pause is None or self._over.is_set():
                    raise
                say(f"delivered again: {error}")
                self._over.wait(pause)
        raise AssertionError("not reached")

    def leave(self) -> None:
        """Gives back what has not begun. What has begun is not: given back, it would run again and again at no cost."""
        self._over.set()
        if not self._begun:
            self._call("DELETE", "")


def leave(lease: Optional[_Lease]) -> None:
    from .api import ApiError, Unreachable

    try:
        if lease:
            lease.leave()
    except (LeasePassed, ApiError, Unreachable):
        pass  # then the lease passes, and its jobs are free


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
