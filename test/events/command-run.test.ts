import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const DIGEST = 'a'.repeat(64)

async function start(command: string | null, digest: string | null = null, workspace: string | null = null) {
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>('select iu_core.fn_command_run_start($1, $2, $3) as id', [
      command,
      digest,
      workspace,
    ])
  return rows[0]!.id
}
const finish = (run: string | null, error: string | null = null) =>
  db.pool('stagedoor_worker').query('select iu_core.fn_command_run_finish($1, $2)', [run, error])
const row = async (run: string) =>
  (
    await db.owner(
      `select command, workspace_id, actor, actor_via, status, input_digest, error,
              finished_at >= started_at as finished from iu_core.dot_iu_command_run where run_id = $1`,
      [run],
    )
  )[0]
const events = (run: string) =>
  db.owner(
    `select event_domain || '.' || event_type as type, workspace_id, actor, safe_payload
       from iu_core.event_outbox where event_subject_ref = $1`,
    [run],
  )

it('is running from its start, with command, actor and input', async () => {
  const workspace = await createWorkspace(db)
  const run = await start('import', DIGEST, workspace)
  expect(await row(run)).toEqual({
    command: 'import',
    workspace_id: workspace,
    actor: 'stagedoor_worker',
    actor_via: null,
    status: 'running',
    input_digest: DIGEST,
    error: null,
    finished: null,
  })
  expect(await events(run)).toEqual([])
})

it('ends well with one event', async () => {
  const workspace = await createWorkspace(db)
  const run = await start('import', null, workspace)
  await finish(run)
  expect(await row(run)).toMatchObject({ status: 'applied', error: null, finished: true })
  expect(await events(run)).toEqual([
    {
      type: 'dot.run.applied',
      workspace_id: workspace,
      actor: 'stagedoor_worker',
      safe_payload: { run_id: run, command: 'import' },
    },
  ])
})

it('fails with its error, which stays out of the event', async () => {
  const run = await start('import')
  await finish(run, 'the file was empty')
  expect(await row(run)).toMatchObject({ status: 'failed', error: 'the file was empty', finished: true })
  expect(await events(run)).toMatchObject([
    { type: 'dot.run.failed', safe_payload: { run_id: run, command: 'import' } },
  ])
})

it('ends once', async () => {
  const run = await start('import')
  await finish(run)
  expect(await sqlstateOf(finish(run))).toBe('SD401')
  expect(await sqlstateOf(finish(run, 'too late'))).toBe('SD401')
  expect(await row(run)).toMatchObject({ status: 'applied', error: null })
  expect(await events(run)).toHaveLength(1)
})

it.each([randomUUID(), null])('refuses to end run %s, which never began', async (run) => {
  expect(await sqlstateOf(finish(run))).toBe('SD401')
})

it('has exactly one winner when two sessions end it at once', async () => {
  const run = await start('import')
  const [first, second] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
  await first.query('begin')
  await first.query('select iu_core.fn_command_run_finish($1)', [run])
  const loser = sqlstateOf(second.query(`select iu_core.fn_command_run_finish($1, 'lost')`, [run]))
  await untilWaiting(db, second)
  await first.query('commit')
  expect(await loser).toBe('SD401')
  expect(await row(run)).toMatchObject({ status: 'applied' })
  expect(await events(run)).toHaveLength(1)
})

it('can be ended by the second when the first rolls back', async () => {
  const run = await start('import')
  const first = await db.session('stagedoor_worker')
  await first.query('begin')
  await first.query('select iu_core.fn_command_run_finish($1)', [run])
  await first.query('rollback')
  await finish(run, 'really failed')
  expect(await row(run)).toMatchObject({ status: 'failed' })
  expect(await events(run)).toMatchObject([{ type: 'dot.run.failed' }])
})

it.each(['', 'abc', 'A'.repeat(64), 'g'.repeat(64), 'a'.repeat(65)])(
  'refuses the digest "%s"',
  async (digest) => {
    expect(await sqlstateOf(start('import', digest))).toBe('SD001')
  },
)

it.each([null, '', '  '])('refuses a run of the command "%s"', async (command) => {
  expect(await sqlstateOf(start(command))).toBe('SD001')
})

it('records whom service_role acts for, and by whom', async () => {
  const service = { role: 'service_role', claims: { sub: 'importer' } }
  const run = await db.as(service, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `select iu_core.fn_command_run_start('import', p_actor => 'ada') as id`,
    )
    return rows[0]!.id
  })
  expect(await row(run)).toMatchObject({ actor: 'ada', actor_via: 'importer' })
})

it('says the same to a stranger whether it runs, has ended or never began', async () => {
  const run = await start('import', null, await createWorkspace(db))
  const ended = await start('import', null, await createWorkspace(db))
  await finish(ended)
  const stranger = await createMember(db, await createWorkspace(db), 'admin')
  const told = (id: string) =>
    db
      .as(stranger, (client) => client.query('select iu_core.fn_command_run_finish($1)', [id]))
      .catch((error) => ({ code: error.code, message: error.message.replace(id, '…') }))
  const unknown = await told(randomUUID())
  expect(unknown).toEqual({ code: 'run_ended', message: 'Run … is not running' })
  for (const id of [run, ended, await start('global')]) expect(await told(id)).toEqual(unknown)
  expect(await row(run)).toMatchObject({ status: 'running' })
})

it('is not opened in a workspace that does not exist, where nobody would ever see it', async () => {
  expect(await sqlstateOf(start('import', null, randomUUID()))).toBe('SD001')
})

it.each([
  ['authenticated', 'SD201'],
  ['stagedoor_reviewer', 'SD201'],
  ['stagedoor_agent', '42501'],
])('is not opened by %s who is no member', async (role, refusal) => {
  const tried = db.as({ role, claims: { sub: 'eve' } }, (client) =>
    client.query(`select iu_core.fn_command_run_start('import')`),
  )
  expect(await sqlstateOf(tried)).toBe(refusal)
})

it('is opened and ended by an operator in the own workspace, and by no viewer', async () => {
  const workspace = await createWorkspace(db)
  const operator = await createMember(db, workspace, 'operator')
  const viewer = await createMember(db, workspace, 'viewer')
  const start = `select iu_core.fn_command_run_start('import', null, $1) as run`
  const run = await db.as(
    operator,
    async (client) => (await client.query<{ run: string }>(start, [workspace])).rows[0]!.run,
  )
  const finish = 'select iu_core.fn_command_run_finish($1)'
  expect(await sqlstateOf(db.as(viewer, (client) => client.query(start, [workspace])))).toBe('SD202')
  expect(await sqlstateOf(db.as(viewer, (client) => client.query(finish, [run])))).toBe('SD202')
  await db.as(operator, (client) => client.query(finish, [run]))
})

it.each([
  ['status', `status = 'paused'`],
  ['a running run with an end', `finished_at = now()`],
  ['an error without failure', `error = 'x'`],
  ['a failure without error', `status = 'failed', finished_at = now()`],
  ['an ended run without its time', `status = 'applied'`],
  ['the digest', `input_digest = 'short'`],
  ['the command', `command = ' '`],
])('is kept consistent by the table itself: %s', async (_, change) => {
  const run = await start('import')
  expect(
    await sqlstateOf(db.owner(`update iu_core.dot_iu_command_run set ${change} where run_id = $1`, [run])),
  ).toBe('23514')
})
