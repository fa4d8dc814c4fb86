/** Units as the API shows them. */
import { Type } from 'typebox'
import type { Edge } from '../../../units/edges.ts'
import type { UnitHistory } from '../../../units/history.ts'
import {
  LIFECYCLE_STATUSES,
  type UnitDetail,
  type UnitRecord,
  type UnitVersion,
} from '../../../units/reading.ts'
import { nullable, Timestamp } from '../../responses.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const After = Type.Optional(
  Type.String({ format: 'uuid', description: 'the `next` of the page before' }),
)
export const UnitId = Type.Object({ id: Uuid })
export const Workspace = Type.Optional(
  Type.String({ format: 'uuid', description: 'may be left out by whoever has exactly one' }),
)
export const Address = Type.String({
  minLength: 1,
  maxLength: 400,
  description: 'for good, and once in the workspace',
  examples: ['handbook/leave'],
})
export const Status = Type.Enum([...LIFECYCLE_STATUSES])
export const Kind = Type.String({ pattern: '^[a-z][a-z0-9_]{0,30}$', examples: ['section'] })
export const Profile = Type.Record(Type.String(), Type.Unknown())
export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
export const Position = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'default: the last' })
export const AprRef = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'the approval that says so',
  examples: ['APR-2026-114'],
})
export const Note = Type.Optional(Type.String({ maxLength: 2000 }))

export const UnitShape = Type.Object({
  unit_id: Type.String(),
  workspace_id: Type.String(),
  canonical_address: Type.String(),
  unit_kind: Type.String(),
  container_id: nullable(Type.String()),
  position: Type.Integer(),
  source_ref: Type.String(),
  owner_actor: Type.String(),
  owner_via: nullable(Type.String()),
  born_at: Timestamp,
  current_version_id: Type.String(),
  version_no: Type.Integer({ description: 'to be said with an edit, as expected_version' }),
  content_hash: Type.String({ description: 'SHA-256 of the text' }),
  title: Type.String(),
  language: Type.String(),
  body_bytes: Type.Integer(),
  content_profile: Profile,
  topics: Type.Array(Type.String()),
  lifecycle_status: Status,
  apr_ref: nullable(Type.String()),
  supersedes: nullable(Type.String()),
  superseded_by: nullable(Type.String()),
  deleted_at: nullable(Timestamp),
  changed_at: Timestamp,
  edges_out: Type.Integer(),
  edges_in: Type.Integer(),
  conformance: nullable(Type.String()),
  drift: nullable(Type.String()),
  findings: Type.Union([Type.Array(Type.Record(Type.String(), Type.Unknown())), Type.Null()], {
    description: 'of the checker; null before it has looked',
  }),
  checked_at: nullable(Timestamp),
  mup_tier: Type.Integer({ description: '0 born, 1 usable, 2 complete' }),
  missing: Type.Array(Type.String(), { description: 'what it lacks for the tiers above its own' }),
  vector_state: Type.String(),
})

const versionFacts = {
  unit_version_id: Type.String(),
  version_no: Type.Integer(),
  unit_kind: Type.String(),
  title: Type.String(),
  language: Type.String(),
  content_hash: Type.String(),
  note: nullable(Type.String()),
  edited_by: Type.String(),
  edited_via: nullable(Type.String()),
  edited_at: Timestamp,
}

export const UnitDetailShape = Type.Intersect([
  UnitShape,
  Type.Object({
    version: Type.Object({ ...versionFacts, body: Type.String() }),
    status_then: nullable(
      Type.String({ description: 'its status at the time that was asked for; `deleted` where it was' }),
    ),
  }),
])

export const HistoryShape = Type.Object({
  versions: Type.Array(
    Type.Object({ ...versionFacts, body_bytes: Type.Integer(), current_until: nullable(Timestamp) }),
  ),
  lifecycle: Type.Array(
    Type.Object({
      log_id: Type.String(),
      from_status: Type.String(),
      to_status: Type.String(),
      change_set_id: nullable(Type.String()),
      apr_ref: nullable(Type.String()),
      reason: nullable(Type.String()),
      changed_by: Type.String(),
      changed_via: nullable(Type.String()),
      changed_at: Timestamp,
    }),
  ),
})

export const DiffShape = Type.Object({
  unit_id: Type.String(),
  from_version: Type.Integer(),
  from_hash: Type.String(),
  from_title: Type.String(),
  to_version: Type.Integer(),
  to_hash: Type.String(),
  to_title: Type.String(),
  diff: Type.String({ description: 'unified; empty where the text is the same' }),
})

export const EditedShape = Type.Object({
  version_no: Type.Integer(),
  unit_version_id: Type.String(),
  content_hash: Type.String(),
  changed: Type.Boolean({ description: 'false: it was so already, and there is no new version' }),
})

export const EdgeShape = Type.Object({
  edge_id: Type.String(),
  edge_type: Type.String(),
  from_unit_id: Type.String(),
  from_address: Type.String(),
  target_ref: Type.String(),
  to_unit_id: nullable(Type.String()),
  to_address: nullable(Type.String()),
  edge_status: Type.Enum(['verified', 'unverified']),
  created_by: Type.String(),
  created_at: Timestamp,
})

export function presentUnit(unit: UnitRecord) {
  return {
    ...unit,
    findings: unit.findings === null ? null : [...unit.findings],
    checked_at: unit.checked_at?.toISOString() ?? null,
    born_at: unit.born_at.toISOString(),
    deleted_at: unit.deleted_at?.toISOString() ?? null,
    changed_at: unit.changed_at.toISOString(),
  }
}

export function presentDetail({ version, status_then, ...unit }: UnitDetail) {
  return { ...presentUnit(unit), status_then, version: presentVersion(version) }
}

function presentVersion<T extends Pick<UnitVersion, 'edited_at'>>(version: T) {
  return { ...version, edited_at: version.edited_at.toISOString() }
}

export function presentHistory({ versions, lifecycle }: UnitHistory) {
  return {
    versions: versions.map((version) => ({
      ...presentVersion(version),
      current_until: version.current_until?.toISOString() ?? null,
    })),
    lifecycle: lifecycle.map((change) => ({ ...change, changed_at: change.changed_at.toISOString() })),
  }
}

export function presentEdge(edge: Edge) {
  return { ...edge, created_at: edge.created_at.toISOString() }
}
