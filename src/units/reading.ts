/** Reading units: as they are, in a version, or as of a time. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { UnitFinding } from './checks.ts'

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
const VERSION = `x.unit_version_id as x_id, x.version_no as x_no, x.unit_kind as x_kind, x.title as x_title, x.language as x_language,
  x.body as x_body, x.content_hash as x_hash, x.note as x_note, x.edited_by as x_by, x.edited_via as x_via, x.edited_at as x_at`

interface DetailRow extends UnitRecord {
  readonly x_id: string | null
  readonly x_no: number
  readonly x_kind: string
  readonly x_title: string
  readonly x_language: string
  readonly x_body: string
  readonly x_hash: string
  readonly x_note: string | null
  readonly x_by: string
  readonly x_via: string | null
  readonly x_at: Date
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
  const [where, named] = whereNamed(name)
  const { rows } = await db.query<DetailRow>(
    `select ${RECORD}, ${VERSION}, ${asOf === undefined ? 'null' : STATUS_THEN} as status_then
       from iu_core.v_unit v
       left join lateral (
         select * from iu_core.unit_version c
          where c.unit_id = v.unit_id and ${wantedVersion(version, asOf)} order by c.version_no desc limit 1) x on true
      where ${where}`,
    [...named, ...(version !== undefined ? [version] : asOf !== undefined ? [asOf] : [])],
  )
  const row = rows[0]
  if (!row) throw new StagedoorError('unit_unknown', { unit: spoken(name) })
  if (row.x_id === null) throw noSuchMoment(row, version, asOf)
  return detailOf(row)
}

const STATUS_THEN = `coalesce((select l.to_status from public.iu_lifecycle_log l
  where l.unit_id = v.unit_id and date_trunc('milliseconds', l.changed_at) <= $3 order by l.changed_at desc, l.log_id desc limit 1), 'draft')`

/** In milliseconds, as times are shown: asked for the time that a version names as its own, that version is meant. */
function wantedVersion(version: number | undefined, asOf: Date | undefined): string {
  if (version !== undefined) return 'c.version_no = $3'
  return asOf === undefined
    ? 'c.unit_version_id = v.current_version_id'
    : "date_trunc('milliseconds', c.edited_at) <= $3"
}

/** Both kinds of name in two places, so that what follows is always the third. */
function whereNamed(name: UnitName): [string, (string | null)[]] {
  return 'unit_id' in name
    ? ['v.unit_id = $1 and $2::text is null', [name.unit_id, null]]
    : ['v.workspace_id = $1 and v.canonical_address = $2', [name.workspace_id, name.canonical_address]]
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
  const hint = `\`stagedoor unit history ${unit}\` shows its versions and their times.`
  return new StagedoorError('unit_unknown', { unit }, { message, hint })
}

function detailOf(row: DetailRow): UnitDetail {
  const {
    x_id,
    x_no,
    x_kind,
    x_title,
    x_language,
    x_body,
    x_hash,
    x_note,
    x_by,
    x_via,
    x_at,
    status_then,
    ...unit
  } = row
  return {
    ...unit,
    status_then,
    version: {
      unit_version_id: x_id!,
      version_no: x_no,
      unit_kind: x_kind,
      title: x_title,
      language: x_language,
      body: x_body,
      content_hash: x_hash,
      note: x_note,
      edited_by: x_by,
      edited_via: x_via,
      edited_at: x_at,
    },
  }
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
