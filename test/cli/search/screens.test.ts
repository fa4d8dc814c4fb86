/** What the terminal says of texts that are not in search yet: why, and what helps. */
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { printProjected, printStatus } from '../../../src/cli/search-projection.ts'
import { createOutput, type Output } from '../../../src/cli/terminal.ts'
import { findRetries, searchStatus } from '../../../src/search/status.ts'
import { createKnowledge, type Knowledge } from '../../search/knowledge.ts'
import { useDatabase } from '../../support/database.ts'

const db = useDatabase()
let know: Knowledge

/** As it stands on a screen, without colours and line ends. */
function printed(print: (output: Output) => void): string {
  const lines: string[] = []
  print(createOutput(false, (text) => lines.push(text)))
  return stripVTControlCharacters(lines.join('\n')).replace(/\s+/g, ' ').trim()
}

async function waits(address: string, tries: number, error: string | null): Promise<void> {
  const unit = await know.unit(address, `${address} waits.`)
  await db.owner(
    `update iu_core.vector_outbox set status = 'pending', retry_count = $2, last_error = $3,
            earliest_run_at = clock_timestamp() + interval '1 minute' where unit_id = $1`,
    [unit, tries, error],
  )
}

const LEFT = { due: 0, waiting: 0, outage: null, closed: null }
const worker = () => db.pool('stagedoor_worker')
const status = async () => {
  const found = await searchStatus(worker())
  return printed((output) => printStatus(output, found))
}

beforeAll(async () => {
  know = await createKnowledge(db)
})

it('that search has it all is said only where nothing failed', async () => {
  expect(await findRetries(worker(), know.workspace)).toBeNull()
  expect(printed((output) => printProjected(output, 0, { ...LEFT, retrying: null }, 5))).toBe(
    'Nothing was pending: search is up to date.',
  )
  await waits('handbook/poison', 1, 'The embedder answered 400')
  const retrying = await findRetries(worker(), know.workspace)
  expect(retrying).toEqual({ rows: 1, reason: 'The embedder answered 400' })
  expect(printed((output) => printProjected(output, 0, { ...LEFT, waiting: 1, retrying }, 5))).toBe(
    '! 1 failed, is found by words only and will be retried: The embedder answered 400',
  )
})

it('what is tried again, what waits for an outage and what waits for quiet are told apart', async () => {
  expect(await status()).toMatch(/pending 1 for a retry failed nothing .*! 1 .*will be retried: The embedder/)
  expect(await status()).not.toMatch(/after their last edit|Project now/)
  await waits('handbook/away', 0, 'The embedder does not answer')
  expect(await status()).toMatch(
    /pending 1 for the embedder or the store, 1 for a retry failed .*! 1 wait for the embedder or the store: The embedder does not answer/,
  )
  await waits('handbook/fresh', 0, null)
  expect(await status()).toMatch(/, 1 until some time after their last edit .*Project now/)
})
