// @module-tag property
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { foldOf } from './fold-model.ts'
import { append, holdShards, type LogEvent, newExecution, project, rowOf } from './log.ts'
import { randomLog } from './random-log.ts'

const db = useDatabase()
beforeAll(() => holdShards(db))

const CASES = cases(25, 200)

/** Writes logs piece by piece, each followed by a fold of all: pieces of one event, of many, of none. */
async function foldPieces(logs: readonly LogEvent[][], cuts: readonly number[]): Promise<string[]> {
  const ids = logs.map(newExecution)
  const written = logs.map(() => 0)
  for (const [n, cut] of [...cuts, Number.POSITIVE_INFINITY].entries()) {
    for (const [index, log] of logs.entries()) {
      // One stands still for a while, so that batches mix executions at different places.
      if ((index + n) % 3 === 2 && n < cuts.length) continue
      const piece = log.slice(written[index], written[index]! + cut)
      if (piece.length === 0) continue
      await append(db, ids[index]!, written[index]! + 1, piece)
      written[index]! += piece.length
    }
    await project(db, ids)
  }
  return ids
}

async function expectFolded(id: string, log: readonly LogEvent[]): Promise<void> {
  const { start_seq, end_seq, ...model } = foldOf(log)
  const [row] = await db.owner(
    `select status, error, last_event_type, last_node_name, last_seq, state, started_by, last_event_id - execution_id as event,
            start_time = timestamptz '2026-01-01Z' + make_interval(secs => $2) as starts,
            end_time = timestamptz '2026-01-01Z' + make_interval(secs => $3) as ends,
            updated_at = timestamptz '2026-01-01Z' + make_interval(secs => $4) as updated
       from noetl.execution where execution_id = $1`,
    [id, start_seq, end_seq, log.length],
  )
  expect(row).toEqual({
    ...model,
    started_by: 'ada',
    event: String(log.length),
    starts: true,
    ends: end_seq === null ? null : true,
    updated: true,
  })
}

it(`folds any log alike, however it is cut, at once, in a rebuild, and as the model says (seed ${SEED})`, async () => {
  const logs = fc.array(randomLog(), { minLength: 1, maxLength: 3 })
  const cuts = fc.array(fc.nat(12), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(logs, cuts, async (given, at) => {
      const ids = await foldPieces(given, at)
      for (const [index, id] of ids.entries()) {
        await expectFolded(id, given[index]!)
        const incremental = await rowOf(db, id)
        await db.pool('stagedoor_worker').query('select noetl.rebuild_execution_projection($1)', [id])
        expect(await rowOf(db, id)).toBe(incremental)
      }
      const once = await foldPieces(given, [])
      for (const [index, id] of once.entries()) {
        const without = async (x: string) => (await rowOf(db, x))!.replaceAll(/\d{15,}/g, 'id')
        expect(await without(id)).toBe(await without(ids[index]!))
      }
    }),
    { numRuns: CASES, seed: SEED },
  )
  expect(await db.owner('select * from noetl.fn_projection_differences()')).toEqual([])
})
