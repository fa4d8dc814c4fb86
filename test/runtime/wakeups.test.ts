import pino from 'pino'
import { afterEach, expect, it } from 'vitest'
import { openWakeups, type Wakeups } from '../../src/runtime/wakeups.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const opened: Wakeups[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

/** Another address is another bus, as in another process. */
async function open(process = 'one'): Promise<Wakeups> {
  const wakeups = openWakeups(`${db.url('stagedoor_worker')}?fallback_application_name=${process}`, log)
  opened.push(wakeups)
  await until(`the bus of ${process} works`, async () => wakeups.works)
  return wakeups
}

async function sessions(): Promise<number> {
  const rows = await db
    .pool('postgres')
    .query(`select from pg_stat_activity where datname = $1 and application_name like '%notifications'`, [
      db.name,
    ])
  return rows.rowCount!
}

async function spy(): Promise<string[]> {
  const heard: string[] = []
  const session = await db.session('stagedoor_worker')
  session.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await session.query('listen stagedoor')
  return heard
}

it('everything of a process that names the same database shares one session, and the last one closes it', async () => {
  const parts = [await open(), await open(), await open()]
  expect(await sessions()).toBe(1)
  await parts[0]!.close()
  expect(parts[1]!.works).toBe(true)
  await Promise.all(parts.map((part) => part.close()))
  await until('it is closed', async () => (await sessions()) === 0)
})

it('tells its own process at once, and another by a notification', async () => {
  const [here, there] = [await open('here'), await open('there')]
  const [own, other]: [string[], string[]] = [[], []]
  here.on('commands', (key) => own.push(key))
  there.on('commands', (key) => other.push(key))
  here.tell('commands', '["a"]')
  expect(own).toEqual(['["a"]'])
  await until('the other one heard it', async () => other.length > 0)
  expect(other).toEqual(['["a"]'])
  // Its own notification does not come back.
  here.tell('commands', 'x'.repeat(9000))
  await until('what is too long arrives without its key', async () => other.includes(''))
  expect(own).toHaveLength(2)
})

it('notifies nobody while it is alone, and others from when they say hello', async () => {
  const here = await open('here')
  const heard = await spy()
  await until('it knows that it is alone', async () => {
    const before = heard.length
    here.tell('inbox', '1')
    await db.owner('select')
    await new Promise((resolve) => setTimeout(resolve, 50))
    return heard.length === before
  })
  const there = await open('there')
  const received: string[] = []
  there.on('inbox', (key) => received.push(key))
  await until('it knows that somebody else listens', async () => {
    here.tell('inbox', '2')
    return received.includes('2')
  })
})

it('what is told while a notification is under way goes with the next', async () => {
  const [here, there] = [await open('here'), await open('there')]
  const heard = await spy()
  const received: string[] = []
  there.on('inbox', (key) => received.push(key))
  for (let n = 0; n < 1000; n++) here.tell('inbox', String(n % 4))
  here.tell('inbox', 'last')
  await until('the last one arrived', async () => received.includes('last') && heard.includes('inbox last'))
  expect(new Set(received)).toEqual(new Set(['0', '1', '2', '3', 'last']))
  expect(heard.filter((payload) => payload.startsWith('inbox'))).toHaveLength(received.length)
  expect(received.length).toBeLessThan(20)
})

it('works again after its session was ended, and says that something may have been missed', async () => {
  const here = await open()
  let changes = 0
  here.onChange(() => changes++)
  await db
    .pool('postgres')
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like '%notifications'`,
      [db.name],
    )
  await until('it was told of the end', async () => changes > 0)
  const then = changes
  await until('it works again', async () => here.works && changes > then)
})

it('asks in one poll what its parts want to know, of leaders only what they lead', async () => {
  const here = await open()
  const due: string[] = []
  const question = (name: string, sql: string, values: unknown[] | undefined, lead?: string) =>
    here.ask({ sql, values: () => values, ...(lead && { lead }), onDue: () => due.push(name) })
  question('now', '(?::integer - ?::integer)', [7, 7])
  question('later', '?::integer', [50])
  question('not asked', '0', undefined)
  question('never', 'null::integer', [])
  question('not led', '0', [], 'unwanted')
  here.lead('wanted', () => {})
  question('led', '0', [], 'wanted')
  here.pollSoon()
  await until('the answers are there', async () => due.includes('now') && due.includes('led'))
  expect([...new Set(due)].sort()).toEqual(['led', 'now'])
})

it('one of two processes leads, and the other takes over when it closes or loses its session', async () => {
  const [here, there] = [await open('here'), await open('there')]
  const leads = [here.lead('tests', () => {}), there.lead('tests', () => {})] as const
  const leaders = (): number[] => leads.flatMap((lead, index) => (lead.mine ? [index] : []))
  await until('one leads', async () => leaders().length === 1)
  const [first] = leaders()
  const epoch = async (): Promise<number> =>
    Number(
      (await db.owner<{ epoch: string }>(`select epoch from iu_core.leader where name = 'tests'`))[0]
        ?.epoch ?? 0,
    )
  expect(await epoch()).toBe(1)
  await (first === 0 ? here : there).close()
  await until('the other one leads', async () => leads[1 - first!]!.mine)
  const third = await open('third')
  const lead = third.lead('tests', () => {})
  await db.pool('postgres').query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks k using (pid), iu_core.leader l
        where l.name = 'tests' and a.datname = current_database() and k.locktype = 'advisory' and k.mode = 'ExclusiveLock'
          and (k.classid::bigint << 32 | k.objid::bigint) = iu_core.fn_leader_lock(l.holder)`,
  )
  await until(
    'one of the two that are left leads',
    async () => third.works && lead.mine !== leads[1 - first!]!.mine,
  )
})

it('the text of the poll does not depend on the order in which its questions came', async () => {
  const [first, second] = ['(select null::integer where ? = 1)', '(select null::integer where ? = 2)']
  for (const [process, order] of [
    ['forth', [first!, second!]],
    ['back', [second!, first!]],
  ] as const) {
    const wakeups = await open(process)
    for (const sql of order) wakeups.ask({ sql, values: () => [3], onDue: () => {} })
  }
  const polls = await until('both have asked', async () => {
    for (const one of opened) one.pollSoon()
    const { rows } = await db
      .pool('postgres')
      .query<{ query: string }>(
        `select query from pg_stat_activity where datname = $1 and query like '%fn_leader_keep%null::integer%' and pid <> pg_backend_pid()`,
        [db.name],
      )
    return rows.length === 2 && rows.map(({ query }) => query)
  })
  expect(new Set(polls).size).toBe(1)
})
