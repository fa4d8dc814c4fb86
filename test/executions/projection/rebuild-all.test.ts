/** A rebuild of every projection, from the logs and nothing else. */
import { expect, it } from 'vitest'
import { projectionDifferences, rebuildProjection } from '../../../src/executions/engine/projection.ts'
import { useDatabase } from '../../support/database.ts'
import { append, newExecution, rowOf } from './log.ts'

const db = useDatabase()
const pool = () => db.pool('stagedoor_worker')

const differences = async () => {
  const found = []
  for await (const one of projectionDifferences(pool())) found.push(one)
  return found
}

it('creates what is missing, corrects what is wrong, and deletes what has no log', async () => {
  const [missing, wrong, loose] = [newExecution(), newExecution(), newExecution()]
  for (const id of [missing, wrong])
    await append(db, id, 1, [{ event_type: 'playbook.initialized', meta: {} }])
  for (const id of [wrong, loose])
    await db.owner(
      `insert into noetl.execution (execution_id, catalog_id, status, last_event_id, last_seq, created_at, updated_at)
       values ($1, 1, 'FAILED', 1, 1, now(), now())`,
      [id],
    )
  expect((await differences()).map(({ execution_id }) => execution_id)).toEqual([missing, wrong, loose])
  expect(await rebuildProjection(pool())).toBe(3)
  expect(await differences()).toEqual([])
  expect(await rowOf(db, missing)).toContain('RUNNING')
  expect(await rowOf(db, loose)).toBeUndefined()
})
