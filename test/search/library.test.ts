/** What the compiler says of search to TypeScript, it says itself to JavaScript. */
import { expect, it } from 'vitest'
import { searchLibrary } from '../../src/search/library.ts'
import { useDatabase } from '../support/database.ts'
import { NOTHING_CONFIGURED } from './knowledge.ts'

const db = useDatabase()

it('flush needs a workspace or units', async () => {
  const pool = db.pool('stagedoor_worker')
  const search = searchLibrary({
    config: NOTHING_CONFIGURED,
    pool,
    statement: () => Promise.reject(new Error('nothing is asked of the database')),
    listenUrl: '',
    openWorkerPool: () => pool,
  })
  for (const scope of ['7f0c1c9e-0000-4000-8000-000000000000', undefined, {}])
    await expect(search.flush(scope as never)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: 'flush needs { workspace } or { units }',
    })
  await search.close().catch(() => {})
})
