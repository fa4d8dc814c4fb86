/** Commands that a gateway holds for remote workers: released one by one, moved to another gateway, and claimed for its workers. */
import { beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { type Engine, engineDriver } from './engines.ts'

const db = useDatabase()
const engines = engineDriver(db)
let driver: Engine
let gateway: Engine

interface Command extends Record<string, unknown> {
  command_id: string
  lease_epoch: number
  item_index: number
  leased_by: string | null
  crashes: number
}

beforeEach(async () => {
  await db.owner('delete from noetl.command')
  await db.owner('delete from noetl.inbox')
  driver = await engines.alone()
  gateway = await engines.register({ drives: false, handlers: ['a'] })
})

async function put(count: number, more: Record<string, unknown> = {}): Promise<string> {
  const execution_id = await engines.newId()
  const commands = Array.from({ length: count }, (_, item_index) => ({
    ...{ command_id: `${execution_id}:a#1:${item_index}:1`, execution_id, catalog_id: '1', loop_id: '7' },
    ...{ node_id: 'a#1', node_name: 'a', item_index, attempt: 1, needs: ['a'], ...more },
  }))
  await engines.flush(driver, { commands })
  return execution_id
}

const RELEASE = 'select noetl.fn_command_release($1, $2, $3, $4) as id'
const ADOPT = 'select * from noetl.fn_command_adopt($1, $2, $3, $4)'
const END = 'select noetl.fn_command_end($1, $2) as id'
const claim = (limit = 100, as = gateway, workers: number | null = 10) =>
  engines.rows<Command>('select * from noetl.fn_command_claim($1, $2, $3)', [as.id, limit, workers])
const idsAndEpochs = (commands: readonly Command[]) => [
  commands.map(({ command_id }) => command_id),
  commands.map(({ lease_epoch }) => lease_epoch),
]
const release = async (commands: readonly Command[], crashed: boolean, as = gateway) =>
  (await engines.rows<{ id: string }>(RELEASE, [as.id, ...idsAndEpochs(commands), crashed])).map(
    ({ id }) => id,
  )
const adopt = (commands: readonly Command[], from: Engine, to: Engine) =>
  engines.rows<Command>(ADOPT, [from.id, to.id, ...idsAndEpochs(commands)])
const endOf = ({ command_id, lease_epoch }: Command, more = {}) => ({
  ...{ command_id, lease_epoch, status: 'completed', result: { value: 1 }, ...more },
})
const held = () =>
  engines.rows<Command>('select * from noetl.command order by item_index') as Promise<Command[]>
const told = () => engines.rows<{ body: Record<string, unknown> }>('select body from noetl.inbox')

describe('a release', () => {
  it('frees the commands that it names and no others, and charges a crash only if told so', async () => {
    await put(3)
    const [first, second, third] = await claim()
    expect(await release([first!], true)).toEqual([first!.command_id])
    expect(await release([second!], false)).toEqual([second!.command_id])
    expect((await held()).map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual([
      [null, 1],
      [null, 0],
      [gateway.id, 0],
    ])
    const again = await claim()
    expect(again.map(({ item_index, lease_epoch }) => [item_index, lease_epoch]).sort()).toEqual([
      [0, 2],
      [1, 2],
    ])
    // Repeated after a lost answer: the commands are the gateway's again, under another epoch.
    expect(await release([first!, second!], true)).toEqual([])
    expect((await held()).map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual([
      [gateway.id, 1],
      [gateway.id, 0],
      [gateway.id, 0],
    ])
    expect(third!.item_index).toBe(2)
  })

  it('does nothing for another engine, an ended command or another epoch, and refuses lists that do not fit', async () => {
    await put(2)
    const [first, second] = await claim()
    expect(await release([first!], true, driver)).toEqual([])
    expect(await release([{ ...first!, lease_epoch: 7 }], true)).toEqual([])
    await engines.rows(END, [gateway.id, JSON.stringify([endOf(second!)])])
    expect(await release([second!], true)).toEqual([])
    expect(await held()).toMatchObject([{ leased_by: gateway.id, crashes: 0 }])
    expect(await sqlstateOf(engines.rows(RELEASE, [gateway.id, ['x'], [], true]))).toBe('SD001')
    expect(await sqlstateOf(engines.rows(RELEASE, [gateway.id, null, null, true]))).toBe('SD001')
  })

  it('fails a command whose worker died 20 times', async () => {
    await put(1)
    for (let death = 1; death <= 20; death += 1) {
      const commands = await claim()
      expect(commands, `death ${death}`).toHaveLength(1)
      await release(commands, true)
    }
    expect(await held()).toEqual([])
    expect((await told()).map(({ body }) => body)).toMatchObject([
      { status: 'failed', error: 'its worker died 20 times', retryable: false, index: 0 },
    ])
  })
})

describe('a claim of a gateway', () => {
  it('leaves commands that call no handler to engines that run them', async () => {
    const plain = await put(2, { needs: undefined })
    await put(2)
    expect((await claim()).map(({ execution_id }) => execution_id)).not.toContain(plain)
    expect(await claim(100, gateway, null)).toHaveLength(2)
  })

  it('takes as many suspects as half of its workers, at least one, and the other commands beside them', async () => {
    await put(8)
    await db.owner('update noetl.command set crashes = 3 where item_index < 6')
    const suspects = (commands: readonly Command[]) => commands.filter(({ crashes }) => crashes >= 3)
    const first = await claim(100, gateway, 4)
    expect([suspects(first).length, first.length]).toEqual([2, 4])
    expect(await claim(100, gateway, 4)).toEqual([])
    const small = await engines.register({ drives: false, handlers: ['a'] })
    expect(await claim(100, small, 1)).toHaveLength(1)
    expect(await claim(100, small, 1)).toEqual([])
    // One worker of its own.
    expect(await claim(100, await engines.register({ drives: false, handlers: ['a'] }), null)).toHaveLength(1)
    await release(suspects(first).slice(0, 1), true)
    expect(await claim(1, gateway, 4)).toHaveLength(1)
  })
})

describe('an adoption', () => {
  it('moves the lease and keeps its epoch: the end of the former gateway is void, that of the new one counts', async () => {
    await put(2)
    const commands = await claim()
    const next = await engines.register({ drives: false, handlers: ['a', 'b'] })
    const adopted = await adopt(commands, gateway, next)
    expect(adopted.map(({ leased_by, lease_epoch, crashes }) => [leased_by, lease_epoch, crashes])).toEqual([
      [next.id, 1, 0],
      [next.id, 1, 0],
    ])
    const ends = JSON.stringify(commands.map((command) => endOf(command, { worker: 'host 7' })))
    expect(await engines.rows(END, [gateway.id, ends])).toEqual([])
    expect(await engines.rows(END, [next.id, ends])).toHaveLength(2)
    expect((await told()).map(({ body }) => body.worker)).toEqual(['host 7', 'host 7'])
  })

  it('finds nothing to move when the command has ended, was freed, is under another epoch or needs another handler', async () => {
    await put(3)
    const [ended, freed, other] = await claim()
    const next = await engines.register({ drives: false, handlers: ['a'] })
    await engines.rows(END, [gateway.id, JSON.stringify([endOf(ended!)])])
    await release([freed!], true)
    expect(await adopt([ended!, freed!, { ...other!, lease_epoch: 2 }], gateway, next)).toEqual([])
    const without = await engines.register({ drives: false, handlers: ['b'] })
    expect(await adopt([other!], gateway, without)).toEqual([])
    expect(await adopt([other!], gateway, next)).toHaveLength(1)
  })

  it('is refused to an engine without a lease', async () => {
    await put(1)
    const commands = await claim()
    const next = await engines.register({ drives: false, handlers: ['a'] })
    await engines.expire(next)
    expect(await sqlstateOf(adopt(commands, gateway, next))).toBe('SD805')
  })

  it('twice: the second gateway gets nothing, the first gets the same again', async () => {
    await put(2)
    const commands = await claim()
    const [one, two] = [
      await engines.register({ drives: false, handlers: ['a'] }),
      await engines.register({ drives: false, handlers: ['a'] }),
    ]
    const session = await db.session('stagedoor_worker')
    await session.query('begin')
    await session.query(ADOPT, [gateway.id, one.id, ...idsAndEpochs(commands)])
    const late = await db.session('stagedoor_worker')
    const second = late.query(ADOPT, [gateway.id, two.id, ...idsAndEpochs(commands)])
    await untilWaiting(db, late)
    await session.query('commit')
    expect((await second).rows).toEqual([])
    expect(await adopt(commands, gateway, one)).toHaveLength(2)
    expect((await held()).map(({ leased_by }) => leased_by)).toEqual([one.id, one.id])
  })

  it('against the reaper: whoever comes first has it, and the reaper charges nothing that was adopted', async () => {
    await put(2)
    const commands = await claim()
    const next = await engines.register({ drives: false, handlers: ['a'] })
    await engines.expire(gateway)
    const adopting = await db.session('stagedoor_worker')
    await adopting.query('begin')
    await adopting.query(ADOPT, [gateway.id, next.id, ...idsAndEpochs(commands.slice(0, 1))])
    // The reaper waits for nobody: it takes the other one, and the engine stays until this one is known.
    expect(await engines.one('select noetl.fn_engine_reap()')).toBe(1)
    await adopting.query('commit')
    expect((await held()).map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual([
      [next.id, 0],
      [null, 1],
    ])
    expect(await engines.one('select noetl.fn_engine_reap()')).toBe(0)
    expect(await engines.rows('select from noetl.engine where engine_id = $1', [gateway.id])).toEqual([])
    expect((await held())[0]!.leased_by).toBe(next.id)

    const again = await claim(10, next, 10)
    const third = await engines.register({ drives: false, handlers: ['a'] })
    await engines.expire(next)
    const reaper = await db.session()
    await reaper.query('begin')
    await reaper.query('select noetl.fn_engine_reap()')
    const late = await db.session('stagedoor_worker')
    const adoption = late.query(ADOPT, [next.id, third.id, ...idsAndEpochs(again)])
    await untilWaiting(db, late)
    await reaper.query('commit')
    expect((await adoption).rows).toEqual([])
    expect((await held()).map(({ leased_by }) => leased_by)).toEqual([null, null])
  })

  it('against an end in flight: what ends is not adopted', async () => {
    await put(1)
    const commands = await claim()
    const next = await engines.register({ drives: false, handlers: ['a'] })
    const [ending, late] = [await db.session('stagedoor_worker'), await db.session('stagedoor_worker')]
    await ending.query('begin')
    await ending.query(END, [gateway.id, JSON.stringify([endOf(commands[0]!)])])
    const adoption = late.query(ADOPT, [gateway.id, next.id, ...idsAndEpochs(commands)])
    await untilWaiting(db, late)
    await ending.query('commit')
    expect((await adoption).rows).toEqual([])
    expect(await told()).toHaveLength(1)
  })
})
