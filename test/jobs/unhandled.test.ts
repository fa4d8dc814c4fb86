/** A kind that nobody handles is an issue, as long as nobody does. */
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { queueDriver } from './queue-driver.ts'

const db = useDatabase()
const queue = queueDriver(db)
const review = () => queue.rows('select opened, resolved from iu_core.fn_job_review_unhandled()')
const issues = () =>
  queue.rows<{ subject_ref: string; open: boolean }>(
    `select subject_ref, resolved_at is null as open from iu_core.system_issue where code = 'job_kind_unhandled' order by opened_at`,
  )

it('opens after a minute, once, and is resolved by itself when a worker takes the kind', async () => {
  for (const kind of ['orphan', 'tended', 'asleep', 'young']) await queue.enqueue(kind)
  await queue.one(`select iu_core.fn_job_pause('asleep')`)
  await queue.register(['tended'])
  expect(await review()).toEqual([{ opened: 0, resolved: 0 }])
  await db.owner(
    `update iu_core.job_queue set process_after = now() - interval '61 seconds', enqueued_at = now() - interval '61 seconds'
      where job_kind <> 'young'`,
  )
  expect(await review()).toEqual([{ opened: 1, resolved: 0 }])
  expect(await review()).toEqual([{ opened: 0, resolved: 0 }])
  expect(await issues()).toEqual([{ subject_ref: 'job_kind:orphan PG_worker', open: true }])
  // Of another executor's worker it is not.
  await queue.register(['orphan'], 'external_worker')
  expect(await review()).toEqual([{ opened: 0, resolved: 0 }])
  const worker = await queue.register(['orphan'])
  expect(await review()).toEqual([{ opened: 0, resolved: 1 }])
  expect(await issues()).toEqual([{ subject_ref: 'job_kind:orphan PG_worker', open: false }])
  // Its worker died before it had begun anything: another issue.
  await queue.expire(worker)
  expect(await review()).toEqual([{ opened: 1, resolved: 0 }])
  await queue.one(`select iu_core.fn_job_cancel(job_id) from iu_core.job_queue where job_kind = 'orphan'`)
  expect(await review()).toEqual([{ opened: 0, resolved: 1 }])
})
