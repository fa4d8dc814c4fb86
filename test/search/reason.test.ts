/** What members read about a failure. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { mapDatabaseError } from '../../src/kernel/postgres/errors.ts'
import { EmbedderRefused } from '../../src/search/embedders/embedder.ts'
import { failureReason, isProviderUnavailable } from '../../src/search/providers.ts'

const SECRET = 'the salary of Ms Example'

const said = (code: string) => Object.assign(new pg.DatabaseError(SECRET, 1, 'error'), { code })

it.each(['22021', '54000', '40P01', '23514', '22P05'])(
  'tells of the database’s words only the SQLSTATE: %s',
  (code) => {
    for (const error of [said(code), mapDatabaseError(said(code))]) {
      expect(failureReason(error)).toContain(code)
      expect(failureReason(error)).not.toContain(SECRET)
    }
  },
)

it('gives the kind of an error, not the text of a library', () => {
  expect(failureReason(new SyntaxError(SECRET))).toBe('Unexpected error (SyntaxError)')
  expect(failureReason(Object.assign(new Error(SECRET), { code: 'ECONNRESET' }))).toContain('ECONNRESET')
})

it('gives our own texts as they are', () => {
  expect(failureReason(new EmbedderRefused('answered 400'))).toBe('answered 400')
  const missing = new StagedoorError('store_not_configured', {
    store: 'qdrant',
    reason: 'QDRANT_URL is not set',
  })
  expect(failureReason(missing)).toBe(missing.message)
})

it.each(['40P01', '40001', '55P03'])(
  'is no fault of a text when another transaction was in the way: %s',
  (code) => {
    expect(isProviderUnavailable(said(code))).toBe(true)
    expect(isProviderUnavailable(mapDatabaseError(said(code)))).toBe(true)
  },
)
