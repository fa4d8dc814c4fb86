/** `stagedoor check`: what files would change, as Markdown, with nothing written. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('check')
const cli = (...args: string[]) => runCli(args, { DATABASE_URL: db.url(MIGRATOR), STAGEDOOR_HOME: home })
const file = (name: string, text: string) => {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}
const declaration = (sql: string) =>
  file(
    'booking.dataset.json',
    JSON.stringify({
      name: 'booking',
      fields: {
        id: { type: 'integer', required: true },
        debit: { type: 'decimal', min: 0 },
        credit: { type: 'decimal', min: 0 },
        note: { type: 'text' },
      },
      rows: [
        {
          name: 'booking',
          target: 'public.bookings',
          key: ['id'],
          columns: { id: 'id', debit: 'debit', credit: 'credit', note: 'note' },
        },
      ],
      assertions: [{ name: 'balanced', sql }],
    }),
  )
const BALANCED =
  'select sum(debit) as debit, sum(credit) as credit from booking having coalesce(sum(debit), 0) <> coalesce(sum(credit), 0)'

/** Every row of every table of the database, except for those that a command itself may touch. */
async function everything(): Promise<string[]> {
  const tables = await db.pool('postgres').query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  )
  const found: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await db
      .pool('postgres')
      .query(`select md5(coalesce(string_agg(t::text, ';' order by t::text), '')) as hash from ${name} t`)
    found.push(`${name} ${rows[0].hash}`)
  }
  return found
}

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await createWorkspace(db)
  await db.owner(`create table public.bookings (id integer primary key, debit numeric, credit numeric, note text);
    insert into bookings values (1, 10, 0, 'one'), (2, 0, 10, 'two')`)
})

it('plans files with a dataset that only a file declares, prints Markdown, and leaves nothing', async () => {
  const before = await everything()
  const good = file('good.csv', 'id,debit,credit,note\n2,0,15,two\n3,5,0,three\n')
  const checked = await cli('check', good, '--dataset', declaration(BALANCED), '--against', db.url(MIGRATOR))
  expect(checked.stderr).toBe('')
  expect(checked.code).toBe(0)
  expect(checked.stdout).toContain('## Stagedoor: 1 file checked, all can be submitted for a review')
  expect(checked.stdout).toContain('### ✅ good.csv\n\n2 lines: 0 invalid, 0 left out, 0 with a warning.')
  expect(checked.stdout).toMatch(
    /\| would change \| (insert \| update|update \| insert) \|\n.*\n\| booking \| 1 \| 1 \|/,
  )
  expect(checked.stdout).toContain('- The assertion balanced holds')
  expect(checked.stdout).toContain('Risk (nothing of this source was promoted before).')
  expect(checked.stdout).toContain('| notice | booking.note | new values | 1 |  | three |')
  expect(await everything()).toEqual(before)
})

it('says of each file what is wrong, as text, and ends with the code of the first that cannot be submitted', async () => {
  const before = await everything()
  const wrong = file(
    'wrong.csv',
    'id,debit,credit,note\n4,-1,0,"[x](http://evil.example) @team <b>| ![](a)"\n',
  )
  const unbalanced = file('unbalanced.csv', 'id,debit,credit,note\n5,7,0,five\n')
  const fine = file('fine.csv', 'id,debit,credit,note\n1,10,0,other\n')
  const unreadable = file('unreadable.csv', '')
  const paths = [fine, wrong, unbalanced, unreadable]
  const checked = await cli('check', ...paths, '--dataset', declaration(BALANCED))
  expect(checked.code, checked.stderr).toBe(5)
  const text = checked.stdout
  expect(text).toContain('## Stagedoor: 4 files checked, 3 cannot be submitted')
  expect(text).toContain('### ✅ fine.csv')
  expect(text).toContain('### ❌ wrong.csv')
  expect(text).toContain('**The plan is refused**: no line is valid')
  expect(text).toMatch(/\| error: \S+ \| debit \| 1 \|/)
  expect(text).toContain('**The plan is refused**: The assertion balanced does not hold')
  expect(text).toMatch(/### ❌ unreadable\.csv\n\n\*\*\w+\*\*/)
  expect(text).not.toMatch(/http:\/\/|@team|<b>|!\[\]\(/)
  const json = await cli('check', ...paths, '--dataset', declaration(BALANCED), '--json')
  expect(json.code).toBe(5)
  expect(JSON.parse(json.stdout).files).toMatchObject([
    { file: 'fine.csv', upload: { plan_refusal: null } },
    { file: 'wrong.csv', kinds: [{ severity: 'error', column: 'debit' }] },
    { file: 'unbalanced.csv', upload: { plan_refusal: expect.stringContaining('balanced') } },
    { file: 'unreadable.csv', error: { code: expect.any(String) } },
  ])
  expect(await everything()).toEqual(before)
})

it('ends with the error of what cannot be checked at all', async () => {
  const good = file('good.csv', 'id,debit,credit,note\n3,5,5,three\n')
  expect(await cli('check', good, '--dataset', 'nothing')).toMatchObject({
    code: 8,
    stdout: expect.stringContaining('nothing'),
  })
  expect(await cli('check', join(home, 'none.csv'), '--dataset', declaration(BALANCED))).toMatchObject({
    code: 2,
  })
  expect(await cli('check', good, '--dataset', declaration('select nothing from booking'))).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('balanced cannot be checked'),
  })
  const nowhere = await cli(
    'check',
    good,
    '--dataset',
    declaration(BALANCED),
    '--against',
    'postgres://127.0.0.1:1/none',
  )
  expect(nowhere.code).toBe(4)
})

it('plans bytes again that were uploaded before, and leaves that upload as it is', async () => {
  expect((await cli('dataset', 'register', declaration(BALANCED))).code).toBe(0)
  const good = file('again.csv', 'id,debit,credit,note\n8,5,5,eight\n')
  await cli('ingest', good, '--dataset', 'booking', '--until', 'planned')
  const before = await everything()
  await db.owner(`insert into bookings values (8, 5, 5, 'eight')`)
  const checked = await cli('check', good, '--dataset', 'booking')
  expect(checked.stdout).toContain('| booking | 1 |')
  expect(checked.stdout).toContain('unchanged')
  await db.owner('delete from bookings where id = 8')
  expect(await everything()).toEqual(before)
})
