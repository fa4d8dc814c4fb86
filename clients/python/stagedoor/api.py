"""The client: one connection to the API, and a part for each room. Every answer is a dict as `stagedoor.types` describes it."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, BinaryIO, Dict, Iterator, List, Mapping, Optional, Union

from . import types
from .approvals import Approvals, Kinds

MAX_EXACT = 2**53 - 1
MAX_BODY = 1024 * 1024  # STAGEDOOR_BODY_LIMIT of the API; files have a limit of their own
ENDED = ("promoted", "undone", "failed", "discarded", "expired")


class ApiError(Exception):
    """The API understood and says no. `code` stays the same in every version; `hint` says what to do."""

    def __init__(self, status: int, problem: Mapping[str, Any]):
        self.status = status
        self.code: str = problem.get("code", "unknown")
        self.detail: str = problem.get("detail") or problem.get("title") or "without a reason"
        self.hint: str = problem.get("hint", "")
        self.problem = dict(problem)
        super().__init__(f"{self.code}: {self.detail}" + (f" ({self.hint})" if self.hint else ""))


class Unreachable(ConnectionError):
    """No answer: whether the call counted is not known. Calls with a key may be made again."""


class Client:
    """`Client()` takes API_URL and API_TOKEN from the environment. A client is for one thread at a time or many: it holds no connection."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, workspace: Optional[str] = None, timeout: float = 60, max_body: int = MAX_BODY):
        self.url = (url or os.environ.get("API_URL") or "http://localhost:4680").rstrip("/")
        given = token or os.environ.get("API_TOKEN")
        if not given:
            raise ValueError("Client needs a token: Client(url, token), or API_TOKEN in the environment")
        self._token = given
        self.workspace = workspace
        self.timeout = timeout
        self.max_body = max_body
        self.approvals = Approvals(self)
        self.kinds = Kinds(self)
        self.uploads = Uploads(self)
        self.proposals = Proposals(self)
        self.records = Records(self)
        self.jobs = Jobs(self)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"  # never the token

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        data: Optional[Union[bytes, BinaryIO]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """One call below /api/v1. `body` is sent as JSON, `data` as it is. Raises ApiError and Unreachable."""
        sent = {"authorization": f"Bearer {self._token}", "accept": "application/json", **(headers or {})}
        if data is None and body is not None:
            data = dumps(body)
            sent["content-type"] = "application/json"
            if len(data) > self.max_body:  # the API would hang up while it is being sent
                raise ApiError(413, {"code": "body_too_large", "detail": f"the request has {len(data)} bytes, more than {self.max_body}"})
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}{query_string(query)}", data=data, headers=sent, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout or self.timeout) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, problem_in(error)) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url} does not answer: {error}") from error
        return json.loads(text) if text else None

    def pages(self, path: str, name: str, query: Optional[Mapping[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """Everything of a list, page by page."""
        after = None
        while True:
            page = self.call("GET", path, query={**(query or {}), "after": after})
            yield from page[name]
            after = page.get("next")
            if after is None:
                return

    def search(self, text: str, *, limit: int = 10, explain: bool = False, **filters: Any) -> types.SearchAnswer:
        """Units and documents by words and by meaning; each hit says how fresh it is."""
        asked = {"q": text, "limit": limit, "explain": explain, "workspace_id": self.workspace, **filters}
        return self.call("GET", "/search", query=asked)


class Uploads:
    """Files that become changes of tables."""

    def __init__(self, client: Client):
        self._client = client

    def create(
        self, file: Union[str, "os.PathLike[str]", bytes], *, dataset: str, platform: str, file_name: Optional[str] = None, **options: Any
    ) -> types.CreatedUpload:
        """Sends a file by its path, or bytes with `file_name`; answers as soon as it is in the store. `options`: on_invalid, until, dry_run, …"""
        query = {"dataset": dataset, "platform": platform, "workspace_id": self._client.workspace, **options}
        binary = {"content-type": "application/octet-stream"}
        if isinstance(file, bytes):
            query["file_name"] = file_name or "upload"
            return self._client.call("POST", "/uploads", query=query, data=file, headers=binary)
        query["file_name"] = file_name or os.path.basename(os.fspath(file))
        with open(file, "rb") as stream:  # never the whole file in memory
            length = {"content-length": str(os.fstat(stream.fileno()).st_size)}
            return self._client.call("POST", "/uploads", query=query, data=stream, headers={**binary, **length})

    def get(self, upload: str) -> types.UploadDetail:
        return self._client.call("GET", f"/uploads/{quote(upload)}")

    def wait(self, upload: str, *, until: str = "planned", timeout: float = 600) -> types.UploadDetail:
        """Until it is planned (or staged), has failed or has ended otherwise. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        pause = 0.1
        while True:
            found = self.get(upload)
            reached = {"staged": ("staged", "planned"), "planned": ("planned",)}[until]
            if found["status"] in reached or found["status"] in ENDED:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"upload {upload} is {found['status']} after {timeout} s")
            time.sleep(pause)
            pause = min(pause * 1.5, 2)

    def list(self, **filters: Any) -> Iterator[types.Upload]:
        return self._client.pages("/uploads", "uploads", filters)

    def plan_rows(self, upload: str, **filters: Any) -> Any:
        """One page of what would be written: `rows` and `next`."""
        return self._client.call("GET", f"/uploads/{quote(upload)}/plan/rows", query=filters)

    def submit(self, upload: str, *, digest: str) -> types.UploadDetail:
        """`digest`: of the plan that was looked at (`plan_digest`)."""
        return self._client.call("POST", f"/uploads/{quote(upload)}/submit", {"digest": digest})

    def promote(self, upload: str, *, digest: str) -> types.UploadDetail:
        return self._client.call("POST", f"/uploads/{quote(upload)}/promote", {"digest": digest})

    def discard(self, upload: str) -> types.UploadDetail:
        return self._client.call("POST", f"/uploads/{quote(upload)}/discard")


class Proposals:
    """Statements in SQL that become uploads with a plan: what follows are the calls of `uploads`."""

    def __init__(self, client: Client):
        self._client = client

    def create(
        self, statement: str, *, key: Optional[str] = None, title: Optional[str] = None, submit: bool = False, dry_run: bool = False
    ) -> Dict[str, Any]:
        """One INSERT, UPDATE, DELETE or MERGE on an open table, worked out and rolled back. The same `key` gives the same proposal."""
        return self._propose(statement=statement, key=key, title=title, submit=submit or None, dry_run=dry_run or None)

    def again(self, upload: str, *, title: Optional[str] = None, submit: bool = False) -> Dict[str, Any]:
        """The statement of an upload once more, on the rows as they are now."""
        return self._propose(again=upload, title=title, submit=submit or None)

    def tables(self) -> List[types.ProposalTable]:
        """The tables that are open, and those that were closed."""
        return self._client.call("GET", "/proposals/tables", query={"workspace_id": self._client.workspace})["tables"]

    def _propose(self, **body: Any) -> Dict[str, Any]:
        body["workspace_id"] = self._client.workspace
        return self._client.call("POST", "/proposals", {name: value for name, value in body.items() if value is not None})


class Records:
    """The staging zone: anything that waits for a decision."""

    def __init__(self, client: Client):
        self._client = client

    def create(
        self, *, kind: str, type: str, purpose: str, parts: List[Dict[str, Any]], key: Optional[str] = None, **options: Any
    ) -> types.CreatedRecord:
        """The same key with the same parts is the same record."""
        body = {
            "staging_kind": kind,
            "payload_type": type,
            "purpose": purpose,
            "parts": parts,
            "workspace_id": self._client.workspace,
            **options,
        }
        headers = {"idempotency-key": key} if key else None
        return self._client.call("POST", "/staging", without_none(body), headers=headers)

    def get(self, record: str) -> types.StagingDetail:
        return self._client.call("GET", f"/staging/{quote(record)}")

    def list(self, **filters: Any) -> Iterator[types.StagingSummary]:
        return self._client.pages("/staging", "records", filters)

    def withdraw(self, record: str) -> types.StagingDetail:
        return self._client.call("POST", f"/staging/{quote(record)}/withdraw")

    def consume(self, record: str, *, digest: Optional[str] = None, command: Optional[str] = None) -> str:
        """Returns the run."""
        body = without_none({"digest": digest, "command": command})
        return self._client.call("POST", f"/staging/{quote(record)}/consume", body)["run_id"]


class Jobs:
    """The queue. Enqueueing needs a token of service_role."""

    def __init__(self, client: Client):
        self._client = client

    def enqueue(self, kind: str, *, key: Optional[str] = None, payload: Optional[Dict[str, Any]] = None, **options: Any) -> str:
        """The same kind and key is the same job. The payload is references, never data. Returns its id."""
        job = without_none({"job_kind": kind, "idempotency_key": key, "payload": payload, **options})
        return self._client.call("POST", "/jobs", {"jobs": [job]})["jobs"][0]

    def get(self, job: str) -> types.JobDetail:
        return self._client.call("GET", f"/jobs/{quote(job)}")

    def list(self, **filters: Any) -> Iterator[types.JobRecord]:
        return self._client.pages("/jobs", "jobs", filters)

    def cancel(self, job: str, *, reason: Optional[str] = None) -> str:
        """`cancelled`, or `requested` of a job that runs."""
        return self._client.call("POST", f"/jobs/{quote(job)}/cancel", without_none({"reason": reason}))["outcome"]


def dumps(body: Any) -> bytes:
    """JSON that is read as it was meant: a whole number beyond 2^53 would be rounded on the way, and NaN is no JSON."""
    check_numbers(body)
    return json.dumps(body, allow_nan=False, ensure_ascii=False).encode()


def check_numbers(value: Any) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        raise ValueError(f"{value} is beyond 2^53 and would be rounded: give it as a text")
    if isinstance(value, Mapping):
        for one in value.values():
            check_numbers(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            check_numbers(one)


def query_string(query: Optional[Mapping[str, Any]]) -> str:
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in (query or {}).items()
        if value is not None
    }
    return f"?{urllib.parse.urlencode(given)}" if given else ""


def quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def without_none(body: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def problem_in(error: urllib.error.HTTPError) -> Dict[str, Any]:
    try:
        problem = json.loads(error.read())
        return problem if isinstance(problem, dict) else {}
    except (ValueError, OSError, http.client.HTTPException):
        return {"title": f"HTTP {error.code}"}
