/** Columns that must have a value are found when a file is checked or planned, not when somebody promotes it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { completeDataset } from '../../src/ingest/datasets/dataset.ts'
import { closeDuck } from '../../src/ingest/duckdb.ts'
import { useDatabase } from '../support/database.ts'
import { useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db)
afterAll(closeDuck)

const PEOPLE = completeDataset({
  name: 'people',
  fields: {
    email: { type: 'text', aliases: ['Email'] },
    since: { type: 'date', aliases: ['Since'] },
    name: { type: 'text', aliases: ['Name'] },
  },
  rows: [
    {
      name: 'person',
      target: 'public.people',
      key: ['email'],
      columns: { email: 'email', since: 'since', name: 'name' },
    },
  ],
})

beforeAll(async () => {
  await db.owner(`create table public.people (
    email text primary key, since date not null default current_date, name text, updated_at timestamptz not null)`)
  await db.owner(`insert into public.people values ('a@example.com', '2026-01-01', 'Ada', now())`)
  await trial.register(PEOPLE, { approvalRequired: false })
})

const file = (text: string) => trial.file(text, { dataset: 'people', platform: 'file', clientId: undefined })

it('an empty cell is an error of its line, also where the column has a default: it would be written as NULL', async () => {
  const upload = await file('Email,Since,Name\na@example.com,,Ada\n')
  expect(upload).toMatchObject({ invalid_count: 1 })
  const [line] = await db.owner(
    `select validation_errors -> 0 ->> 'rule' as rule, validation_errors -> 0 ->> 'suggestion' as suggestion
       from public.staging_rows where upload_id = $1`,
    [upload.upload_id],
  )
  expect(line).toEqual({ rule: 'required.missing', suggestion: expect.stringContaining('default') })
})

it('new rows are refused where a column needs a value and the file has none for it; changes are not', async () => {
  const upload = await file('Email,Name\na@example.com,Ada L.\nb@example.com,Bob\n')
  const plan = await trial.plan(upload.upload_id, { onInvalid: 'skip', threshold: 0 })
  expect(plan.totals).toEqual({ person: { update: 1, refused: 1 } })
  const [row] = await db.owner(
    `select reason from iu_core.ingest_plan_row where upload_id = $1 and action = 'refused'`,
    [upload.upload_id],
  )
  expect(row!.reason).toBe(
    'new rows of public.people need a value for updated_at, and the file has no column for it',
  )
})
