// @module-tag long
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type Account,
  chooseAccount,
  isRoot,
  packageFolder,
} from '../../../../src/kernel/postgres/embedded/binaries.ts'
import {
  buildOwnerWithBarePackages,
  linkTargets,
  NOBODY,
  query,
  scratchFolder,
  startOwner,
} from './support.ts'

const scratch = scratchFolder()
const LIMIT = 180_000

describe('packages installed without scripts', { timeout: LIMIT }, () => {
  test('are completed in place, also by two processes at once', async () => {
    const { program, native } = buildOwnerWithBarePackages(join(scratch, 'bare'))
    const links = linkTargets(dirname(native))
    expect(links.filter((path) => existsSync(path))).toEqual([])
    // A link that leads nowhere is as bad as none.
    if (links[0]) symlinkSync('nowhere', links[0])

    const homes = ['first', 'second'].map((name) => join(scratch, name))
    const owners = homes.map((home) => startOwner(program, { home, durability: 'throwaway' }))
    for (const owner of owners) {
      const told = await owner.next()
      expect(told.message).toBeUndefined()
      expect(await query(told.url!, 'select 1 as one')).toEqual([{ one: 1 }])
      owner.say('stop')
      await owner.ended
    }
    for (const path of links) expect(lstatSync(path).isSymbolicLink() && existsSync(path)).toBe(true)
    expect(readdirSync(join(native, 'lib')).filter((name) => /\.\d+-[0-9a-f]{8}$/.test(name))).toEqual([])
    expect(statSync(join(native, 'bin/postgres')).mode & 0o111).toBe(0o111)
    for (const home of homes)
      expect(readdirSync(home).some((name) => name.startsWith('binaries'))).toBe(false)
  })

  test('in a folder that cannot be written are copied into the home, once', async () => {
    const { program, native } = buildOwnerWithBarePackages(join(scratch, 'read-only'))
    const folders = [native, join(native, 'lib'), join(native, 'bin')]
    for (const folder of folders) chmodSync(folder, 0o555)
    onTestFinished(() => {
      for (const folder of folders) chmodSync(folder, 0o755)
    })
    const home = join(scratch, 'copied')
    mkdirSync(home)
    chmodSync(home, 0o777)
    for (const copies of [1, 0]) {
      const owner = startOwner(program, { home, durability: 'throwaway' }, isRoot() ? NOBODY : undefined)
      const told = await owner.next()
      expect(told.message).toBeUndefined()
      expect(told.notices?.filter((line) => line.includes('copied to'))).toHaveLength(copies)
      expect(await query(told.url!, 'select 1 as one')).toEqual([{ one: 1 }])
      owner.say('stop')
      await owner.ended
    }
    expect(linkTargets(dirname(native)).filter((path) => existsSync(path))).toEqual([])
  })

  test.runIf(isRoot())('that the user of the server cannot reach are copied', async () => {
    mkdirSync(join(scratch, 'private'), { mode: 0o700 })
    const { program } = buildOwnerWithBarePackages(join(scratch, 'private', 'clone'))
    const home = join(scratch, 'private', 'clone', '.stagedoor')
    const owner = startOwner(program, { home, durability: 'throwaway' })
    const told = await owner.next()
    try {
      expect(told.message).toBeUndefined()
      expect(told.notices).toHaveLength(2)
      expect(await query(told.url!, 'select 1 as one')).toEqual([{ one: 1 }])
    } finally {
      owner.say('stop')
      await owner.ended
      if (told.dataDir) rmSync(dirname(told.dataDir), { recursive: true, force: true })
    }
  })
})

describe('a platform', () => {
  test.each([
    ['sunos', 'sparc'],
    ['win32', 'x64'],
  ])('%s %s without programs is named, with the way out', (platform, arch) => {
    const resolve = () => packageFolder(18, platform, arch)
    expect(resolve).toThrow(expect.objectContaining({ code: 'embedded_unsupported' }))
    expect(resolve).toThrow(expect.objectContaining({ hint: expect.stringContaining('DATABASE_URL') }))
  })
})

describe('the user of the server', () => {
  const account = (name: string): Account => ({ name, uid: 7, gid: 7 })
  const choose = async (existing: string[], creates: boolean) => {
    const notices: string[] = []
    const system = {
      find: async (name: string) => (existing.includes(name) ? account(name) : undefined),
      create: async (name: string) => {
        if (creates) existing.push(name)
        return creates
      },
    }
    const chosen = await chooseAccount((line) => notices.push(line), system)
    return { name: chosen?.name, notices: notices.length }
  }

  test('is postgres, else a user of ours, else nobody, and is announced when it is not the first', async () => {
    expect(await choose(['postgres', 'nobody'], true)).toEqual({ name: 'postgres', notices: 0 })
    expect(await choose(['stagedoor', 'nobody'], true)).toEqual({ name: 'stagedoor', notices: 0 })
    expect(await choose(['nobody'], true)).toEqual({ name: 'stagedoor', notices: 1 })
    expect(await choose(['nobody'], false)).toEqual({ name: 'nobody', notices: 1 })
    expect(await choose([], false)).toEqual({ name: undefined, notices: 0 })
  })
})
