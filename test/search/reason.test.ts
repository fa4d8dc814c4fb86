/** What members read about a failure. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { mapDatabaseError } from '../../src/db/database-error.ts'
import { StagedoorError } from '../../src/errors.ts'
import { EmbedderRefused } from '../../src/search/embedders/embedder.ts'
import { reasonOf } from '../../src/search/reason.ts'
import { isAway } from '../../src/search/writing.ts'

const SECRET = 'the salary of Ms Example'

const said = (code: string) => Object.assign(new pg.DatabaseError(SECRET, 1, 'error'), { code })

it.each(['22021', '54000', '40P01', '23514', '22P05'])(
  'tells of the database’s words only the SQLSTATE: %s',
  (code) => {
    for (const error of [said(code), mapDatabaseError(said(code))]) {
      expect(reasonOf(error)).toContain(code)
      expect(reasonOf(error)).not.toContain(SECRET)
    }
  },
)

it('tells nothing that a library says, but what kind it is', () => {
  expect(reasonOf(new SyntaxError(SECRET))).toBe(
    'It failed for a reason that nobody thought of (SyntaxError)',
  )
  expect(reasonOf(Object.assign(new Error(SECRET), { code: 'ECONNRESET' }))).toContain('ECONNRESET')
})

it('tells our own words as they are', () => {
  expect(reasonOf(new EmbedderRefused('answered 400'))).toBe('answered 400')
  const missing = new StagedoorError('store_not_configured', {
    store: 'qdrant',
    reason: 'QDRANT_URL is not set',
  })
  expect(reasonOf(missing)).toBe(missing.message)
})

it.each(['40P01', '40001', '55P03'])(
  'is no fault of a text when another transaction was in the way: %s',
  (code) => {
    expect(isAway(said(code))).toBe(true)
    expect(isAway(mapDatabaseError(said(code)))).toBe(true)
  },
)
