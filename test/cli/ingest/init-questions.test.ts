import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runCli, runOnTerminal } from '../../support/cli.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { MIGRATOR } from '../../support/template.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('cli-init-questions')

const environment = () => ({
  DATABASE_URL: db.url('stagedoor_api'),
  DATABASE_DIRECT_URL: db.url(MIGRATOR),
  STAGEDOOR_HOME: home,
})
const cli = (...args: string[]) => runCli(args, environment())

function file(name: string, lines: readonly string[]): string {
  const path = join(home, name)
  writeFileSync(path, lines.join('\n'))
  return path
}

const declared = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

beforeAll(async () => {
  await createWorkspace(db)
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  await db.owner(`
    create table public.parts (id bigint generated always as identity primary key, sku text not null unique, label text, tags text[], made date,
      origin text, maker text);
    grant usage on schema public to workflow_admin;
    grant select, insert, update, delete on public.parts to workflow_admin`)
})

const PARTS = [
  'Zeichen,Label,Tags,Made',
  'X-1,Saw,"wood, steel",01/02/2024',
  'X-2,Axe,wood; glass,03/04/2024',
]

describe('a key that the file is not known to have', () => {
  it('is named with the option that answers, and no index is advised', async () => {
    const output = join(home, 'key.dataset.json')
    const { code, stderr, stdout } = await cli(
      'init',
      'public.parts',
      file('parts.csv', PARTS),
      '--output',
      output,
    )
    expect({ code, stderr, stdout }).toMatchObject({ code: 2 })
    expect(stderr).toContain('no column of the file is known to be sku, the key of public.parts')
    expect(stderr).toContain('--set "Zeichen=sku"')
    expect(`${stdout}${stderr}`).not.toContain('create unique index')
    expect(existsSync(output)).toBe(false)
  })

  it('has the questions in the error of --json', async () => {
    const { code, stdout, stderr } = await cli('init', 'public.parts', join(home, 'parts.csv'), '--json')
    expect(code).toBe(2)
    expect(`${stdout}${stderr}`).toContain('Which column of the file is sku, the key of public.parts?')
  })

  it('is asked for in a terminal, with examples, and everything else that is open', async () => {
    const output = join(home, 'asked.dataset.json')
    const { code, screen, unanswered } = await runOnTerminal(
      ['init', 'public.parts', join(home, 'parts.csv'), '--output', output, '--name', 'asked'],
      environment(),
      {
        columns: 160,
        dialogue: [
          [/Which column of the file is sku[\s\S]*1 Zeichen +X-1, X-2[\s\S]*leaves it open: /, 'Nowhere'],
          [/Nowhere is none of them[\s\S]*leaves it open: /, '1'],
          [/What separates the items of tags[\s\S]*leaves it open: /, ','],
          [/Does the day \(dmy\) or the month[\s\S]*leaves it open: /, '2'],
        ],
      },
    )
    expect({ code, unanswered, screen }).toMatchObject({ code: 0, unanswered: [] })
    expect(screen).toContain('Nothing was written to your table public.parts')
    expect(screen).toContain('--dates mdy')
    expect(declared(output)).toMatchObject({
      fields: { sku: { aliases: ['Zeichen'] }, tags: { separator: ',' } },
      rows: [{ key: ['sku'] }],
    })
  })
})

describe('a second run with answers', () => {
  const LINES = ['SKU,Label,Tags', 'X-1,Saw,"wood, steel"', 'X-2,Axe,wood; glass']
  const output = join(home, 'parts.dataset.json')
  const init = (...flags: string[]) =>
    cli('init', 'public.parts', join(home, 'again.csv'), '--output', output, ...flags)
  const registered = async () => {
    const [row] = await db.owner<{ fields: Record<string, unknown> }>(
      `select definition -> 'fields' as fields from iu_core.ingest_dataset where dataset = 'parts'`,
    )
    return row?.fields ?? {}
  }

  it('continues its own draft, in the file and as registered, without --force', async () => {
    file('again.csv', LINES)
    const first = await init()
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('--separator "tags=;"') })
    expect(Object.keys(await registered())).toEqual(['sku', 'label'])
    expect(await init('--separator', 'tags=,')).toMatchObject({ code: 0 })
    expect(declared(output).fields.tags).toMatchObject({ separator: ',' })
    expect(await registered()).toMatchObject({ tags: { separator: ',' } })
    expect(existsSync(`${output}.bak`)).toBe(false)
  })

  it('does not count another formatting as an edit', async () => {
    writeFileSync(output, JSON.stringify(declared(output)))
    expect(await init('--separator', 'tags=;')).toMatchObject({ code: 0 })
    expect(declared(output).fields.tags).toMatchObject({ separator: ';' })
  })

  it('refuses to replace what somebody has edited, and says what differs', async () => {
    const edited = declared(output)
    edited.fields.label.maxLength = 20
    writeFileSync(output, JSON.stringify(edited))
    const { code, stderr } = await init('--separator', 'tags=;')
    expect({ code, stderr }).toMatchObject({ code: 2 })
    expect(stderr).toMatch(
      /somebody has edited it since init wrote it; they differ in fields\.label\.maxLength/,
    )
    expect(declared(output)).toEqual(edited)
  })

  it('asks in a terminal, and keeps the edited file', async () => {
    const args = [
      'init',
      'public.parts',
      join(home, 'again.csv'),
      '--output',
      output,
      '--separator',
      'tags=;',
    ]
    const edited = readFileSync(output, 'utf8')
    const no = await runOnTerminal(args, environment(), { columns: 160, answer: 'n' })
    expect(no.code).toBe(2)
    expect(readFileSync(output, 'utf8')).toBe(edited)
    const yes = await runOnTerminal(args, environment(), { columns: 160, answer: 'y' })
    expect(yes).toMatchObject({ code: 0, screen: expect.stringContaining('is kept as') })
    expect(readFileSync(`${output}.bak`, 'utf8')).toBe(edited)
    expect(declared(output).fields.label.maxLength).toBeUndefined()
  })

  it('keeps a file under another name with --force, however often', async () => {
    writeFileSync(output, 'not a declaration')
    expect(await init()).toMatchObject({ code: 2, stderr: expect.stringContaining('init did not write it') })
    expect(await init('--force')).toMatchObject({ code: 0 })
    expect(readFileSync(`${output}.bak2`, 'utf8')).toBe('not a declaration')
  })

  it('does not replace a registered dataset that somebody else has changed', async () => {
    const changed = declared(output)
    changed.fields.label.maxLength = 9
    const other = join(home, 'other.dataset.json')
    writeFileSync(other, JSON.stringify(changed))
    expect(await cli('dataset', 'register', other)).toMatchObject({ code: 0 })
    const { code, stderr } = await init('--separator', 'tags=,')
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is a dataset parts already'),
    })
    expect(await registered()).toMatchObject({ label: { maxLength: 9 } })
  })
})

describe('answers about how the file is written', () => {
  it('reach the first plan', async () => {
    const path = file('dates.csv', ['SKU,Made', 'D-1,01/02/2024', 'D-2,03/04/2024'])
    const args = [
      'init',
      'public.parts',
      path,
      '--output',
      join(home, 'dates.dataset.json'),
      '--name',
      'dated',
      '--json',
    ]
    const open = JSON.parse((await cli(...args)).stdout)
    expect(open.questions).toMatchObject([{ about: 'dates', option: '--dates dmy' }])
    expect(open.upload).toMatchObject({ invalid_count: 2 })
    const answered = JSON.parse((await cli(...args, '--dates', 'dmy')).stdout)
    expect(answered.questions).toEqual([])
    expect(answered.upload).toMatchObject({ invalid_count: 0 })
  })
})
