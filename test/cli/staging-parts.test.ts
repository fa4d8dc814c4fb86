// @module-tag long
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../support/cli.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const folder = temporaryHome('staging-parts')
const home = join(folder, 'home')
const env = { STAGEDOOR_HOME: home }
const BYTES = Buffer.from([0, 1, 2, 27, 255, 254])
const MARKED = '\ufeffnom;coût\r\n'
let server: RunningCli
let api: string

beforeAll(async () => {
  const port = await freePort()
  api = `http://127.0.0.1:${port}/api/v1/staging`
  server = startCli(['start'], { ...env, PORT: String(port) })
  writeFileSync(join(folder, 'picture.bin'), BYTES)
  writeFileSync(join(folder, 'export.csv'), MARKED)
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

/** With bytes on standard input, and standard output as bytes. */
async function staging(args: readonly string[], input: string | Buffer = '', settings = {}) {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [MAIN, 'staging', ...args], {
    env: { PATH, HOME, NO_COLOR: '1', ...env, ...settings },
  })
  const out: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk) => out.push(chunk))
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  // A command that refuses does not read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: Buffer.concat(out), stderr }
}

const EXCERPT = ['--kind', 'agent_intermediate', '--type', 'source_excerpt']
async function create(args: readonly string[], input?: string | Buffer) {
  const { code, stdout, stderr } = await staging(
    ['create', ...EXCERPT, '--purpose', 'try', '--json', ...args],
    input,
  )
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout.toString()) as {
    staging_record_id: string
    content_hash: string
    created: boolean
  }
}

/** Whole blobs and drafts. */
function filesInStore(): string[] {
  const found = readdirSync(home).includes('blobs')
    ? readdirSync(join(home, 'blobs'), { recursive: true, encoding: 'utf8', withFileTypes: true })
    : []
  return found.filter((entry) => entry.isFile()).map(({ name }) => name)
}

it('what is staged cannot rewrite the terminal of whoever reviews it', async () => {
  const made = await create([
    ...['--purpose', 'harmless\u001b]0;owned\u0007\n✔ Approved'],
    ...['--part', `we\u202eird:text=start\u001b[2J\rdone \u009b31m${'x'.repeat(200)}\nsecond`],
  ])
  for (const args of [['show', made.staging_record_id], ['list']]) {
    const text = (await staging(args)).stdout.toString()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    expect(text).toContain('harmless␛]0;owned␇␊✔ Approved')
  }
  const shown = (await staging(['show', made.staging_record_id])).stdout.toString()
  expect(shown).toContain('we\\u202eird')
  expect(shown).toMatch(/start␛\[2J␍done \\u009b31mx+…\n {3}second/)
  // For machines it is exact.
  const part = await staging(['show', made.staging_record_id, '--part', '0'])
  expect(part.stdout.toString()).toBe(`start\u001b[2J\rdone \u009b31m${'x'.repeat(200)}\nsecond`)
  const json = JSON.parse((await staging(['show', made.staging_record_id, '--json'])).stdout.toString())
  expect(json.record.purpose).toBe('harmless\u001b]0;owned\u0007\n✔ Approved')
})

it('a blob comes from a file or standard input, and is printed as it is held', async () => {
  const made = await create(
    ['--part', `picture=@${join(folder, 'picture.bin')}`, '--part', 'piped:blob=-'],
    Buffer.concat([BYTES, BYTES]),
  )
  const print = (part: string) => staging(['show', made.staging_record_id, '--part', part])
  expect((await print('0')).stdout).toEqual(BYTES)
  expect((await print('1')).stdout).toEqual(Buffer.concat([BYTES, BYTES]))

  const json = JSON.parse((await staging(['show', made.staging_record_id, '--json'])).stdout.toString())
  const name = (json.parts[0].blob_ref as string).split(':')[1]!
  const changed = Buffer.from(BYTES)
  changed[0] = 9
  writeFileSync(join(home, 'blobs', name.slice(0, 2), name), changed)
  expect(await print('0')).toMatchObject({ code: 7 })
  expect(await staging(['consume', made.staging_record_id])).toMatchObject({ code: 7 })
  expect(await staging(['health'])).toMatchObject({ code: 7 })
})

it('no blob is left of a record that did not come to be', async () => {
  const blob = ['--part', `a=@${join(folder, 'picture.bin')}`]
  await create(['--key', 'once', ...blob])
  const before = filesInStore().sort()
  expect(await create(['--key', 'once', ...blob])).toMatchObject({ created: false })
  const refused = async (exit: number, words: RegExp, args: string[], input?: Buffer) => {
    const { code, stderr } = await staging(['create', ...EXCERPT, '--purpose', 'try', ...args], input)
    expect({ args, code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(words) })
    expect(filesInStore().sort()).toEqual(before)
  }
  await refused(2, /in the future/, ['--expires-at', '2001-01-01', ...blob])
  await refused(2, /There is no file/, [...blob, '--part', 'b:blob=@/nowhere'])
  await refused(2, /not valid UTF-8/, [...blob, '--part', 'b:text=-'], BYTES)
  await refused(2, /not valid UTF-8/, [...blob, '--part', 'b:json=-'], BYTES)
  await refused(2, /Only one part/, ['--part', 'a:blob=-', '--part', 'b=-'], BYTES)
  await refused(2, /a blob comes from/, ['--part', 'a:blob=words'])
  await refused(2, /--metadata is not JSON/, ['--metadata', '{}, "owner_actor": "me"', ...blob])
  await refused(5, /right to stage/, ['--as', 'viewer', ...blob])
  const large = await staging(
    ['create', ...EXCERPT, '--purpose', 'try', '--part', 'a:blob=-'],
    Buffer.alloc(2000),
    { STAGEDOOR_BLOB_LIMIT: '1024' },
  )
  expect(large).toMatchObject({ code: 2, stderr: expect.stringContaining('STAGEDOOR_BLOB_LIMIT') })
  expect(filesInStore().sort()).toEqual(before)
  await runCli(['gate', 'close', 'iu_core.staging_writes_enabled'], env)
  await refused(5, /gate open/, blob)
  await runCli(['gate', 'open', 'iu_core.staging_writes_enabled'], env)
})

it('a text has one digest, whichever way it comes', async () => {
  const fromFile = await create(['--as', 'agent', '--part', `rows=@${join(folder, 'export.csv')}`])
  const piped = await create(['--as', 'agent', '--part', 'rows=-'], MARKED)
  const { token, workspace_id } = JSON.parse(
    (await runCli(['token', '--as', 'agent', '--json'], env)).stdout,
  ) as { token: string; workspace_id: string }
  const record = {
    workspace_id,
    staging_kind: 'agent_intermediate',
    payload_type: 'source_excerpt',
    purpose: 'try',
  }
  const form = new FormData()
  form.append('record', JSON.stringify(record))
  form.append('rows', new Blob([MARKED], { type: 'text/csv' }), 'export.csv')
  const answer = await fetch(api, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  expect(answer.status).toBe(201)
  const sent = (await answer.json()) as { content_hash: string }
  expect([fromFile.content_hash, piped.content_hash]).toEqual([sent.content_hash, sent.content_hash])
})

it('whoever decides is a member of the record’s own workspace', async () => {
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli([...args, '--json'], env)
    expect({ args, code, stderr }).toMatchObject({ code: 0 })
    return JSON.parse(stdout)
  }
  const part = ['--part', 'a:text=x']
  const [first] = (await cli('workspace', 'list')) as { id: string }[]
  await cli('workspace', 'create', 'Other')
  const here = await create(['--workspace', first!.id, ...part])
  const there = await create(['--workspace', 'Other', ...part])
  const reject = (id: string, ...args: string[]) => ['staging', 'reject', id, '--reason', 'no', ...args]

  const nobody = await runCli(reject(there.staging_record_id, '--as', 'reviewer'), env)
  expect(nobody).toMatchObject({ code: 8, stderr: expect.stringContaining('workspace of the record') })
  const one = await cli('member', 'add', '--workspace', 'Other', '--role', 'reviewer')
  const two = await cli('member', 'add', '--workspace', 'Other', '--role', 'reviewer')
  expect(await runCli(reject(here.staging_record_id, '--user', one.user_id), env)).toMatchObject({ code: 8 })
  await cli(...reject(here.staging_record_id, '--as', 'reviewer'))
  for (const { user_id } of [one, two]) {
    const made = await create(['--workspace', 'Other', ...part])
    await cli(...reject(made.staging_record_id, '--user', user_id))
    const { record } = await cli('staging', 'show', made.staging_record_id)
    expect(record.rejected_by).toBe(user_id)
  }
  await cli(...reject(there.staging_record_id, '--as', 'reviewer'))
})
