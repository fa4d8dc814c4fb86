/** After an issue was resolved a person looks again, once. */
import { expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { useReacting } from './reacting.ts'

const db = useDatabase()
const reacting = useReacting(db)

async function openIssue(code: string): Promise<string> {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(
      `select iu_core.fn_system_issue_open($1, 'error', 'job:1', 'Disk is full') as id`,
      [code],
    )
  return rows[0]!.id
}

const resolve = (issue: string) =>
  db.pool('stagedoor_worker').query('select iu_core.fn_system_issue_resolve($1)', [issue])

const followUps = () =>
  db.owner<{ issue_id: string; title: string }>(
    `select issue_id, title, subject_ref, severity, occurrences::integer from iu_core.system_issue
      where code = 'health_followup_review'`,
  )

it('opens one follow-up for a resolved issue, and none for a follow-up', async () => {
  await reacting.activate('health_followup_review')
  const issue = await openIssue('disk_full')
  await resolve(issue)
  const [job] = await reacting.react()
  expect(await followUps()).toEqual([
    {
      issue_id: (job!.result as { issue_id: string }).issue_id,
      title: 'Does it stay resolved? Disk is full',
      subject_ref: `issue:${issue}`,
      severity: 'info',
      occurrences: 1,
    },
  ])

  await resolve((await followUps())[0]!.issue_id)
  const [second] = await reacting.react()
  expect(second!.result).toEqual({ skipped: 'it is a follow-up itself' })
  expect(await reacting.dispatch()).toEqual([])
  expect(await followUps()).toHaveLength(1)
})

it('asks once for an issue, also when its job runs again', async () => {
  const issue = await openIssue('disk_slow')
  await resolve(issue)
  const [first] = await reacting.react()
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ result: unknown }>('select iu_core.fn_health_followup_review($1) as result', [issue])
  expect(rows[0]!.result).toEqual(first!.result)
  expect((await followUps()).filter((one) => one.title.includes('Disk'))).toHaveLength(2)
})
