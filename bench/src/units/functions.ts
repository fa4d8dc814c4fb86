/** Ours: one function, one round trip, one transaction for each operation. */
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { type Opening, textOf, work } from './clients.ts'
import { atARate } from './paced.ts'

const CREATE = {
  name: 'create',
  text: 'select unit_id from iu_core.fn_unit_create($1, $2, $3, p_profile => $4)',
}
const SLICE = { name: 'slice', text: 'select version_no from iu_core.fn_unit_edit_slice($1, 1, 10, 20, $2)' }
const PROFILE = { name: 'profile', text: 'select iu_core.fn_unit_profile_patch($1, $2)' }
const EDGE = { name: 'edge', text: `select edge_id from iu_core.fn_unit_edge_add($1, 'follows', $2)` }
export const READ = {
  name: 'read',
  text: `select u.title, u.version_no, u.lifecycle_status, v.body
           from iu_core.information_unit u
           join iu_core.unit_version v on v.unit_version_id = u.current_version_id
          where u.unit_id = $1`,
}

const ours: Opening = (client, workspace) => ({
  create: async ({ address, body }) =>
    (await client.query({ ...CREATE, values: [workspace, address, body, '{"topic": "bench"}'] })).rows[0]
      .unit_id,
  slice: async ({ id }, text) => void (await client.query({ ...SLICE, values: [id, text] })),
  profile: async ({ id }, profile) =>
    void (await client.query({ ...PROFILE, values: [id, JSON.stringify(profile)] })),
  edge: async ({ id }, target) => void (await client.query({ ...EDGE, values: [id, target] })),
  read: async ({ id }) => (await client.query({ ...READ, values: [id] })).rows[0].body,
})

export const throughFunctions = (task: Task): Promise<Figures> => work(task, ours, false)

export const pacedFunctions = (task: Task): Promise<Figures> => atARate(task, ours)

/** Many at once: 10,000 in one call. */
export async function inBulk({ database, size }: Task): Promise<Figures> {
  const owner = await database.superuser()
  const { rows } = await owner.query(`insert into public.workspaces (name) values ('bulk') returning id`)
  const worker = await database.worker()
  const units = Array.from({ length: size }, (_, n) => textOf(n)).map(({ address, body }) => ({
    canonical_address: address,
    body,
  }))
  const begun = performance.now()
  const made = await worker.query('select count(*) from iu_core.fn_unit_create_batch($1, $2)', [
    rows[0].id,
    JSON.stringify(units),
  ])
  const elapsed = performance.now() - begun
  return { bulk_units_per_s: perSecond(size, elapsed), bulk_missing: size - Number(made.rows[0].count) }
}
