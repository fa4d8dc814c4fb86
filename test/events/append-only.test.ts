import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()

it('an event is neither changed nor deleted, not even by the owner, not even in its partition', async () => {
  await db.owner(`select iu_core.fn_event_emit('system', 'gate_changed')`)
  const [row] = await db.owner<{ partition: string }>(
    'select tableoid::regclass as partition from iu_core.event_outbox',
  )
  for (const table of ['iu_core.event_outbox', row!.partition]) {
    await expect(db.owner(`delete from ${table}`)).rejects.toMatchObject({ code: 'SD002' })
    await expect(db.owner(`update ${table} set actor = 'somebody else'`)).rejects.toMatchObject({
      code: 'SD002',
    })
  }
  expect(await db.owner('select actor from iu_core.event_outbox')).toHaveLength(1)
})
