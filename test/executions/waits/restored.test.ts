import { expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { begun, emit, told, wait, wake } from './waiting-steps.ts'

const db = useDatabase()
const owner = () => db.pool('stagedoor_migrator')

/** As after a logical restore: every transaction id is that of a server that was far ahead. */
async function comesFromElsewhere(): Promise<void> {
  const shifted = (snapshot: string) =>
    `format('%s:%s:%s', pg_snapshot_xmin(${snapshot})::text::bigint + 1000000, pg_snapshot_xmax(${snapshot})::text::bigint + 1000000,
            (select string_agg((x::text::bigint + 1000000)::text, ',' order by x) from pg_snapshot_xip(${snapshot}) x))::pg_snapshot`
  await db.owner(
    `alter table iu_core.event_outbox disable trigger event_outbox_only_grows;
     update iu_core.event_outbox set tx = (tx::text::bigint + 1000000)::text::xid8;
     alter table iu_core.event_outbox enable trigger event_outbox_only_grows;
     update noetl.wait set since = ${shifted('since')};
     update iu_core.event_reader set seen = ${shifted('seen')}`,
  )
}

it('after a restore steps are woken by what they had not seen, and by what comes, and by nothing else', async () => {
  const [early, met, later] = [await begun(db), await begun(db), await begun(db)]
  await emit(owner(), { subject: 'early' })
  await wait(owner(), early, { subject: 'early' })
  await wait(owner(), met, { subject: 'met' })
  await wait(owner(), later, { subject: 'later' })
  expect(await wake(db)).toBe(0)
  await emit(owner(), { subject: 'met' })
  await comesFromElsewhere()
  await db.owner('select iu_core.fn_events_rebase()')
  expect(await wake(db)).toBe(1)
  expect(await told(db, met)).toMatchObject([{ status: 'received', subject: 'met' }])
  await emit(owner(), { subject: 'later' })
  expect(await wake(db)).toBe(1)
  expect(await told(db, later)).toHaveLength(1)
  expect(await told(db, early)).toEqual([])
})
