/**
 * README.md, the tutorial and the tour, as a newcomer runs them: every sh block verbatim, top to bottom, in one shell on a terminal; the
 * program of the guide on the library; and the guide on deployment. Questions are answered with yes. The one thing that is put in is what
 * only the reader knows: a database's address.
 */
// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startEmbedded } from '../src/kernel/postgres/embedded/server.ts'
import { freePort, type RunningCli, startCli } from './support/cli.ts'
import { temporaryHome } from './support/temporary-home.ts'

const ROOT = resolve(import.meta.dirname, '..')
const OWN_DATABASE = 'On your own PostgreSQL'
const ADDRESS = 'postgres://admin:secret@db.example.com/app'

interface Block {
  readonly language: string
  readonly section: string
  readonly text: string
}

const blocksOf = (page: string) => readBlocks(readFileSync(join(ROOT, page), 'utf8'))
const shell = (page: string, chosen: (section: string) => boolean = () => true): string[] =>
  blocksOf(page)
    .filter(({ language, section }) => language === 'sh' && chosen(section))
    .map(({ text }) => text)
    .filter((text) => text !== 'npm start')

const folder = temporaryHome('readme')
const env = { STAGEDOOR_HOME: join(folder, 'home') }
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, STAGEDOOR_DEMO: 'auto', PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
  await server.says(/The demo is loaded/)
  // Each wait has its own limit, and says what it waited for.
}, 600_000)
afterAll(async () => {
  await server.end()
  // What `init` of the tour writes.
  rmSync(join(ROOT, 'products.dataset.json'), { force: true })
})

it('begins with the one command that starts it', () => {
  expect(blocksOf('README.md')[0]).toMatchObject({ language: 'sh', text: 'npm start' })
})

it('its shell blocks, those of the tutorial and of the tour run verbatim, top to bottom, in one shell', {
  timeout: 600_000,
}, async () => {
  const commands = [
    ...shell('README.md', (section) => section === 'Five minutes'),
    ...shell('docs/guides/tutorial.md'),
    ...shell('docs/guides/tour.md'),
  ]
  const { output, failures } = await runOnTerminal(commands.join('\n\n'), env)
  // Files with wrong lines end with 5 by design, and say so.
  expect(failures, output).toEqual([
    expect.stringMatching(/^5: stagedoor ingest examples\/ads\/meta-week-45\.csv/),
    expect.stringMatching(/^5: stagedoor ingest examples\/ads\/meta-week-45\.csv/),
    expect.stringMatching(/^5: stagedoor ingest examples\/products\/products\.xlsx/),
  ])
  expect(output).toContain('53 valid, 3 invalid')
  expect(output).toMatch(/products +9 +212 +2/)
  for (const said of [
    'Approved',
    'Promoted',
    'Working as PG_worker',
    '9,998 done, 2 failed',
    'Annual leave',
  ]) {
    expect(output).toContain(said)
  }
})

it('the program of the guide on the library runs as it stands', async () => {
  const [program] = blocksOf('docs/guides/library.md').filter(({ language }) => language === 'ts')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/stagedoor'))
  writeFileSync(join(folder, 'program.mjs'), program!.text)
  const child = spawn(process.execPath, [join(folder, 'program.mjs')], {
    cwd: ROOT,
    env: { ...plainEnvironment(), ...env },
  })
  const output = collect(child)
  const [code] = await once(child, 'close')
  expect(code, output()).toBe(0)
  expect(output()).toContain('COMPLETED')
  expect(output()).toContain('28 days a year.')
  expect(output(), 'a reader that was registered first').toContain('dot run.applied invoice 4711')
})

it('the block for a database of one’s own runs verbatim but for its address', async () => {
  const postgres = await startEmbedded({ home: join(folder, 'own'), durability: 'throwaway' })
  try {
    const [block] = shell('docs/guides/deployment.md', (section) => section === OWN_DATABASE)
    const lines = block!.split('\n')
    expect(block).toContain(ADDRESS)
    expect(lines.pop()).toBe('npm start')
    const port = await freePort()
    const commands = `${lines.join('\n')}
npm start & started=$!
until curl -sf http://127.0.0.1:${port}/api/ready; do kill -0 $started || break; sleep 0.5; done
stagedoor client list
for role in operator reviewer; do
  curl -sf -H "Authorization: Bearer $(stagedoor token --as $role)" http://127.0.0.1:${port}/api/v1/me
done
kill -INT $started; wait $started || true`
    const address = await administrator(postgres.url())
    const { output, failures } = await runOnTerminal(commands.replace(ADDRESS, address), {
      STAGEDOOR_HOME: join(folder, 'own-home'),
      PORT: String(port),
    })
    expect(failures, output).toEqual([])
    expect(output).toContain('"status":"ready"')
    expect(output, 'how to sign in').toContain('npm run -s stagedoor -- token --as operator')
    for (const said of ['"role":"operator"', '"role":"reviewer"', /[0-9a-f-]{36} +Northwind/]) {
      expect(output).toMatch(said)
    }
  } finally {
    await postgres.stop()
  }
})

/** What a managed PostgreSQL gives: CREATEROLE and a database of one's own. */
async function administrator(superuser: string): Promise<string> {
  const client = new pg.Client(superuser)
  await client.connect()
  await client.query(`create role admin login createrole password 'secret'`)
  await client.query('create database app owner admin')
  await client.end()
  const url = new URL(superuser)
  url.username = 'admin'
  url.password = 'secret'
  url.pathname = '/app'
  return url.toString()
}

/** In one bash on a pseudo terminal. Every question gets a yes; commands that fail are reported with their exit code. */
async function runOnTerminal(
  commands: string,
  extra: Record<string, string>,
): Promise<{ output: string; failures: string[] }> {
  const file = join(folder, 'commands.sh')
  const failed = join(folder, 'failed.txt')
  const report = `trap 'echo "$? $LINENO" >> "${failed}"' ERR`
  const script = `set -m\n${report}\n${commands}\n`
  writeFileSync(failed, '')
  writeFileSync(file, script)
  // A window as wide as most: commands fit their tables to it.
  const child = spawn('script', ['-qec', `stty cols 160; bash --noprofile --norc ${file}`, '/dev/null'], {
    cwd: ROOT,
    env: { ...plainEnvironment(), ...extra, TERM: 'dumb', NO_COLOR: '1' },
  })
  const output = collect(child)
  let answered = 0
  child.stdout.on('data', () => {
    const asked = output().split('[y/N]').length - 1
    for (; answered < asked; answered++) child.stdin.write('y\n')
  })
  await once(child, 'close')
  const failures = [...readFileSync(failed, 'utf8').matchAll(/^(\d+) (\d+)$/gm)].map(
    ([, code, line]) => `${code}: ${script.split('\n')[Number(line) - 1]}`,
  )
  return { output: output(), failures }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk
    })
  }
  return () => text
}

/** Nothing of the developer's own settings. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) }
}

function readBlocks(markdown: string): Block[] {
  const found: Block[] = []
  let section = ''
  for (const [, heading, language, text] of markdown.matchAll(/^## (.+)$|^```(\w+)\n([\s\S]*?)\n```$/gm)) {
    if (heading !== undefined) section = heading.replace(/ \(.*/, '')
    else found.push({ language: language!, section, text: text! })
  }
  return found
}
