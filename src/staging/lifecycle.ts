/** What happens to records by themselves: expiry, cleanup, the health of the zone, the policy of a kind. */
import type { Queryable } from '../db/connection.ts'
import type { StagingKind } from './records.ts'

/** Returns how many expired; call again until 0. */
export async function expireRecords(db: Queryable, limit = 1000): Promise<number> {
  const { rows } = await db.query<{ expired: number }>('select iu_core.fn_iu_staging_expire($1) as expired', [
    limit,
  ])
  return rows[0]!.expired
}

export interface CleanupScope {
  readonly limit?: number
  readonly dry_run?: boolean
  readonly kinds?: readonly StagingKind[]
  readonly workspace_id?: string
}

export interface CleanupResult {
  readonly cleaned: number
  readonly parts: number
  readonly bytes: number
  readonly dry_run: boolean
}

/** One batch; call again until nothing was cleaned. */
export async function cleanRecords(db: Queryable, scope: CleanupScope = {}): Promise<CleanupResult> {
  const { rows } = await db.query<{ result: CleanupResult }>(
    'select iu_core.fn_iu_staging_cleanup($1) as result',
    [JSON.stringify(scope)],
  )
  return rows[0]!.result
}

export interface StagingHealth {
  readonly ok: boolean
  readonly checks: readonly { name: string; ok: boolean; detail: string }[]
  readonly lifecycle: Readonly<Record<string, number>>
  readonly gates: Readonly<Record<string, boolean>>
}

export async function stagingHealth(db: Queryable, sample = 100): Promise<StagingHealth> {
  const { rows } = await db.query<{ health: StagingHealth }>(
    'select iu_core.fn_iu_staging_healthcheck($1) as health',
    [sample],
  )
  return rows[0]!.health
}

export interface KindPolicy {
  readonly staging_kind: StagingKind
  readonly payload_types: readonly string[]
  readonly approval_required: boolean
  readonly four_eyes: boolean
  readonly checklist_required: boolean
  readonly time_to_live: string
  readonly retention: string
  readonly reason: string
}

export async function listPolicies(db: Queryable): Promise<KindPolicy[]> {
  const { rows } = await db.query<KindPolicy>(
    `select staging_kind, approval_required, four_eyes, checklist_required, time_to_live::text, retention::text, reason,
            array(select payload_type from iu_core.iu_staging_kind_type t
                   where t.staging_kind = p.staging_kind order by 1) as payload_types
       from iu_core.iu_staging_kind_policy p order by staging_kind`,
  )
  return rows
}

export interface PolicyChanges {
  readonly four_eyes?: boolean
  readonly checklist_required?: boolean
  /** As PostgreSQL writes an interval: `3 days`. */
  readonly time_to_live?: string
  readonly retention?: string
}

/** For records from now on. `db` must act as workflow_admin. */
export async function setPolicy(
  db: Queryable,
  kind: string,
  changes: PolicyChanges,
  reason: string,
): Promise<void> {
  await db.query('select iu_core.fn_iu_staging_set_policy($1, $2, $3)', [
    kind,
    JSON.stringify(changes),
    reason,
  ])
}
