import { beforeAll, describe, expect, it } from 'vitest'
import { withClient } from '../../src/kernel/postgres/connection.ts'
import { runCli } from '../support/cli.ts'
import { useDatabase } from '../support/database.ts'
import { MIGRATOR } from '../support/template.ts'

const db = useDatabase()
const env = () => ({ DATABASE_URL: db.url('stagedoor_api'), DATABASE_DIRECT_URL: db.url('stagedoor_worker') })
const ONE = '0a11ce00-0000-7000-8000-000000000001'
const TWO = '0a11ce00-1111-7000-8000-000000000002'
const ISSUE = 'beef0000-0000-7000-8000-000000000003'

beforeAll(() =>
  withClient(
    db.url(MIGRATOR),
    async (client) => {
      for (const id of [ONE, TWO])
        await client.query(
          `insert into iu_core.job_queue (job_id, job_kind, executor, actor) values ($1, 'send_report', 'PG_worker', 'test')`,
          [id],
        )
      await client.query(
        `insert into iu_core.system_issue (issue_id, code, severity, title, subject_ref)
         values ($1, 'test', 'warning', 'nothing', 'x')`,
        [ISSUE],
      )
    },
    { role: 'workflow_admin' },
  ),
)

describe('the beginning of an id', () => {
  it('is enough where one thing has it, with or without its dash', async () => {
    for (const given of ['0a11ce00-0', '0A11CE000', ONE.slice(0, 30)]) {
      const { code, stdout, stderr } = await runCli(['job', 'show', given, '--json'], env())
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject({ job_id: ONE })
    }
  })

  it('is refused with the candidates where several have it', async () => {
    const { code, stderr } = await runCli(['job', 'show', '0a11ce00'], env())
    expect(code).toBe(2)
    expect(stderr).toContain(`is the beginning of several ids: ${ONE}, ${TWO}`)
  })

  it('of nothing is answered with the command that lists them', async () => {
    const { code, stderr } = await runCli(['upload', 'show', 'ffff0000'], env())
    expect(code).toBe(8)
    expect(stderr).toContain('No id of an upload begins with ffff0000')
    expect(stderr).toContain('stagedoor upload list')
  })

  it('too short or with other characters is refused before a database is asked', async () => {
    const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/nothing' }
    for (const given of ['0a1', 'week-45.csv']) {
      const { code, stderr } = await runCli(['upload', 'show', given], nowhere)
      expect(code).toBe(2)
      expect(stderr).toContain(`${given} is not the id of an upload`)
    }
  })
})

describe('an id of another kind of thing', () => {
  it.each([
    ['a whole id', ONE],
    ['the beginning of one', ONE.slice(0, 12)],
  ])('%s says what it is and how to see it', async (_what, given) => {
    const { code, stderr } = await runCli(['upload', 'show', given], env())
    expect(code).toBe(8)
    expect(stderr).toContain(`That is a job: \`stagedoor job show ${ONE}\``)
  })

  it.each([
    [['execution', 'show'], ONE],
    [['unit', 'show'], ONE],
    [['unit', 'show'], ONE.slice(0, 12)],
    [['trace'], ISSUE],
    [['staging', 'show'], ONE],
  ])('%s is answered with what %s is', async (command, given) => {
    const { code, stderr } = await runCli([...command, given], env())
    expect({ code, stderr }).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/That is a (job|system issue): `stagedoor (job show|issue list)/),
    })
  })

  it('is told for every kind, also in JSON', async () => {
    const { code, stderr } = await runCli(['job', 'show', ISSUE, '--json'], env())
    expect(code).toBe(8)
    expect(JSON.parse(stderr).error.hint).toBe('That is a system issue: `stagedoor issue list` shows it.')
  })
})

it('nobody but the back end may ask for ids', async () => {
  const { rows } = await withClient(
    db.url(MIGRATOR),
    (client) =>
      client.query(`select r.rolname from pg_roles r
        where has_function_privilege(r.oid, 'iu_core.fn_id_find(text)', 'execute') and not r.rolsuper
          and r.rolname in ('anon', 'authenticated', 'service_role', 'stagedoor_agent', 'stagedoor_reviewer',
                            'stagedoor_producer', 'stagedoor_executor', 'stagedoor_playbook', 'stagedoor_proposer', 'vector_worker')`),
    { role: 'workflow_admin' },
  )
  expect(rows).toEqual([])
})
