import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStagedoor, definePlaybook, definePlaybookHandlers, type Stagedoor } from '../../src/index.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('library-executions')
let stagedoor: Stagedoor

beforeAll(async () => {
  stagedoor = await createStagedoor({
    databaseUrl: db.url('stagedoor_api'),
    databaseDirectUrl: db.url(MIGRATOR),
    home,
  })
})
afterAll(() => stagedoor.close())

const hello = definePlaybook({
  name: 'hello',
  args: { name: 'world' },
  steps: [{ step: 'greet', tool: 'handler', call: 'greet', args: { name: '$' + '{args.name}' } }],
  output: '$' + '{result}',
})
interface Greeting {
  name: string
}
/** Its arguments are typed by whoever wrote the playbook. */
const handlers = definePlaybookHandlers({ greet: ({ name }: Greeting) => `hello ${name}` })

it('registers a playbook, drives it with handlers of the program, and waits for its end', async () => {
  expect(await stagedoor.playbooks.register(hello)).toMatchObject({ name: 'hello', version: 1 })
  expect(await stagedoor.playbooks.list()).toMatchObject([{ name: 'hello', disabled: false }])
  const id = await stagedoor.executions.start('hello', { name: 'Ada' })
  const engine = await stagedoor.executions.work({ handlers })
  expect(await stagedoor.executions.wait(id)).toMatchObject({
    status: 'COMPLETED',
    result: { value: 'hello Ada' },
  })
  expect((await stagedoor.trace(id)).executions).toMatchObject([{ execution_id: id, playbook: 'hello' }])
  expect(await stagedoor.executions.rebuild({ verify: true })).toEqual({ executions: 1, differences: [] })
  await engine.stop()
})

it('starts in the transaction of the program: rolled back, it never was', async () => {
  const client = await db.pool('stagedoor_worker').connect()
  try {
    await client.query('begin')
    const id = await stagedoor.executions.start('hello', {}, { client })
    await client.query('rollback')
    await expect(stagedoor.executions.wait(id)).rejects.toMatchObject({ code: 'execution_unknown' })
  } finally {
    client.release()
  }
})

it('refuses to start with an error of the catalogue and a hint, alone, many at once and in the program’s transaction', async () => {
  const unknown = { code: 'playbook_unknown', hint: expect.stringContaining('playbook list') }
  const { executions } = stagedoor
  await expect(executions.start('helo')).rejects.toMatchObject(unknown)
  await expect(executions.start('hello', { nam: 1 })).rejects.toMatchObject({ code: 'argument_invalid' })
  const [good, bad] = await Promise.allSettled([executions.start('hello'), executions.start('helo')])
  expect(good).toMatchObject({ status: 'fulfilled' })
  expect(bad).toMatchObject({ status: 'rejected', reason: unknown })
  const client = await db.pool('stagedoor_worker').connect()
  try {
    await expect(executions.start('helo', {}, { client })).rejects.toMatchObject(unknown)
    await expect(executions.startMany('helo', [{}], { client })).rejects.toMatchObject(unknown)
  } finally {
    client.release()
  }
  const key = { idempotencyKey: 'once' }
  const id = await executions.start('hello', { name: 'Ada' }, key)
  expect(await executions.start('hello', { name: 'Ada' }, key)).toBe(id)
  // Two at once go to the database in one statement, with their options.
  const together = { idempotencyKey: 'together' }
  const [one, same] = await Promise.all([
    executions.start('hello', { name: 'Ada' }, together),
    executions.start('hello', { name: 'Ada' }, together),
  ])
  expect(same).toBe(one)
  await expect(executions.start('hello', { name: 'Grace' }, key)).rejects.toMatchObject({
    code: 'execution_key_taken',
    details: { execution: id },
  })
})
