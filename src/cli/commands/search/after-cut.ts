/** What a cut touched, in search at once. */
import { createPool, type Pool } from '../../../db/connection.ts'
import type { Left } from '../../../search/working-off.ts'
import type { GlobalOptions } from '../../context.ts'
import { withDatabase } from '../../context.ts'
import type { Output } from '../../output.ts'
import { type Retrying, retryingIn, withSearch } from './care.ts'
import { projectHere } from './projecting.ts'

export async function projectCut(
  output: Output,
  options: GlobalOptions,
  { document_id, units }: { document_id: string; units: readonly { unit_id: string }[] },
): Promise<Left & { projected: number; retrying: Retrying | null; ms: number }> {
  return withDatabase(options, async (database, config) => {
    const pool = createPool(database.workerUrl, { role: 'dot_executor', max: 3, purpose: 'cli' })
    try {
      const began = performance.now()
      const { rows } = await pool.query<{ workspace_id: string }>(
        'select workspace_id from iu_core.kb_document where document_id = $1',
        [document_id],
      )
      const { workspace_id } = rows[0]!
      const touched = await withContainers(pool, units)
      const [projected, left] = await withSearch({ config, database, pool }, async (search) => [
        touched.length === 0 ? 0 : await search.now({ units: touched }),
        await projectHere(output, search, workspace_id),
      ])
      const retrying = await retryingIn(pool, workspace_id)
      return { ...left, projected, retrying, ms: Math.round(performance.now() - began) }
    } finally {
      await pool.end()
    }
  })
}

/** The document's own unit was born with them, and is not listed. */
async function withContainers(pool: Pool, units: readonly { unit_id: string }[]): Promise<string[]> {
  const { rows } = await pool.query<{ unit_id: string }>(
    `select unit_id from unnest($1::uuid[]) as t (unit_id)
      union
     select u.container_id from iu_core.information_unit u where u.unit_id = any ($1) and u.container_id is not null`,
    [units.map(({ unit_id }) => unit_id)],
  )
  return rows.map(({ unit_id }) => unit_id)
}
