/** The catalogue of playbooks: a row a version, nothing new for what is known. */
import { expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { engineDriver, logOf } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)

interface Entry extends Record<string, unknown> {
  catalog_id: string
  version: number
  open_to_members: boolean
  disabled_at: Date | null
}

const payload = (name: string, more = {}) => ({ name, args: {}, start: 'a', steps: [{ step: 'a' }], ...more })
const register = async (name: string, more = {}, open = false, content = 'text') =>
  (
    await engines.rows<Entry>('select * from noetl.fn_playbook_register($1, $2, $3, $4)', [
      ...[name, content, JSON.stringify(payload(name, more)), open],
    ])
  )[0]!

it('the same again is the same version; a change is the next', async () => {
  const first = await register('hello')
  expect(first).toMatchObject({ version: 1, registered_by: 'stagedoor_worker', open_to_members: false })
  expect(await register('hello')).toEqual(first)
  const second = await register('hello', { description: 'new' })
  expect(second.version).toBe(2)
  expect((await register('hello', { description: 'new' }, false, 'other words')).version).toBe(3)
  // What an older version says is a change, too.
  expect((await register('hello')).version).toBe(4)
})

it('ten who register the same at once make one version', async () => {
  const rows = await Promise.all(Array.from({ length: 10 }, () => register('race')))
  expect(new Set(rows.map((row) => row.catalog_id)).size).toBe(1)
})

it('is opened to members without a new version', async () => {
  await register('door')
  expect(await register('door', {}, true)).toMatchObject({ version: 1, open_to_members: true })
  expect(await register('door')).toMatchObject({ version: 1, open_to_members: false })
})

it('one that is closed is closed in all its versions: to start, to run again, to look at', async () => {
  const workspace = await createWorkspace(db)
  const operator = await createMember(db, workspace, 'operator')
  const ask = (sql: string, values: unknown[]) =>
    db.as(operator, async (client) => (await client.query(sql, values)).rows)
  const START = `select noetl.fn_execution_start('shut', p_workspace_id => $1, p_version => $2)`
  const first = await register('shut', {}, true)
  await register('shut', { description: 'new' }, true)
  await ask(START, [workspace, 1])
  const engine = await engines.alone()
  const id = await engines.newId()
  const event = logOf(id)
  const meta = { workspace_id: workspace }
  await engines.flush(engine, {
    events: [
      event('playbook.initialized', { catalog_id: first.catalog_id, meta }),
      event('step.enter', { node_id: 'a#1', node_name: 'a' }),
    ],
  })
  const AGAIN = `select noetl.fn_execution_rerun($1, 'a')`
  await ask(AGAIN, [id])

  await register('shut', { description: 'newer' }, false)
  for (const version of [null, 1, 2, 3])
    expect(await sqlstateOf(ask(START, [workspace, version])), `version ${version}`).toBe('SD810')
  expect(await sqlstateOf(ask(AGAIN, [id]))).toBe('SD810')
  expect(await ask(`select from noetl.catalog where path = 'shut'`, [])).toEqual([])
  await register('shut', { description: 'newer' }, true)
  expect(await ask(`select from noetl.catalog where path = 'shut'`, [])).toHaveLength(3)
})

it('one that is disabled is not started, in no version, until it is enabled; a new version stays disabled', async () => {
  await register('off')
  await engines.rows(`select noetl.fn_playbook_disable('off')`)
  expect(await sqlstateOf(engines.rows(`select noetl.fn_execution_start('off')`))).toBe('SD802')
  expect((await register('off', { description: 'new' })).disabled_at).not.toBeNull()
  expect(await sqlstateOf(engines.rows(`select noetl.fn_execution_start('off')`))).toBe('SD802')
  await engines.rows(`select noetl.fn_playbook_enable('off')`)
  for (const version of [null, 1, 2]) {
    await engines.rows(`select noetl.fn_execution_start('off', p_version => $1)`, [version])
  }
  expect(await sqlstateOf(engines.rows(`select noetl.fn_playbook_disable('nobody')`))).toBe('SD802')
  expect(await sqlstateOf(engines.rows(`select noetl.fn_playbook_enable('nobody')`))).toBe('SD802')
})

it.each([
  ['a name with capitals', 'Hello', payload('Hello')],
  ['another name inside', 'hello', payload('bye')],
  ['no steps', 'hello', payload('hello', { steps: [] })],
  ['args that are a list', 'hello', payload('hello', { args: [] })],
  ['a list', 'hello', []],
])('refuses %s', async (_, name, body) => {
  const asked = engines.rows('select noetl.fn_playbook_register($1, $2, $3)', [
    name,
    'text',
    JSON.stringify(body),
  ])
  expect(await sqlstateOf(asked)).toBe('SD801')
})
