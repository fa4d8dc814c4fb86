"""A worker outside Node: leases jobs over HTTP with the Python client (clients/python), which needs the standard library only.

    export EXECUTOR_TOKEN=$(stagedoor token --role stagedoor_executor --executor external_worker)
    python3 worker.py                 # API_URL=http://… for another address; --until-idle ends when nothing is due
"""

import os
import sys

# Installed with pip, this line is not needed.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))

from stagedoor import Client, Fatal, Worker  # noqa: E402

worker = Worker(Client(token=os.environ["EXECUTOR_TOKEN"]), name="worker.py")


# What you write into routed tables: first select set_config('stagedoor.cause', job["causation_event_id"], true), so that the trace goes on.
@worker.handler("send_report")
def send_report(job, cancelled):
    recipient = job["payload"].get("recipient") or job["target_ref"]  # a consumer's job names what its event was about
    if recipient is None:
        raise Fatal("it names no recipient and no row")
    if recipient == "nobody":
        raise RuntimeError("the mail server does not answer")
    print(f"sending the report to {recipient}", flush=True)  # a long one looks at cancelled() now and then
    return {"message_ref": f"mail:{job['job_id']}"}


if __name__ == "__main__":
    worker.run(until_idle="--until-idle" in sys.argv)
