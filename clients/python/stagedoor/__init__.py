"""Client of Stagedoor: pull requests for production data. The standard library is enough."""

from .api import ApiError, Client, Unreachable
from .approvals import ApprovalNotGiven, ApprovalUsed, Approvals, require_approval
from .worker import Fatal, LeasePassed, Worker

__all__ = [
    "ApiError",
    "ApprovalNotGiven",
    "ApprovalUsed",
    "Approvals",
    "Client",
    "Fatal",
    "LeasePassed",
    "Unreachable",
    "Worker",
    "require_approval",
]
__version__ = "0.1.0"
