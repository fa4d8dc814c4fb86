/** What every command starts from: the configuration, the output, and on demand the database. */
import { Option } from 'commander'
import { type Config, readConfig, type SettingName } from '../config.ts'
import { type Client, withClient } from '../db/connection.ts'
import { type Database, openDatabase } from '../db/open.ts'
import type { Stagedoor } from '../stagedoor.ts'
import { createOutput, type Output } from './output.ts'

export interface GlobalOptions {
  readonly json?: boolean
  readonly home?: string
}

/** Of commands that stay. */
export function logOption(): Option {
  return new Option(
    '--log <format>',
    'the log as lines for people or as JSON; default: JSON outside of a terminal',
  ).choices(['pretty', 'json'])
}

export function outputOf(options: GlobalOptions): Output {
  return createOutput(options.json === true)
}

export function configOf(options: GlobalOptions, flags: Partial<Record<SettingName, string>> = {}): Config {
  const config = readConfig(process.env, {
    ...(options.home !== undefined && { home: options.home }),
    ...flags,
  })
  warnOfUnknown(config, outputOf(options))
  return config
}

const warned = new Set<string>()

/** Once a process: a command may read its configuration several times. */
function warnOfUnknown({ unknown }: Config, output: Output): void {
  for (const { setting, suggestion } of unknown) {
    if (warned.has(setting)) continue
    warned.add(setting)
    output.note(`Warning: ${setting} is not a setting of Stagedoor and has no effect${suggestion}`)
  }
}

/** A running `npm start` is used if there is one; otherwise the embedded server runs for this command only. */
export async function withDatabase<T>(
  options: GlobalOptions,
  work: (database: Database, config: Config) => Promise<T>,
  open: { prepare?: boolean } = {},
): Promise<T> {
  const config = configOf(options)
  const output = outputOf(options)
  const database = await openDatabase(config, { share: true, notice: output.note, ...open })
  try {
    return await work(database, config)
  } finally {
    await database.close()
  }
}

/** One session as the owner of everything of ours. */
export async function withAdministrator<T>(
  options: GlobalOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  return withDatabase(options, (database) => withClient(database.directUrl, work, { role: 'workflow_admin' }))
}

export async function withStagedoor<T>(
  options: GlobalOptions,
  work: (stagedoor: Stagedoor, database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(options, async (database, config) => {
    // Every room stands behind it; most commands need one of them.
    const { assemble } = await import('../stagedoor.ts')
    const stagedoor = assemble(database, config)
    try {
      return await work(stagedoor, database)
    } finally {
      await stagedoor.close()
    }
  })
}
