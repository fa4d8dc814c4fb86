/** Codes of sign-in links: exchanged for a token once. The database keeps their hashes only. */
import { createHash, randomBytes } from 'node:crypto'
import type { Queryable } from '../db/connection.ts'

export interface SignIn {
  readonly subject: string
  readonly role: string
}

/** As an administrator. Good for 12 hours, or until somebody uses it. */
export async function createSignInCode(db: Queryable, { subject, role }: SignIn): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  await db.query('select iu_core.fn_sign_in_code_add($1, $2, $3)', [hashOf(code), subject, role])
  return code
}

/** Undefined: there is no such code, or it was used. */
export async function takeSignInCode(db: Queryable, code: string): Promise<SignIn | undefined> {
  const { rows } = await db.query<SignIn>(
    'select subject, database_role as role from iu_core.fn_sign_in_code_take($1)',
    [hashOf(code)],
  )
  return rows[0]
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
