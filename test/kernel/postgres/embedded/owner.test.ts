// @module-tag long
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive, pollUntil } from '../../../../src/kernel/postgres/embedded/postmaster.ts'
import { startEmbedded } from '../../../../src/kernel/postgres/embedded/server.ts'
import { buildOwner, query, scratchFolder, startOwner, type Told } from './support.ts'

const scratch = scratchFolder()
const program = buildOwner(join(scratch, 'program'))
const LIMIT = 180_000
const options = (name: string) => ({ home: join(scratch, name), durability: 'throwaway' }) as const

function postmasterOf({ dataDir }: Told): number {
  return Number(readFileSync(join(dataDir!, 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** The shell that waits for the end of the owner; its command line names the data folder. */
function watchersOf({ dataDir }: Told): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return lines
    .filter((line) => line.includes('/bin/sh -c') && line.includes(dataDir!))
    .map((line) => Number.parseInt(line, 10))
}

describe('a killed owner', { timeout: LIMIT }, () => {
  test('takes its server along, and the next start finds the data', async () => {
    const owner = startOwner(program, options('killed'))
    const told = await owner.next()
    await query(told.url!, 'set synchronous_commit = on; create table kept as select 42 as value')
    const pid = postmasterOf(told)
    owner.child.kill('SIGKILL')
    await owner.ended
    expect(await pollUntil(() => !isAlive(pid) && watchersOf(told).length === 0, LIMIT)).toBe(true)

    const server = await startEmbedded(options('killed'))
    expect(await query(server.url(), 'select value from kept')).toEqual([{ value: 42 }])
    await server.stop()
  })

  test('does not block a start at the very next moment', async () => {
    const owner = startOwner(program, options('killed'))
    const told = await owner.next()
    owner.child.kill('SIGKILL')
    await owner.ended
    const server = await startEmbedded(options('killed'))
    expect(server.port).toBe(told.port)
    await server.stop()
  })

  test('whose watcher is killed too leaves an orphan that the next start ends', async () => {
    const owner = startOwner(program, options('killed'))
    const told = await owner.next()
    const orphan = postmasterOf(told)
    for (const pid of watchersOf(told)) process.kill(pid, 'SIGKILL')
    owner.child.kill('SIGKILL')
    await owner.ended
    expect(isAlive(orphan)).toBe(true)
    expect(await query(told.url!, 'select value from kept')).toEqual([{ value: 42 }])

    const notices: string[] = []
    const server = await startEmbedded({ ...options('killed'), notice: (line) => notices.push(line) })
    expect(isAlive(orphan)).toBe(false)
    expect(notices.join()).toContain(`process ${orphan}`)
    expect(await query(server.url(), 'select value from kept')).toEqual([{ value: 42 }])
    await server.stop()
  })

  test('in the middle of initdb leaves nothing that counts', async () => {
    const { home } = options('interrupted')
    const owner = startOwner(program, options('interrupted'))
    const begun = () => existsSync(home) && readdirSync(home).some((name) => /^data-18\.new-/.test(name))
    expect(await pollUntil(begun, LIMIT)).toBe(true)
    owner.child.kill('SIGKILL')
    await owner.ended
    expect(existsSync(join(home, 'data-18'))).toBe(false)

    const server = await startEmbedded(options('interrupted'))
    expect(await query(server.url(), 'select 1 as one')).toEqual([{ one: 1 }])
    await server.stop()
    expect(readdirSync(home).filter((name) => name.includes('new-'))).toEqual([])
  })
})

describe('a live owner', { timeout: LIMIT }, () => {
  test('keeps the home for itself pollUntil it stops', async () => {
    const owner = startOwner(program, options('kept'))
    const told = await owner.next()
    const second = startEmbedded(options('kept'))
    await expect(second).rejects.toMatchObject({ code: 'home_in_use', details: { pid: owner.child.pid } })
    expect(await query(told.url!, 'select 1 as one')).toEqual([{ one: 1 }])
    owner.say('stop')
    await owner.ended
    const third = await startEmbedded(options('kept'))
    await third.stop()
  })

  test('decides itself what Ctrl-C means: the signal does not reach its server', async () => {
    const owner = startOwner(program, options('kept'))
    const told = await owner.next()
    process.kill(-owner.child.pid!, 'SIGINT')
    expect(await owner.next()).toEqual({ signal: 'SIGINT' })
    expect(await query(told.url!, 'select 1 as one')).toEqual([{ one: 1 }])
    owner.say('stop')
    await owner.ended
  })

  test('that forgets to stop can end all the same, and its server with it', async () => {
    const owner = startOwner(program, options('kept'))
    const told = await owner.next()
    const pid = postmasterOf(told)
    owner.say('leave')
    await owner.ended
    expect(await pollUntil(() => !isAlive(pid), LIMIT)).toBe(true)
  })

  test('is one of many that wanted to be: a fresh home and one with a stale lock have one winner', async () => {
    for (let round = 0; round < 2; round++) {
      const owners = Array.from({ length: 4 }, () => startOwner(program, options('contended')))
      const told = await Promise.all(owners.map((owner) => owner.next()))
      const winners = owners.filter((_, index) => told[index]!.url !== undefined)
      expect(winners).toHaveLength(1)
      expect(told.filter(({ error }) => error === 'home_in_use')).toHaveLength(3)
      expect(await query(told.find(({ url }) => url)!.url!, 'select 1 as one')).toEqual([{ one: 1 }])
      winners[0]!.child.kill('SIGKILL')
      await Promise.all(owners.map(({ ended }) => ended))
    }
    const server = await startEmbedded(options('contended'))
    await server.stop()
  })
})
