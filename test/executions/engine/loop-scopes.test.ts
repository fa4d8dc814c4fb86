/** What loops see stays in memory as long as there is room, by its bytes. */
import { expect, it } from 'vitest'
import { LoopScopes } from '../../../src/executions/engine/worker.ts'
import { useEngines } from './engines.ts'

const engines = useEngines()

async function loopOf(bytes: number): Promise<[execution: string, loop: string]> {
  const [row] = await engines.db.owner<{ execution: string; loop: string }>(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, context, meta)
     select id, id, 1, 'loop.started', 1, jsonb_build_object('scope', '{}'::jsonb, 'collection_ref', id::text, 'collection_bytes', $1::integer),
            jsonb_build_object('loop_id', id::text)
       from noetl.fn_snowflake() id returning execution_id::text as execution, event_id::text as loop`,
    [bytes],
  )
  return [row!.execution, row!.loop]
}

it('the collection that was not asked for longest makes room for a new one', async () => {
  const loaded: string[] = []
  const results = {
    store: () => Promise.reject(new Error('nothing is kept here')),
    load: async (result: { ref: string } | { value: unknown }) => {
      loaded.push((result as { ref: string }).ref)
      return ['item']
    },
  }
  const scopes = new LoopScopes(engines.db.pool('stagedoor_worker'), results as never, 1000)
  const ask = async (loop: [string, string]) => (await scopes.of(...loop)).items()
  const [first, second, third] = [await loopOf(400), await loopOf(400), await loopOf(400)]
  for (const loop of [first, second, first, third]) expect(await ask(loop)).toEqual(['item'])
  expect(loaded).toEqual([first[1], second[1], third[1]])

  await ask(first)
  expect(loaded).toHaveLength(3)
  await ask(second)
  expect(loaded).toHaveLength(4)
})
