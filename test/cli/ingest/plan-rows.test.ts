/** Rows and limits of a plan on the command line: what is deleted has no line, and says what goes with it. */
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { uploadNextSteps } from '../../../src/cli/upload-next-steps.ts'
import { planRowLines } from '../../../src/cli/upload-plan.ts'
import type { UploadView } from '../../../src/cli/upload-show.ts'
import { dependentsText, snapshotTexts, totalsTable } from '../../../src/cli/upload-totals.ts'
import type { PlanRow } from '../../../src/ingest/plan.ts'
import type { Snapshot } from '../../../src/ingest/uploads.ts'

const ROWS = [{ name: 'item', target: 'public.items', key: ['workspace_id', 'sku'], requires: ['sku'] }].map(
  (row) => ({ ...row, columns: { workspace_id: '$workspace', sku: 'sku', price: 'price' } }),
)
const VIEW = {
  upload: { reading: null },
  dataset: { definition: { rows: ROWS, fields: { sku: { type: 'id' }, price: { type: 'decimal' } } } },
} as unknown as UploadView
const GONE: PlanRow = {
  type_order: 1,
  row_type: 'item',
  row_number: -12,
  action: 'delete',
  target_id: null,
  target_key: { sku: 'A-1' },
  before: { workspace_id: '0189d3d2-0000-7000-8000-000000000001', sku: 'A-1', price: 5 },
  after: null,
  changed: null,
  reason: null,
  dependents: [
    { table: 'public.notes', effect: 'delete', rows: 2 },
    { table: 'public.views', effect: 'set null', rows: 1 },
  ],
  label: null,
  row_key: [{ column: 'sku', value: 'A-1' }],
  names: null,
}
const said = (...rows: PlanRow[]) => stripVTControlCharacters(planRowLines(rows, VIEW))

it('shows a row to delete without a line, with its values and what depends on it', () => {
  const text = said(GONE)
  expect(text).toMatch(/^items\n {2}- +A-1 {2}delete\n/)
  expect(text).toContain('sku A-1, price 5')
  expect(text).toContain('with it: 2 rows of public.notes deleted, 1 row of public.views set to NULL')
  expect(text).not.toContain('-12')
})

it('calls a row by its key, and what it refers to by its name, with the id as a detail', () => {
  const changed: PlanRow = {
    ...GONE,
    row_number: 7,
    action: 'update',
    before: { sku: 'A-1', price: 5, category_id: 2, supplier_id: 7 },
    after: { sku: 'A-1', price: 5, category_id: 3, supplier_id: null },
    changed: ['category_id', 'supplier_id'],
    dependents: null,
    names: {
      category_id: { before: 'Shoes', after: 'Boots' },
      // Not known: the id alone.
      supplier_id: { before: null, after: null },
    },
  }
  const text = said(changed)
  expect(text).toMatch(/~ +7 {2}A-1 {2}changed/)
  expect(text).toContain('category_id: Shoes (2) → Boots (3)')
  expect(text).toContain('supplier_id: 7 → (empty)')
  const id = '0189d3d2-0000-7000-8000-000000000001'
  const inserted: PlanRow = {
    ...changed,
    action: 'insert',
    before: null,
    after: { sku: 'A-1', category_id: id, supplier_id: null },
    names: { category_id: { before: null, after: 'Boots' } },
  }
  expect(said(inserted)).toContain(`category_id Boots (${id})`)
})

it('says instead why it cannot be deleted', () => {
  expect(said({ ...GONE, reason: '3 rows of public.orders refer to it' })).toContain(
    '3 rows of public.orders refer to it',
  )
})

it('counts deletes in the table of totals, and lists other tables of an undo behind its own', () => {
  const dataset = { rows: ROWS }
  expect(stripVTControlCharacters(totalsTable({ item: { insert: 1, delete: 12 } }, dataset))).toMatch(
    /new +delete\n +items +1 +12/,
  )
  expect(
    stripVTControlCharacters(
      totalsTable({ 'public.notes': { reversed: 2 }, item: { reversed: 1 } }, dataset),
    ),
  ).toMatch(/items +1\n +notes +2/)
  expect(dependentsText([{ table: 'public.orders', effect: 'restrict', rows: 1 }])).toBe(
    '1 row of public.orders prevents the delete',
  )
})

describe('a snapshot over its limits', () => {
  const snapshot: Snapshot = {
    row_type: 'item',
    scope: [],
    in_scope: 20,
    deleted: 0,
    max_deleted: 0.1,
    needed_max_deleted: null,
    confirmed: false,
    lines: 9,
    usual_lines: 20,
    too_short: false,
    short_file_allowed: false,
    kept: 0,
    blocked: 0,
    dependents: [],
  }
  const commands = (limits: Partial<Snapshot>) =>
    uploadNextSteps(
      {
        upload: {
          upload_id: 'ID',
          status: 'planned',
          plan_refusal: 'it is over its limits',
          plan_snapshot: { ...snapshot, ...limits },
        },
        external: true,
      } as unknown as UploadView,
      {},
    ).map(([, command]) => command)

  it('leads to the options that are missing, and to the rows that it would delete', () => {
    const rows = 'stagedoor upload plan ID --rows --action delete'
    expect(commands({ deleted: 11, needed_max_deleted: 0.55, too_short: true }).slice(0, 2)).toEqual([
      rows,
      'stagedoor upload plan ID --max-deleted 0.55 --allow-short-file',
    ])
    expect(commands({ deleted: 1, too_short: true })[1]).toBe('stagedoor upload plan ID --allow-short-file')
    expect(commands({ too_short: true })).not.toContain(rows)
  })

  it('names a short file as allowed only where the file is short', () => {
    const allowed = 'The file has 9 lines, the last ones had 20 (median): allowed for this upload.'
    expect(snapshotTexts({ ...snapshot, short_file_allowed: true }, false)).toContain(allowed)
    expect(snapshotTexts({ ...snapshot, short_file_allowed: true, lines: 10 }, false)).toEqual([
      '0 rows to delete of 20 in its scope; at most 10 % may be.',
    ])
    expect(snapshotTexts(snapshot, false)).not.toContain(allowed)
  })
})
