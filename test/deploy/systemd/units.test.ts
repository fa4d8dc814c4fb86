/** The units of systemd: known settings only, hardened, and with commands and settings that the product has. */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'
import { parseProblem } from '../../docs/commands.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { DEPLOY, deployFiles, readDeploy, SETTINGS } from '../files.ts'

const PROGRAM = process.env.SYSTEMD_ANALYZE_PATH ?? 'systemd-analyze'
/** 9.6 is a unit without any protection, 0 one that can do nothing. */
const MAX_EXPOSURE = 3

const folder = temporaryHome('units')
const units = deployFiles('systemd', '.service').map((path) => [basename(path), path] as const)

describe.each(units)('%s', (name, path) => {
  const text = readDeploy(path)
  const value = (setting: string) => new RegExp(`^${setting}=(.*)$`, 'm').exec(text)?.[1]

  it('is accepted by systemd without a complaint', () => {
    expect(complaints(name, text)).toBe('')
    expect(complaints(name, text.replace('ProtectClock=', 'ProtectClocks='))).toContain('ProtectClocks')
  })

  it('is exposed to little', () => {
    const said = execFileSync(PROGRAM, ['security', '--offline=true', '--no-pager', join(DEPLOY, path)], {
      encoding: 'utf8',
    })
    const [, score] = /Overall exposure level for \S+: ([\d.]+)/.exec(said)!
    console.log(`${name}: exposure ${score}`)
    expect(Number(score)).toBeLessThanOrEqual(MAX_EXPOSURE)
  })

  it('runs a command that exists, as a user without rights, and has time to drain', async () => {
    const [program, ...words] = value('ExecStart')!.split(' ')
    expect(program).toBe('stagedoor')
    expect(parseProblem(await createProgram(), words)).toBeUndefined()
    expect(value('User')).toBe('stagedoor')
    expect(readDeploy('systemd/stagedoor.sysusers')).toMatch(/^u stagedoor /m)
    expect(value('TimeoutStopSec')).toBe('90')
    // Node compiles at run time, so this would kill it.
    expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m)
  })

  it('reads its settings from a file of which there is an example', () => {
    const example = readDeploy(`systemd/${basename(value('EnvironmentFile')!)}.example`)
    const settings = [...example.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, setting]) => setting!)
    expect(settings.filter((setting) => !SETTINGS.has(setting))).toEqual([])
    if (name.includes('remote'))
      expect(settings.filter((setting) => setting.includes('DATABASE'))).toEqual([])
    else expect(settings).toContain('DATABASE_URL')
  })
})

/** What verify says; it ends with 0 whatever it finds. The program itself need not be on this machine. */
function complaints(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text.replace('ExecStart=stagedoor', `ExecStart=${process.execPath}`))
  const { stderr } = spawnSync(PROGRAM, ['verify', '--man=no', file], { encoding: 'utf8' })
  // Other units of this machine are loaded, too.
  return stderr
    .split('\n')
    .filter((line) => line.includes(name))
    .join('\n')
}
