/** How jobs of the kinds that ship are treated. */
import { expect, it } from 'vitest'
import { builtInHandlers } from '../../../src/jobs/built-in-kinds.ts'
import { listKinds } from '../../../src/jobs/queue.ts'
import { useDatabase } from '../../support/database.ts'

const db = useDatabase()

it('are known with a description before the first job', async () => {
  const kinds = await listKinds(db.pool('stagedoor_worker'))
  const known = kinds.filter((kind) => kind.description !== null).map((kind) => kind.job_kind)
  const handled = Object.keys(builtInHandlers({ webhooks: { hosts: [] } }))
  expect(known).toEqual(handled.sort())
})

it('wait for more of the same where many events ask for one thing, but not for ever', async () => {
  const kinds = await listKinds(db.pool('stagedoor_worker'))
  expect(kinds.find((kind) => kind.job_kind === 'alert_evaluate')).toMatchObject({
    key_mode: 'debounce',
    debounce: '00:00:02',
    max_debounce: '00:01:00',
  })
})

it('retry webhooks for a day while their receiver is unavailable', async () => {
  const [row] = await db.owner<{ hours: number }>(
    `select extract(epoch from sum(least(max_backoff, backoff * power(2, n - 1)))) / 3600 as hours
       from iu_core.job_kind, generate_series(1, max_attempts - 1) n where job_kind = 'webhook_deliver'`,
  )
  expect(Number(row!.hours)).toBeGreaterThan(24)
  expect(Number(row!.hours)).toBeLessThan(72)
})
