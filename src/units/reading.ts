/** Reading units: as they are, in a version, or as of a time. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { UnitFinding } from './checks.ts'
import { requireTime, requireUnitId, requireWorkspaceId } from './names.ts'

export const LIFECYCLE_STATUSES = ['draft', 'enacted', 'superseded', 'retired'] as const
export type UnitStatus = (typeof LIFECYCLE_STATUSES)[number]

export interface UnitRecord {
  readonly unit_id: string
  readonly workspace_id: string
  readonly canonical_address: string
  readonly unit_kind: string
  readonly container_id: string | null
  readonly position: number
  readonly source_ref: string
  readonly owner_actor: string
  readonly owner_via: string | null
  readonly born_at: Date
  readonly current_version_id: string
  readonly version_no: number
  readonly content_hash: string
  readonly title: string
  readonly language: string
  readonly body_bytes: number
  readonly content_profile: Record<string, unknown>
  readonly topics: string[]
  readonly lifecycle_status: UnitStatus
  readonly apr_ref: string | null
  readonly supersedes: string | null
  readonly superseded_by: string | null
  readonly deleted_at: Date | null
  readonly changed_at: Date
  readonly edges_out: number
  readonly edges_in: number
  /** The checker's word; null before it has looked. */
  readonly conformance: 'conforms' | 'deviates' | null
  readonly drift: 'none' | 'drifted' | null
  readonly findings: readonly UnitFinding[] | null
  readonly checked_at: Date | null
  /** 0 born, 1 usable, 2 complete. */
  readonly mup_tier: number
  /** What it lacks for the tiers above its own. */
  readonly missing: string[]
  readonly vector_state: 'pending' | 'stale' | 'error' | 'retired' | 'current'
}

export interface UnitVersion {
  readonly unit_version_id: string
  readonly version_no: number
  readonly unit_kind: string
  readonly title: string
  readonly language: string
  readonly body: string
  readonly content_hash: string
  readonly note: string | null
  readonly edited_by: string
  readonly edited_via: string | null
  readonly edited_at: Date
}

export interface UnitDetail extends UnitRecord {
  /** The one that was asked for; the unit's own fields are those of now. */
  readonly version: UnitVersion
  /** Its status at the time that was asked for, `deleted` where it was; null unless a time was asked for. */
  readonly status_then: string | null
}

/** By its id, or by its address in a workspace. */
export type UnitName =
  | { readonly unit_id: string }
  | { readonly workspace_id: string; readonly canonical_address: string }

/** A version, or the one that was current at a time; default: the current one. */
export interface UnitMoment {
  readonly version?: number
  readonly asOf?: Date
}

const RECORD = `v.unit_id, v.workspace_id, v.canonical_address, v.unit_kind, v.container_id, v.position, v.source_ref, v.owner_actor,
  v.owner_via, v.born_at, v.current_version_id, v.version_no, v.content_hash, v.title, v.language, v.body_bytes, v.content_profile,
  v.topics, v.lifecycle_status, v.apr_ref, v.supersedes, v.superseded_by, v.deleted_at, v.changed_at, v.edges_out, v.edges_in,
  v.conformance, v.drift, v.findings, v.checked_at, v.mup_tier, v.missing, v.vector_state`

/** Times are texts in JSON. */
type InJson<T> = { readonly [K in keyof T]: Date extends T[K] ? Exclude<T[K], Date> | string : T[K] }

interface ReadRow {
  readonly unit: InJson<UnitRecord>
  readonly version: (InJson<UnitVersion> & { readonly unit_id: string }) | null
  readonly status_then: string | null
}

/** One round trip. What the caller may not see is unknown, like what is not there. */
export async function readUnit(
  db: Queryable,
  name: UnitName,
  { version, asOf }: UnitMoment = {},
): Promise<UnitDetail> {
  if (version !== undefined && asOf !== undefined) {
    throw new StagedoorError('argument_invalid', { reason: 'Say a version or a time, not both' })
  }
  if (asOf !== undefined) requireTime(asOf)
  const { rows } = await db.query<ReadRow>('select * from iu_core.fn_unit_read($1, $2, $3, $4, $5)', [
    ...('unit_id' in name
      ? [requireUnitId(name.unit_id), null, null]
      : [null, requireWorkspaceId(name.workspace_id), name.canonical_address]),
    version ?? null,
    asOf ?? null,
  ])
  const row = rows[0]
  if (!row) throw new StagedoorError('unit_unknown', { unit: spoken(name) })
  const unit = recordOf(row.unit)
  if (row.version === null) throw noSuchMoment(unit, version, asOf)
  const { unit_id: _, edited_at, ...found } = row.version
  return { ...unit, status_then: row.status_then, version: { ...found, edited_at: new Date(edited_at) } }
}

function recordOf(unit: InJson<UnitRecord>): UnitRecord {
  return {
    ...unit,
    born_at: new Date(unit.born_at),
    changed_at: new Date(unit.changed_at),
    deleted_at: timeOf(unit.deleted_at),
    checked_at: timeOf(unit.checked_at),
  }
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

function spoken(name: UnitName): string {
  return 'unit_id' in name ? name.unit_id : name.canonical_address
}

function noSuchMoment(
  { canonical_address: unit, version_no, born_at }: UnitRecord,
  version: number | undefined,
  asOf: Date | undefined,
): StagedoorError {
  const message =
    asOf === undefined
      ? `The unit ${unit} has no version ${version}: it has ${version_no}`
      : `The unit ${unit} was not there at ${asOf.toISOString()}: it was born at ${born_at.toISOString()}`
  const hint = `Its history shows its versions and their times: \`stagedoor unit history ${unit}\`, or GET /api/units/…/history.`
  return new StagedoorError('unit_unknown', { unit }, { message, hint })
}

export interface UnitFilter {
  readonly workspace_id?: string
  readonly canonical_address?: string
  readonly unit_kind?: string
  readonly lifecycle_status?: UnitStatus
  readonly topic?: string
  /** The id of a container: what is in it, in its order. */
  readonly container_id?: string
  /** Addresses that begin with this path. */
  readonly under?: string
  readonly conformance?: 'conforms' | 'deviates'
  readonly drift?: 'none' | 'drifted'
  /** Only the deleted ones; default: only those that are not. */
  readonly deleted?: boolean
  readonly limit?: number
  /** The id of the last of the page before. */
  readonly after?: string
}

/**
 * By workspace and address; those of a container in their order. What the view counts, it counts for these one by one, and the
 * workspaces are named: to the planner a policy is no index condition.
 */
export async function listUnits(db: Queryable, filter: UnitFilter = {}): Promise<UnitRecord[]> {
  const order =
    filter.container_id === undefined ? 'u.workspace_id, u.canonical_address' : 'u.position, u.unit_id'
  const { rows } = await db.query<UnitRecord>(
    `with page as materialized (
       select u.unit_id from iu_core.information_unit u
         left join iu_core.unit_check k on k.unit_id = u.unit_id
        where u.workspace_id = any (case when $2::uuid is null then array(select w.id from public.workspaces w) else array[$2] end)
          and ($3::text is null or u.canonical_address = $3)
          and ($4::text is null or u.unit_kind = $4) and ($5::text is null or u.lifecycle_status = $5)
          and ($6::text is null
               or (u.content_profile ? 'topic_labels' and u.content_profile -> 'topic_labels' @> to_jsonb($6::text)))
          and ($7::uuid is null or u.container_id = $7)
          and ($8::text is null or u.canonical_address = $8 or starts_with(u.canonical_address, $8 || '/'))
          and ($9::text is null or k.conformance = $9) and ($10::text is null or k.drift = $10)
          and (u.deleted_at is not null) = $11
          and ($12::uuid is null
               or (${order}) > (select ${order} from iu_core.information_unit u where u.unit_id = $12))
        order by ${order} limit $1)
     select ${RECORD} from page
      cross join lateral (select * from iu_core.v_unit i where i.unit_id = page.unit_id offset 0) v
      order by ${order.replaceAll('u.', 'v.')}`,
    [
      filter.limit ?? 50,
      filter.workspace_id ?? null,
      filter.canonical_address ?? null,
      filter.unit_kind ?? null,
      filter.lifecycle_status ?? null,
      filter.topic ?? null,
      filter.container_id ?? null,
      filter.under ?? null,
      filter.conformance ?? null,
      filter.drift ?? null,
      filter.deleted ?? false,
      filter.after ?? null,
    ],
  )
  return rows
}
