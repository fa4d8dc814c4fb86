import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/kernel/version.ts'
import { runCli, startCli } from '../support/cli.ts'

it('names what leaves out a word of a question, where an option is not known', async () => {
  for (const words of [
    ['patterns', '-puzzles'],
    ['find', 'status', '-puzzles'],
  ])
    expect(await runCli(['search', ...words])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--without puzzles'),
    })
  expect((await runCli(['search', 'status', '-puzzles'])).stderr).not.toContain('--without')
})

describe('help', () => {
  it('of a command within a command is that command’s own', async () => {
    const { code, stdout } = await runCli(['help', 'upload', 'repair'])
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Usage: stagedoor upload repair/),
    })
    expect((await runCli(['help'])).stdout).toContain('Start here:')
    expect(await runCli(['help', 'upload', 'nonsense'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no command upload nonsense'),
    })
  })

  it('is cut off without a word where its reader has seen enough', async () => {
    const help = startCli(['staging', '--help'])
    // Long before the process writes: it has not even been loaded.
    help.child.stdout!.destroy()
    const [code] = await once(help.child, 'close')
    expect({ code, said: help.output() }).toEqual({ code: 0, said: '' })
  })

  it('teaches: what it is, where to start, the exit codes', async () => {
    const { code, stdout } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const part of ['Pull requests for production data', 'Start here', 'Exit codes', 'DATABASE_URL']) {
      expect(stdout).toContain(part)
    }
  })

  it('exists for every command', async () => {
    for (const command of [
      'start',
      'migrate',
      'doctor',
      'config',
      'gate',
      'event',
      'token',
      'login',
      'completion',
    ]) {
      const { code, stdout } = await runCli([command, '--help'])
      expect([command, code]).toEqual([command, 0])
      expect(stdout).toContain(`stagedoor ${command}`)
    }
  })

  it('version is the package’s', async () => {
    expect((await runCli(['--version'])).stdout.trim()).toBe(VERSION)
  })
})

describe('a command that is not understood exits with 2', () => {
  it('unknown command, with the nearest one', async () => {
    const { code, stderr } = await runCli(['migrat'])
    expect(code).toBe(2)
    expect(stderr).toContain('migrate')
  })

  it('unknown option, missing argument, wrong choice, wrong number', async () => {
    for (const args of [
      ['gate', 'list', '--nonsense'],
      ['gate', 'open'],
      ['token', '--as', 'king'],
      ['event', 'list', '--limit', 'x'],
    ]) {
      const { code, stderr } = await runCli(args)
      expect([args, code]).toEqual([args, 2])
      expect(stderr).toMatch(/✖/)
    }
  })

  it('says what the command takes, of a command within a command, too', async () => {
    for (const [args, usage] of [
      [['upload', 'show'], 'Usage: stagedoor upload show [options] <id>'],
      [['token', '--as', 'king'], 'Usage: stagedoor token [options]'],
      [['token', '--expires-in', 'soon'], 'Usage: stagedoor token [options]'],
    ] as const) {
      expect((await runCli(args)).stderr).toContain(usage)
    }
  })

  it('as JSON when asked', async () => {
    const { stderr } = await runCli(['nonsense', '--json'])
    expect(JSON.parse(stderr).error.code).toBe('argument_invalid')
  })
})

describe('configuration', () => {
  it('prints what is in force and where it came from, with secrets masked', async () => {
    const { stdout } = await runCli(['config', '--json'], {
      PORT: '5000',
      DATABASE_URL: 'postgres://me:hush-hush@db.example.com/app',
      STAGEDOOR_JWT_SECRET: 'hush-hush hush-hush hush-hush hush-hush',
    })
    expect(stdout).not.toContain('hush')
    const settings = JSON.parse(stdout) as { setting: string; value: string; source: string }[]
    const find = (name: string) => settings.find((entry) => entry.setting === name)
    expect(find('PORT')).toMatchObject({ value: '5000', source: 'environment' })
    expect(find('LOG_LEVEL')).toMatchObject({ value: 'info', source: 'default' })
    expect(find('DATABASE_URL')).toMatchObject({ value: 'postgres://me:***@db.example.com/app' })
  })

  it('a flag wins over the environment', async () => {
    const { stdout } = await runCli(['config', '--json', '--home', '/tmp/elsewhere'], {
      STAGEDOOR_HOME: '/tmp/here',
    })
    expect(stdout).toContain('/tmp/elsewhere')
  })

  it.each([
    ['PORT', 'eighty', 'whole number'],
    ['PORT', '70000', '65535'],
    ['LOG_LEVEL', 'loud', 'one of'],
    ['DATABASE_URL', 'mysql://x/y', 'postgres://'],
    ['STAGEDOOR_JWT_SECRET', 'short', '32 characters'],
    ['STAGEDOOR_POOL_SIZE', '-1', 'whole number'],
  ])('%s=%s is refused with the reason', async (setting, value, reason) => {
    const { code, stderr } = await runCli(['config'], { [setting]: value })
    expect(code).toBe(3)
    expect(stderr).toContain(setting)
    expect(stderr).toContain(reason)
  })

  it('the remedy for a bad setting is not a command that fails for the same reason', async () => {
    for (const env of [{ PORT: 'eighty' }, { STAGEDOOR_NOTHING: 'x' }]) {
      const { stderr } = await runCli(['config'], env)
      expect(stderr).toMatch(/unset PORT|unset STAGEDOOR_NOTHING/)
    }
  })

  it('a misspelt setting is refused with the one that was meant', async () => {
    const { code, stderr } = await runCli(['config'], { STAGEDOOR_HOEM: '/tmp' })
    expect(code).toBe(3)
    expect(stderr).toContain('did you mean STAGEDOOR_HOME')
    expect((await runCli(['config'], { STAGEDOOR_PORT: '5000' })).stderr).toContain('did you mean PORT?')
  })

  it('variables that Kubernetes makes of a service called stagedoor are no settings', async () => {
    const env = {
      STAGEDOOR_PORT: 'tcp://10.96.0.7:4680',
      STAGEDOOR_SERVICE_HOST: '10.96.0.7',
      STAGEDOOR_SERVICE_PORT: '4680',
      STAGEDOOR_SERVICE_PORT_HTTP: '4680',
      STAGEDOOR_PORT_4680_TCP: 'tcp://10.96.0.7:4680',
      STAGEDOOR_PORT_4680_TCP_PROTO: 'tcp',
      STAGEDOOR_PORT_4680_TCP_PORT: '4680',
      STAGEDOOR_PORT_4680_TCP_ADDR: '10.96.0.7',
      STAGEDOOR_WORKER_PORT: 'tcp://10.96.0.8:9090',
      STAGEDOOR_WORKER_SERVICE_HOST: '10.96.0.8',
    }
    const { code, stdout, stderr } = await runCli(['config', '--json'], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ setting: 'PORT', value: '4680', source: 'default' }),
    )
  })

  it('other commands warn of a misspelt setting, once, and go on', async () => {
    const { code, stderr } = await runCli(['gate', 'list'], {
      STAGEDOOR_HOEM: '/tmp',
      DATABASE_URL: 'postgres://127.0.0.1:1/nothing',
    })
    expect(stderr.match(/STAGEDOOR_HOEM is not a setting/g)).toHaveLength(1)
    expect(stderr).toContain('did you mean STAGEDOOR_HOME')
    expect(code).toBe(4)
  })

  it('DATABASE_DIRECT_URL alone is refused', async () => {
    expect((await runCli(['config'], { DATABASE_DIRECT_URL: 'postgres://x/y' })).code).toBe(3)
  })
})

it('completion knows the commands', async () => {
  const { stdout } = await runCli(['completion', 'bash'])
  expect(stdout).toContain('complete -F _stagedoor stagedoor')
  expect(stdout).toMatch(/"gate"\) words="list open close history/)
})
