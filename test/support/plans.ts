/** The plans of what a session runs, also of statements within functions. */
import type pg from 'pg'
import type { TestDatabase } from './database.ts'

const SETTINGS = {
  log_min_duration: '0',
  log_nested_statements: 'on',
  log_analyze: 'on',
  log_timing: 'off',
}

export interface ExplainedSession {
  readonly session: pg.Client
  /** Plans of the statements of this call, as text. */
  plansOf(run: (session: pg.Client) => Promise<unknown>): Promise<string[]>
}

export async function explainedSession(db: TestDatabase): Promise<ExplainedSession> {
  const session = await db.session('postgres')
  let plans: string[] = []
  session.on('notice', ({ message = '' }) => plans.push(message))
  await session.query(`load 'auto_explain'`)
  for (const [name, value] of Object.entries(SETTINGS))
    await session.query(`set auto_explain.${name} = '${value}'`)
  return {
    session,
    async plansOf(run) {
      plans = []
      await session.query('set client_min_messages = log')
      try {
        await run(session)
      } finally {
        await session.query('reset client_min_messages')
      }
      return plans
    },
  }
}

/** The most rows that one node of these plans read and did not want. */
export function mostRemoved(plans: readonly string[]): number {
  const removed = plans.flatMap((plan) =>
    [...plan.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)].map(([, rows]) => Number(rows)),
  )
  return Math.max(0, ...removed)
}
