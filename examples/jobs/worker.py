"""A worker outside Node: leases jobs over HTTP, keeps its lease, completes and fails. The standard library is enough.

    export EXECUTOR_TOKEN=$(stagedoor token --role stagedoor_executor --executor external_worker)
    python3 worker.py                 # API_URL=http://… for another address; --until-idle ends when nothing is due
"""

import json
import os
import signal
import sys
import threading
import urllib.error
import urllib.request

API = os.environ.get("API_URL", "http://localhost:4680") + "/api/v1/workers"
TOKEN = os.environ["EXECUTOR_TOKEN"]
LEASE_S = 15
MAX_BODY = 1024 * 1024  # STAGEDOOR_BODY_LIMIT of the API
UNTIL_IDLE = "--until-idle" in sys.argv


class Fatal(Exception):
    """No retry helps: the job becomes a dead letter at once."""


# What you write into routed tables: first select set_config('stagedoor.cause', job["causation_event_id"], true), so that the trace goes on.
def send_report(job, cancelled):
    recipient = job["payload"].get("recipient") or job["target_ref"]  # a consumer's job names what its event was about
    if recipient is None:
        raise Fatal("it names no recipient and no row")
    if recipient == "nobody":
        raise RuntimeError("the mail server does not answer")
    print(f"sending the report to {recipient}", flush=True)  # a long one looks at cancelled() now and then
    return {"message_ref": f"mail:{job['job_id']}"}


HANDLERS = {"send_report": send_report}


class LeasePassed(Exception):
    """Others have its jobs by now; nothing that was said of them counts."""


class Refused(Exception):
    """The API understood and says no: saying the same again is no use."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def call(method, path="", body=None):
    headers = {"authorization": f"Bearer {TOKEN}"}
    if body is not None:
        headers["content-type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    if data is not None and len(data) > MAX_BODY:  # the API would hang up while it is being sent
        raise Refused(413, f"413 the request has {len(data)} bytes, more than {MAX_BODY}")
    request = urllib.request.Request(API + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LEASE_S * 2) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        problem = json.loads(error.read() or b"{}")
        if problem.get("code") == "lease_passed":
            raise LeasePassed from None
        words = f"{error.code} {problem.get('detail') or problem.get('title')}"
        raise (ConnectionError(words) if error.code >= 500 else Refused(error.code, words)) from None


class Worker:
    """One lease. Its heartbeat runs beside the handlers, so that a job may take longer than the lease."""

    def __init__(self):
        body = {"executor": "external_worker", "kinds": list(HANDLERS), "name": "worker.py", "lease_s": LEASE_S}
        self.id = call("POST", body=body)["worker"]
        self.cancelled = set()
        self.begun = False
        self.over = threading.Event()
        self.heart = threading.Thread(target=self.beat, daemon=True)
        self.heart.start()

    def beat(self):
        while not self.over.wait(LEASE_S / 3):
            try:
                self.cancelled = set(call("POST", f"/{self.id}/heartbeat", {})["cancelled"])
            except LeasePassed:
                self.over.set()
            except (Refused, OSError) as error:  # the next one may come through; if none does, the lease passes
                print(f"no heartbeat: {error}", file=sys.stderr, flush=True)

    def lease(self):
        wait_s = 0 if UNTIL_IDLE else 10
        return call("POST", f"/{self.id}/claim", {"limit": 1, "wait_s": wait_s})["jobs"]

    def run(self, job):
        said = {"job_id": job["job_id"], "epoch": job["lease_epoch"]}
        self.begun = True  # until the API knows what became of it
        try:
            result = HANDLERS[job["job_kind"]](job, lambda: job["job_id"] in self.cancelled or self.over.is_set())
        except Exception as error:  # a retry, later each time, and at last a dead letter
            self.fail(said, f"{type(error).__name__}: {error}", isinstance(error, Fatal))
        else:
            self.complete(said, result)
        self.begun = False

    def fail(self, said, reason, fatal=False):
        failed = {**said, "error": reason[:2000], "fatal": fatal}
        try:
            outcome = self.deliver("fail", failed)["failed"]
        except Refused as error:  # its words, not the failure: the attempt ends all the same
            outcome = self.deliver("fail", {**failed, "error": f"it failed, and its error was refused: {error}"[:2000]})["failed"]
        print(f"failed: {reason} -> {outcome[0]['outcome'] if outcome else 'not ours any more'}", flush=True)

    def complete(self, said, result):
        """What was done is done: a result that is refused, whatever the 4xx, costs the result and not another run."""
        try:
            return self.deliver("complete", {**said, "result": result})
        except (Refused, TypeError, ValueError, RecursionError) as error:  # refused, or no JSON
            print(f"the result cannot be kept: {error}", file=sys.stderr, flush=True)
        try:
            self.deliver("complete", said)
        except Refused as error:
            self.fail(said, f"the completion was refused: {error}")

    def deliver(self, what, job):
        """Said again when there is no answer: it counts once. If none comes, the lease passes, and the job is charged with it."""
        for pause in (1, 2, 4, None):
            try:
                return call("POST", f"/{self.id}/{what}", {"jobs": [job]})
            except OSError as error:
                if pause is None or self.over.is_set():
                    raise
                print(f"saying it again: {error}", file=sys.stderr, flush=True)
                self.over.wait(pause)

    def leave(self):
        """Gives back what has not begun. What has begun is not: given back, it would run again and again at no cost."""
        self.over.set()
        if not self.begun:
            call("DELETE", f"/{self.id}")


def main():
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    worker = None
    while not stopping.is_set():
        try:
            worker = worker or Worker()
            jobs = worker.lease()
            for job in jobs:
                worker.run(job)
            if UNTIL_IDLE and not jobs:
                break
        except LeasePassed:
            worker = None
        except (Refused, OSError) as error:  # no answer: whether it counted is not known, so begin anew
            if worker is None and isinstance(error, Refused):
                raise  # not even a lease is to be had: a wrong token, or an executor that it is not for
            print(f"trying again: {error}", file=sys.stderr, flush=True)
            leave(worker)
            worker = None
            stopping.wait(1)
    leave(worker)


def leave(worker):
    try:
        if worker:
            worker.leave()
    except (LeasePassed, Refused, OSError):
        pass  # then the lease passes, and its jobs are free


if __name__ == "__main__":
    main()
