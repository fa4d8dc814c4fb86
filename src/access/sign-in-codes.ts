/** Codes of sign-in links: each signs in once. The database keeps their hashes only. */
import type { Queryable } from '../kernel/postgres/connection.ts'
import { createSecret, sha256 } from './secrets.ts'

export interface SignIn {
  readonly subject: string
  readonly role: string
}

/** As an administrator. Valid for 12 hours and one use. */
export async function createSignInCode(db: Queryable, { subject, role }: SignIn): Promise<string> {
  const code = createSecret()
  await db.query('select iu_core.fn_sign_in_code_add($1, $2, $3)', [sha256(code), subject, role])
  return code
}

/** Undefined if the code is unknown or was used. */
export async function takeSignInCode(db: Queryable, code: string): Promise<SignIn | undefined> {
  const { rows } = await db.query<SignIn>(
    'select subject, database_role as role from iu_core.fn_sign_in_code_redeem($1)',
    [sha256(code)],
  )
  return rows[0]
}
