/** NULL for each argument of each function: an error that says so, or "none"; never a NULL that comes back in silence. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { anAddress, call, create, enact, useLife } from './life.ts'

const db = useDatabase()
const life = useLife(db)
const known: Record<string, unknown> = {}

beforeEach(async () => {
  const [draft, enacted, successor, deleted] = [
    await create(life),
    await create(life),
    await create(life),
    await create(life),
  ]
  await enact(life.reviewer, enacted.unit_id)
  await enact(life.reviewer, successor.unit_id)
  await call(life.operator, 'fn_unit_delete', { p_unit_id: deleted.unit_id })
  Object.assign(known, {
    workspace: life.workspace,
    address: anAddress(),
    new: randomUUID(),
    units: JSON.stringify([{ canonical_address: anAddress(), body: 'x' }]),
    draft: draft.unit_id,
    enacted: enacted.unit_id,
    successor: successor.unit_id,
    deleted: deleted.unit_id,
  })
})

/** Arguments that are sound (`:name` is new each time), and what NULL in their place means: a SQLSTATE, or `may`. */
const FUNCTIONS: Record<string, Record<string, [argument: unknown, onNull: string]>> = {
  fn_unit_create: {
    p_workspace_id: [':workspace', 'SD001'],
    p_canonical_address: [':address', 'SD001'],
    p_body: ['Text', 'SD912'],
    p_title: ['T', 'may'],
    p_unit_kind: ['note', 'may'],
    p_language: ['en', 'may'],
    p_container_id: [':draft', 'may'],
    p_source_ref: ['s', 'may'],
    p_profile: ['{}', 'may'],
    p_unit_id: [':new', 'may'],
    p_actor: ['user:ann', 'may'],
  },
  fn_unit_create_batch: {
    p_workspace_id: [':workspace', 'SD001'],
    p_units: [':units', 'SD001'],
    p_actor: ['user:ann', 'may'],
  },
  fn_unit_edit: {
    p_unit_id: [':draft', 'SD901'],
    p_expected_version: [1, 'SD001'],
    p_body: ['New', 'may'],
    p_title: ['N', 'may'],
    p_note: ['why', 'may'],
    p_language: ['vi', 'may'],
    p_actor: ['user:ann', 'may'],
  },
  fn_unit_edit_slice: {
    p_unit_id: [':draft', 'SD901'],
    p_expected_version: [1, 'SD001'],
    p_from: [0, 'SD001'],
    p_to: [1, 'SD001'],
    p_text: ['x', 'SD001'],
    p_note: ['why', 'may'],
    p_actor: ['user:ann', 'may'],
  },
  fn_unit_profile_patch: {
    p_unit_id: [':draft', 'SD901'],
    p_patch: ['{"a": 1}', 'SD001'],
    p_actor: ['user:ann', 'may'],
  },
  fn_unit_enact: {
    p_unit_id: [':draft', 'SD901'],
    p_expected_version: [1, 'SD001'],
    p_apr_ref: ['apr', 'SD001'],
    p_actor: ['user:rita', 'SD001'],
  },
  fn_unit_supersede: {
    p_unit_id: [':enacted', 'SD901'],
    p_successor_id: [':successor', 'SD901'],
    p_apr_ref: ['apr', 'SD001'],
    p_actor: ['user:rita', 'SD001'],
  },
  fn_unit_retire: {
    p_unit_id: [':enacted', 'SD901'],
    p_reason: ['old', 'may'],
    p_actor: ['user:rita', 'may'],
  },
  fn_unit_change_kind: {
    p_unit_id: [':draft', 'SD901'],
    p_unit_kind: ['table', 'SD001'],
    p_apr_ref: ['apr', 'SD001'],
    p_actor: ['user:rita', 'SD001'],
  },
  fn_unit_delete: { p_unit_id: [':draft', 'SD901'], p_reason: ['old', 'may'], p_actor: ['user:ann', 'may'] },
  fn_unit_restore: { p_unit_id: [':deleted', 'SD901'], p_actor: ['user:ann', 'may'] },
}

describe.each(Object.entries(FUNCTIONS))('%s', (name, parameters) => {
  const filled = (without?: string) =>
    Object.fromEntries(
      Object.entries(parameters).map(([parameter, [value]]) => [
        parameter,
        parameter === without
          ? null
          : typeof value === 'string' && value[0] === ':'
            ? known[value.slice(1)]
            : value,
      ]),
    )
  const tried = (without?: string) => sqlstateOf(call(life.service, name, filled(without)))

  it('works with arguments that are sound', async () => {
    expect(await tried()).toBe('not refused')
  })

  it.each(Object.entries(parameters))('%s may be NULL, or is missed', async (parameter, [, onNull]) => {
    expect(await tried(parameter)).toBe(onNull === 'may' ? 'not refused' : onNull)
  })
})

it('covers every parameter of every function that people call for the life of a unit', async () => {
  const rows = await db.owner<{ name: string; parameters: string[] }>(
    `select proname as name, proargnames[1:pronargs] as parameters from pg_proc
      where proname = any ($1) and pronamespace = 'iu_core'::regnamespace`,
    [Object.keys(FUNCTIONS)],
  )
  expect(Object.fromEntries(rows.map((row) => [row.name, row.parameters]))).toEqual(
    Object.fromEntries(
      Object.entries(FUNCTIONS).map(([name, parameters]) => [name, Object.keys(parameters)]),
    ),
  )
})
