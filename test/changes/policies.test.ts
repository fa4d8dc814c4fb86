/** A policy is set on the revision that was read, and shows before what it would have asked for: in SQL, over HTTP, on the command line. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyPreview, ReviewPolicy } from '../../src/changes/policies.ts'
import { person } from '../staging/people.ts'
import { useApi } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, type Member } from '../support/factories.ts'
import { boxes, type Planned, PRICES, useTrial } from '../support/ingest-rows.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { untilWaiting } from '../support/waiting.ts'

const db = useDatabase()
const api = useApi(db)
const trial = useTrial(db, { approval: true })
let admin: Member
let other: Member
let token: string

beforeAll(async () => {
  admin = await createMember(db, trial.workspace, 'admin')
  other = await createMember(db, trial.workspace, 'admin')
  token = await api.token(admin)
})
beforeEach(async () => {
  await db.owner('delete from iu_core.review_policy')
})

const set = (rules: object, revision: number | null, by = admin, dataset: string | null = null) =>
  db.as(by, (client) =>
    client.query('select iu_core.fn_review_policy_set($1, $2, null, $3, null, $4)', [
      trial.workspace,
      dataset,
      JSON.stringify(rules),
      revision,
    ]),
  )
const remove = (revision: number | null) =>
  db.as(admin, (client) =>
    client.query('select iu_core.fn_review_policy_remove($1, null, null, null, $2)', [
      trial.workspace,
      revision,
    ]),
  )
async function policy(): Promise<{ revision: number; rules: { base: { approvals: number } } } | undefined> {
  const [row] = await db.owner<{ revision: number; rules: { base: { approvals: number } } }>(
    'select revision, rules from iu_core.review_policy where dataset is null',
  )
  return row
}
const needing = (approvals: number) => ({ base: { approvals } })
const preview = async (rules: object, { dataset = null as string | null, limit = 20, by = admin } = {}) => {
  const { rows } = await db.as(by, (client) =>
    client.query<{ preview: PolicyPreview }>(
      'select iu_core.fn_review_policy_preview($1, $2, null, $3, $4) as preview',
      [trial.workspace, dataset, JSON.stringify(rules), limit],
    ),
  )
  return rows[0]!.preview
}

const folder = temporaryHome('policies')
const run = (...argv: string[]) =>
  runCli(['policy', ...argv, '--workspace', trial.workspace], {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url('stagedoor_worker'),
  })

async function call(method: 'PUT' | 'POST' | 'DELETE', path: string, payload?: object, as = token) {
  const reply = await api.app.inject({
    method,
    url: `/api/v1/review-policies${path}`,
    headers: { authorization: `Bearer ${as}`, ...(payload && { 'content-type': 'application/json' }) },
    ...(payload && { payload: { workspace_id: trial.workspace, ...payload } }),
  })
  return { status: reply.statusCode, body: (reply.body === '' ? null : reply.json()) as never }
}

describe('the revision', () => {
  it('that was read is replaced, and another one is not', async () => {
    await set(needing(1), 0)
    const first = (await policy())!.revision
    await set(needing(2), first)
    expect(await sqlstateOf(set(needing(3), first))).toBe('SD653')
    expect(await sqlstateOf(set(needing(3), 0))).toBe('SD653')
    expect(await sqlstateOf(remove(first))).toBe('SD653')
    expect(await policy()).toMatchObject({ revision: first + 1, rules: needing(2) })
    await set(needing(3), null)
    await remove(first + 2)
    expect(await policy()).toBeUndefined()
    expect(await sqlstateOf(set(needing(4), first + 2))).toBe('SD653')
  })

  it('goes on counting after a policy was removed: it never names two different rules', async () => {
    await set(needing(1), null)
    const { revision } = (await policy())!
    await remove(revision)
    await set(needing(9), 0)
    expect((await policy())!.revision).toBe(revision + 1)
    expect(await sqlstateOf(set(needing(2), revision))).toBe('SD653')
  })

  it('of two administrators who save at once lets one win, and tells the other', async () => {
    await set(needing(1), null)
    const { revision } = (await policy())!
    const { session: first } = await person(db, admin.role!, admin.userId)
    const { session: late } = await person(db, other.role!, other.userId)
    await first.query('begin')
    await first.query('select iu_core.fn_review_policy_set($1, null, null, $2, null, $3)', [
      trial.workspace,
      JSON.stringify(needing(2)),
      revision,
    ])
    const second = sqlstateOf(
      late.query('select iu_core.fn_review_policy_set($1, null, null, $2, null, $3)', [
        trial.workspace,
        JSON.stringify(needing(3)),
        revision,
      ]),
    )
    await untilWaiting(db, late)
    await first.query('commit')
    expect(await second).toBe('SD653')
    expect(await policy()).toMatchObject({ revision: revision + 1, rules: needing(2) })
  })

  it('is compared over HTTP and on the command line', async () => {
    const created = await call('PUT', '', { rules: needing(1), revision: 0 })
    const { revision } = created.body as ReviewPolicy
    expect(created.status).toBe(200)
    expect(await call('PUT', '', { rules: needing(2), revision: 0 })).toMatchObject({
      status: 409,
      body: {
        code: 'review_policy_changed',
        detail: `There is a review policy for the workspace already, revision ${revision}. Nothing was changed`,
      },
    })
    expect(await call('DELETE', `?workspace_id=${trial.workspace}&revision=${revision + 4}`)).toMatchObject({
      status: 409,
    })
    const file = join(folder, 'policy.json')
    writeFileSync(file, JSON.stringify(needing(5)))
    const refused = await run('set', file, '--revision', String(revision + 1))
    expect(refused.code).toBe(6)
    expect(refused.stderr).toContain(
      `is at revision ${revision} by now, and yours is based on revision ${revision + 1}`,
    )
    const done = await run('set', file, '--revision', String(revision), '--json')
    expect(JSON.parse(done.stdout)).toMatchObject({ revision: revision + 1 })
    expect((await run('remove', '--revision', String(revision))).code).toBe(6)
    expect((await run('remove', '--revision', String(revision + 1))).code).toBe(0)
  })
})

describe('the preview', () => {
  const RULES = {
    base: { approvals: 1 },
    raise: [
      { name: 'many', when: { rows_over: 2 }, approvals: 2 },
      { name: 'money', when: { amount_over: { column: 'price', limit: 100 } }, approvals: 3 },
      { name: 'new source', when: { first_upload_of_source: true }, approvals: 4 },
      { name: 'named', when: { columns: ['price'] }, approvals: 5 },
      { name: 'share', when: { share_changed_over: 0.4 }, approvals: 6 },
      {
        name: 'always',
        when: { outside_hours: { time_zone: 'UTC', from: '00:00', to: '24:00', days: [] } },
        approvals: 1,
      },
    ],
  }
  const price = (sku: string, amount: number) => ({ sku, day: '2026-11-01', price: amount, note: 'x' })
  const stage = (lines: object[]) => trial.stagePlanned(lines as never, { dataset: PRICES })
  const submit = ({ upload_id, digest }: Planned) =>
    trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [upload_id, digest, trial.operator.userId])
  const numberOf = async ({ upload_id }: Planned) =>
    (
      await db.owner<{ number: number }>('select number from iu_core.change where subject_id = $1', [
        upload_id,
      ])
    )[0]!.number
  const plans: Record<string, number> = {}

  beforeAll(async () => {
    await db.owner('delete from iu_core.review_policy')
    const first = await stage([price('p1', 10), price('p2', 20), price('p3', 30)])
    await submit(first)
    const ticked = await boxes(db, first.upload_id)
    await db.as(trial.reviewer, (client) =>
      client.query('select iu_core.fn_ingest_approve($1, $2, $3)', [first.upload_id, first.digest, ticked]),
    )
    await db.as(trial.operator, (client) =>
      client.query('select iu_core.fn_ingest_promote($1, $2)', [first.upload_id, first.digest]),
    )
    plans.promoted = await numberOf(first)
    for (const [name, lines] of Object.entries({
      changes: [price('p1', 500), price('p2', 20)],
      large: [1, 2, 3, 4].map((at) => price(`q${at}`, 1)),
      small: [price('r1', 1)],
    })) {
      const plan = await stage(lines)
      await submit(plan)
      plans[name] = await numberOf(plan)
    }
  })

  it('says of each open change what the policy asks for once it is set', async () => {
    const before = await preview(RULES)
    await set(RULES, 0)
    let compared = 0
    for (const { number, status, would_need, needs } of before.changes) {
      if (status === 'promoted') continue
      const [row] = await db.owner<{ standing: object }>(
        'select iu_core.fn_review_standing(change_id) as standing from iu_core.change where workspace_id = $1 and number = $2',
        [trial.workspace, number],
      )
      const { policy: _, ...asked } = would_need as unknown as { policy: object }
      expect({ number, ...row!.standing }).toMatchObject({ number, ...asked })
      expect(needs).toMatchObject({ approvals: 1, rules: [] })
      compared += 1
    }
    expect(compared).toBe(3)
    const names = Object.fromEntries(
      before.changes.map(({ number, would_need }) => [number, would_need.rules.map(({ name }) => name)]),
    )
    expect(names).toEqual({
      [plans.changes!]: ['money', 'named', 'share', 'always'],
      [plans.large!]: ['many', 'always'],
      [plans.small!]: ['always'],
      // As of its promotion it was the first of its source, although others were promoted or are waiting since.
      [plans.promoted!]: ['many', 'new source', 'always'],
    })
    // Now that it is set, both sides are the same.
    for (const { needs, would_need } of (await preview(RULES)).changes)
      expect({ ...needs, policy: undefined }).toEqual({ ...would_need, policy: undefined })
  })

  it('changes nothing, also in a transaction that may only read', async () => {
    await set(needing(1), null)
    const before = await db.owner('select * from iu_core.review_policy')
    const { session } = await person(db, admin.role!, admin.userId)
    await session.query('begin read only')
    await session.query('select iu_core.fn_review_policy_preview($1, null, null, $2)', [
      trial.workspace,
      JSON.stringify(RULES),
    ])
    await session.query('rollback')
    expect(await db.owner('select * from iu_core.review_policy')).toEqual(before)
  })

  it('leaves out, and counts, what a more specific policy decides on, and looks at no more than asked', async () => {
    expect(await preview(needing(2), { limit: 2 })).toMatchObject({
      changes: [{ number: plans.small }, { number: plans.large }],
      other_policy: 0,
      revision: 0,
    })
    await set(needing(7), null, admin, 'prices')
    expect(await preview(needing(2))).toMatchObject({ changes: [], other_policy: 4 })
    expect((await preview(needing(2), { dataset: 'prices' })).changes).toHaveLength(4)
  })

  it('says where the rows of a plan are no longer kept', async () => {
    const session = await db.session()
    try {
      await session.query('begin')
      await session.query(
        `update iu_core.ingest_promotion set images_dropped_at = now() where upload_id =
           (select subject_id from iu_core.change where workspace_id = $1 and number = $2)`,
        [trial.workspace, plans.promoted],
      )
      const { rows } = await session.query<{ preview: PolicyPreview }>(
        'select iu_core.fn_review_policy_preview($1, null, null, $2) as preview',
        [trial.workspace, JSON.stringify(RULES)],
      )
      const known = rows[0]!.preview.changes.map(({ number, rows_known }) => [number, rows_known])
      expect(Object.fromEntries(known)).toMatchObject({ [plans.promoted!]: false, [plans.small!]: true })
    } finally {
      await session.query('rollback')
    }
  })

  it('is for administrators, and refuses rules that cannot be set in the same words', async () => {
    for (const by of [trial.operator, trial.reviewer])
      expect(await sqlstateOf(preview(RULES, { by }))).toBe('SD202')
    const wrong = { base: { approvals: 1 }, raise: [{ when: { columns: ['nothing'] }, approvals: 2 }] }
    for (const say of [() => preview(wrong, { dataset: 'prices' }), () => set(wrong, null, admin, 'prices')])
      await expect(say()).rejects.toThrow(
        /names the column nothing, which is no column of the dataset prices/,
      )
    await expect(preview(RULES, { limit: 101 })).rejects.toThrow('A preview looks at 1 to 100 changes')
  })

  it('is the same over HTTP and on the command line', async () => {
    const said = await preview(RULES)
    const over = await call('POST', '/preview', { rules: RULES })
    expect(over).toMatchObject({ status: 200, body: { other_policy: 0, revision: 0 } })
    const needed = ({ changes }: PolicyPreview) =>
      changes.map(({ number, would_need: { approvals } }) => [number, approvals])
    expect(needed(over.body)).toEqual(needed(said))
    const operator = await api.token(trial.operator)
    expect((await call('POST', '/preview', { rules: RULES }, operator)).status).toBe(403)
    const file = join(folder, 'policy.yaml')
    writeFileSync(file, JSON.stringify(RULES))
    for (const argv of [
      ['preview', file],
      ['set', file, '--dry-run'],
    ]) {
      expect(needed(JSON.parse((await run(...argv, '--json')).stdout) as PolicyPreview)).toEqual(needed(said))
      expect((await run(...argv)).stdout).toMatch(/of the last 4 changes would need something else than now/)
    }
    expect(await policy()).toBeUndefined()
  })
})
