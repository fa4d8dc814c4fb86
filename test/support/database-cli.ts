/** The command line on the database of a test file, with a home for the files that it takes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, runCli } from './cli.ts'
import type { TestDatabase } from './database.ts'
import { MIGRATOR } from './template.ts'
import { temporaryHome } from './temporary-home.ts'

interface DatabaseCli {
  readonly home: string
  cli(...args: string[]): Promise<CliResult>
  /** Writes a file into the home. Returns its path. */
  file(name: string, text: string | readonly string[]): string
}

export function useCli(db: TestDatabase, name: string): DatabaseCli {
  const home = temporaryHome(name)
  return {
    home,
    cli: (...args) =>
      runCli(args, {
        DATABASE_URL: db.url('stagedoor_api'),
        DATABASE_DIRECT_URL: db.url(MIGRATOR),
        STAGEDOOR_HOME: home,
      }),
    file(fileName, text) {
      const path = join(home, fileName)
      writeFileSync(path, typeof text === 'string' ? text : text.join('\n'))
      return path
    },
  }
}
