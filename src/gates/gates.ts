/** Configuration gates: shared switches between the rooms. Changing one needs the administrator's role. */

import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Row, shape, Text, TextOrNull, TimestampOrNull, Type } from '../kernel/schema.ts'

export const Gate = shape('Gate', {
  gate: Text,
  title: Type.String({ description: 'how people call it' }),
  when_closed: Type.String({ description: 'what it stops' }),
  open: Type.Boolean(),
  description: Text,
  changed_at: TimestampOrNull,
  changed_by: TextOrNull,
})
export type Gate = Row<typeof Gate>

export interface GateChange {
  readonly gate: string
  readonly change: string
  readonly old_value: string | null
  readonly new_value: string | null
  readonly actor: string
  readonly reason: string | null
  readonly changed_at: Date
}

const GATE_TEXTS: Readonly<Record<string, readonly [title: string, whenClosed: string]>> = {
  'iu_core.staging_writes_enabled': [
    'Uploads and staging',
    'Nobody can upload a file or stage a record. What is held stays, and can be decided.',
  ],
  'iu_core.staging_cleanup_enabled': [
    'Cleanup of staging',
    'Ended staging records are kept: nothing expires, and storage grows.',
  ],
  'iu_core.bulk_reference_checks_enabled': [
    'Promotion: foreign keys at once',
    'PostgreSQL checks the foreign keys of every inserted row by itself. That is slower, and needs no right.',
  ],
  'queue.consumer_dispatch.enabled': [
    'Events start jobs',
    'Events are recorded, and no consumer makes a job of one. They are dispatched when the gate opens.',
  ],
  'iu_core.no_vector_staging_excluded': [
    'Search indexing',
    'Nothing at all is indexed for search. Open, everything but staged data is.',
  ],
  'search.phase_1.enabled': ['Search: index units', 'New and changed units do not appear in search.'],
  'search.phase_2.enabled': [
    'Search: include the old knowledge base',
    'Search looks at units only, not at the old knowledge base.',
  ],
  'search.phase_3.enabled': ['Search: smaller chunks', 'Units are divided every 4,000 characters.'],
}

export async function listGates(db: Queryable): Promise<Gate[]> {
  const { rows } = await db.query<Omit<Gate, 'title' | 'when_closed'>>(
    `select key as gate, value = 'true' as open, description, updated_at as changed_at, updated_by as changed_by
       from iu_core.dot_config order by key`,
  )
  return rows.map((row) => {
    const [title, when_closed] = GATE_TEXTS[row.gate] ?? [row.gate, `Not so: ${row.description}.`]
    return { ...row, title, when_closed }
  })
}

/** Returns whether anything changed. `db` must act as workflow_admin. */
export async function setGate(db: Queryable, gate: string, open: boolean, reason?: string): Promise<boolean> {
  const { rows } = await db.query<{ changed: boolean }>('select iu_core.fn_gate_set($1, $2, $3) as changed', [
    gate,
    open,
    reason ?? null,
  ])
  return rows[0]!.changed
}

export async function gateHistory(db: Queryable, gate?: string): Promise<GateChange[]> {
  const { rows } = await db.query<GateChange>(
    `select key as gate, change, old_value, new_value, actor, reason, changed_at
       from iu_core.dot_config_audit where $1::text is null or key = $1
      order by audit_id desc limit 200`,
    [gate ?? null],
  )
  return rows
}

/** Removes overrides that outlived their transaction; there should be none. */
export async function sweepOverrides(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ swept: string }>('select iu_core.fn_gate_override_sweep() as swept')
  return Number(rows[0]!.swept)
}

// The gate of the staging zone.

export const WRITES_GATE = 'iu_core.staging_writes_enabled'

/** Checks the right to stage before the upload fills the disk. Creating the record checks again. */
export async function requireStaging(db: Queryable, workspace: string | undefined): Promise<void> {
  await db.query(`select iu_core.require_member($1, 'stage')`, [workspace ?? null])
  const gates = await listGates(db)
  if (!gates.some(({ gate, open }) => gate === WRITES_GATE && open)) {
    throw new StagedoorError('gate_closed', { gate: WRITES_GATE })
  }
}
