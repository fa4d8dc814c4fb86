import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRoot } from '../../../../src/kernel/postgres/embedded/binaries.ts'
import { existingSecrets, readSecrets } from '../../../../src/kernel/postgres/embedded/cluster.ts'
import { startEmbedded } from '../../../../src/kernel/postgres/embedded/server.ts'
import { buildOwner, NOBODY, query, scratchFolder, startOwner } from './support.ts'

const scratch = scratchFolder()
const program = buildOwner(join(scratch, 'program'))
const LIMIT = 180_000
const options = (name: string) => ({ home: join(scratch, name), durability: 'throwaway' }) as const

describe('a home that cannot be written', { timeout: LIMIT }, () => {
  test('because a file is in its place or in its path', async () => {
    writeFileSync(join(scratch, 'file'), '')
    for (const home of [join(scratch, 'file'), join(scratch, 'file', 'below')]) {
      const failed = startEmbedded({ home })
      await expect(failed).rejects.toMatchObject({ code: 'home_not_writable', details: { home } })
      await expect(failed).rejects.toThrow('a file stands in its')
    }
  })

  test('because of its permissions', async () => {
    const closed = join(scratch, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o555)
    for (const name of ['closed', 'closed/below']) {
      const told = await startOwner(program, options(name), isRoot() ? NOBODY : undefined).next()
      expect(told).toMatchObject({ error: 'home_not_writable', details: { reason: 'permission denied' } })
    }
    chmodSync(closed, 0o755)
  })

  test.runIf(isRoot())('because its data belongs to another user', async () => {
    const { home } = options('others')
    const server = await startEmbedded(options('others'))
    await server.stop()
    for (const name of readdirSync(home)) chownSync(join(home, name), NOBODY, NOBODY)
    chownSync(home, NOBODY, NOBODY)
    chownSync(join(home, 'data-18'), 1, 1)
    const told = await startOwner(program, options('others'), NOBODY).next()
    expect(told).toMatchObject({ error: 'home_not_writable' })
    expect(told.message).toContain('belongs to another user (number 1)')
  })
})

describe('a home that is not complete', { timeout: LIMIT }, () => {
  const make = (name: string, files: Record<string, string>): string => {
    const { home } = options(name)
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(home, dirname(path)), { recursive: true })
      writeFileSync(join(home, path), content)
    }
    return home
  }

  test.each([
    ['no-version', { 'data-18/base/1': '' }, 'has no PG_VERSION'],
    ['no-marker', { 'data-18/PG_VERSION': '18\n' }, 'has no stagedoor.json'],
    [
      'other-version',
      { 'data-18/PG_VERSION': '17\n' },
      'of PostgreSQL 17, and this Stagedoor runs PostgreSQL 18',
    ],
    [
      'older-folder',
      { 'data-15/PG_VERSION': '15\n' },
      'of PostgreSQL 15, and this Stagedoor runs PostgreSQL 18',
    ],
    ['bad-secrets', { 'secrets.json': '{"jwtSecret":' }, 'secrets.json is not JSON'],
    ['few-secrets', { 'secrets.json': '{}' }, 'secrets.json has no valid superuserPassword'],
  ])('%s is refused and left as it is', async (name, files, reason) => {
    const home = make(name, files)
    for (let attempt = 0; attempt < 2; attempt++) {
      const failed = startEmbedded(options(name))
      await expect(failed).rejects.toMatchObject({ code: 'home_incomplete', details: { home } })
      await expect(failed).rejects.toThrow(reason)
    }
    for (const path of Object.keys(files)) expect(existsSync(join(home, path))).toBe(true)
  })

  test('whose secrets are not those of its data is refused', async () => {
    const { home } = options('swapped')
    await (await startEmbedded(options('swapped'))).stop()
    rmSync(join(home, 'secrets.json'))
    const failed = startEmbedded(options('swapped'))
    await expect(failed).rejects.toMatchObject({ code: 'home_incomplete' })
    await expect(failed).rejects.toThrow('secrets.json')
    expect(existsSync(join(home, 'data-18/postmaster.pid'))).toBe(false)
  })
})

describe('secrets', () => {
  test('are made once, the same for all who ask at once, and readable by their owner only', async () => {
    const { home } = options('secrets')
    mkdirSync(home)
    expect(await existingSecrets(home)).toBeUndefined()
    const all = await Promise.all(Array.from({ length: 10 }, () => readSecrets(home)))
    for (const secrets of all) expect(secrets).toEqual(all[0])
    const values = Object.values(all[0]!)
    expect(new Set(values).size).toBe(7)
    for (const value of values) expect(value).toMatch(/^[\w-]{43}$/)
    expect(statSync(join(home, 'secrets.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(home)).toEqual(['secrets.json'])
  })
})

describe.runIf(isRoot())('as root', { timeout: LIMIT }, () => {
  test('the server runs as a user without rights, and the data is that user’s', async () => {
    const server = await startEmbedded(options('as-root'))
    const { uid, mode } = statSync(server.dataDir)
    expect(uid).not.toBe(0)
    expect(mode & 0o777).toBe(0o700)
    expect(statSync(join(server.dataDir, 'postmaster.pid')).uid).toBe(uid)
    await server.stop()
  })

  test('data that root copied in gets a user again', async () => {
    const { home } = options('as-root')
    const { uid } = statSync(join(home, 'data-18'))
    const entries = readdirSync(join(home, 'data-18'), { recursive: true, encoding: 'utf8' })
    for (const path of ['', ...entries]) chownSync(join(home, 'data-18', path), 0, 0)
    const server = await startEmbedded(options('as-root'))
    expect(statSync(server.dataDir).uid).toBe(uid)
    await server.stop()
  })

  test('data of a home that this user cannot enter is placed elsewhere, and found there again', async () => {
    const closed = join(scratch, 'private')
    mkdirSync(closed, { mode: 0o700 })
    const notices: string[] = []
    const start = () => startEmbedded({ ...options('private/home'), notice: (line) => notices.push(line) })
    const first = await start()
    const elsewhere = dirname(first.dataDir)
    try {
      expect(elsewhere).toMatch(/^\/var\/lib\/stagedoor\/[0-9a-f]{16}$/)
      expect(notices.join()).toContain(elsewhere)
      await query(first.url(), 'set synchronous_commit = on; create table kept as select 42 as value')
      await first.stop()
      rmSync(join(closed, 'home', 'server.json'))
      const second = await start()
      expect(second.dataDir).toBe(first.dataDir)
      expect(await query(second.url(), 'select value from kept')).toEqual([{ value: 42 }])
      await second.stop()
      expect(notices).toHaveLength(2)
      expect(statSync(closed).mode & 0o777).toBe(0o700)
      expect(readdirSync(join(closed, 'home')).some((name) => name.startsWith('data'))).toBe(false)
    } finally {
      await first.stop()
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })

  test('a closed home that was deleted starts as a new one at the same path, beside data that nobody owns any more', async () => {
    const closed = join(scratch, 'deleted')
    mkdirSync(closed, { mode: 0o700 })
    const places: string[] = []
    try {
      for (let round = 0; round < 2; round++) {
        const server = await startEmbedded(options('deleted/home'))
        places.push(dirname(server.dataDir))
        expect(await query(server.url(), "select to_regclass('kept') as found")).toEqual([{ found: null }])
        await query(server.url(), 'create table kept as select 42 as value')
        await server.stop()
        rmSync(join(closed, 'home'), { recursive: true })
      }
      expect(new Set(places).size).toBe(2)
    } finally {
      for (const place of places) rmSync(place, { recursive: true, force: true })
    }
  })

  test('data that an older version placed elsewhere is found where the home remembers it', async () => {
    const { home } = options('remembered')
    const elsewhere = join(scratch, 'elsewhere')
    await (await startEmbedded(options('remembered'))).stop()
    mkdirSync(elsewhere)
    renameSync(join(home, 'data-18'), join(elsewhere, 'data-18'))
    writeFileSync(join(home, 'server.json'), JSON.stringify({ base: elsewhere }))
    const server = await startEmbedded(options('remembered'))
    expect(dirname(server.dataDir)).toBe(elsewhere)
    await server.stop()
  })
})
