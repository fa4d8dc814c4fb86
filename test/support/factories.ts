/** Rows that many tests need. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../src/kernel/postgres/transaction.ts'
import type { TestDatabase } from './database.ts'

export type AppRole = 'viewer' | 'operator' | 'reviewer' | 'admin' | 'agent'

export interface Member extends Caller {
  readonly userId: string
  readonly appRole: AppRole
}

const DATABASE_ROLE: Record<AppRole, string> = {
  viewer: 'authenticated',
  operator: 'authenticated',
  reviewer: 'stagedoor_reviewer',
  admin: 'stagedoor_reviewer',
  agent: 'stagedoor_agent',
}

export async function createWorkspace(db: TestDatabase, name = 'Acme Media'): Promise<string> {
  const [row] = await db.owner<{ id: string }>(
    'insert into public.workspaces (name) values ($1) returning id',
    [name],
  )
  return row!.id
}

export async function createMember(db: TestDatabase, workspaceId: string, appRole: AppRole): Promise<Member> {
  const userId = randomUUID()
  await db.owner('insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)', [
    workspaceId,
    userId,
    appRole,
  ])
  return {
    userId,
    appRole,
    role: DATABASE_ROLE[appRole],
    claims: { sub: userId, role: DATABASE_ROLE[appRole] },
  }
}
