/** The user's story of units, command by command, as the guide tells it. */
// @module-tag long
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, runOnTerminal, startCli } from '../../support/cli.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const env = { STAGEDOOR_HOME: temporaryHome('cli-units') }
const example = (name: string) =>
  fileURLToPath(new URL(`../../../examples/handbook/${name}`, import.meta.url))
const TIMEOUT = { timeout: 300_000 }
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

const cli = (...args: string[]) => runCli(args, env, '')
const said = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args)
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return stdout
}
const mark = (file: string) => said('mark', example(file), '--source-ref', 'handbook.md', '--as', 'operator')
const recordIn = (text: string) => /mark show (\S+)/.exec(text)![1]!
const approve = async (record: string) => {
  const shown = await said('mark', 'show', record, '--as', 'reviewer')
  const [, digest] = /staging approve --as reviewer \S+ --digest ([0-9a-f]{64})/.exec(shown)!
  await said('staging', 'approve', '--as', 'reviewer', record, '--digest', digest!)
  return shown
}

it(
  'a handbook is marked, reviewed beside its text, cut in milliseconds, edited, enacted, and cut again',
  TIMEOUT,
  async () => {
    const first = await mark('handbook.md')
    expect(first).toMatch(/^address +kind +size +change +title$/m)
    expect(first).toMatch(/^handbook\/pay\/salary-bands\/table +table +651 B +new +Salary bands \(table\)$/m)
    expect(first).toMatch(/44 pieces, 7\.0 KiB, 44 new/)
    const record = recordIn(first)
    expect(await cli('cut', record, '--as', 'operator'), 'before anybody approved it').toMatchObject({
      code: 6,
      stderr: expect.stringContaining('must be approved'),
    })
    const shown = await approve(record)
    expect(shown).toMatch(/^handbook\/leave\/annual-leave +│ ### Annual leave$/m)
    expect(shown).toMatch(/^section · 129 B · new +│ You have 28 days of annual leave a year/m)
    const cut = await said('cut', record, '--as', 'operator')
    expect(cut).toMatch(/Cut in \d+ ms: 44 units changed, 0 as they were/)
    expect(await said('mark', 'show', record)).toMatch(/It was cut\n +stagedoor unit list --under handbook/)
    expect(await said('unit', 'list', '--under', 'handbook')).toMatch(
      /^handbook\/leave\/annual-leave +section +draft +1 +0/m,
    )

    const slice = ['unit', 'edit', 'handbook/leave/annual-leave', '--find', '28 days', '--replace', '29 days']
    expect(await said(...slice, '--expect', '1', '--as', 'operator')).toMatch(/is at version 2/)
    const lost = await cli(...slice, '--expect', '1', '--as', 'operator')
    expect(lost.code, 'what it looks for is no longer there').toBe(2)
    const stale = await runCli(
      ['unit', 'edit', 'handbook/leave/annual-leave', '--expect', '1', '--as', 'operator'],
      env,
      'Thirty days.',
    )
    expect(stale).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/-You have 28 days[\s\S]*\+You have 29 days/),
    })

    const enact = [
      'unit',
      'enact',
      'handbook/leave/annual-leave',
      '--expect',
      '2',
      '--approval-ref',
      'works council',
    ]
    expect(await cli(...enact), 'a person decides').toMatchObject({ code: 5 })
    expect(await cli(...enact, '--as', 'operator'), 'not everybody').toMatchObject({ code: 5 })
    expect(await said(...enact, '--as', 'reviewer')).toMatch(/is in force at version 2; its text is locked/)
    expect(
      await runCli(['unit', 'edit', 'handbook/leave/annual-leave', '--as', 'operator'], env, 'Thirty days.'),
    ).toMatchObject({ code: 6, stderr: expect.stringContaining('its content is locked') })

    const second = await mark('handbook-2027.md')
    expect(second).toMatch(/44 pieces, 7\.0 KiB, 3 changed, 41 the same/)
    const next = recordIn(second)
    const changes = await said('mark', 'show', next, '--changed')
    expect(changes).toMatch(/│ - You have 29 days[\s\S]*│ \+ You have 30 days/)
    expect(changes).not.toContain('handbook/leave/sick-leave')
    expect(changes, 'what becomes of each').toMatch(
      /^enacted: stays in force +│.*\n→ draft ~2, its successor +│/m,
    )
    expect(changes).toMatch(/^draft → version 2 +│/m)
    const asked = await runOnTerminal(['staging', 'approve', next, '--as', 'reviewer'], env)
    expect(asked.screen, 'whoever is asked sees the pieces').toMatch(
      /│ - You have 29 days[\s\S]*│ \+ You have 30 days[\s\S]*41 pieces stay as they are[\s\S]*Marked by Operator[\s\S]*Approve exactly this/,
    )
    expect(asked.screen, 'and not the manifest').not.toContain('"pieces"')
    await approve(next)
    const again = await said('cut', next, '--as', 'operator')
    expect(again).toMatch(/3 units changed, 41 as they were/)
    expect(again).toMatch(/^ {2}successor +handbook\/leave\/annual-leave~2$/m)

    expect(await said('unit', 'show', 'handbook/leave/annual-leave')).toMatch(
      /^successor +handbook\/leave\/annual-leave~2, a draft$[\s\S]*--by handbook\/leave\/annual-leave~2/m,
    )
    await said(
      'unit',
      'enact',
      'handbook/leave/annual-leave~2',
      '--approval-ref',
      'works council',
      '--as',
      'reviewer',
    )
    expect(
      await said(
        ...['unit', 'supersede', 'handbook/leave/annual-leave', '--by', 'handbook/leave/annual-leave~2'],
        ...['--approval-ref', 'works council', '--as', 'reviewer'],
      ),
    ).toMatch(/is superseded by handbook\/leave\/annual-leave~2/)
    expect(await said('unit', 'show', 'handbook/leave/annual-leave')).toMatch(
      /^superseded [\s\S]*^followed by +handbook\/leave\/annual-leave~2$/m,
    )
    expect(
      await said('unit', 'retire', 'handbook/pay/bonus', '--reason', 'ended', '--as', 'reviewer'),
    ).toMatch(/is retired/)
    expect(await said('unit', 'history', 'handbook/pay/bonus')).toMatch(/draft → retired +Reviewer +ended/)
    expect(
      await said(
        'unit',
        'change-kind',
        'handbook/pay/payday',
        '--kind',
        'note',
        '--approval-ref',
        'A',
        '--as',
        'reviewer',
      ),
    ).toMatch(/is a note/)
  },
)

it('a manifest is changed by hand and staged again', TIMEOUT, async () => {
  const marked = await said('mark', example('handbook.md'), '--source-ref', 'other.md', '--address', 'other')
  const { stdout } = await cli('staging', 'show', recordIn(marked), '--part', '0')
  const manifest = JSON.parse(stdout) as { pieces: { address: string }[] }
  manifest.pieces = manifest.pieces.filter(({ address }) => !address.startsWith('other/pay'))
  const changed = await runCli(
    ['mark', example('handbook.md'), '--manifest', '-'],
    env,
    JSON.stringify(manifest),
  )
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining('39 pieces') })
  const leftOut = /1009 B in no piece \(no unit will have this text\)\n {2}lines \d+–\d+\n {4}## Pay\n/
  expect(changed.stdout).toMatch(leftOut)
  const shown = await approve(recordIn(changed.stdout))
  expect(shown).toMatch(leftOut)
  expect(shown).toMatch(/39 pieces, 39 of them new, changed or moved, 1009 B in no piece/)
  expect(shown, 'how to see all of it').toMatch(/… \d+ more lines: --full/)
  expect(await said('cut', recordIn(changed.stdout))).toMatch(
    /1009 B in no piece, and so in no unit: lines \d+–\d+ of the document/,
  )
  const broken = await runCli(['mark', example('handbook.md'), '--manifest', '-'], env, '{"pieces": []}')
  expect(broken).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The manifest cannot be used: It lacks schema, document, and 1 more'),
  })
  const another = await cli(
    'mark',
    example('handbook-2027.md'),
    '--source-ref',
    'x/other.md',
    '--address',
    'other',
    '--as',
    'operator',
  )
  expect(another, 'another document at the same address').toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /comes from other\.md, which is not this document[\s\S]*--source-ref[\s\S]*--address/,
    ),
  })
  expect(
    await cli('mark', fileURLToPath(import.meta.url).replace('story.test.ts', 'nowhere.md')),
  ).toMatchObject({ code: 2 })
})

it('what people moved stays; what the document moved is told from where to where', TIMEOUT, async () => {
  const file = join(env.STAGEDOOR_HOME, 'places.md')
  const cut = async (...sections: string[]) => {
    writeFileSync(file, `${sections.join('\n\n')}\n`)
    const marked = await said('mark', file, '--source-ref', 'places.md', '--as', 'operator')
    await approve(recordIn(marked))
    return [marked, await said('cut', recordIn(marked), '--as', 'operator')] as const
  }
  const [a, inside, b] = ['## A\n\none', '### Inside\n\ntwo', '## B\n\nthree']
  await cut(a, inside, b)
  await said('unit', 'move', 'places/a/inside', '--container', 'places/b')
  const [still, kept] = await cut(a, inside, b, '## C\n\nfour')
  expect(still).not.toContain('Moved')
  expect(kept).toMatch(/1 unit changed, 3 as they were/)
  const [marked, moved] = await cut(a, b, '## C\n\nfour', inside)
  expect(marked).toMatch(/Moved in the document\n +places\/a\/inside +in places\/a → in places\/c/)
  expect(moved).toMatch(/moved +places\/a\/inside +places\/b → places\/c, people had put it there/)
})
