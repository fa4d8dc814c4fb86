/** Requests for approval: asked by key, decided by somebody else, with a form, used once; and what an agent can and cannot. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Queryable } from '../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { member, type Workplace, workplace } from './people.ts'
import { eventsOf, jsonPart, passExpiry, stage } from './staged.ts'

const db = useDatabase()
let place: Workplace
let second: Workplace['reviewer']
let admin: Workplace['reviewer']
beforeAll(async () => {
  place = await workplace(db)
  second = await member(db, place.workspace, 'reviewer')
  admin = await member(db, place.workspace, 'admin')
})

interface Asked {
  approval_id: string
  digest: string
  status: string
  created: boolean
  change: number
  answers: unknown
  decisions: { verdict: string; by: string; comment: string | null }[]
  run: { run_id: string; status: string; error: string | null } | null
  summary: string | null
}

let keys = 0
const REFUND = { title: 'Refund of order 1871', show: { order: 1871, amount: '120.00' } }

async function ask(who: { session: Queryable }, request: object = {}): Promise<Asked> {
  const { rows } = await who.session.query<{ a: Asked }>('select iu_core.fn_approval_request($1, $2) as a', [
    JSON.stringify({ key: `key ${++keys}`, ...REFUND, ...request }),
    place.workspace,
  ])
  return rows[0]!.a
}
const get = async (id: string, who = place.owner): Promise<Asked> =>
  (await who.session.query<{ a: Asked }>('select iu_core.fn_approval_get($1) as a', [id])).rows[0]!.a
const approve = async (who: { session: Queryable }, asked: Asked, answers: object = {}, comment?: string) =>
  (
    await who.session.query<{ a: Asked }>('select iu_core.fn_approval_approve($1, $2, $3, $4) as a', [
      asked.approval_id,
      asked.digest,
      JSON.stringify(answers),
      comment ?? null,
    ])
  ).rows[0]!.a
const use = async (who: { session: Queryable }, id: string) =>
  (await who.session.query<{ run: string }>('select iu_core.fn_approval_use($1) as run', [id])).rows[0]!.run

describe('a request', () => {
  it('is a record with a change, and says who decided what, when and why', async () => {
    const asked = await ask(place.operator, { reviewers: [place.reviewer.actor] })
    expect(asked).toMatchObject({
      status: 'waiting',
      created: true,
      requested_by: place.operator.actor,
      title: REFUND.title,
      summary: '0 of 1 approval; still needed: 1 more approval',
    })
    const [reviewer] = await db.owner(
      'select r.* from iu_core.change_reviewer r join iu_core.change c using (change_id) where c.subject_id = $1',
      [asked.approval_id],
    )
    expect(reviewer).toMatchObject({ reviewer: place.reviewer.actor, requested_by: place.operator.actor })
    expect(await approve(place.reviewer, asked, {}, 'It is covered.')).toMatchObject({
      status: 'approved',
      decisions: [{ verdict: 'approve', by: place.reviewer.actor, comment: 'It is covered.' }],
    })
  })

  it('is found again by its key, and other content under the key is an error', async () => {
    const first = await ask(place.operator, { key: 'again', timeout_seconds: 3600 })
    expect(await ask(place.operator, { key: 'again' })).toMatchObject({
      approval_id: first.approval_id,
      created: false,
      expires_at: (first as never as { expires_at: string }).expires_at,
    })
    for (const other of [
      { show: { order: 1872 } },
      { title: 'Another' },
      { form: [{ name: 'a', type: 'text' }] },
      { policy: { approvals: 2 } },
    ])
      expect(await sqlstateOf(ask(place.operator, { key: 'again', ...other }))).toBe('SD505')
    await approve(place.reviewer, first)
    expect(await ask(place.operator, { key: 'again' })).toMatchObject({ created: false, status: 'approved' })
  })

  it('is one, however many ask for it at once', async () => {
    const sessions = await Promise.all([1, 2, 3, 4].map(() => member(db, place.workspace, 'operator')))
    const asked = await Promise.all(sessions.map((one) => ask(one, { key: 'at once' })))
    expect(new Set(asked.map(({ approval_id }) => approval_id)).size).toBe(1)
    expect(asked.filter(({ created }) => created)).toHaveLength(1)
  })

  it('is not decided by whoever asked, and only for the digest that was seen', async () => {
    const asked = await ask(place.owner)
    expect(await sqlstateOf(approve(place.owner, asked))).toBe('SD508')
    expect(await sqlstateOf(approve(place.reviewer, { ...asked, digest: '0'.repeat(64) }))).toBe('SD504')
    expect(await sqlstateOf(approve(place.operator, asked))).toBe('42501')
  })

  it('tells each end by its name, and silence is none of consent', async () => {
    const rejected = await ask(place.operator)
    await place.reviewer.session.query('select iu_core.fn_iu_staging_reject($1, $2)', [
      rejected.approval_id,
      'not covered',
    ])
    expect(await get(rejected.approval_id)).toMatchObject({
      status: 'rejected',
      decisions: [{ verdict: 'reject', by: place.reviewer.actor, comment: 'not covered' }],
    })
    const withdrawn = await ask(place.operator)
    await place.operator.session.query('select iu_core.fn_iu_staging_withdraw($1)', [withdrawn.approval_id])
    expect(await get(withdrawn.approval_id)).toMatchObject({ status: 'withdrawn' })

    const changes = await ask(place.operator)
    await place.reviewer.session.query(
      `select iu_core.fn_change_review(c.change_id, 'request_changes', $2, 'Say which guarantee.') from iu_core.change c where c.subject_id = $1`,
      [changes.approval_id, changes.digest],
    )
    expect(await get(changes.approval_id)).toMatchObject({
      status: 'changes_requested',
      decisions: [{ verdict: 'request_changes', comment: 'Say which guarantee.' }],
    })
    expect(
      (await eventsOf(db.pool('postgres'), changes.approval_id)).map(({ event_type }) => event_type),
    ).toContain('record_changes_requested')

    const silent = await ask(place.operator)
    await passExpiry(place.intruder, silent.approval_id)
    expect(await get(silent.approval_id)).toMatchObject({
      status: 'expired',
      approved_at: null,
      decisions: [],
    })
    const unused = await ask(place.operator)
    await approve(place.reviewer, unused)
    await passExpiry(place.intruder, unused.approval_id)
    expect(await get(unused.approval_id)).toMatchObject({
      status: 'expired',
      approved_at: expect.any(String),
      decisions: [{ verdict: 'approve', by: place.reviewer.actor }],
    })
    expect(await sqlstateOf(use(place.operator, unused.approval_id))).toBe('SD503')
  })

  it('may ask for more than the policy of the workspace, and never for less', async () => {
    await db.owner(
      `insert into iu_core.member_group (workspace_id, group_name, created_by) values ($1, 'Finance', 'test')`,
      [place.workspace],
    )
    await db.owner(
      `insert into iu_core.member_group_member (workspace_id, group_name, member, added_by) values ($1, 'Finance', $2, 'test')`,
      [place.workspace, second.actor],
    )
    const asked = await ask(place.operator, { policy: { approvals: 2, groups: ['finance'] } })
    expect(await approve(place.reviewer, asked)).toMatchObject({
      status: 'waiting',
      summary: '1 of 2 approvals; still needed: group Finance',
    })
    expect(await sqlstateOf(use(place.operator, asked.approval_id))).toBe('SD510')
    expect(await approve(second, asked)).toMatchObject({ status: 'approved' })
    for (const policy of [{ approvals: 0 }, { approvals: 11 }, { roles: ['viewer'] }, [], 'none'])
      expect(await sqlstateOf(ask(place.operator, { policy }))).toBe('SD001')
  })

  it('says what is wrong with it', async () => {
    for (const [wrong, says] of [
      [{ key: ' ' }, /needs a key/],
      [{ title: 'two\nlines' }, /needs a title/],
      [{ show: null }, /needs show/],
      [{ show: 'x'.repeat(262_145) }, /at most 256 KiB/],
      [{ shown: 1 }, /has no shown/],
      [{ timeout_seconds: 0 }, /timeout_seconds/],
      [{ reviewers: [place.agent.actor] }, /no person in this workspace/],
      [{ reviewers: [place.operator.actor] }, /is the author/],
      [{ kind: 'nothing' }, /no kind nothing/],
      [{ form: [{ name: 'A', type: 'text' }] }, /small letters/],
      [{ form: [{ name: 'a', type: 'file' }] }, /type must be/],
      [{ form: [{ name: 'a', type: 'choice' }] }, /needs choices/],
    ] as const)
      await expect(ask(place.operator, wrong)).rejects.toThrow(says)
  })

  it('is the only way to a record of the kind approval', async () => {
    await expect(
      stage(place.owner.session, {
        workspace: place.workspace,
        kind: 'approval',
        type: 'approval_request',
        parts: [jsonPart('{}')],
      }),
    ).rejects.toThrow(/made by a request for approval/)
  })

  it('never changes', async () => {
    const { approval_id } = await ask(place.operator)
    expect(
      await sqlstateOf(
        db.owner(`update iu_core.approval set policy = '{"approvals": 1}' where staging_record_id = $1`, [
          approval_id,
        ]),
      ),
    ).toBe('SD002')
  })
})

describe('a form', () => {
  const form = [
    { name: 'amount', type: 'number', required: true, min: 1, max: 120, label: 'Amount to refund' },
    { name: 'why', type: 'choice', choices: ['guarantee', 'goodwill'], required: true },
    { name: 'until', type: 'date' },
    { name: 'letter', type: 'boolean' },
    { name: 'note', type: 'text', max: 10 },
  ]

  it('is checked, and what was filled in comes with the decision', async () => {
    const asked = await ask(place.operator, { form })
    for (const [answers, says] of [
      [{}, /amount is required; why is required/],
      [{ amount: 121, why: 'guarantee' }, /amount must be at most 120/],
      [{ amount: '5', why: 'guarantee' }, /amount must be a number/],
      [{ amount: 5, why: 'no reason' }, /why must be one of guarantee, goodwill/],
      [{ amount: 5, why: 'goodwill', until: '2026-02-30' }, /until must be a date/],
      [{ amount: 5, why: 'goodwill', letter: 'yes' }, /letter must be true or false/],
      [{ amount: 5, why: 'goodwill', note: 'more than ten' }, /note has more than 10/],
      [{ amount: 5, why: 'goodwill', extra: 1 }, /extra is not in the form/],
    ] as const)
      await expect(approve(place.reviewer, asked, answers)).rejects.toThrow(says)
    expect(await get(asked.approval_id)).toMatchObject({ status: 'waiting', answers: null })
    const answers = { amount: 80.5, why: 'goodwill', until: '2026-12-24', letter: true, note: 'ok' }
    expect(await approve(place.reviewer, asked, answers)).toMatchObject({ status: 'approved', answers })
  })

  it('is not passed by approving in any other way', async () => {
    const asked = await ask(place.operator, { form })
    expect(
      await sqlstateOf(
        place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
          asked.approval_id,
          asked.digest,
        ]),
      ),
    ).toBe('SD685')
    expect(
      await sqlstateOf(
        place.reviewer.session.query(
          `select iu_core.fn_change_review(change_id, 'approve', $2) from iu_core.change where subject_id = $1`,
          [asked.approval_id, asked.digest],
        ),
      ),
    ).toBe('SD685')
  })

  it('is filled in alike by two who approve', async () => {
    const asked = await ask(place.operator, { form, policy: { approvals: 2 } })
    await approve(place.reviewer, asked, { amount: 80, why: 'goodwill' })
    expect(await sqlstateOf(approve(second, asked, { amount: 90, why: 'goodwill' }))).toBe('SD686')
    expect(await approve(second, asked, { amount: 80, why: 'goodwill' })).toMatchObject({
      status: 'approved',
      answers: { amount: 80, why: 'goodwill' },
    })
  })
})

describe('the use of an approval', () => {
  it('happens once: of many who try at once one gets the run', async () => {
    const asked = await ask(place.operator)
    expect(await sqlstateOf(use(place.operator, asked.approval_id))).toBe('SD510')
    await approve(place.reviewer, asked)
    const operators = await Promise.all([1, 2, 3, 4, 5].map(() => member(db, place.workspace, 'operator')))
    const tries = await Promise.allSettled(operators.map((one) => use(one, asked.approval_id)))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of tries)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'SD502' })
    const winner = operators[tries.findIndex(({ status }) => status === 'fulfilled')]!
    // As after the death of its process: that it began is seen, and nobody begins it again.
    expect(await get(asked.approval_id)).toMatchObject({ status: 'approved', run: { status: 'running' } })
    await winner.session.query(`select iu_core.fn_approval_finish($1, 'no money')`, [asked.approval_id])
    expect(await get(asked.approval_id)).toMatchObject({ run: { status: 'failed', error: 'no money' } })
    expect(
      await sqlstateOf(winner.session.query('select iu_core.fn_approval_finish($1)', [asked.approval_id])),
    ).toBe('SD401')
  })

  it('needs the approvals of that moment', async () => {
    const asked = await ask(place.operator)
    await approve(place.reviewer, asked)
    await db.owner(
      `update iu_core.change_review r set dismissed_at = now(), dismissed_by = 'test', dismissed_reason = 'test'
         from iu_core.change c where c.change_id = r.change_id and c.subject_id = $1`,
      [asked.approval_id],
    )
    expect(await sqlstateOf(use(place.operator, asked.approval_id))).toBe('SD650')
  })
})

describe('an agent', () => {
  it('asks, sees its own requests, uses what was approved, and decides nothing', async () => {
    const asked = await ask(place.agent)
    expect(asked).toMatchObject({ status: 'waiting', requested_by: place.agent.actor })
    for (const sql of [
      'select iu_core.fn_approval_approve($1, $2)',
      'select iu_core.fn_iu_staging_approve($1, $2)',
      `select iu_core.fn_change_review((select change_id from iu_core.change where subject_id = $1), 'approve', $2)`,
    ])
      expect(await sqlstateOf(place.agent.session.query(sql, [asked.approval_id, asked.digest]))).toBe(
        '42501',
      )
    expect(await get(asked.approval_id)).toMatchObject({ status: 'waiting', decisions: [] })

    const others = await ask(place.operator, { key: 'of the operator' })
    expect(await sqlstateOf(get(others.approval_id, place.agent))).toBe('SD687')
    expect(await sqlstateOf(use(place.agent, others.approval_id))).toBe('SD687')
    // Not even by guessing the key and the content.
    expect(await sqlstateOf(ask(place.agent, { key: 'of the operator' }))).toBe('SD680')

    expect(await sqlstateOf(use(place.agent, asked.approval_id))).toBe('SD510')
    await approve(place.reviewer, asked)
    await use(place.agent, asked.approval_id)
    await place.agent.session.query('select iu_core.fn_approval_finish($1)', [asked.approval_id])
    expect(await get(asked.approval_id)).toMatchObject({ run: { status: 'applied', by: place.agent.actor } })
  })

  it('creates no kind', async () => {
    for (const who of [place.agent, place.operator, place.reviewer])
      expect(['42501', 'SD202']).toContain(
        await sqlstateOf(
          who.session.query(`select iu_core.fn_approval_kind_set($1, 'mine', '{}')`, [place.workspace]),
        ),
      )
  })
})

describe('a kind', () => {
  const schema = {
    type: 'object',
    required: ['order', 'lines'],
    additionalProperties: false,
    properties: {
      order: { type: 'integer', minimum: 1 },
      customer: { type: 'object', properties: { name: { type: 'string', maxLength: 200 } } },
      lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
    },
    $defs: {
      line: {
        type: 'object',
        required: ['sku'],
        properties: { sku: { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' }, price: { type: 'number' } },
      },
    },
  }
  const setKind = (
    kind: string,
    { schema: given = schema as object, template = null as string | null, replace = false } = {},
  ) =>
    admin.session.query<{ revision: number }>(
      'select (iu_core.fn_approval_kind_set($1, $2, $3, $4, null, $5)).revision',
      [place.workspace, kind, JSON.stringify(given), template, replace],
    )

  it('checks what is shown, by place', async () => {
    await setKind('refund')
    const show = { order: 1871, lines: [{ sku: 'AB-1', price: 12.5 }] }
    expect(await ask(place.agent, { kind: 'refund', show })).toMatchObject({
      kind: 'refund',
      kind_revision: 1,
    })
    for (const [wrong, says] of [
      [{ ...show, order: '1871' }, /\/order must be an integer, and is string/],
      [{ ...show, lines: [] }, /\/lines has fewer than 1 items/],
      [{ ...show, lines: [{ sku: 'AB-1' }, { sku: 'ab' }] }, /\/lines\/1\/sku does not match/],
      [{ order: 1 }, /\/lines is missing/],
      [{ ...show, extra: 1 }, /\/extra is not known here/],
      ['text', /\/ must be an object, and is string/],
    ] as const)
      await expect(ask(place.agent, { kind: 'refund', show: wrong })).rejects.toThrow(says)
  })

  it('has revisions: a request keeps the one that it was made with', async () => {
    await setKind('quote')
    expect((await setKind('quote')).rows[0]!.revision).toBe(1)
    expect(await sqlstateOf(setKind('quote', { template: '{{order}}' }))).toBe('SD682')
    const show = { order: 1, lines: [{ sku: 'AB-1' }] }
    const first = await ask(place.operator, { key: 'quote 1', kind: 'quote', show })
    expect((await setKind('quote', { template: '{{order}}', replace: true })).rows[0]!.revision).toBe(2)
    expect(await ask(place.operator, { key: 'quote 1', kind: 'quote', show })).toMatchObject({
      approval_id: first.approval_id,
      kind_revision: 1,
    })
    await admin.session.query('select iu_core.fn_approval_kind_delete($1, $2)', [place.workspace, 'quote'])
    expect(await sqlstateOf(ask(place.operator, { kind: 'quote', show }))).toBe('SD683')
    expect(await ask(place.operator, { key: 'quote 1', kind: 'quote', show })).toMatchObject({
      created: false,
    })
    expect((await setKind('quote')).rows[0]!.revision).toBe(3)
  })

  it('shows a payload through its template, in which values are nothing but text', async () => {
    await setKind('letter', {
      schema: {},
      template:
        '## Refund of {{order}}\n\n| to | {{customer.name}} |\n|---|---|\n\nFirst: {{ lines.0.sku }}, none: {{missing.thing}}',
    })
    const asked = await ask(place.agent, {
      kind: 'letter',
      show: {
        order: '<script>alert(1)</script> [x](javascript:alert(1)) {{customer.name}}',
        customer: { name: 'A | B\n# Heading' },
        lines: [{ sku: '**AB**' }],
      },
    })
    const [part] = await db.owner<{ payload_text: string }>(
      `select payload_text from iu_core.iu_staging_payload where staging_record_id = $1 and part_name = 'rendered'`,
      [asked.approval_id],
    )
    expect(part!.payload_text).toBe(
      '## Refund of \\<script\\>alert\\(1\\)\\<\\/script\\> \\[x\\]\\(javascript\\:alert\\(1\\)\\) \\{\\{customer\\.name\\}\\}\n\n' +
        '| to | A \\| B ↵ \\# Heading |\n|---|---|\n\nFirst: \\*\\*AB\\*\\*, none: –',
    )
  })

  it('takes no schema or template of which something would not be checked', async () => {
    for (const [given, says] of [
      [{ if: {} }, /\/if is not supported/],
      [{ type: 'money' }, /\/type names a type/],
      [{ properties: { a: { minLength: 'x' } } }, /\/properties\/a\/minLength is a whole number/],
      [{ pattern: '(a)\\1' }, /no back references/],
      [{ pattern: '(' }, /no regular expression/],
      [{ $ref: '#/$defs/none' }, /points to a definition that is not there/],
      [{ $ref: 'https://example.com/schema' }, /points to #\/\$defs\/NAME/],
    ] as const)
      await expect(setKind('wrong', { schema: given })).rejects.toThrow(says)
    for (const template of ['{{#each lines}}', '{{ a b }}', '{{}}', 'a {{b'])
      await expect(setKind('wrong', { template })).rejects.toThrow(/is no placeholder/)
  })

  it('ends the check of a schema that refers to itself without end', async () => {
    const schema = {
      $ref: '#/$defs/a',
      $defs: {
        a: { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] },
        b: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] },
      },
    }
    await setKind('endless', { schema })
    await expect(ask(place.operator, { kind: 'endless', show: {} })).rejects.toThrow(/too many steps/)
  })

  it('belongs to its workspace', async () => {
    await setKind('own')
    const elsewhere = await createWorkspace(db, 'elsewhere')
    const other = await createMember(db, elsewhere, 'admin')
    const { approval_id } = await ask(place.operator, {
      kind: 'own',
      show: { order: 1, lines: [{ sku: 'AB-1' }] },
    })
    await db.as(other, async (client) => {
      for (const table of ['v_approval_kind', 'approval', 'approval_answer']) {
        const { rows } = await client.query(`select * from iu_core.${table}`)
        expect(rows).toEqual([])
      }
    })
    expect(
      await sqlstateOf(
        db.as(other, (client) => client.query('select iu_core.fn_approval_get($1)', [approval_id])),
      ),
    ).toBe('SD687')
  })
})
