/** Steering an execution: cancel, pause, resume, rerun, whatever of it is projected, only logged, or still waits. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { type Engine, engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let engine: Engine
let catalog_id: string

beforeAll(async () => {
  engine = await engines.alone()
  const playbook = { name: 'hello', args: { n: 1 }, start: 'a', steps: [{ step: 'a' }, { step: 'b' }] }
  catalog_id = await engines.one('select catalog_id from noetl.fn_playbook_register($1, $2, $3)', [
    ...['hello', 'text', JSON.stringify(playbook)],
  ])
})

const start = () => engines.one<string>(`select noetl.fn_execution_start('hello', '{"n": 5}')`)
const steer = (how: string, id: string) => engines.rows(`select noetl.fn_execution_${how}($1)`, [id])
const told = async (id: string) =>
  (
    await engines.rows<{ kind: string }>(
      'select kind from noetl.inbox where execution_id = $1 order by inbox_id',
      [id],
    )
  ).map((row) => row.kind)
/** Its inbox is consumed, and this is its log from now on. */
async function log(id: string, events: unknown[][]): Promise<void> {
  const inbox = (await engines.rows('select inbox_id from noetl.inbox where execution_id = $1', [id])).map(
    (row) => row.inbox_id,
  )
  await engines.flush(engine, { inbox, events })
}
const begun = (id: string) => {
  const event = logOf(id)
  const first = event('playbook.initialized', {
    ...{ catalog_id, context: { args: { n: 5 } }, meta: { playbook: 'hello', workspace_id: null } },
  })
  return { event, first }
}

it('reaches one that has not begun, and one that runs', async () => {
  const id = await start()
  await engines.rows(`select noetl.fn_execution_cancel($1, 'enough')`, [id])
  expect(
    await engines.rows(`select body from noetl.inbox where execution_id = $1 and kind = 'cancel'`, [id]),
  ).toEqual([{ body: { by: 'stagedoor_worker', reason: 'enough' } }])
  await log(id, [begun(id).first])
  await steer('pause', id)
  expect(await told(id)).toEqual(['pause'])
})

it('resumes what is paused, or has a pending pause; a second pause changes nothing', async () => {
  const id = await start()
  expect(await sqlstateOf(steer('resume', id))).toBe('SD808')
  await steer('pause', id)
  await steer('pause', id)
  await steer('resume', id)
  expect(await told(id)).toEqual(['start', 'pause', 'resume'])
  expect(await sqlstateOf(steer('resume', id))).toBe('SD808')
  const { event, first } = begun(id)
  await log(id, [first, event('execution.paused', { meta: { by: 'me' } })])
  await steer('resume', id)
  await log(id, [event('execution.resumed', { meta: { by: 'me' } })])
  expect(await sqlstateOf(steer('resume', id))).toBe('SD808')
})

it.each(['playbook.completed', 'playbook.failed', 'execution.cancelled'])(
  'refuses to steer what has ended with %s, also before that is projected',
  async (type) => {
    const id = await start()
    const { event, first } = begun(id)
    await log(id, [first, event(type)])
    for (const how of ['cancel', 'pause', 'resume']) expect(await sqlstateOf(steer(how, id))).toBe('SD804')
    expect(await told(id)).toEqual([])
  },
)

it('refuses an execution that is not there', async () => {
  for (const how of ['cancel', 'pause', 'resume']) expect(await sqlstateOf(steer(how, '12345'))).toBe('SD803')
  expect(await sqlstateOf(engines.rows(`select noetl.fn_execution_rerun(12345, 'a')`))).toBe('SD803')
})

it('reruns from a step that it came to, with the version and arguments of before', async () => {
  const id = await start()
  const RERUN = 'select noetl.fn_execution_rerun($1, $2) as id'
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'a']))).toBe('SD807')
  const { event, first } = begun(id)
  await log(id, [first, event('step.enter', { node_id: 'a#1', node_name: 'a' })])
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'b']))).toBe('SD807')
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'nowhere']))).toBe('SD807')
  await engines.rows(`select noetl.fn_playbook_disable('hello')`)
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'a']))).toBe('SD802')
  await engines.rows(`select noetl.fn_playbook_enable('hello')`)
  const again = await engines.one<string>(RERUN, [id, 'a'])
  expect(await engines.rows('select kind, body from noetl.inbox where execution_id = $1', [again])).toEqual([
    {
      kind: 'start',
      body: {
        ...{ catalog_id, args: { n: 5 }, workspace_id: null, started_by: 'stagedoor_worker', cause: null },
        ...{ correlation_id: null, depth: 0, parent: null, rerun_of: id, from_step: 'a' },
      },
    },
  ])
})

it('reruns with another version where one is named: a playbook that was wrong is corrected by a new one', async () => {
  const id = await start()
  const { event, first } = begun(id)
  await log(id, [first, event('step.enter', { node_id: 'a#1', node_name: 'a' })])
  const RERUN = 'select noetl.fn_execution_rerun($1, $2, $3) as id'
  const mended = { name: 'hello', args: { m: 2 }, start: 'a', steps: [{ step: 'a' }, { step: 'c' }] }
  const [{ catalog_id: newer, version }] = (await engines.rows<{ catalog_id: string; version: number }>(
    'select catalog_id, version from noetl.fn_playbook_register($1, $2, $3)',
    ['hello', 'mended', JSON.stringify(mended)],
  )) as [{ catalog_id: string; version: number }]
  const again = await engines.one<string>(RERUN, [id, 'a', version])
  // What the new version does not take is left behind.
  expect(await engines.rows('select body from noetl.inbox where execution_id = $1', [again])).toMatchObject([
    { body: { catalog_id: newer, args: {}, rerun_of: id, from_step: 'a' } },
  ])
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'c', version]))).toBe('SD807')
  expect(await sqlstateOf(engines.rows(RERUN, [id, 'a', version + 1]))).toBe('SD802')
})
