"""Ask a person, and wait for the decision; or let a function run only after one."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, TypeVar

from . import types

if TYPE_CHECKING:
    from .api import Client

F = TypeVar("F", bound=Callable[..., Any])
WAIT_S = 50  # below the 60 s that the API allows, and below what proxies cut off
RETRY_S = (0.5, 1, 2, 5)


class ApprovalNotGiven(Exception):
    """Rejected, changes requested, withdrawn, expired (also: approved and not used in time), or still waiting. Nothing was run. `approval` says who decided what and why."""

    def __init__(self, approval: types.Approval):
        self.approval = approval
        self.status = approval["status"]
        if self.status == "expired" and approval.get("approved_at") is not None:
            approvers = ", ".join(one["by"] for one in approval["decisions"] if one["verdict"] == "approve")
            super().__init__(f"{approval['title']} was approved by {approvers} and not used in time: it expired at {approval['expires_at']}")
            return
        comments = [one["comment"] for one in approval["decisions"] if one["comment"]]
        why = f" ({comments[-1]})" if comments else ""
        super().__init__(f"{approval['title']} was not approved: {self.status.replace('_', ' ')}{why}")


class ApprovalUsed(Exception):
    """It was approved, and that approval is used: it runs, has run, or the process that ran it has died."""

    def __init__(self, approval: types.Approval):
        self.approval = approval
        run = approval["run"]
        state = f" by {run['by']} at {run['started_at']} ({run['status']})" if run else ""
        super().__init__(f"{approval['title']} was approved, and that approval is used{state}")


class Approvals:
    def __init__(self, client: "Client"):
        self._client = client

    def request(self, *, key: str, title: str, show: Any, wait: Optional[float] = None, **options: Any) -> types.Approval:
        """Asks and waits until it is decided, or for `wait` seconds. The same key and content, after a crash too, waits on.

        options: kind, reviewers, groups, policy, form, timeout ("2d").
        """
        return self.wait(self.open(key=key, title=title, show=show, **options)["approval_id"], timeout=wait)

    def open(self, *, key: str, title: str, show: Any, **options: Any) -> types.Approval:
        """Asks, and does not wait."""
        given = {name: value for name, value in options.items() if value is not None}
        body = {"key": key, "title": title, "show": show, **given}
        if self._client.workspace is not None:
            body["workspace_id"] = self._client.workspace
        return retried(lambda: self._client.call("POST", "/approvals", body))

    def get(self, approval: str, *, wait: int = 0) -> types.Approval:
        query = {"wait": wait} if wait else None
        return self._client.call("GET", path_of(approval), query=query, timeout=self._client.timeout + wait)

    def wait(self, approval: str, *, timeout: Optional[float] = None) -> types.Approval:
        """Until it is decided; a server that is away is asked again. With `timeout` the answer may be `waiting`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = WAIT_S if deadline is None else max(0, min(WAIT_S, deadline - time.monotonic()))
            found = retried(lambda: self.get(approval, wait=int(left)), forever=deadline is None)
            if found["decided"] or (deadline is not None and time.monotonic() >= deadline):
                return found
            if int(left) == 0:
                time.sleep(min(0.2, left) if left else 0.05)

    def list(self, **filters: Any) -> Iterator[types.Approval]:
        return self._client.pages("/approvals", "approvals", filters)

    def approve(
        self, approval: str, *, digest: str, answers: Optional[Dict[str, Any]] = None, comment: Optional[str] = None
    ) -> types.Approval:
        """For a person who may review, with their token."""
        body: Dict[str, Any] = {"digest": digest, "answers": answers or {}}
        if comment:
            body["comment"] = comment
        return self._client.call("POST", f"{path_of(approval)}/approve", body)

    def use(self, approval: str, *, digest: Optional[str] = None) -> str:
        """Once: of two who try one gets the run. Not tried again without an answer, because it may have counted."""
        return self._client.call("POST", f"{path_of(approval)}/use", {"digest": digest} if digest else {})["run_id"]

    def finish(self, approval: str, *, error: Optional[str] = None) -> types.Approval:
        return self._client.call("POST", f"{path_of(approval)}/finish", {"error": error[:2000]} if error else {})


class Kinds:
    """What may be shown: a JSON Schema and a template, for each workspace. For administrators."""

    def __init__(self, client: "Client"):
        self._client = client

    def create(
        self,
        kind: str,
        schema: Dict[str, Any],
        *,
        template: Optional[str] = None,
        description: Optional[str] = None,
        replace: bool = False,
    ) -> types.ApprovalKind:
        body = {"kind": kind, "schema": schema, "template": template, "description": description, "replace": replace}
        body["workspace_id"] = self._client.workspace
        return self._client.call("POST", "/kinds", {name: value for name, value in body.items() if value is not None})

    def list(self) -> List[types.ApprovalKind]:
        return self._client.call("GET", "/kinds", query={"workspace_id": self._client.workspace})["kinds"]


def require_approval(
    client: "Client",
    *,
    title: Optional[str] = None,
    key: Optional[Callable[..., str]] = None,
    show: Optional[Callable[..., Any]] = None,
    wait: Optional[float] = None,
    **options: Any,
) -> Callable[[F], F]:
    """A decorator: the function shows its arguments, waits, and runs once after a person approved them.

    `key` says what one request is; without it the title and the arguments do, so that the same arguments run once for good. Of several
    processes with the same key one runs, the others raise ApprovalUsed. A process that dies while it runs is not replaced: at most once.
    """

    def decorate(function: F) -> F:
        name = title or function.__name__
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            # What is shown is what runs: the function gets the copy that is shown, whatever becomes of the caller's objects meanwhile.
            if not (show and key):
                args = tuple(exact(value, f"argument {at + 1}") for at, value in enumerate(args))
                kwargs = {at: exact(value, f"argument {at}") for at, value in kwargs.items()}

            def described() -> Any:
                shown = show(*args, **kwargs) if show else {"arguments": arguments_of(signature, args, kwargs)}
                asked = key(*args, **kwargs) if key else key_of(name, signature, args, kwargs)
                return asked, json.dumps(shown, ensure_ascii=False, allow_nan=False)

            asked, shown = described()
            approval = client.approvals.request(key=asked, title=name, show=json.loads(shown), wait=wait, **options)
            # Arguments that are not copied may have changed while somebody looked at them.
            if approval["status"] == "approved" and described() != (asked, shown):
                raise ValueError(f"What {name} shows has changed since it was asked for: ask again under another key")
            use_or_raise(client, approval)
            try:
                if described() != (asked, shown):
                    raise ValueError(f"What {name} shows has changed since it was asked for: ask again under another key")
                result = function(*args, **kwargs)
            except BaseException as error:
                finish_quietly(client, approval, f"{type(error).__name__}: {error}")
                raise
            client.approvals.finish(approval["approval_id"])
            return result

        return wrapped  # type: ignore[return-value]

    return decorate


def use_or_raise(client: "Client", approval: types.Approval) -> None:
    from .api import ApiError

    if approval["status"] != "approved":
        raise ApprovalNotGiven(approval)
    if approval["run"] is not None:
        raise ApprovalUsed(approval)
    try:
        client.approvals.use(approval["approval_id"], digest=approval["digest"])
    except ApiError as error:
        if error.code in ("staging_decided", "staging_expired"):  # used by another process, expired, or taken back: the request says which
            now = client.approvals.get(approval["approval_id"])
            if now["status"] != "approved":
                raise ApprovalNotGiven(now) from None
            if now["run"] is not None:
                raise ApprovalUsed(now) from None
        raise


def finish_quietly(client: "Client", approval: types.Approval, error: str) -> None:
    """The error of the function matters more than that it could not be written down."""
    try:
        client.approvals.finish(approval["approval_id"], error=error)
    except Exception:  # noqa: BLE001
        pass


def arguments_of(signature: inspect.Signature, args: Any, kwargs: Any) -> Dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def exact(value: Any, place: str) -> Any:
    """A copy of what JSON shows as it is; other values are refused, because a reviewer would see something else."""
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if type(value) in (list, tuple):
        return type(value)(exact(one, f"{place}[{at}]") for at, one in enumerate(value))
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: exact(one, f"{place}.{name}") for name, one in value.items()}
    what = "a dict whose keys are no text" if type(value) is dict else type(value).__name__
    raise TypeError(f"{place} is {what}, which a reviewer would not see as it is: pass text, numbers, lists and dicts, or give both show and key")


def key_of(name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> str:
    text = json.dumps(arguments_of(signature, args, kwargs), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{name}:{hashlib.sha256(text.encode()).hexdigest()}"


def retried(call: Callable[[], Any], *, forever: bool = False) -> Any:
    """Calls that may be made twice, while there is no answer or the server is stopping."""
    from .api import ApiError, Unreachable

    tries = 0
    while True:
        try:
            return call()
        except (Unreachable, ApiError) as error:
            if isinstance(error, ApiError) and error.status < 500 and error.status != 429:
                raise
            if tries >= len(RETRY_S) and not forever:
                raise
            time.sleep(RETRY_S[min(tries, len(RETRY_S) - 1)])
            tries += 1


def path_of(approval: str) -> str:
    return f"/approvals/{urllib.parse.quote(approval, safe='')}"
