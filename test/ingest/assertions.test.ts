/** Assertions of a dataset in SQL: on the tables as they would be, as a part of the plan, and again with the promotion. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Assertion, Dataset } from '../../src/ingest/datasets/dataset.ts'
import { parseDataset } from '../../src/ingest/datasets/declare.ts'
import { backEndActor, promotePlan } from '../../src/ingest/pipeline.ts'
import { propose } from '../../src/ingest/proposals/proposals.ts'
import { repairUpload } from '../../src/ingest/repair.ts'
import type { Upload } from '../../src/ingest/uploads.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'
import { useDatabase } from '../support/database.ts'
import { useIngest } from '../support/ingest.ts'
import { openToStatements } from '../support/proposals.ts'

const db = useDatabase()
const ingest = useIngest(db)

const BALANCED: Assertion = {
  name: 'debits_equal_credits',
  sql: 'select booking, sum(debit) as debit, sum(credit) as credit from entry group by booking having coalesce(sum(debit), 0) <> coalesce(sum(credit), 0)',
  message: 'debits equal credits',
}

const ledger = (
  assertions: Assertion[],
  more: Partial<Dataset> = {},
  mode: 'upsert' | 'snapshot' = 'upsert',
): Dataset => ({
  name: 'ledger',
  title: 'Ledger',
  version: 1,
  platforms: { file: { title: 'File' } },
  fields: {
    id: { type: 'integer', aliases: { any: ['Id'] }, required: true },
    booking: { type: 'text', aliases: { any: ['Booking'] } },
    debit: { type: 'money', aliases: { any: ['Debit'] } },
    credit: { type: 'money', aliases: { any: ['Credit'] } },
  },
  rows: [
    {
      name: 'entry',
      target: 'public.ledger_entries',
      key: ['workspace_id', 'id'],
      requires: ['id'],
      mode,
      columns: { workspace_id: '$workspace', id: 'id', booking: 'booking', debit: 'debit', credit: 'credit' },
      ...(mode === 'snapshot' && { snapshot: { maxDeleted: 1 } }),
    },
  ],
  assertions,
  ...more,
})

beforeAll(async () => {
  await db.owner(`create table public.ledger_entries (
    workspace_id uuid not null, id integer not null, booking text, debit numeric(14, 2), credit numeric(14, 2),
    constraint ledger_entries_once unique (workspace_id, id));
    create table public.ledger_marks (mark text); grant insert on public.ledger_marks to public;
    insert into ledger_entries values (gen_random_uuid(), 1, 'of somebody else', 1, 0)`)
})

const HEAD = 'Id,Booking,Debit,Credit\n'
const upload = (lines: string) =>
  ingest.file(HEAD + lines, { dataset: 'ledger', platform: 'file', clientId: undefined as never })
const notesOf = ({ plan_notes }: Upload) =>
  plan_notes.filter(({ rule }) => rule.startsWith('assertion.')).map(({ message }) => message)
const promote = ({ upload_id, plan_digest }: Upload) => {
  const pool = db.pool('stagedoor_worker')
  return promotePlan({ pool }, backEndActor(pool, ingest.operator.userId), upload_id, plan_digest!)
}
const register = (...given: Parameters<typeof ledger>) =>
  ingest.register(ledger(...given), { approvalRequired: false })

describe('an assertion', () => {
  beforeAll(() => register([BALANCED]))

  it('looks at the rows as they would be: those that stay, that change and that come, of the workspace', async () => {
    const whole = await upload('1,A,10.00,\n2,A,,10.00\n')
    expect(whole).toMatchObject({ plan_refusal: null })
    expect(notesOf(whole)).toEqual(['The assertion debits_equal_credits holds'])
    await promote(whole)
    // With the rows of production it does not balance any more …
    const half = await upload('3,A,5.00,\n')
    expect(half.plan_refusal).toBe(
      'The assertion debits_equal_credits does not hold (debits equal credits): {"debit": 15.00, "credit": 10.00, "booking": "A"}',
    )
    // … and with a row that changes it does.
    const both = await upload('3,A,5.00,\n2,A,,15.00\n')
    expect(both).toMatchObject({ plan_refusal: null })
    expect(both.plan_totals).toEqual({ entry: { insert: 1, update: 1 } })
    await promote(both)
  })

  it('is asked again after a repair', async () => {
    const wrong = await upload('7,B,1.00,\n8,B,,2.00\n')
    expect(wrong.plan_refusal).toContain('debits_equal_credits')
    const pool = db.pool('stagedoor_worker')
    await repairUpload(pool, backEndActor(pool, ingest.operator.userId), {
      upload: wrong.upload_id,
      corrections: [{ line: 3, values: { Credit: '1.00' } }],
    })
    const right = await ingest.find(wrong.upload_id)
    expect(right).toMatchObject({ status: 'planned', plan_refusal: null })
    expect(right.plan_digest).not.toBe(wrong.plan_digest)
  })

  it('is asked again with the promotion, where other rows have changed since', async () => {
    const planned = await upload('20,C,1.00,\n21,C,,1.00\n')
    expect(planned.plan_refusal).toBeNull()
    await db.owner(`insert into ledger_entries values ($1, 22, 'C', 5, 0)`, [ingest.workspace])
    await expect(promote(planned)).rejects.toMatchObject({
      code: 'plan_refused',
      message: expect.stringContaining('debits_equal_credits does not hold'),
    })
    expect(await db.owner(`select from ledger_entries where id in (20, 21)`)).toEqual([])
    await db.owner('delete from ledger_entries where id = 22')
    await promote(planned)
  })

  it('sees rows that a snapshot deletes as gone', async () => {
    await register([BALANCED], {}, 'snapshot')
    const left = await upload('1,A,10.00,\n')
    expect(left.plan_totals).toMatchObject({ entry: { delete: expect.any(Number) } })
    expect(left.plan_refusal).toContain('"debit": 10.00')
    await register([BALANCED])
  })
})

it('has as long as it says, with a plan and with a promotion; the next one is asked all the same', async () => {
  await db.owner(
    'create table public.waits (seconds double precision); grant select on public.waits to workflow_admin; insert into waits values (0)',
  )
  const slow: Assertion = {
    name: 'slow',
    sql: "select 1 from public.waits where pg_sleep(seconds)::text = 'never'",
    seconds: 1,
  }
  await register([slow, BALANCED])
  const fine = await upload('80,J,1.00,\n81,J,,1.00\n')
  expect(fine.plan_refusal).toBeNull()
  await db.owner('update waits set seconds = 600')
  const refused = {
    code: 'plan_refused',
    message: expect.stringMatching(/assertion slow cannot be checked: it takes longer than 1 s.*index/),
  }
  await expect(promote(fine)).rejects.toMatchObject(refused)
  const late = await upload('82,J,1.00,\n83,J,,1.00\n')
  expect(late.plan_refusal).toMatch(/assertion slow cannot be checked: it takes longer than 1 s/)
  expect(notesOf(late).at(-1)).toBe('The assertion debits_equal_credits holds')
  // A limit of the whole statement names the assertion that it met.
  await expect(
    db.owner(`set statement_timeout = 300; select iu_core.fn_ingest_assertions(u, d.definition, false)
                from iu_core.ingest_upload u join iu_core.ingest_dataset d using (dataset) where u.upload_id = '${late.upload_id}'`),
  ).rejects.toThrow('the assertion slow was being checked')
  await db.owner('update waits set seconds = 0')
  await promote(fine)
})

it('is asked of every plan on its tables: of another dataset, and of a statement', async () => {
  await register([BALANCED])
  const other = ledger([], { name: 'other_ledger' })
  await ingest.register(other, { approvalRequired: false })
  const wrong = await ingest.file(`${HEAD}61,G,3.00,\n`, {
    dataset: 'other_ledger',
    platform: 'file',
    clientId: undefined as never,
  })
  expect(wrong.plan_refusal).toContain('The assertion debits_equal_credits does not hold')

  await db.pool('postgres').query(`alter table ledger_entries enable row level security;
    create policy ingests on ledger_entries to workflow_admin using (true) with check (true);
    create policy proposals on ledger_entries to stagedoor_proposer using (workspace_id = current_setting('stagedoor.workspace_id')::uuid)`)
  await openToStatements(db, ingest.workspace, 'public.ledger_entries')
  const pool = db.pool('stagedoor_worker')
  const proposalPool = createPool(db.url('stagedoor_proposer'), { max: 1, purpose: 'proposals' })
  try {
    const statement = (text: string) =>
      propose({ pool, home: '', proposalPool }, text, {
        actor: backEndActor(pool, ingest.operator.userId),
        workspaceId: ingest.workspace,
      })
    const refused = await statement(
      `delete from public.ledger_entries where booking = 'A' and debit is not null`,
    )
    expect(refused.upload.plan_refusal).toContain('The assertion debits_equal_credits does not hold')
    const balanced = await statement(`update public.ledger_entries set booking = 'H' where booking = 'A'`)
    expect(balanced.upload.plan_refusal).toBeNull()
    expect(notesOf(balanced.upload)).toEqual(['The assertion debits_equal_credits holds'])
  } finally {
    await proposalPool.end()
  }
})

it('that is a warning is a note, and does not refuse', async () => {
  await register([
    { ...BALANCED, severity: 'warning' },
    { name: 'table_name', sql: 'select 1 from ledger_entries where id = 9999' },
  ])
  const warned = await upload('31,D,1.00,\n')
  expect(warned.plan_refusal).toBeNull()
  expect(notesOf(warned)).toEqual([
    expect.stringContaining('debits_equal_credits does not hold'),
    'The assertion table_name holds',
  ])
  await promote(warned)
})

it('that fails refuses the plan, and says why', async () => {
  await register([{ name: 'fails', sql: 'select 1 / (count(*) - count(*)) from entry' }])
  const failed = await upload('41,E,1.00,\n')
  expect(failed.plan_refusal).toBe('The assertion fails cannot be checked: division by zero')
})

it('that raises the error with which its check ends does not hold', async () => {
  await db.owner(`create or replace function public.ledger_raises() returns integer language plpgsql as $$
    begin raise triggered_action_exception using message = 'raised on purpose'; end $$`)
  await register([
    { name: 'holds', sql: 'select 1 from entry where id < 0' },
    { name: 'raises', sql: 'select public.ledger_raises()' },
  ])
  const raised = await upload('42,E,1.00,\n')
  expect(raised.plan_refusal).toBe('The assertion raises cannot be checked: raised on purpose')
})

it.each([
  ['a statement that writes', `insert into public.ledger_marks values ('x') returning 1`],
  ['an end of the query around it', `select 1), x as (delete from public.ledger_entries returning 1`],
  ['a second statement', `select 1) select 1; delete from public.ledger_entries; select (1`],
  ['a misspelled column', 'select nothing from entry'],
  ['our tables without their schema', 'select 1 from ingest_upload'],
])('is refused when the dataset is registered: %s', async (_, sql) => {
  await expect(register([{ name: 'attack', sql }])).rejects.toMatchObject({ code: 'dataset_invalid' })
})

it('changes nothing, whatever it calls', async () => {
  await db.owner(`create or replace function public.ledger_writes() returns integer language plpgsql as $$
    begin insert into public.ledger_marks values ('x'); return 1; end $$`)
  for (const sql of [
    'select public.ledger_writes()',
    `select set_config('transaction_read_only', 'off', true), public.ledger_writes()`,
    `select 1 from entry where nextval('iu_core.ingest_proposal_table_audit_audit_id_seq') < 0`,
  ]) {
    await register([{ name: 'writes', sql }])
    const tried = await upload(`51,F,1.00,\n52,F,,${sql.length}.00\n`)
    expect(tried.plan_refusal, sql).toContain('cannot be checked')
    expect(tried.status).toBe('planned')
  }
  expect(await db.owner('select * from ledger_marks')).toEqual([])
})

it('has a name and a query, and nothing else', () => {
  const declared = { ...ledger([]), assertions: [{ name: 'Balanced!', sql: '', check: 'x' }] }
  expect(() => parseDataset(declared)).toThrow(/assertions\.0\.name.*assertions\.0\.sql/s)
})
