/** The passwords and keys of one home: made once, kept in it, readable by its owner only. */
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StagedoorError } from '../../errors.ts'
import { readIfThere, writeOnce } from './files.ts'

export interface Secrets {
  readonly superuserPassword: string
  readonly apiPassword: string
  readonly migratorPassword: string
  readonly workerPassword: string
  readonly playbookPassword: string
  readonly jwtSecret: string
}

type Kept = Omit<Secrets, 'playbookPassword'>

const NAMES: readonly (keyof Kept)[] = [
  'superuserPassword',
  'apiPassword',
  'migratorPassword',
  'workerPassword',
  'jwtSecret',
]

/** Reads the secrets and makes them the first time. Two processes at once get the same ones. */
export async function readSecrets(home: string): Promise<Secrets> {
  const existing = await existingSecrets(home)
  if (existing) return existing
  const fresh = Object.fromEntries(NAMES.map((name) => [name, randomBytes(32).toString('base64url')]))
  await writeOnce(secretsFile(home), `${JSON.stringify(fresh, null, 2)}\n`, 0o600)
  return (await existingSecrets(home))!
}

/** The secrets of a home that has them; never makes any. */
export async function existingSecrets(home: string): Promise<Secrets | undefined> {
  const content = await readIfThere(secretsFile(home))
  return content === undefined ? undefined : parse(home, content)
}

function parse(home: string, content: string): Secrets {
  let values: Record<string, unknown>
  try {
    values = Object(JSON.parse(content))
  } catch {
    throw damaged(home, 'secrets.json is not JSON')
  }
  for (const name of NAMES) {
    const value = values[name]
    // They go into URLs as they are.
    if (typeof value !== 'string' || !/^[\w-]{32,}$/.test(value)) {
      throw damaged(home, `secrets.json has no valid ${name}`)
    }
  }
  const kept = values as unknown as Kept
  return { ...kept, playbookPassword: derived(kept.superuserPassword, 'stagedoor_playbook') }
}

/** For a login that came later than the homes: none of them has to be rewritten, and nothing leads back. */
function derived(password: string, login: string): string {
  return createHmac('sha256', password).update(login).digest('base64url')
}

function damaged(home: string, reason: string): StagedoorError {
  const hint = 'Put secrets.json back from a backup: without it nobody can log in to the data of this folder.'
  return new StagedoorError('home_incomplete', { home, reason }, { hint })
}

function secretsFile(home: string): string {
  return join(home, 'secrets.json')
}
