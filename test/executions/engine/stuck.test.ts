/** An execution that cannot go on is left alone and read again: its messages wait for it, and block nobody else. */
import pino from 'pino'
import { expect, it } from 'vitest'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'

const engines = useEngines()
const { owner } = engines.db

function listeningLog(): { log: pino.Logger; stuck: string[] } {
  const stuck: string[] = []
  const write = (line: string): void => {
    const { msg, execution_id } = JSON.parse(line) as { msg: string; execution_id: string }
    if (msg === 'execution is stuck; will be retried') stuck.push(execution_id)
  }
  return { log: pino({ level: 'error' }, { write }), stuck }
}

/** The last of its events is not there: the log cannot be folded until it is. */
async function breakLog(id: string): Promise<void> {
  await owner('update noetl.checkpoint set state = null where execution_id = $1', [id])
  await addEvent(id, 2)
}

const mendLog = (id: string) => addEvent(id, -1)

async function addEvent(id: string, after: number): Promise<void> {
  await owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id)
     select execution_id, max(event_id) + $2, max(seq) + $2, 'execution.resumed', min(catalog_id)
       from noetl.event where execution_id = $1 group by 1`,
    [id, after],
  )
}

/** The engine has read what is in its shard, and has consumed every earlier message. */
async function settle(id: string): Promise<void> {
  await engines.register(playbook('quick', [{ step: 'a' }]))
  const shardOf = async (one: string) =>
    (await owner<{ shard: number }>('select noetl.fn_shard_of($1) as shard', [one]))[0]!.shard
  for (const shard = await shardOf(id); ; ) {
    const quick = await engines.run('quick')
    expect(await engines.ended(quick)).toMatchObject({ status: 'COMPLETED' })
    if ((await shardOf(quick)) === shard) return
  }
}

const inboxOf = (id: string) =>
  owner<{ kind: string }>('select kind from noetl.inbox where execution_id = $1 order by inbox_id', [id])

it('its messages are kept until its log can be read', async () => {
  const id = await engines.runUntilWaiting('unreadable')
  const { log, stuck } = listeningLog()
  await engines.start({ a: () => 1 }, { log })
  await settle(id)
  await breakLog(id)
  await owner('update noetl.wait set wake_at = now() where execution_id = $1', [id])
  await until('it is stuck', () => stuck.includes(id))
  await settle(id)

  expect(await inboxOf(id)).toEqual([{ kind: 'woken' }])
  await mendLog(id)
  expect(await engines.ended(id)).toMatchObject({ status: 'COMPLETED' })
})

it('thousands of rows for it keep no other execution from its messages', async () => {
  const id = await engines.runUntilWaiting('flooded')
  await breakLog(id)
  const { log, stuck } = listeningLog()
  await engines.start({ a: () => 1 }, { log })
  await until('it is stuck', () => stuck.includes(id))
  await owner(
    `insert into noetl.inbox (execution_id, shard_id, kind, body)
     select $1, noetl.fn_shard_of($1), 'command_ended', '{"node_id": "y#1"}' from generate_series(1, 7000)`,
    [id],
  )
  await settle(id)
  expect(await inboxOf(id)).toHaveLength(7000)
})

it('a start whose playbook cannot be found is not dropped', async () => {
  const { log, stuck } = listeningLog()
  await engines.start({ a: () => 1 }, { log })
  await engines.register(playbook('found', [{ step: 'a' }]))
  const id = await engines.run('found')
  await engines.ended(id)
  const [late] = await owner<{ id: string }>(
    `insert into noetl.inbox (execution_id, shard_id, kind, body)
     select id, noetl.fn_shard_of(id), 'start', jsonb_build_object(
              'catalog_id', '77', 'args', '{}'::jsonb, 'workspace_id', null, 'started_by', 'x', 'cause', null,
              'correlation_id', null, 'depth', 0, 'parent', null)
       from noetl.fn_snowflake() id returning execution_id::text as id`,
  )
  await until('it is stuck', () => stuck.includes(late!.id))
  await settle(late!.id)
  expect(await inboxOf(late!.id)).toEqual([{ kind: 'start' }])

  await owner(
    `insert into noetl.catalog (catalog_id, path, version, content, payload, digest, registered_by)
     select 77, 'late', 1, content, payload, digest, registered_by from noetl.catalog where path = 'found'`,
  )
  expect(await engines.ended(late!.id)).toMatchObject({ status: 'COMPLETED' })
})
