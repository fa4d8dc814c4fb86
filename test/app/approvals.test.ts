/** Approvals for programs: asked, waited for across deaths of the process, and run once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Stagedoor } from '../../src/app/stagedoor.ts'
import { createStagedoor } from '../../src/index.ts'
import { requireApproval } from '../../src/staging/require-approval.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
const home = temporaryHome('approvals')
let stagedoor: Stagedoor
let workspace: string
let reviewer: Member
let operator: Member
beforeAll(async () => {
  await db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
  workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
  operator = await createMember(db, workspace, 'operator')
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
})
afterAll(() => stagedoor.close())

const waiting = async (key: string) => {
  const find = async () => (await stagedoor.approvals.list({ key }))[0]
  await until('the request', async () => (await find()) !== undefined)
  return (await find())!
}
/** In the console, under the reviewer's own role. */
const approve = async (key: string, answers: object = {}) => {
  const { approval_id, digest } = await waiting(key)
  await db.as(reviewer, (client) =>
    client.query('select iu_core.fn_approval_approve($1, $2, $3)', [
      approval_id,
      digest,
      JSON.stringify(answers),
    ]),
  )
  return approval_id
}

describe('request', () => {
  it('waits, and returns who decided what, when and why', async () => {
    const asked = stagedoor.approvals.request({
      key: 'refund 1',
      title: 'Refund of order 1',
      show: '**120.00** to Ann',
      by: operator.userId,
      reviewers: [reviewer.userId],
      form: [{ name: 'amount', type: 'number', required: true }],
      timeout: '1h',
    })
    await approve('refund 1', { amount: 80 })
    const began = performance.now()
    expect(await asked).toMatchObject({
      status: 'approved',
      decided: true,
      requested_by: operator.userId,
      answers: { amount: 80 },
      decisions: [{ verdict: 'approve', by: reviewer.userId }],
      run: null,
    })
    // By a wake-up, not by the poll that is its net.
    expect(performance.now() - began).toBeLessThan(4_000)
  })

  it('returns what was decided to whoever asks again, and refuses other content', async () => {
    const request = { key: 'refund 2', title: 'Refund', show: { order: 2 } }
    const asked = stagedoor.approvals.request(request)
    await approve('refund 2')
    await asked
    expect(await stagedoor.approvals.request(request)).toMatchObject({ status: 'approved' })
    await expect(stagedoor.approvals.request({ ...request, show: { order: 3 } })).rejects.toMatchObject({
      code: 'staging_key_taken',
    })
  })

  it('ends as expired when nobody answers', async () => {
    expect(
      await stagedoor.approvals.request({ key: 'silence', title: 'Refund', show: 'x', timeout: '1s' }),
    ).toMatchObject({ status: 'expired', decisions: [] })
  })

  it('ends early by its signal, and is still there', async () => {
    const stop = new AbortController()
    const asked = stagedoor.approvals.request({
      key: 'later',
      title: 'Refund',
      show: 'x',
      signal: stop.signal,
    })
    await waiting('later')
    stop.abort()
    expect(await asked).toMatchObject({ status: 'waiting', decided: false })
  })

  it('refuses what a reviewer would see otherwise than it is used', async () => {
    const request = (show: unknown, timeout?: string) =>
      stagedoor.approvals.open({ key: 'exact', title: 'Refund', show, ...(timeout && { timeout }) })
    await expect(request({ id: 2 ** 53 })).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(request({ id: Number.NaN })).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(request({ id: 1n })).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(request('x', 'soon')).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('is decided by nobody in the name of whoever asked', async () => {
    const { approval_id, digest } = await stagedoor.approvals.open({
      key: 'own',
      title: 'Refund',
      show: 'x',
      by: reviewer.userId,
    })
    await expect(
      stagedoor.approvals.approve(approval_id, { digest, by: reviewer.userId }),
    ).rejects.toMatchObject({
      code: 'staging_own_record',
    })
  })
})

describe('requireApproval', () => {
  it('shows the arguments, and runs once after they were approved', async () => {
    const calls: unknown[] = []
    const refund = stagedoor.requireApproval(
      async function refund(order: number, amount: string) {
        calls.push([order, amount])
        return `paid ${amount}`
      },
      { key: (order) => `require ${order}` },
    )
    const paid = refund(7, '120.00')
    const { approval_id } = await waiting('require 7')
    expect(calls).toEqual([])
    expect(JSON.parse((await stagedoor.staging.part(approval_id, 1))!.content!)).toEqual({
      arguments: [7, '120.00'],
    })
    await approve('require 7')
    expect(await paid).toBe('paid 120.00')
    expect(await stagedoor.approvals.get(approval_id)).toMatchObject({ run: { status: 'applied' } })
    await expect(refund(7, '120.00')).rejects.toMatchObject({ code: 'approval_used' })
    expect(calls).toEqual([[7, '120.00']])
  })

  it('runs in one of two that wait for the same approval', async () => {
    let runs = 0
    const wrapped = stagedoor.requireApproval(() => ++runs, { title: 'Race', key: () => 'race' })
    const both = Promise.allSettled([wrapped(), wrapped()])
    await approve('race')
    const ended = await both
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(ended.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'approval_used' },
    })
    expect(runs).toBe(1)
  })

  it('does not run what was rejected, and says why', async () => {
    const wrapped = stagedoor.requireApproval(() => expect.unreachable(), {
      title: 'Refund',
      key: () => 'no',
    })
    const asked = wrapped()
    asked.catch(() => {})
    const { approval_id } = await waiting('no')
    await db.as(reviewer, (client) =>
      client.query(`select iu_core.fn_iu_staging_reject($1, 'not covered')`, [approval_id]),
    )
    await expect(asked).rejects.toMatchObject({
      code: 'approval_not_given',
      message: 'Refund was not approved: rejected (“not covered”)',
    })
  })

  it('says what became of an approval between the decision and its use', async () => {
    const between = (key: string, meanwhile: (id: string) => Promise<unknown>) => {
      const { request, use, finish, get } = stagedoor.approvals
      const deps = {
        request,
        finish,
        get,
        use: async (...[id, options]: Parameters<typeof use>) => {
          await meanwhile(id)
          return use(id, options)
        },
      }
      const asked = requireApproval(deps, () => expect.unreachable(), { title: 'Refund', key: () => key })()
      asked.catch(() => {})
      return approve(key).then(() => expect(asked).rejects)
    }
    // Its time passes: no function changes when a request expires.
    const expire = (id: string) =>
      db.pool('postgres').query(
        `begin; set local session_replication_role = replica;
           update iu_core.iu_staging_record set expires_at = clock_timestamp() where staging_record_id = '${id}'; commit`,
      )
    await (await between('late', expire)).toMatchObject({
      code: 'approval_not_given',
      message: expect.stringMatching(
        new RegExp(`^Refund was approved by ${reviewer.userId} and not used in time: it expired at \\d{4}-`),
      ),
    })
    await (await between('taken', (id) => stagedoor.approvals.use(id))).toMatchObject({
      code: 'approval_used',
      message: expect.stringContaining('(running)'),
    })
  })

  it('writes down that it failed', async () => {
    const wrapped = stagedoor.requireApproval(
      () => {
        throw new Error('the bank is closed')
      },
      { title: 'Refund', key: () => 'fails' },
    )
    const asked = wrapped()
    asked.catch(() => {})
    const id = await approve('fails')
    await expect(asked).rejects.toThrow('the bank is closed')
    expect(await stagedoor.approvals.get(id)).toMatchObject({
      run: { status: 'failed', error: 'the bank is closed' },
    })
  })
})

describe('requireApproval, attacked', () => {
  it('runs with what was shown, whatever becomes of the objects meanwhile', async () => {
    const paid: unknown[] = []
    const pay = stagedoor.requireApproval((order: { amount: number; lines: string[] }) => paid.push(order), {
      title: 'Pay',
      key: () => 'mutated',
    })
    const order = { amount: 10, lines: ['A'] }
    const asked = pay(order)
    order.amount = 10_000
    order.lines.push('B')
    await approve('mutated')
    await asked
    expect(paid).toEqual([{ amount: 10, lines: ['A'] }])
  })

  it('does not run where what it shows is not what was shown any more', async () => {
    class Order {
      amount = 10
    }
    const order = new Order()
    const pay = stagedoor.requireApproval((_: Order) => expect.unreachable(), {
      title: 'Pay',
      key: () => 'changed',
      show: ({ amount }) => `**${amount}**`,
    })
    const asked = pay(order)
    asked.catch(() => {})
    await waiting('changed')
    order.amount = 10_000
    const id = await approve('changed')
    await expect(asked).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('has changed'),
    })
    expect(await stagedoor.approvals.get(id)).toMatchObject({ run: null })
  })

  it('asks for nothing that would be shown otherwise than it is used', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const before = await stagedoor.approvals.list()
    for (const argument of [
      new Map([['amount', 1]]),
      () => 1,
      Symbol('x'),
      10n,
      new Date(0),
      [undefined, 1],
      { toJSON: () => 'harmless', amount: 10 },
      new (class {
        amount = 10
      })(),
      cyclic,
      -0,
      Number.POSITIVE_INFINITY,
      2 ** 60,
      new Proxy(new Map(), {}),
    ]) {
      const wrapped = stagedoor.requireApproval((_: unknown) => expect.unreachable(), { title: 'Pay' })
      await expect(wrapped(argument), String(typeof argument)).rejects.toMatchObject({
        code: 'argument_invalid',
      })
    }
    expect(await stagedoor.approvals.list()).toEqual(before)
  })
})

describe('kill -9', () => {
  const DIST = fileURLToPath(new URL('../../dist/index.js', import.meta.url))
  const script = join(home, 'asker.mjs')
  const running = new Set<ChildProcess>()
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
  })

  /** A program that asks, and says what it does; `hang`: it never ends what it was allowed to do. */
  function start(key: string, hang = false) {
    writeFileSync(
      script,
      `import { createStagedoor } from ${JSON.stringify(DIST)}
       const [, , url, key, hang] = process.argv
       const stagedoor = await createStagedoor({ databaseUrl: url, home: ${JSON.stringify(home)} })
       const pay = stagedoor.requireApproval(async (order) => {
         console.log('paying ' + order)
         if (hang) await new Promise((resolve) => setTimeout(resolve, 600_000))
         return 'paid'
       }, { title: 'Pay', key: () => key })
       try { console.log(await pay(1871)) } catch (error) { console.log(error.code) }
       await stagedoor.close()`,
    )
    const child = spawn(process.execPath, [script, db.url(MIGRATOR), key, ...(hang ? ['hang'] : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // Not the settings of the test run.
      env: { PATH: process.env.PATH, HOME: home },
    })
    running.add(child)
    let output = ''
    child.stdout.on('data', (data) => {
      output += data
    })
    const ended = once(child, 'close')
    return {
      output: () => output,
      ended,
      async kill() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  it('between request and decision loses nothing: the next process waits on, and runs', async () => {
    const first = start('killed while it waits')
    await waiting('killed while it waits')
    await first.kill()
    const id = await approve('killed while it waits')
    const second = start('killed while it waits')
    await second.ended
    expect(second.output()).toBe('paying 1871\npaid\n')
    expect(await stagedoor.approvals.get(id)).toMatchObject({
      status: 'approved',
      run: { status: 'applied' },
    })
    expect(await stagedoor.approvals.list({ key: 'killed while it waits' })).toHaveLength(1)
  })

  it('between use and end leaves a run that is seen, and is not begun again', async () => {
    const first = start('killed while it runs', true)
    const id = await approve('killed while it runs')
    await until('the payment', () => first.output().includes('paying'))
    await first.kill()
    expect(await stagedoor.approvals.get(id)).toMatchObject({
      status: 'approved',
      run: { status: 'running', finished_at: null },
    })
    const second = start('killed while it runs')
    await second.ended
    expect(second.output()).toBe('approval_used\n')
  })
})
