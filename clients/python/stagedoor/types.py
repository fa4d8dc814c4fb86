"""Types of what the API answers. Made by `npm run generate`. Do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

class AppliedPolicy(TypedDict):
    policy_id: str
    revision: int
    dataset: Optional[str]
    kind: Optional[str]


class AppliedRule(TypedDict):
    name: Optional[str]
    why: str
    approvals: Optional[int]
    groups: List[str]


class Approval(TypedDict):
    approval_id: str
    workspace_id: str
    change: Optional[int]
    key: str
    title: str
    kind: Optional[str]
    kind_revision: Optional[int]
    form: List[FormField]
    policy: RequestPolicy
    digest: str
    status: Literal["waiting", "approved", "rejected", "changes_requested", "expired", "withdrawn"]
    decided: bool
    requested_by: str
    requested_via: Optional[str]
    requested_at: str
    expires_at: str
    approved_at: Optional[str]
    decided_at: Optional[str]
    decisions: List[ApprovalDecision]
    answers: Optional[Dict[str, Any]]
    run: Optional[ApprovalRun]
    summary: Optional[str]


class ApprovalDecision(TypedDict):
    verdict: Literal["approve", "request_changes", "reject", "withdraw"]
    by: str
    via: Optional[str]
    at: str
    comment: Optional[str]


class ApprovalKind(TypedDict):
    workspace_id: str
    kind: str
    revision: int
    description: Optional[str]
    schema: Dict[str, Any]
    template: Optional[str]
    created_by: str
    created_via: Optional[str]
    created_at: str


class ApprovalRun(TypedDict):
    run_id: str
    by: str
    status: Literal["running", "applied", "failed"]
    started_at: str
    finished_at: Optional[str]
    error: Optional[str]


class Approver(TypedDict):
    reviewer: str
    at: str


class ChecklistItem(TypedDict):
    item_id: str
    label: str
    required: bool
    ticked_by: Optional[str]
    ticked_at: Optional[str]
    note: Optional[str]


class ClaimJobsResponse(TypedDict):
    jobs: List[ClaimedJob]
    leased_until: str
    cancelled: List[str]


class ClaimedJob(TypedDict):
    job_id: str
    job_kind: str
    executor: str
    idempotency_key: Optional[str]
    source_ref: Optional[str]
    target_ref: Optional[str]
    payload_ref: Optional[str]
    payload: Dict[str, Any]
    priority: int
    correlation_id: Optional[str]
    causation_event_id: Optional[str]
    causation_depth: int
    actor: str
    workspace_id: Optional[str]
    enqueued_at: str
    attempts: int
    crashes: int
    replays: int
    last_error: Optional[str]
    process_after: str
    lease_epoch: int
    begun: bool


class ConflictAnswer(TypedDict):
    answer: Literal["keep_theirs", "use_mine"]
    cells: int
    rows: int
    columns: List[ConflictCount]
    answered_by: str
    answered_via: Optional[str]
    answered_at: str


class _ConflictCount(TypedDict):
    table: str
    kind: Literal["changed", "created", "deleted", "to_delete"]
    cells: int


class ConflictCount(_ConflictCount, total=False):
    column: str


class _ControlTotal(TypedDict):
    measure: str
    title: str
    column: str
    currency: Optional[str]
    read: str
    valid: str
    left_out: str
    refused: str
    reasons: Dict[str, str]
    unread: int


class ControlTotal(_ControlTotal, total=False):
    totals_lines: str
    written: str
    unchanged: str
    before: str
    after: str
    difference: str
    lost_share: str


class CorrectedQuestion(TypedDict):
    text: str
    instead: str
    words: List[Correction]


class Correction(TypedDict):
    word: str
    replaced_by: str


class CreateProposalResponse(TypedDict):
    upload: Upload
    created: bool


class CreatedRecord(TypedDict):
    staging_record_id: str
    lifecycle_status: Literal["pending", "approved", "consumed", "rejected", "expired", "cleaned"]
    content_hash: str
    created: bool


class CreatedUpload(TypedDict):
    upload: Upload
    created: bool


class Dependents(TypedDict):
    table: str
    effect: Literal["delete", "set null", "set default", "restrict"]
    rows: int


class EnqueueJobsResponse(TypedDict):
    jobs: List[str]


class _FacetValue(TypedDict):
    filter: Literal["source", "table", "column", "kind", "status", "language", "topic"]
    value: str
    count: int


class FacetValue(_FacetValue, total=False):
    column: str


class _FileNote(TypedDict):
    rule: str
    message: str


class FileNote(_FileNote, total=False):
    line: int
    count: int


class _FormField(TypedDict):
    name: str
    type: Literal["text", "number", "boolean", "choice", "date"]


class FormField(_FormField, total=False):
    label: str
    required: bool
    choices: List[str]
    min: float
    max: float


class HeaderMap(TypedDict):
    headers: List[str]
    fields: Dict[str, MappedField]
    unknown: List[UnknownColumn]
    missing: List[MissingField]
    rowTypes: List[str]
    leaf: str
    notes: List[HeaderNote]


class HeaderNote(TypedDict):
    rule: str
    message: str


class HitContext(TypedDict, total=False):
    parent: NearbyUnit
    unit_before: NearbyUnit
    unit_after: NearbyUnit
    text_before: str
    text_after: str


class HitLineage(TypedDict):
    upload_id: str
    file_name: Optional[str]
    line: int
    action: str
    promoted_at: str
    promoted_by: Optional[str]
    approved_by: Optional[str]


class HitRanks(TypedDict, total=False):
    lexical: int
    dense: int


class _HitReasons(TypedDict):
    unit: str
    document: str
    shares: HitShares
    words: List[MatchedWord]


class HitReasons(_HitReasons, total=False):
    chunk_id: str


class HitShares(TypedDict):
    words: float
    meaning: float


class Job(TypedDict):
    job_id: str
    status: Literal["waiting", "running", "completed", "cancelled", "dead"]
    job_kind: str
    executor: str
    idempotency_key: Optional[str]
    source_ref: Optional[str]
    target_ref: Optional[str]
    payload_ref: Optional[str]
    payload: Dict[str, Any]
    priority: int
    correlation_id: Optional[str]
    causation_event_id: Optional[str]
    causation_depth: int
    actor: str
    workspace_id: Optional[str]
    enqueued_at: str
    attempts: int
    crashes: int
    replays: int
    last_error: Optional[str]
    actor_via: Optional[str]
    process_after: Optional[str]
    started_at: Optional[str]
    finished_at: Optional[str]
    worker_id: Optional[str]
    result: Any


class JobAttemptError(TypedDict):
    attempt: int
    replay: int
    crashed: bool
    error: str
    worker_id: Optional[str]
    started_at: Optional[str]
    failed_at: str


class JobDetail(TypedDict):
    job_id: str
    status: Literal["waiting", "running", "completed", "cancelled", "dead"]
    job_kind: str
    executor: str
    idempotency_key: Optional[str]
    source_ref: Optional[str]
    target_ref: Optional[str]
    payload_ref: Optional[str]
    payload: Dict[str, Any]
    priority: int
    correlation_id: Optional[str]
    causation_event_id: Optional[str]
    causation_depth: int
    actor: str
    workspace_id: Optional[str]
    enqueued_at: str
    attempts: int
    crashes: int
    replays: int
    last_error: Optional[str]
    actor_via: Optional[str]
    process_after: Optional[str]
    started_at: Optional[str]
    finished_at: Optional[str]
    worker_id: Optional[str]
    result: Any
    attempt_errors: List[JobAttemptError]


class Layout(TypedDict):
    fields: List[str]
    row_types: List[str]
    leaf: str


class LeftOutLine(TypedDict):
    line: int
    reason: str
    message: str
    values: Dict[str, str]


class LegCounts(TypedDict):
    lexical: int
    dense: Union[int, Literal["off", "unavailable"]]


class ListApprovalKindsResponse(TypedDict):
    kinds: List[ApprovalKind]


class ListApprovalsResponse(TypedDict):
    approvals: List[Approval]
    next: Optional[str]


class ListJobsResponse(TypedDict):
    jobs: List[Job]
    next: Optional[str]


class ListPlanRowsResponse(TypedDict):
    rows: List[PlanRow]
    next: Optional[str]


class ListProposalTablesResponse(TypedDict):
    tables: List[ProposalTable]


class ListStagingRecordsResponse(TypedDict):
    records: List[StagingSummary]
    people: Dict[str, str]
    next: Optional[str]


class ListUploadLeftOutResponse(TypedDict):
    lines: List[LeftOutLine]
    next: Optional[str]


class ListUploadsResponse(TypedDict):
    uploads: List[Upload]
    people: Dict[str, str]
    next: Optional[str]


class LookupNames(TypedDict):
    before: Optional[str]
    after: Optional[str]


class _MappedField(TypedDict):
    column: int
    header: str
    type: str
    duplicates: List[int]


class MappedField(_MappedField, total=False):
    micros: bool
    currency: str


class MatchedWord(TypedDict):
    word: str
    fields: List[Literal["text", "title", "address"]]
    share: float


class _MissingField(TypedDict):
    field: str
    title: str


class MissingField(_MissingField, total=False):
    nearest: str
    means: str


class NearbyUnit(TypedDict):
    unit_id: str
    canonical_address: str
    title: str


class NoHits(TypedDict):
    texts: int
    tables: int
    waiting: int
    unknown_words: List[UnknownWord]
    without_filters: Optional[int]
    excluded: List[str]
    without_exclusions: Optional[int]


OwnTotal = TypedDict(
    "OwnTotal",
    {
        "line": "int",
        "label": "Optional[str]",
        "result": "Literal[\"agrees\", \"disagrees\", \"not_compared\"]",
        "with": "Optional[str]",
        "lines": "Optional[int]",
        "reason": "Optional[str]",
        "figures": "List[OwnTotalFigure]",
        "more_figures": "int",
    },
    total=False,
)


class OwnTotalExcluded(TypedDict):
    column: str
    reason: str


class _OwnTotalFigure(TypedDict):
    column: str
    title: str
    field: str
    file: str
    sum: str
    difference: str
    unread: int
    result: Literal["agrees", "disagrees", "not_compared"]


class OwnTotalFigure(_OwnTotalFigure, total=False):
    reason: str


class OwnTotals(TypedDict):
    lines: int
    agree: int
    disagree: int
    not_compared: int
    columns: List[str]
    excluded: List[OwnTotalExcluded]
    more_excluded: int
    totals: List[OwnTotal]
    more_totals: int


class PartOfRecord(TypedDict):
    part_index: int
    part_name: str
    payload_kind: Literal["json", "text", "blob_ref"]
    content_hash: str
    byte_len: str


class Period(TypedDict):
    start: str
    end: str


class Permission(TypedDict):
    allowed: bool
    reason: Optional[str]


class PlanRow(TypedDict):
    type_order: int
    row_type: str
    row_number: int
    action: Literal["insert", "update", "unchanged", "delete", "skipped", "refused"]
    target_id: Optional[str]
    target_key: Optional[Dict[str, Any]]
    before: Optional[Dict[str, Any]]
    after: Optional[Dict[str, Any]]
    changed: Optional[List[str]]
    reason: Optional[str]
    dependents: Optional[List[Dependents]]
    label: Optional[Dict[str, Any]]
    row_key: List[PlanRowKey]
    names: Optional[Dict[str, LookupNames]]


class PlanRowKey(TypedDict):
    column: str
    value: Optional[str]


class PreambleLine(TypedDict):
    line: int
    text: str


class PromotionFailure(TypedDict):
    plan_digest: str
    tried_by: str
    tried_via: Optional[str]
    failed_at: str
    error: UploadError


class ProposalTable(TypedDict):
    workspace_id: str
    target: str
    dataset: str
    operations: List[Literal["insert", "update", "delete"]]
    columns: Optional[List[str]]
    key: List[str]
    triggers: List[str]
    triggers_allowed: bool
    max_rows: int
    row_security: bool
    opened_by: str
    opened_at: str
    closed_by: Optional[str]
    closed_at: Optional[str]
    not_ready: Optional[str]


class Reading(TypedDict):
    format: Literal["csv", "jsonl", "json", "parquet", "xlsx", "rows"]
    definition_digest: str
    encoding: str
    delimiter: Optional[str]
    header_line: int
    headers: List[str]
    preamble: List[PreambleLine]
    styles: Styles
    map: HeaderMap
    period: Optional[Period]
    values: Dict[str, Dict[str, Optional[str]]]
    layout: Layout


class RequestPolicy(TypedDict, total=False):
    approvals: int
    groups: List[str]


class RequestedApproval(TypedDict):
    approval_id: str
    workspace_id: str
    change: Optional[int]
    key: str
    title: str
    kind: Optional[str]
    kind_revision: Optional[int]
    form: List[FormField]
    policy: RequestPolicy
    digest: str
    status: Literal["waiting", "approved", "rejected", "changes_requested", "expired", "withdrawn"]
    decided: bool
    requested_by: str
    requested_via: Optional[str]
    requested_at: str
    expires_at: str
    approved_at: Optional[str]
    decided_at: Optional[str]
    decisions: List[ApprovalDecision]
    answers: Optional[Dict[str, Any]]
    run: Optional[ApprovalRun]
    summary: Optional[str]
    created: bool


class RequestedChanges(TypedDict):
    review_id: str
    reviewer: str
    at: str


class ReviewStanding(TypedDict):
    change: int
    digest: Optional[str]
    policy: Optional[AppliedPolicy]
    approvals: int
    roles: List[str]
    groups: List[str]
    rules: List[AppliedRule]
    keep_approvals_when_unchanged: bool
    counted: int
    reviews: List[StandingApproval]
    missing: ReviewStandingMissing
    blocked_by: List[RequestedChanges]
    met: bool
    summary: str


class ReviewStandingMissing(TypedDict):
    approvals: int
    groups: List[str]


class _SearchAnswer(TypedDict):
    hits: List[SearchHit]
    warnings: List[str]
    took_ms: float
    legs: LegCounts


class SearchAnswer(_SearchAnswer, total=False):
    next: str
    facets: List[FacetValue]
    corrected: CorrectedQuestion
    synonyms: List[UsedSynonym]
    suggestions: List[str]
    no_hits: NoHits


class _SearchHit(TypedDict):
    source: Literal["unit", "document", "row"]
    title: str
    snippet: str
    highlights: List[List[int]]
    score: float
    legs: HitRanks
    freshness: Literal["current", "pending", "stale", "error"]
    warnings: List[str]


class SearchHit(_SearchHit, total=False):
    unit_id: str
    document_id: str
    canonical_address: str
    source_ref: str
    table: str
    key: Dict[str, str]
    columns: Dict[str, str]
    lineage: HitLineage
    lifecycle_status: str
    unit_kind: str
    version_no: int
    current_version_no: int
    explain: HitReasons
    similar: SimilarHits
    context: HitContext


class _SimilarHit(TypedDict):
    source: Literal["unit", "document"]
    id: str
    title: str


class SimilarHit(_SimilarHit, total=False):
    address: str


class SimilarHits(TypedDict):
    count: int
    hits: List[SimilarHit]


class _Snapshot(TypedDict):
    row_type: str
    scope: List[str]
    in_scope: int
    deleted: int
    max_deleted: float
    confirmed: bool
    lines: Optional[int]
    usual_lines: Optional[float]
    kept: int
    blocked: int
    dependents: List[Dependents]


class Snapshot(_Snapshot, total=False):
    needed_max_deleted: Optional[float]
    too_short: bool
    short_file_allowed: bool


class StagingDetail(TypedDict):
    staging_record_id: str
    workspace_id: Optional[str]
    staging_kind: Literal["mark_manifest", "review_package", "cut_preview", "sql_snapshot", "nosql_payload", "draft_iu_composition", "agent_intermediate", "event_working_state", "approval"]
    payload_type: Literal["manifest_json", "mark_report", "sql_result_snapshot", "nosql_payload", "source_excerpt", "import_preview", "event_working_state", "composition_draft", "review_bundle", "approval_request"]
    purpose: str
    lifecycle_status: Literal["pending", "approved", "consumed", "rejected", "expired", "cleaned"]
    owner_actor: str
    owner_via: Optional[str]
    source_kind: str
    source_ref: Optional[str]
    content_hash: str
    byte_len: str
    part_count: int
    approval_required: bool
    four_eyes: bool
    checklist_required: bool
    created_at: str
    expires_at: str
    approvers: List[Approver]
    approved_at: Optional[str]
    approved_by: Optional[str]
    approved_via: Optional[str]
    approval_doc_id: Optional[str]
    rejected_at: Optional[str]
    rejected_by: Optional[str]
    rejected_reason: Optional[str]
    withdrawn: Optional[str]
    consumed_at: Optional[str]
    consumed_by_run_id: Optional[str]
    expired_at: Optional[str]
    retain_until: Optional[str]
    cleaned_at: Optional[str]
    change: Optional[int]
    part_digests: List[PartOfRecord]
    referenced_iu_ids: List[str]
    checklist: List[ChecklistItem]
    may: StagingPermissions
    review: Optional[ReviewStanding]
    metadata: Optional[Dict[str, Any]]


class StagingPermissions(TypedDict):
    tick: Permission
    approve: Permission
    reject: Permission
    withdraw: Permission
    consume: Permission


class StagingSummary(TypedDict):
    staging_record_id: str
    workspace_id: Optional[str]
    staging_kind: Literal["mark_manifest", "review_package", "cut_preview", "sql_snapshot", "nosql_payload", "draft_iu_composition", "agent_intermediate", "event_working_state", "approval"]
    payload_type: Literal["manifest_json", "mark_report", "sql_result_snapshot", "nosql_payload", "source_excerpt", "import_preview", "event_working_state", "composition_draft", "review_bundle", "approval_request"]
    purpose: str
    lifecycle_status: Literal["pending", "approved", "consumed", "rejected", "expired", "cleaned"]
    owner_actor: str
    owner_via: Optional[str]
    source_kind: str
    source_ref: Optional[str]
    content_hash: str
    byte_len: str
    part_count: int
    approval_required: bool
    four_eyes: bool
    checklist_required: bool
    created_at: str
    expires_at: str
    approvers: List[Approver]
    approved_at: Optional[str]
    approved_by: Optional[str]
    approved_via: Optional[str]
    approval_doc_id: Optional[str]
    rejected_at: Optional[str]
    rejected_by: Optional[str]
    rejected_reason: Optional[str]
    withdrawn: Optional[str]
    consumed_at: Optional[str]
    consumed_by_run_id: Optional[str]
    expired_at: Optional[str]
    retain_until: Optional[str]
    cleaned_at: Optional[str]
    change: Optional[int]


class StandingApproval(TypedDict):
    review_id: Optional[str]
    reviewer: str
    role: Optional[str]
    at: str
    counts: bool
    groups: List[str]
    reason: Optional[str]


class Styles(TypedDict):
    decimal: Literal["dot", "comma", "mixed", "unknown"]
    dates: Literal["dmy", "mdy", "mixed", "unknown"]


class TimedStep(TypedDict):
    step: str
    ms: float


class UnknownColumn(TypedDict):
    column: int
    header: str


class UnknownWord(TypedDict):
    word: str
    similar: List[str]


class Upload(TypedDict):
    upload_id: str
    workspace_id: str
    client_id: str
    dataset: str
    platform: str
    file_name: str
    file_hash: str
    byte_len: str
    run_mode: Literal["FULL_DRY_RUN", "STAGING_ONLY", "SAFE_PROD"]
    status: Literal["reading", "staged", "planned", "promoted", "undone", "failed", "discarded", "expired"]
    reading: Optional[Reading]
    notes: List[FileNote]
    line_count: Optional[int]
    valid_count: Optional[int]
    invalid_count: Optional[int]
    skipped_count: Optional[int]
    warning_count: Optional[int]
    left_out: Dict[str, int]
    control: List[ControlTotal]
    own_totals: Optional[OwnTotals]
    repeated_keys: Optional[Literal["refuse", "sum", "last", "first"]]
    plan_notes: List[FileNote]
    progress: Optional[UploadProgress]
    error: Optional[UploadError]
    cursor_name: Optional[str]
    cursor_value: Any
    uploaded_by: str
    uploaded_via: Optional[str]
    changed_by: List[str]
    created_at: str
    staged_at: Optional[str]
    read_ms: Optional[int]
    ended_at: Optional[str]
    plan_digest: Optional[str]
    gate_mode: Optional[Literal["STRICT", "LENIENT"]]
    threshold: Optional[str]
    plan_totals: Optional[Dict[str, Dict[str, int]]]
    plan_refusal: Optional[str]
    planned_by: Optional[str]
    planned_at: Optional[str]
    plan_took_ms: Optional[int]
    review_record_id: Optional[str]
    approval_required: bool
    review_status: Optional[Literal["not_submitted", "pending", "approved", "rejected", "expired"]]
    review_reason: Optional[str]
    approvers: List[Approver]
    approved_by: Optional[str]
    approved_at: Optional[str]
    promoted_by: Optional[str]
    promoted_at: Optional[str]
    promotion_totals: Optional[Dict[str, Dict[str, int]]]
    undo_until: Optional[str]
    undone_by: Optional[str]
    undone_at: Optional[str]
    undo_reason: Optional[str]
    undo_totals: Optional[Dict[str, Dict[str, int]]]
    plan_snapshot: Optional[Snapshot]
    promotion_failures: List[PromotionFailure]
    promotion_failure_count: int
    change: Optional[int]
    title: Optional[str]
    steps: List[TimedStep]
    conflict_answers: List[ConflictAnswer]
    outdated: Optional[Literal["outdated", "maybe_outdated"]]
    proposal: Optional[UploadProposal]
    file_kept_until: Optional[str]


class UploadChecklistItem(TypedDict):
    item_id: str
    text: Optional[str]
    required: bool
    ticked_by: Optional[str]
    ticked_at: Optional[str]


class UploadDetail(TypedDict):
    upload_id: str
    workspace_id: str
    client_id: str
    dataset: str
    platform: str
    file_name: str
    file_hash: str
    byte_len: str
    run_mode: Literal["FULL_DRY_RUN", "STAGING_ONLY", "SAFE_PROD"]
    status: Literal["reading", "staged", "planned", "promoted", "undone", "failed", "discarded", "expired"]
    reading: Optional[Reading]
    notes: List[FileNote]
    line_count: Optional[int]
    valid_count: Optional[int]
    invalid_count: Optional[int]
    skipped_count: Optional[int]
    warning_count: Optional[int]
    left_out: Dict[str, int]
    control: List[ControlTotal]
    own_totals: Optional[OwnTotals]
    repeated_keys: Optional[Literal["refuse", "sum", "last", "first"]]
    plan_notes: List[FileNote]
    progress: Optional[UploadProgress]
    error: Optional[UploadError]
    cursor_name: Optional[str]
    cursor_value: Any
    uploaded_by: str
    uploaded_via: Optional[str]
    changed_by: List[str]
    created_at: str
    staged_at: Optional[str]
    read_ms: Optional[int]
    ended_at: Optional[str]
    plan_digest: Optional[str]
    gate_mode: Optional[Literal["STRICT", "LENIENT"]]
    threshold: Optional[str]
    plan_totals: Optional[Dict[str, Dict[str, int]]]
    plan_refusal: Optional[str]
    planned_by: Optional[str]
    planned_at: Optional[str]
    plan_took_ms: Optional[int]
    review_record_id: Optional[str]
    approval_required: bool
    review_status: Optional[Literal["not_submitted", "pending", "approved", "rejected", "expired"]]
    review_reason: Optional[str]
    approvers: List[Approver]
    approved_by: Optional[str]
    approved_at: Optional[str]
    promoted_by: Optional[str]
    promoted_at: Optional[str]
    promotion_totals: Optional[Dict[str, Dict[str, int]]]
    undo_until: Optional[str]
    undone_by: Optional[str]
    undone_at: Optional[str]
    undo_reason: Optional[str]
    undo_totals: Optional[Dict[str, Dict[str, int]]]
    plan_snapshot: Optional[Snapshot]
    promotion_failures: List[PromotionFailure]
    promotion_failure_count: int
    change: Optional[int]
    title: Optional[str]
    steps: List[TimedStep]
    conflict_answers: List[ConflictAnswer]
    outdated: Optional[Literal["outdated", "maybe_outdated"]]
    proposal: Optional[UploadProposal]
    file_kept_until: Optional[str]
    columns: List[str]
    may: UploadPermissions
    checklist: List[UploadChecklistItem]
    review: Optional[ReviewStanding]
    dataset_title: str
    client_name: Optional[str]
    people: Dict[str, str]


class UploadError(TypedDict):
    code: str
    message: str
    hint: str


class _UploadPermission(TypedDict):
    allowed: bool


class UploadPermission(_UploadPermission, total=False):
    why: str


class UploadPermissions(TypedDict):
    repair: UploadPermission
    plan: UploadPermission
    submit: UploadPermission
    approve: UploadPermission
    reject: UploadPermission
    promote: UploadPermission
    undo: UploadPermission
    discard: UploadPermission
    retry: UploadPermission


class _UploadProgress(TypedDict):
    stage: Literal["read", "check", "stage", "plan", "promote"]
    done: float
    total: float


class UploadProgress(_UploadProgress, total=False):
    lines: int
    problem: str


class UploadProposal(TypedDict):
    statement: str
    operation: Literal["insert", "update", "delete", "merge"]
    target: str
    took_ms: int
    locked_ms: int


class UsedSynonym(TypedDict):
    word: str
    synonyms: List[str]

