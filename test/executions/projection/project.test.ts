import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { append, ENGINE, holdShards, type LogEvent, newExecution, project, rowOf } from './log.ts'

const db = useDatabase()
beforeAll(() => holdShards(db))

const BEGIN: LogEvent = { event_type: 'playbook.initialized', meta: { started_by: 'ada' } }
const END: LogEvent = { event_type: 'playbook.completed', status: 'completed' }
const step = (n: number): LogEvent => ({
  event_type: 'command.completed',
  node_id: `s#${n}`,
  node_name: 's',
  meta: { command_id: `c${n}` },
})
const lastSeq = async (id: string) =>
  (await db.owner('select last_seq from noetl.execution where execution_id = $1', [id]))[0]?.last_seq
const checkpoint = (id: string, seq: number, ended: boolean) =>
  db.owner(
    `insert into noetl.checkpoint (execution_id, shard_id, epoch, last_event_id, last_seq, fold_version, ended)
     values ($1, noetl.fn_shard_of($1), 1, 0, $2, 1, $3)
     on conflict (execution_id) do update set last_seq = excluded.last_seq, ended = excluded.ended`,
    [id, seq, ended],
  )
const checkpointed = async (id: string) =>
  (await db.owner('select from noetl.checkpoint where execution_id = $1', [id])).length === 1
const differences = () =>
  db.owner<{ execution_id: string; difference: string }>('select * from noetl.fn_projection_differences()')
const rebuild = (id: string) =>
  db.pool('stagedoor_worker').query('select noetl.rebuild_execution_projection($1)', [id])

it('waits before a gap in the numbers, and goes on when it is filled', async () => {
  const id = newExecution()
  await append(db, id, 2, [step(2)])
  expect(await project(db, [id])).toEqual({ events: '0', lag_ms: 0 })
  await append(db, id, 1, [BEGIN])
  await append(db, id, 5, [step(5), END])
  expect(await project(db, [id])).toMatchObject({ events: '2' })
  expect(await lastSeq(id)).toBe(2)
  await append(db, id, 4, [step(4)])
  expect(await project(db, [id])).toMatchObject({ events: '0' })
  await append(db, id, 3, [step(3)])
  expect(await project(db, [id, id])).toMatchObject({ events: '4' })
  expect(await lastSeq(id)).toBe(6)
})

it('refuses an engine that holds the shards at another epoch, or not at all', async () => {
  const id = newExecution()
  await append(db, id, 1, [BEGIN])
  expect(await sqlstateOf(project(db, [id], { epoch: 2 }))).toBe('SD805')
  expect(await sqlstateOf(project(db, [id], { engine: randomUUID() }))).toBe('SD805')
  expect(await rowOf(db, id)).toBeUndefined()
})

it('refuses an execution of a shard that is not among those that it is fenced by', async () => {
  const id = newExecution()
  const refused = db
    .pool('stagedoor_worker')
    .query(
      'select noetl.fn_execution_project($1, array[(noetl.fn_shard_of($2) + 1) % 16]::smallint[], array[1::bigint], array[$2::bigint])',
      [ENGINE, id],
    )
  expect(await sqlstateOf(refused)).toBe('SD001')
})

it('stops an engine whose shard is being taken, until it is, and then refuses it', async () => {
  const id = newExecution()
  await append(db, id, 1, [BEGIN])
  const taker = await db.session()
  const shard = 'shard_id = noetl.fn_shard_of($1)'
  await taker.query('begin')
  await taker.query(`update noetl.execution_shard set epoch = 2 where ${shard}`, [id])
  const old = await db.session('stagedoor_worker')
  const late = sqlstateOf(
    old.query(
      'select noetl.fn_execution_project($1, array[noetl.fn_shard_of($2)], array[1::bigint], array[$2::bigint])',
      [ENGINE, id],
    ),
  )
  await untilWaiting(db, old)
  await taker.query('commit')
  expect(await late).toBe('SD805')
  await db.owner(`update noetl.execution_shard set epoch = 1 where ${shard}`, [id])
})

it('moves the watermark of the shard and says how old the oldest event was', async () => {
  const id = newExecution()
  await append(db, id, 1, [BEGIN, step(2)])
  const { lag_ms } = await project(db, [id])
  expect(lag_ms).toBeGreaterThan(0)
  const [mark] = await db.owner(
    `select last_projected_event_id - $1 as event, lag_ms, last_projected_at > now() - interval '1 minute' as recent
       from noetl.projection_checkpoint where shard_id = noetl.fn_shard_of($1)`,
    [id],
  )
  expect(mark).toEqual({ event: '2', lag_ms, recent: true })
})

it('deletes a checkpoint when the end is projected, and not before', async () => {
  const id = newExecution()
  await append(db, id, 1, [BEGIN, step(2)])
  await checkpoint(id, 2, false)
  await project(db, [id])
  expect(await checkpointed(id)).toBe(true)
  await checkpoint(id, 3, true)
  await project(db, [id])
  expect(await checkpointed(id)).toBe(true)
  await append(db, id, 3, [END])
  expect(await project(db, [id])).toMatchObject({ events: '1' })
  expect(await checkpointed(id)).toBe(false)
})

it('is not overtaken by a rebuild at the same time: one waits for the other', async () => {
  const id = newExecution()
  await append(db, id, 1, [BEGIN, step(2)])
  await project(db, [id])
  const rebuilder = await db.session('stagedoor_worker')
  await rebuilder.query('begin')
  await rebuilder.query('select noetl.rebuild_execution_projection($1)', [id])
  await append(db, id, 3, [step(3)])
  const projector = await db.session('stagedoor_worker')
  const projected = projector.query(
    'select events from noetl.fn_execution_project($1, array[noetl.fn_shard_of($2)], array[1::bigint], array[$2::bigint])',
    [ENGINE, id],
  )
  await untilWaiting(db, projector)
  await rebuilder.query('commit')
  expect((await projected).rows).toEqual([{ events: '1' }])
  expect(await lastSeq(id)).toBe(3)
})

it('is found out by its verification where a row was changed, lost or left behind', async () => {
  for (const { execution_id } of await differences()) await rebuild(execution_id)
  const [changed, lost, behind, live] = [newExecution(), newExecution(), newExecution(), newExecution()]
  for (const id of [changed, lost, behind, live]) await append(db, id, 1, [BEGIN, step(2)])
  await project(db, [changed, lost, behind, live])
  await append(db, behind, 3, [END])
  await append(db, live, 3, [step(3)])
  await checkpoint(live, 2, false)
  await db.owner(
    `update noetl.execution set status = 'PAUSED', state = '{"loop": {}}' where execution_id = $1`,
    [changed],
  )
  await db.owner('delete from noetl.execution where execution_id = $1', [lost])
  await db.owner(`insert into noetl.execution (execution_id, catalog_id, status, last_event_id, last_seq, created_at, updated_at)
                  values (7, 1, 'RUNNING', 1, 1, now(), now())`)
  const found = [
    { execution_id: '7', difference: 'it has no log' },
    { execution_id: changed, difference: 'state, status' },
    { execution_id: lost, difference: 'the log is not projected' },
    { execution_id: behind, difference: 'its last events are not projected' },
  ]
  expect(await differences()).toEqual(found)
  expect(await db.owner('select * from noetl.fn_projection_differences($1, 1)', [changed])).toEqual([
    found[2],
  ])
  for (const { execution_id } of found) await rebuild(execution_id)
  expect(await differences()).toEqual([])
})

it('shows an execution beside its playbook, as pending until it is folded, to members of its workspace only', async () => {
  const [mine, other] = [await createWorkspace(db), await createWorkspace(db)]
  const [ada, eve] = [await createMember(db, mine, 'viewer'), await createMember(db, other, 'viewer')]
  await db.owner(`insert into noetl.catalog (catalog_id, path, version, content, payload, digest, open_to_members, registered_by)
                  values (1, 'hello', 3, '', '{}', '', true, 'test')`)
  const id = newExecution()
  await db.owner(
    `insert into noetl.inbox (execution_id, shard_id, kind, body) values ($1, noetl.fn_shard_of($1), 'start', $2)`,
    [id, { catalog_id: '1', workspace_id: mine, started_by: 'ada', parent: null }],
  )
  const seenBy = (caller: typeof ada) =>
    db.as(caller, async (client) => {
      const { rows } = await client.query(
        'select status, playbook, version, started_by, items, items_done from noetl.v_execution where execution_id = $1',
        [id],
      )
      return rows
    })
  const pending = {
    status: 'PENDING',
    playbook: 'hello',
    version: 3,
    started_by: 'ada',
    items: null,
    items_done: null,
  }
  expect(await seenBy(ada)).toEqual([pending])
  expect(await seenBy(eve)).toEqual([])

  await db.owner('delete from noetl.inbox where execution_id = $1', [id])
  const loop = { loop_id: '9' }
  await append(db, id, 1, [
    { event_type: 'playbook.initialized', meta: { workspace_id: mine, started_by: 'ada' } },
    {
      event_type: 'loop.started',
      node_id: 'each#1',
      node_name: 'each',
      status: 'started',
      meta: { ...loop, collection_size: 2, mode: 'parallel' },
    },
    {
      event_type: 'command.completed',
      node_id: 'each#1',
      node_name: 'each',
      status: 'completed',
      meta: { ...loop, command_id: 'i0' },
    },
    {
      event_type: 'command.failed',
      node_id: 'plain#1',
      node_name: 'plain',
      status: 'failed',
      error: 'no',
      meta: { command_id: 'p1', attempt: 1, final: false },
    },
  ])
  await checkpoint(id, 1, false)
  expect(await db.owner('select status from noetl.v_execution where execution_id = $1', [id])).toEqual([
    { status: 'PENDING' },
  ])
  await project(db, [id])
  expect(await seenBy(ada)).toEqual([{ ...pending, status: 'RUNNING', items: '2', items_done: '1' }])
  expect(await seenBy(eve)).toEqual([])
  expect(
    await db.as(
      ada,
      async (client) =>
        (
          await client.query(
            'select node_id, status, attempt, ended_at from noetl.v_execution_step where execution_id = $1 order by 1',
            [id],
          )
        ).rows,
    ),
  ).toEqual([
    { node_id: 'each#1', status: 'started', attempt: null, ended_at: null },
    { node_id: 'plain#1', status: 'retrying', attempt: 1, ended_at: null },
  ])
})
