/** Commands of units on a database of the user's own: what they print, how they end, what they refuse. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('cli-units-external')
const TIMEOUT = { timeout: 300_000 }
const NOWHERE = '0190a0a0-0000-7000-8000-000000000000'
const text = join(home, 'leave.md')
let env: Record<string, string>
let reviewer: Member

beforeAll(async () => {
  env = {
    DATABASE_URL: db.url('stagedoor_api'),
    DATABASE_DIRECT_URL: db.url(MIGRATOR),
    STAGEDOOR_HOME: home,
  }
  const workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
  await createMember(db, workspace, 'operator')
  await createMember(db, workspace, 'viewer')
  await createMember(db, workspace, 'agent')
  writeFileSync(text, '# Leave\n\nYou have 28 days of leave a year.\n')
  writeFileSync(join(home, 'latin1.md'), Buffer.from([0x44, 0xfc, 0x0a]))
})

const cli = (...args: string[]) => runCli(args, env, '')
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

it('an empty database teaches the first step', TIMEOUT, async () => {
  expect((await cli('unit', 'list')).stdout).toMatch(/No unit here yet[\s\S]*stagedoor mark handbook.md/)
  expect((await cli('unit', 'list', '--under', 'x')).stdout).toMatch(/No unit matches/)
  expect((await cli('topic', 'list')).stdout).toMatch(/No topic yet[\s\S]*stagedoor topic create/)
  expect((await cli('unit', 'check')).stdout).toMatch(/Nothing is due/)
})

it(
  'a unit is created, shown, edited by what is found in it, compared and read as it was',
  TIMEOUT,
  async () => {
    const created = await cli('unit', 'create', 'handbook/leave', '--file', text, '--as', 'operator')
    expect(created.stdout).toMatch(
      /handbook\/leave is created, a draft[\s\S]*stagedoor unit show handbook\/leave/,
    )
    const shown = await cli('unit', 'show', 'handbook/leave')
    expect(shown.stdout).toMatch(/^draft {2}Leave {2}handbook\/leave {2}version 1\n/)
    expect(shown.stdout).toMatch(/tier +0 created; it lacks container, edge/)
    expect(shown.stdout).toMatch(/You have 28 days of leave a year\./)
    expect(shown.stdout).toMatch(/enact with the reviewer’s token/)

    const slice = [
      'unit',
      'edit',
      'handbook/leave',
      '--find',
      '28 days',
      '--replace',
      '30 days',
      '--note',
      'agreed',
    ]
    const edited = await cli(...slice)
    expect(edited.stderr).toContain('On version 1, the current one')
    expect(edited.stdout).toMatch(/is at version 2/)
    expect((await cli('unit', 'diff', 'handbook/leave')).stdout).toMatch(
      /-You have 28 days.*\n\+You have 30 days/,
    )
    expect((await cli('unit', 'show', 'handbook/leave', '--version', '1')).stdout).toMatch(
      /version 1 of 2[\s\S]*28 days/,
    )
    const history = await cli('unit', 'history', 'handbook/leave')
    expect(history.stdout).toMatch(/2 .* agreed\n1 /)
    const [, first] = /--as-of (\S+)/.exec(history.stdout)!
    const then = await cli('unit', 'show', 'handbook/leave', '--as-of', first!)
    expect(then.stdout).toMatch(/^draft .*\n[\s\S]*As it was at [\s\S]*now +draft, version 2[\s\S]*28 days/)
    // What is known only as it is now is not told as of then.
    expect(then.stdout).not.toMatch(/tier|checker|search/)
    expect((await cli('unit', 'show', 'handbook/leave', '--text')).stdout).toBe(
      '# Leave\n\nYou have 30 days of leave a year.\n',
    )
  },
)

it('a text comes from standard input; the same text is no new version', TIMEOUT, async () => {
  const piped = await runCli(['unit', 'create', 'piped', '--json'], env, 'From a pipe.\n')
  expect(JSON.parse(piped.stdout)).toMatchObject({ canonical_address: 'piped' })
  const same = await runCli(['unit', 'edit', 'piped', '--expect', '1'], env, 'From a pipe.\n')
  expect(same.stdout).toMatch(/has this text already: it stays at version 1/)
  expect(await json('unit', 'edit', 'piped', '--title', 'Piped', '--expect', '1')).toMatchObject({
    version_no: 2,
    changed: true,
  })
  expect((await cli('unit', 'diff', 'piped')).stdout).toMatch(/Title: .* → Piped[\s\S]*the same text/)
})

it('a stale edit is refused with both hashes and the diff on stderr', TIMEOUT, async () => {
  await runCli(['unit', 'create', 'stale'], env, 'one\n')
  await runCli(['unit', 'edit', 'stale', '--expect', '1'], env, 'two\n')
  const refused = await runCli(['unit', 'edit', 'stale', '--expect', '1'], env, 'three\n')
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.stderr).toMatch(/[0-9a-f]{64}.*[0-9a-f]{64}[\s\S]*Nothing was written[\s\S]*-one\n\+two\n/)
  const asJson = await runCli(['unit', 'edit', 'stale', '--expect', '1', '--json'], env, 'three\n')
  expect(JSON.parse(asJson.stderr)).toMatchObject({
    error: {
      code: 'unit_version_conflict',
      details: { current_version: 2, diff: expect.stringContaining('+two') },
    },
  })
})

it('topics, profile, edges, containers and the checker', TIMEOUT, async () => {
  await runCli(['unit', 'create', 'shelf', '--kind', 'document'], env, 'Shelf')
  for (const name of ['a', 'b'])
    await runCli(['unit', 'create', `shelf/${name}`, '--container', 'shelf'], env, name)
  await json('topic', 'create', 'leave', '--description', 'Being away')
  expect((await cli('topic', 'list')).stdout).toMatch(/leave +0 +workspace +Being away/)
  const [, last] = /The page after it: (--after \S+)/.exec(
    (await cli('topic', 'list', '--limit', '1')).stdout,
  )!
  expect((await cli('topic', 'list', ...last!.split(' '))).stdout).toContain('No topic is left.')
  expect(await json('unit', 'profile', 'shelf/a', 'audience=staff', 'n=3', '--topics', 'leave')).toEqual({
    audience: 'staff',
    n: 3,
    topic_labels: ['leave'],
  })
  expect(await json('unit', 'profile', 'shelf/a', 'n=null')).not.toHaveProperty('n')
  await json('topic', 'retire', 'leave')
  expect((await cli('topic', 'list')).stdout).toMatch(/leave +1 +workspace +retired · Being away/)

  const { edge_id } = await json('unit', 'edge', 'add', 'shelf/a', 'explains', 'shelf/b')
  expect((await cli('unit', 'edge', 'add', 'shelf/a', 'cites', 'shelf/c')).stdout).toMatch(/unverified until/)
  expect((await cli('unit', 'show', 'shelf/b')).stdout).toMatch(/← explains — +verified +shelf\/a/)
  const checked = await cli('unit', 'check', 'shelf/a', 'shelf/b')
  expect(checked.stdout).toMatch(/shelf\/a +edge_unverified +— cites → shelf\/c/)
  expect(checked.stdout).toMatch(/2 units checked/)
  expect((await cli('unit', 'list', '--deviates')).stdout).toContain('shelf/a')
  expect(await json('unit', 'edge', 'delete', edge_id)).toEqual({ edge_id, deleted: true })

  expect((await cli('unit', 'reorder', 'shelf', 'shelf/b', 'shelf/a')).stdout).toMatch(
    /its 2 units in this order/,
  )
  const order = async () =>
    (await json('unit', 'list', '--container', 'shelf')).map((unit: { title: string }) => unit.title)
  expect(await order()).toEqual(['b', 'a'])
  await json('unit', 'move', 'shelf/b', '--out')
  expect(await order()).toEqual(['a'])
  await json('unit', 'move', 'shelf/b', '--container', 'shelf')
  expect(await order()).toEqual(['a', 'b'])
})

it(
  'on a database of one’s own people decide over the API, and what was enacted so is locked here',
  TIMEOUT,
  async () => {
    const { unit_id: id } = JSON.parse(
      (await runCli(['unit', 'create', 'rule', '--json'], env, 'Rule.')).stdout,
    )
    for (const as of [[], ['--as', 'reviewer']]) {
      const refused = await cli('unit', 'enact', 'rule', '--approval-ref', 'A1', ...as)
      expect(refused).toMatchObject({
        code: 5,
        stderr: expect.stringContaining(`POST /api/v1/units/${id}/enact`),
      })
    }
    await db.as(reviewer, (client) => client.query(`select iu_core.fn_unit_enact($1, 1, 'A1')`, [id]))
    expect(await runCli(['unit', 'edit', 'rule'], env, 'No rule.')).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(
        /The unit rule is enacted: its content is locked[\s\S]*stagedoor unit supersede/,
      ),
    })
    expect(await cli('unit', 'delete', 'rule'), 'what is in force a person deletes').toMatchObject({
      code: 5,
    })
    const draft = await cli('unit', 'delete', 'piped', '--reason', 'a slip')
    expect(draft.stdout).toMatch(/piped is deleted[\s\S]*stagedoor unit restore piped/)
    expect((await cli('unit', 'list', '--deleted')).stdout).toMatch(/piped .* deleted/)
    expect((await cli('unit', 'restore', 'piped')).stdout).toMatch(/is back, draft as it was/)
  },
)

it.each([
  [8, /There is no unit nothing/, ['unit', 'show', 'nothing']],
  [8, /There is no unit/, ['unit', 'history', NOWHERE]],
  [2, /neither the address nor the id of a unit/, ['unit', 'show', 'Not An Address']],
  [8, /has no version 9: it has/, ['unit', 'show', 'handbook/leave', '--version', '9']],
  [8, /has no version 9[\s\S]*Its versions are 1 to/, ['unit', 'diff', 'handbook/leave', '1', '9']],
  [2, /Bad\/Ünit is not an address[\s\S]*parts of a–z/, ['unit', 'create', 'Bad/Ünit', '--file', text]],
  [8, /was not there at 2001/, ['unit', 'show', 'handbook/leave', '--as-of', '2001-01-01']],
  [2, /There is no text/, ['unit', 'create', 'empty']],
  [2, /There is no file/, ['unit', 'create', 'empty', '--file', 'nowhere.md']],
  [2, /not valid UTF-8/, ['unit', 'create', 'empty', '--file', join(home, 'latin1.md')]],
  [6, /belongs to another unit/, ['unit', 'create', 'handbook/leave', '--file', text]],
  [
    2,
    /is not a kind of unit[\s\S]*There are commentary, document/,
    ['unit', 'create', 'odd', '--file', text, '--kind', 'poem'],
  ],
  [2, /is not in the text/, ['unit', 'edit', 'handbook/leave', '--find', 'nothing', '--replace', 'x']],
  [2, /more than once/, ['unit', 'edit', 'handbook/leave', '--find', 'a', '--replace', 'x']],
  [2, /Say which part/, ['unit', 'edit', 'handbook/leave', '--replace', 'x']],
  [
    2,
    /a part of the text, or its title/,
    ['unit', 'edit', 'handbook/leave', '--find', 'a', '--replace', 'x', '--title', 'T'],
  ],
  [
    2,
    /not within the text/,
    ['unit', 'edit', 'handbook/leave', '--from', '1', '--to', '999', '--replace', 'x'],
  ],
  [2, /Not in the topic vocabulary/, ['unit', 'profile', 'handbook/leave', '--topics', 'nope']],
  [
    2,
    /A profile cannot contain lifecycle_status/,
    ['unit', 'profile', 'handbook/leave', 'lifecycle_status=enacted'],
  ],
  [2, /write it as key=value/, ['unit', 'profile', 'handbook/leave', 'summary']],
  [6, /cannot be inside|in itself/, ['unit', 'move', 'shelf', '--container', 'shelf/a']],
  [2, /--container CONTAINER, or --out/, ['unit', 'move', 'shelf']],
  [
    2,
    /A whole number from 1 to 1000000/,
    ['unit', 'move', 'shelf/a', '--container', 'shelf', '--position', '0'],
  ],
  [2, /is not the id of an edge/, ['unit', 'edge', 'delete', 'that']],
  [8, /There is no edge/, ['unit', 'edge', 'delete', NOWHERE]],
  [5, /right to operate/, ['unit', 'edit', 'handbook/leave', '--file', text, '--as', 'viewer']],
  [
    5,
    /An agent reads and proposes[\s\S]*stagedoor mark/,
    ['unit', 'edit', 'handbook/leave', '--file', text, '--as', 'agent'],
  ],
  [2, /is not the id of a staging record/, ['mark', 'show', 'that']],
  [8, /There is no/, ['mark', 'show', NOWHERE]],
  [8, /There is no/, ['cut', NOWHERE]],
  [2, /There is no file/, ['mark', 'nowhere.md']],
])('exit %i, %s: %j', TIMEOUT, async (exit, words, args) => {
  const { code, stderr } = await cli(...args)
  expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringMatching(words) })
})

it('an edit that is refused says nothing of the version that it was not made on', TIMEOUT, async () => {
  const { stderr } = await cli('unit', 'edit', 'handbook/leave', '--find', 'nothing', '--replace', 'x')
  expect(stderr).not.toContain('the current one')
})

/** Last: with two workspaces every other command would ask, too. */
it('one address in two workspaces is asked about', TIMEOUT, async () => {
  await createWorkspace(db, 'Second')
  await runCli(['unit', 'create', 'twice', '--workspace', 'Acme Media'], env, 'Here.')
  await runCli(['unit', 'create', 'twice', '--workspace', 'Second'], env, 'There.')
  expect(await cli('unit', 'show', 'twice')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/2 workspaces have a unit twice[\s\S]*--workspace/),
  })
  expect((await cli('unit', 'show', 'twice', '--workspace', 'Second', '--text')).stdout).toBe('There.')
})
