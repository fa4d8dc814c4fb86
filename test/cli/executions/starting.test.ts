/** What `run` starts: in which workspace, once for a key; and what consumers and schedules would start. */
// @module-tag long
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { runCli, startCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('cli-starting')
const TIMEOUT = { timeout: 300_000 }
let env: Record<string, string>
let workspace: string

beforeAll(async () => {
  env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    PLAYBOOK_DATABASE_URL: db.url('stagedoor_playbook'),
    STAGEDOOR_HOME: home,
  }
  workspace = await createWorkspace(db, 'Acme')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
})

const cli = (...args: string[]) => runCli(args, env)
const file = (name: string, text: string) => {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}
const ONE = (name: string) =>
  `name: ${name}\nargs: { n: 1 }\nsteps:\n  - { step: ask, tool: sql, args: { query: select 1 } }\n`
const HOLDS = `name: holds
steps:
  - step: draft
    tool: staging
    args: { action: create, staging_kind: draft_iu_composition, payload_type: composition_draft, purpose: A draft,
            parts: [{ part_name: text, payload_kind: text, payload_text: a }] }
    next: decide
  - { step: decide, wait: { approval: "\${steps.draft.result.staging_record_id}", timeout: 2d } }
`

it(
  'without --workspace it runs in the only one there is, where a colleague can decide',
  TIMEOUT,
  async () => {
    const ran = await cli('run', file('holds.yaml', HOLDS), '--timeout', '4s', '--json')
    expect(ran).toMatchObject({ code: 1 })
    const { execution_id } = JSON.parse(ran.stdout)
    expect(await db.owner('select workspace_id, purpose from iu_core.iu_staging_record')).toEqual([
      { workspace_id: workspace, purpose: 'A draft' },
    ])
    expect((await cli('execution', 'show', execution_id)).stdout).toMatch(
      /A second person checks the record and decides/,
    )
  },
)

it(
  'of several it asks for one where a step holds something, and runs for none where no step does',
  TIMEOUT,
  async () => {
    const other = await createWorkspace(db, 'Beta')
    expect(await cli('run', file('holds.yaml', HOLDS), '--timeout', '4s')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The step draft stages something[\s\S]*--workspace: Acme, Beta/),
    })
    expect(await cli('run', file('one.yaml', ONE('one')))).toMatchObject({ code: 0 })
    await db.owner('delete from public.workspaces where id = $1', [other])
  },
)

it(
  'one that waits for a decision on a record of no workspace says that nobody can decide',
  TIMEOUT,
  async () => {
    const { rows } = await db
      .pool('stagedoor_worker')
      .query(`select noetl.fn_execution_start('holds')::text as id`)
    const worker = startCli(['worker'], env)
    await expect
      .poll(async () => (await cli('execution', 'show', rows[0].id)).stdout)
      .toMatch(/Nobody can decide on the record that it waits for: it belongs to no workspace/)
    expect((await cli('execution', 'show', rows[0].id)).stdout).not.toContain('A second person')
    expect(await worker.end()).toBe(0)
  },
)

it('the same key again says that nothing new ran, and with other arguments is refused', TIMEOUT, async () => {
  const path = file('keyed.yaml', ONE('keyed'))
  expect((await cli('run', path, '--key', 'k')).stdout).toMatch(/✔ completed in/)
  const again = await cli('run', path, '--key', 'k')
  expect(again.stderr).toContain('was started before with this key; nothing new is started')
  expect(again.stdout).toMatch(/✔ was completed already, \d+ (s|min) ago/)
  expect(await cli('run', path, '--key', 'k', '--set', 'n=4')).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/belongs to the execution \d+, which has other arguments/),
  })
  expect((await cli('run', path, '--key', 'k', '--detach')).stdout).toContain('was started before')
})

it('a consumer and a schedule that name no playbook, or none that there is, say so', TIMEOUT, async () => {
  await cli('playbook', 'register', file('one.yaml', ONE('hello')))
  const consumer = async (name: string, ...more: string[]) =>
    (await cli('consumer', 'register', name, '--on', 'dot.run.applied', '--kind', 'playbook_start', ...more))
      .stdout
  expect(await consumer('a')).toContain('name no playbook')
  expect(await consumer('b', '--payload-ref', 'hello')).toContain('--payload-ref playbook:NAME')
  expect(await consumer('c', '--payload-ref', 'playbook:helo')).toContain('Did you mean hello?')
  expect(await consumer('d', '--payload-ref', 'playbook:hello')).not.toContain('!')
  const schedule = async (payload: object) =>
    (
      await cli(
        ...['schedule', 'set', 'nightly', '--cron', '0 6 * * *', '--kind', 'playbook_start'],
        ...['--payload', JSON.stringify(payload)],
      )
    ).stdout
  expect(await schedule({ playbook: 'helo' })).toMatch(/no playbook helo yet[\s\S]*Did you mean hello\?/)
  expect(await schedule({})).toContain('name no playbook')
  expect(await schedule({ playbook: 'hello' })).not.toContain('!')
})
