/** Playbooks in the memory of an engine: not all of them, but always those that it has just asked for. */
import { expect, it } from 'vitest'
import { Catalog } from '../../../src/executions/engine/load.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()

it('from a thousand versions on, those that were asked for are known, and the others make room', async () => {
  await engines.register(playbook('one', [{ step: 'a' }]))
  const rows = await engines.db.owner<{ id: string }>(
    `insert into noetl.catalog (catalog_id, path, version, content, payload, digest, registered_by)
     select n, path, version + n, content, payload, digest, registered_by from noetl.catalog cross join generate_series(1, 1002) n
     returning catalog_id::text as id`,
  )
  const ids = rows.map(({ id }) => id)
  const catalog = new Catalog(engines.db.pool('stagedoor_worker'))
  await catalog.read(ids.slice(0, 1000))

  await catalog.read([ids[0]!, ids[1000]!])
  expect([ids[0], ids[1000]].map((id) => catalog.find(id!)?.path)).toEqual(['one', 'one'])
  expect(catalog.find(ids[1]!)).toBeUndefined()
  await catalog.read([ids[1001]!])
  expect(catalog.find(ids[0]!)).toBeDefined()
  await catalog.read(ids)
  expect(ids.every((id) => catalog.find(id) !== undefined)).toBe(true)
})
