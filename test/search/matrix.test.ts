import { describe, expect, it } from 'vitest'
import { DOCUMENT_STATES, decideVisibility, UNIT_STATES, unitStateOf } from '../../src/search/ranking.ts'

/** The decided matrix: unit in the rows, document in the columns; + names the warning that the reader gets. */
const SETTLED = `
  unit            | absent              | current               | stale                                  | error
  absent          | none                | document              | document + doc stale                   | document + doc error
  current+enacted | unit                | unit                  | unit                                   | unit
  current         | unit                | document              | unit                                   | unit
  pending         | unit + unit pending | document              | document + doc stale + unit pending    | unit + unit pending
  stale           | unit + unit stale   | document + unit stale | document + doc stale + unit stale      | unit + unit stale
  error           | unit + unit error   | document + unit error | document + doc stale + unit error      | unit + unit error + doc error
  retired         | none                | document              | document + doc stale                   | document + doc error`

const [columns, ...rows] = SETTLED.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
const cells = rows.flatMap(([unit, ...verdicts]) =>
  verdicts.map((verdict, column) => ({ unit: unit!, document: columns![column + 1]!, verdict })),
)

describe('the matrix of units and documents', () => {
  it('has every state of a unit beside every state of a document', () => {
    expect(cells).toHaveLength(UNIT_STATES.length * DOCUMENT_STATES.length)
    expect(new Set(cells.map(({ unit, document }) => `${unit} ${document}`)).size).toBe(28)
  })

  it.each(cells)('a unit $unit beside a document $document: $verdict', ({ unit, document, verdict }) => {
    const judged = decideVisibility(unit as never, document as never)
    const told = judged.cautions.map((caution) =>
      caution.replace('document_', 'doc ').replace('unit_', 'unit '),
    )
    expect([judged.show, ...told].join(' + ')).toBe(verdict)
  })

  it('takes what is in force for more than what is only fresh', () => {
    expect(unitStateOf('current', 'enacted')).toBe('current+enacted')
    expect(unitStateOf('current', 'draft')).toBe('current')
    expect(unitStateOf('pending', 'enacted')).toBe('pending')
  })
})
