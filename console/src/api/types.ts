/**
 * The shapes that the API answers with. This is the only file that knows them: once the schema is generated
 * (types.generated.ts), these become re-exports of it and nothing else changes.
 */
export interface Health {
  status: 'ok'
  version: string
}

export interface ReadyCheck {
  /** 'database', 'migrations', 'workers', 'event_partitions'; later versions may add more. */
  name: string
  ok: boolean
  detail: string
}

export interface Ready {
  status: 'ready' | 'not_ready'
  checks: ReadyCheck[]
}

export interface Membership {
  id: string
  name: string
  role: 'viewer' | 'operator' | 'reviewer' | 'admin' | 'agent'
}

export interface Me {
  actor: string
  role: string
  workspaces: Membership[]
}

export interface Gate {
  gate: string
  open: boolean
  description: string
  changed_at: string | null
  changed_by: string | null
}

export interface Gates {
  gates: Gate[]
}

export interface RecordedEvent {
  id: string
  domain: string
  type: string
  stream: string | null
  subject_ref: string | null
  actor: string
  workspace_id: string | null
  created_at: string
  /** References and whitelisted fields only, never the data itself. */
  payload: Record<string, unknown>
}

export interface EventPage {
  events: RecordedEvent[]
  next: string | null
}

/** application/problem+json */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  hint: string
  code: string
  request_id: string
}
