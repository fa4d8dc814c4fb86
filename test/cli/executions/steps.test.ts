/** A long execution on the command line: a page of its steps, and how to see the rest. */
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('cli-steps')
let id: string

beforeAll(async () => {
  id = (await db.owner<{ id: string }>('select noetl.fn_snowflake()::text as id'))[0]!.id
  // 250 steps, each after the other; the last one failed, and the execution with it.
  await db.owner(
    `insert into noetl.event (execution_id, event_id, seq, event_type, catalog_id, parent_event_id, node_id, node_name, status, meta)
     select $1::bigint, $1::bigint + seq, seq, event_type, 1, case when seq > 1 then $1::bigint + seq - 1 end, node_id, node_name, status, meta
       from (select 1, 'playbook.initialized', null, null, 'started', '{}'::jsonb
             union all
             select 2 * n + i, case when i = 0 then 'command.issued' when n < 250 then 'command.completed' else 'command.failed' end,
                    'turn' || n || '#1', 'turn' || n, case when i = 0 then 'issued' when n < 250 then 'completed' else 'failed' end,
                    jsonb_build_object('command_id', n, 'attempt', 1, 'final', true)
               from generate_series(1, 250) n cross join generate_series(0, 1) i
             union all
             select 502, 'playbook.failed', null, 'turn250', 'failed', '{}') as l (seq, event_type, node_id, node_name, status, meta)`,
    [id],
  )
  await db.owner('select noetl.rebuild_execution_projection($1)', [id])
})

const show = (...args: string[]) =>
  runCli(['execution', 'show', id, ...args], {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
  })

it('shows the first steps, says how to see the rest, and goes on at what failed', async () => {
  const { stdout } = await show()
  expect(stdout).toMatch(/✔ turn1 [\s\S]*✔ turn100 /)
  expect(stdout).not.toContain('✔ turn101 ')
  expect(stdout).toContain('--from turn250')
  const [, after] = new RegExp(`and more: stagedoor execution show ${id} --after (\\d+)`).exec(stdout)!
  const rest = (await show('--after', after!, '--limit', '200')).stdout
  expect(rest).toMatch(/✔ turn101 [\s\S]*✖ turn250 /)
  expect(rest).not.toContain('and more')
})

it('gives the same page as JSON', async () => {
  const first = JSON.parse((await show('--limit', '2', '--json')).stdout)
  expect(first).toMatchObject({ steps: [{ step: 'turn1' }, { step: 'turn2' }], next_steps: 4 })
  const second = JSON.parse((await show('--limit', '1', '--after', '4', '--json')).stdout)
  expect(second).toMatchObject({ steps: [{ step: 'turn3' }] })
})
