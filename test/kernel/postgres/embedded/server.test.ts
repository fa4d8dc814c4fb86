import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { StagedoorError } from '../../../../src/kernel/errors.ts'
import { identityOf, isAlive, pollUntil } from '../../../../src/kernel/postgres/embedded/postmaster.ts'
import {
  type EmbeddedServer,
  findRunning,
  startEmbedded,
} from '../../../../src/kernel/postgres/embedded/server.ts'
import { query, scratchFolder } from './support.ts'

const scratch = scratchFolder()
const LIMIT = 180_000

describe.each([18, 15] as const)('PostgreSQL %i', { timeout: LIMIT }, (version) => {
  const home = join(scratch, `versions-${version}`)
  const start = (): Promise<EmbeddedServer> => startEmbedded({ home, version, durability: 'throwaway' })
  let server: EmbeddedServer

  beforeAll(async () => {
    // The caller's locale must not matter.
    const { LC_ALL, LANG } = process.env
    Object.assign(process.env, { LC_ALL: 'POSIX', LANG: 'no_SUCH' })
    server = await start()
    return async () => {
      await server.stop()
      for (const [name, value] of Object.entries({ LC_ALL, LANG })) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  }, LIMIT)

  test('takes connections as the version asked for', async () => {
    const [row] = await query(server.url(), 'show server_version')
    expect(row?.server_version).toMatch(new RegExp(`^${version}\\.`))
    expect(server.majorVersion).toBe(version)
  })

  test('stores UTF-8 and lower-cases Vietnamese, in text search too', async () => {
    const sql = `select lower('Đ') as lower, current_setting('server_encoding') as encoding,
                        to_tsvector('simple', 'ĐƯỜNG')::text as lexemes`
    expect(await query(server.url(), sql)).toEqual([{ lower: 'đ', encoding: 'UTF8', lexemes: "'đường':1" }])
  })

  test('asks for the password over scram and leaves no password file', async () => {
    const wrong = server.url().replace(/:[^:@]+@/, ':wrong@')
    await expect(query(wrong, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    const methods = await query(server.url(), 'select distinct auth_method from pg_hba_file_rules')
    expect(methods).toEqual([{ auth_method: 'scram-sha-256' }])
    expect(readdirSync(home).filter((name) => name.includes('new-'))).toEqual([])
  })

  test('listens on 127.0.0.1 only', async () => {
    const sql = `select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as unix`
    expect(await query(server.url(), sql)).toEqual([{ tcp: '127.0.0.1', unix: '' }])
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((at) => at?.family === 'IPv4' && !at.internal)
    if (outside)
      await expect(query(server.url().replace('127.0.0.1', outside.address), 'select 1')).rejects.toThrow()
  })

  test('keeps data and port from one start to the next, and nothing runs in between', async () => {
    await query(server.url(), 'create table kept as select 42 as value')
    const pid = Number(readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    await server.stop()
    expect(isAlive(pid)).toBe(false)
    const { port } = server
    server = await start()
    expect(server.port).toBe(port)
    expect(await query(server.url(), 'select value from kept')).toEqual([{ value: 42 }])
  })
})

describe('one server', { timeout: LIMIT }, () => {
  const home = join(scratch, 'one')
  const notices: string[] = []
  const start = (more = {}): Promise<EmbeddedServer> =>
    startEmbedded({ home, durability: 'throwaway', notice: (line) => notices.push(line), ...more })
  let server: EmbeddedServer

  beforeAll(async () => {
    server = await start({ settings: { work_mem: '7MB' } })
    return () => server.stop()
  }, LIMIT)

  test('runs with settings for a small machine and those given', async () => {
    const names = [
      'shared_buffers',
      'max_connections',
      'wal_level',
      'fsync',
      'synchronous_commit',
      'work_mem',
    ]
    const [row] = await query(
      server.url(),
      `select ${names.map((name) => `current_setting('${name}') as ${name}`)}`,
    )
    expect(Object.values(row!)).toEqual(['128MB', '200', 'replica', 'off', 'off', '7MB'])
  })

  test('keeps what was committed over a crash, on the same port', async () => {
    await query(server.url(), 'set synchronous_commit = on; create table crashed as select 1 as value')
    for (const mode of ['immediate', 'fast'] as const) {
      const { port } = server
      await server.restart(mode)
      expect(server.port).toBe(port)
      expect(await query(server.url(), 'select value from crashed')).toEqual([{ value: 1 }])
    }
    expect(readFileSync(server.logFile, 'utf8')).toContain('automatic recovery in progress')
  })

  const postmasterPid = (): number =>
    Number(readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
  const answers = (): Promise<boolean> =>
    query(server.url(), 'select 1').then(
      () => true,
      () => false,
    )

  test('a server that was killed is started again by itself, although a backend is still busy', async () => {
    const busy = query(server.url(), '/* busy */ select count(*) from generate_series(1, 1e12)').catch(
      () => 'lost',
    )
    const sql = `select 1 from pg_stat_activity where query like '/* busy%' and state = 'active'`
    expect(await pollUntil(async () => (await query(server.url(), sql)).length > 0, LIMIT)).toBe(true)
    expect(server.health()).toMatchObject({ name: 'embedded_postgres', ok: true })
    process.kill(postmasterPid(), 'SIGKILL')
    expect(await pollUntil(() => !server.health().ok, LIMIT)).toBe(true)
    expect(server.health().detail).toMatch(/^down since .* ended by SIGKILL/)
    expect(await findRunning(home)).toBeUndefined()
    expect(await pollUntil(() => server.health().ok, LIMIT)).toBe(true)
    expect(await busy).toBe('lost')
    expect(await query(server.url(), 'select value from crashed')).toEqual([{ value: 1 }])
    expect(notices.filter((line) => line.includes('ended by itself'))).toHaveLength(1)
    expect(notices.filter((line) => line.includes('is running again'))).toHaveLength(1)
  })

  test('a second crash in a row is recovered from, too, and a restart may come in between', async () => {
    process.kill(postmasterPid(), 'SIGKILL')
    expect(await pollUntil(() => !server.health().ok, LIMIT)).toBe(true)
    await server.restart('fast')
    expect(server.health().ok).toBe(true)
    expect(await answers()).toBe(true)
  })

  test('is found by others when its owner has said that it stays, and refuses a second start', async () => {
    expect(await findRunning(home)).toBeUndefined()
    await server.announce()
    const found = await findRunning(home)
    expect(found).toMatchObject({ port: server.port, pid: process.pid })
    expect(await query(found!.url('template1'), 'select current_database() as name')).toEqual([
      { name: 'template1' },
    ])
    await expect(start()).rejects.toMatchObject({ code: 'home_in_use', details: { pid: process.pid, home } })
    expect(await query(server.url(), 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('stops once however often it is asked, and is no longer found', async () => {
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(await findRunning(home)).toBeUndefined()
    await expect(server.restart('fast')).rejects.toThrow()
  })

  test('takes another port when the remembered one is taken', async () => {
    const squatter = createServer().listen(server.port, '127.0.0.1')
    const taken = server.port
    server = await start()
    expect(server.port).not.toBe(taken)
    await server.stop()
    squatter.close()
  })

  test('ignores a pid file that names a live process which is no server', async () => {
    // Of the server's own user: PostgreSQL takes such a one for a server.
    const { uid, gid } = statSync(server.dataDir)
    const bystander = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', uid, gid })
    const line = `${bystander.pid}\n${server.dataDir}\n1\n1\n\n127.0.0.1\n\nready\n`
    writeFileSync(join(server.dataDir, 'postmaster.pid'), line)
    server = await start()
    expect(isAlive(bystander.pid!)).toBe(true)
    bystander.stdin.end()
    await server.stop()
  })

  test('shows the last lines of the log when it does not start, and can be started afterwards', async () => {
    const failed = start({ settings: { shared_buffers: 'plenty' } })
    await expect(failed).rejects.toMatchObject({
      code: 'embedded_start_failed',
      details: { log: server.logFile },
    })
    await expect(failed).rejects.toThrow(/invalid value for parameter "shared_buffers": "plenty"/)
    server = await start()
    await server.stop()
  })

  test('refuses settings that it decides itself', async () => {
    for (const name of ['port', 'listen_addresses', 'a b']) {
      await expect(start({ settings: { [name]: '1' } })).rejects.toMatchObject({ code: 'argument_invalid' })
    }
  })

  test('starts a new log when the old one is over 10 MB', async () => {
    truncateSync(server.logFile, 10 * 1024 * 1024 + 1)
    server = await start()
    await server.stop()
    expect(statSync(`${server.logFile}.1`).size).toBe(10 * 1024 * 1024 + 1)
    expect(statSync(server.logFile).size).toBeLessThan(100_000)
  })

  test('a lock of a dead, a reused and a released process does not count, one of a live process does', async () => {
    const latest = (): string => join(home, readdirSync(home).find((name) => name.startsWith('lock.'))!)
    const holder = process.ppid
    for (const content of [
      { pid: 2 ** 22 + 1, identity: 'x' },
      { pid: holder, identity: 'another' },
      { pid: holder, identity: identityOf(holder), released: true },
    ]) {
      writeFileSync(latest(), JSON.stringify(content))
      server = await start()
      await server.stop()
    }
    writeFileSync(latest(), JSON.stringify({ pid: holder, identity: identityOf(holder) }))
    await expect(start()).rejects.toMatchObject({ code: 'home_in_use', details: { pid: holder } })
    writeFileSync(latest(), '')
    server = await start()
    await server.stop()
    expect(readdirSync(home).filter((name) => /^(lock|claim)/.test(name))).toHaveLength(1)
  })
})

describe('a server that cannot be started again', { timeout: LIMIT }, () => {
  const kill = ({ dataDir }: EmbeddedServer): void => {
    const pid = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }

  test('is tried with backoff pollUntil the limit, then given up with the reason, and stops cleanly', async () => {
    const home = join(scratch, 'given-up')
    const notices: string[] = []
    const notice = (line: string): void => void notices.push(line)
    const server = await startEmbedded({ home, durability: 'throwaway', notice, restartLimitMs: 5000 })
    const control = join(server.dataDir, 'global/pg_control')
    renameSync(control, `${control}.away`)
    kill(server)
    const error = await server.lost
    expect(error).toMatchObject({ code: 'embedded_lost', exitCode: 4 })
    expect(error.message).toContain('pg_control')
    expect(Number(error.details.attempts)).toBeGreaterThan(1)
    expect(server.health()).toMatchObject({ ok: false })
    await server.stop()
    renameSync(`${control}.away`, control)
    const again = await startEmbedded({ home, durability: 'throwaway' })
    await again.stop()
  })

  test('comes back by itself as soon as what kept it from starting is gone, as a full disk is', async () => {
    const home = join(scratch, 'comes-back')
    const notices: string[] = []
    const notice = (line: string): void => void notices.push(line)
    const server = await startEmbedded({ home, durability: 'throwaway', notice })
    await query(server.url(), 'set synchronous_commit = on; create table kept as select 42 as value')
    const control = join(server.dataDir, 'global/pg_control')
    renameSync(control, `${control}.away`)
    kill(server)
    const failed = () => notices.some((line) => line.includes('could not be started (attempt 2)'))
    expect(await pollUntil(failed, LIMIT)).toBe(true)
    expect(server.health().ok).toBe(false)
    renameSync(`${control}.away`, control)
    expect(await pollUntil(() => server.health().ok, LIMIT)).toBe(true)
    expect(await query(server.url(), 'select value from kept')).toEqual([{ value: 42 }])
    await server.stop()
  })

  test('is given up, too, when it starts every time and ends again soon', async () => {
    const home = join(scratch, 'flapping')
    const server = await startEmbedded({ home, durability: 'throwaway', restartLimitMs: 1500 })
    let error: StagedoorError | undefined
    void server.lost.then((reason) => {
      error = reason
    })
    const killAgain = (): boolean => {
      if (error === undefined && server.health().ok) kill(server)
      return error !== undefined
    }
    expect(await pollUntil(killAgain, LIMIT)).toBe(true)
    expect(error).toMatchObject({ code: 'embedded_lost', exitCode: 4 })
    expect(error!.message).toContain('SIGKILL')
    await server.stop()
  })

  test('is not tried any longer once it is stopped', async () => {
    const home = join(scratch, 'stopped-meanwhile')
    const server = await startEmbedded({ home, durability: 'throwaway' })
    const control = join(server.dataDir, 'global/pg_control')
    renameSync(control, `${control}.away`)
    kill(server)
    expect(await pollUntil(() => !server.health().ok, LIMIT)).toBe(true)
    await server.stop()
    expect(await findRunning(home)).toBeUndefined()
  })
})
