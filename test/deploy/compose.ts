/** Compose files as Docker reads them, and their services as processes of this machine instead of containers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { DEPLOY, parseYaml, ROOT, readDeploy } from './files.ts'

export interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
  readonly networks?: readonly string[]
  readonly profiles?: readonly string[]
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly networks?: Readonly<Record<string, unknown>>
}

/** Later files change and add to earlier ones. */
export function readCompose(files: readonly string[], variables: Readonly<Record<string, string>>): Compose {
  const documents = files.map((file) => interpolate(parseYaml<unknown>(readDeploy(file))[0], variables))
  return documents.reduce(merge) as Compose
}

/** `${NAME:?message}` and `${NAME:-default}`, the forms that the files use, in every value. */
function interpolate(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((one) => interpolate(one, variables))
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolate(one, variables)]))
  if (typeof value !== 'string') return value
  return value.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
    const given = variables[name]
    if (given || kind === '-') return given || rest
    throw new Error(`${name}: ${rest}`)
  })
}

function merge(base: unknown, more: unknown): unknown {
  if (!isRecord(base) || !isRecord(more)) return more
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(more)) merged[key] = key in base ? merge(base[key], value) : value
  return merged
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Process {
  output(): string
  readonly ended: Promise<number | null>
  kill(signal: NodeJS.Signals): void
}

/**
 * Runs services as the image would: its entry point, its health check. `places` says what stands on this machine for hosts, ports and folders
 * of containers. What still runs at the end of the test is killed.
 */
export function composeRunner(compose: Compose, folder: string, places: Readonly<Record<string, string>>) {
  const programs = join(folder, 'bin')
  mkdirSync(programs, { recursive: true })
  const main = join(ROOT, 'dist/cli/main.js')
  writeFileSync(join(programs, 'stagedoor'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(join(programs, 'stagedoor'), 0o755)
  const placed = (word: string, own: Readonly<Record<string, string>> = {}) =>
    Object.entries({ ...places, ...own }).reduce((text, [from, to]) => text.replaceAll(from, to), word)

  const start = (
    name: string,
    words: readonly string[],
    own: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
  ): Process => {
    const { environment = {} } = compose.services[name]!
    const home = join(folder, `home-${name}`)
    mkdirSync(home, { recursive: true })
    const child = spawn(
      placed(words[0]!, own),
      words.slice(1).map((word) => placed(word, own)),
      {
        cwd: home,
        env: {
          PATH: `${programs}:${process.env.PATH}`,
          NO_COLOR: '1',
          STAGEDOOR_HOME: home,
          STAGEDOOR_LOG_FORMAT: 'json',
          ...Object.fromEntries(
            Object.entries(environment).map(([variable, value]) => [variable, placed(String(value), own)]),
          ),
          ...env,
        },
      },
    )
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk
      })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    onTestFinished(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await ended
    })
    return { output: () => text, ended, kill: (signal) => child.kill(signal) }
  }

  const commandOf = ({ entrypoint = ['stagedoor'], command = ['start'] }: Service) => [
    ...entrypoint,
    ...command,
  ]
  /** That of the image where the service has none. */
  const healthOf = ({ healthcheck }: Service) =>
    healthcheck?.test?.slice(1) ?? ['stagedoor', 'health', '--url']

  return {
    start: (name: string, own?: Record<string, string>, env?: Record<string, string>) =>
      start(name, commandOf(compose.services[name]!), own, env),
    async isHealthy(name: string, own?: Record<string, string>, env?: Record<string, string>) {
      return (await start(name, healthOf(compose.services[name]!), own, env).ended) === 0
    },
    /** `docker compose run --rm NAME ARGS` */
    async run(name: string, args: readonly string[]) {
      const running = start(name, ['stagedoor', ...args])
      return { code: await running.ended, output: running.output() }
    },
  }
}

export const HANDLERS = join(DEPLOY, 'compose/handlers')
