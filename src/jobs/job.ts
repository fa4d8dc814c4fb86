/** A job as its handler sees it. The names are those of the columns. */
export interface Job {
  readonly job_id: string
  readonly job_kind: string
  readonly executor: string
  readonly idempotency_key: string | null
  readonly source_ref: string | null
  readonly target_ref: string | null
  readonly payload_ref: string | null
  readonly safe_payload: Record<string, unknown>
  readonly priority: number
  readonly process_after: Date
  readonly correlation_id: string | null
  /** The event that this job came from. */
  readonly causation_event_id: string | null
  readonly causation_depth: number
  readonly actor: string
  readonly workspace_id: string | null
  readonly enqueued_at: Date
  /** This one included: the first run sees 1. */
  readonly attempts: number
  /** How often its worker died under it. */
  readonly crashes: number
  readonly replays: number
  /** Rises with every claim: the fence that a late worker does not pass. */
  readonly lease_epoch: number
  readonly last_error: string | null
}

/** What a producer gives. The names are those of the columns; all but the kind have defaults. */
export interface NewJob {
  readonly job_kind: string
  /** The same kind and key again gives the first job's id and no second job. */
  readonly idempotency_key?: string
  readonly executor?: string
  readonly source_ref?: string
  readonly target_ref?: string
  readonly payload_ref?: string
  readonly safe_payload?: Readonly<Record<string, unknown>>
  /** Higher first. */
  readonly priority?: number
  readonly process_after?: Date | string
  readonly correlation_id?: string
  readonly causation_event_id?: string
  readonly workspace_id?: string
}
