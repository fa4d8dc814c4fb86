/** The product's command line, in a process of its own, as the owner of the database. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { JsonObject } from '../product.ts'
import type { Shop } from './shop.ts'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

/** What it prints with --json. */
export async function runCli({ url, home }: Shop, args: readonly string[]): Promise<JsonObject> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], {
    cwd: home,
    env: { ...process.env, DATABASE_URL: url, DATABASE_DIRECT_URL: url, STAGEDOOR_HOME: home },
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(stdout)
}
