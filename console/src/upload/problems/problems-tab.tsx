import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import type { LineFilter } from '../../api/uploads.ts'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { Chip } from '../../parts/chip.tsx'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import { EditDialog, type OpenEdit } from '../repair/edit-dialog.tsx'
import { EditBar, editKeys } from '../rows/edit-bar.tsx'
import { ProblemFilters, useProblemKinds } from '../rows/line-filters.tsx'
import { invalidText } from '../state.ts'
import { useDrafts } from './drafts.ts'
import { FileNotes } from './file-notes.tsx'
import { LineDialog } from './line-dialog.tsx'
import { problemColumns } from './problem-columns.tsx'
import { afterRepair, type ProblemLine, problemLines } from './problem-lines.ts'
import { ProblemsPanelProvider } from './problems-panel.tsx'
import { RepairNote } from './repair-note.tsx'
import { type Correction, useRepairs } from './use-repairs.ts'

const PAGE = 200

interface Props {
  readonly upload: UploadDetail
  take(upload: UploadDetail): void
  /** Grows whenever somebody asks to be led to the first invalid cell. */
  readonly toFirst: number
  /** True: somebody asked elsewhere on the page to save what was typed here; `saved` says that it is done. */
  readonly toSave: boolean
  saved(): void
}

export function ProblemsTab({ upload, take, toFirst, toSave, saved }: Props) {
  const { api } = useSession()
  const [errorsOnly, setErrorsOnly] = useState((upload.invalid_count ?? 0) > 0)
  const [only, setOnly] = useState<Only>(ANY)
  const [whole, setWhole] = useState<StagedRow>()
  const [edit, setEdit] = useState<OpenEdit>()
  // Grows when many lines changed: then they are read again.
  const [edition, setEdition] = useState(0)
  const [failure, setFailure] = useState<Failure>()
  const { upload_id: id, reading } = upload
  const leaf = reading?.layout.leaf
  const filter = useMemo<LineFilter>(
    () => ({ ...(errorsOnly ? { status: 'invalid' } : { problems: true }), ...only }),
    [errorsOnly, only],
  )
  const shows = (line: ProblemLine) => showsLine(line, errorsOnly, only)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another edition is read from its beginning
  const read = useCallback(
    async (after: string | undefined) => {
      const page = await api.uploads.rows(id, { row_type: leaf, ...filter, limit: PAGE, after })
      const lines = page.rows.flatMap(problemLines).filter((line) => showsLine(line, errorsOnly, only))
      return { rows: lines, next: page.next }
    },
    [api, id, leaf, filter, errorsOnly, only, edition],
  )
  const pages = usePages<ProblemLine>(read)
  const drafts = useDrafts(id)
  const kinds = useProblemKinds(upload)
  const repairs = useRepairs(upload, drafts, take, readAgain)
  const panel = useRef<HTMLDivElement>(null)
  useFirstCell(panel, toFirst, pages.begun && pages.count > 0)
  const { saving } = repairs
  const narrow = useNarrow(1400)
  const phone = useNarrow(560)
  const layout = phone ? 'phone' : narrow ? 'narrow' : 'wide'
  const columns = useMemo(() => problemColumns(layout), [layout])

  const gridColumns = useMemo(
    () => upload.columns.map((name) => ({ name, readOnly: false })),
    [upload.columns],
  )
  const pasteBlock = useCallback(
    (text: string, row: StagedRow, column: string) =>
      setEdit({
        kind: 'paste',
        text,
        start: { line: row.row_number, column: gridColumns.findIndex(({ name }) => name === column) },
      }),
    [gridColumns],
  )

  const { saveAll } = repairs

  /** Corrected lines stay where they were, with what they are now; many are read again from the first. */
  async function readAgain(corrections: readonly Correction[]) {
    if (corrections.length > MAX_READ_AGAIN) return setEdition((now) => now + 1)
    const rows = await Promise.all(
      corrections.map(async ({ line }) => {
        const page = await api.uploads.rows(id, { row_type: leaf, limit: 1, after: String(line - 1) })
        return page.rows[0]
      }),
    )
    for (const [index, row] of rows.entries()) {
      if (!row) continue
      const corrected = corrections[index]!.cells.map(({ column, from: old }) => ({ column, old }))
      pages.replace(
        (line) => line.row.row_number === row.row_number,
        afterRepair(row, corrected).filter(shows),
      )
    }
  }

  // Not before the lines are there: what is read at the same time might show them as they were.
  const begun = useRef(false)
  useEffect(() => {
    if (!toSave || !pages.begun || begun.current) return
    begun.current = true
    saveAll().finally(() => {
      begun.current = false
      saved()
    })
  })

  async function exportProblems() {
    setFailure(undefined)
    try {
      await api.uploads.exportProblems(id, `${upload.file_name.replace(/\.[^.]*$/, '')}-problems.csv`)
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
  }

  const wrong = upload.invalid_count ?? 0
  const doubtful = upload.warning_count ?? 0
  const { text, open } = invalidText(upload)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys for what the buttons in it do as well
    <div ref={panel} onKeyDown={upload.may.repair.allowed ? editKeys(drafts, saveAll) : undefined}>
      <div className="filters">
        <Chip tone={wrong === 0 ? 'ok' : open ? 'bad' : 'stale'}>
          {wrong === 0 ? 'no invalid lines' : open ? counted(wrong, 'invalid line') : text}
        </Chip>
        {doubtful > 0 && <Chip tone="held">{counted(doubtful, 'warning')}</Chip>}
        {wrong > 0 && doubtful > 0 && (
          <select
            aria-label="Which problems"
            value={errorsOnly ? 'errors' : 'all'}
            onChange={(event) => setErrorsOnly(event.target.value === 'errors')}
          >
            <option value="errors">invalid lines only</option>
            <option value="all">with warnings</option>
          </select>
        )}
        {!upload.may.repair.allowed && upload.may.repair.why && (
          <span className="tiny">{upload.may.repair.why}</span>
        )}
        <ProblemFilters kinds={kinds} rule={only.rule} column={only.column} choose={setOnly} />
        {upload.may.repair.allowed && (
          <>
            <button
              type="button"
              className="button is-small"
              onClick={() => setEdit({ kind: 'replace', start: { which: 'text', column: only.column } })}
            >
              Find and replace…
            </button>
            <button
              type="button"
              className="button is-small"
              onClick={() => setEdit({ kind: 'corrections' })}
            >
              Correct in a spreadsheet…
            </button>
          </>
        )}
        <button
          type="button"
          className="button is-small filters-aside"
          disabled={wrong === 0}
          onClick={exportProblems}
        >
          Export with reasons
        </button>
      </div>
      <RefusalNote failure={failure} />
      <EditBar
        upload={id}
        drafts={drafts}
        saving={saving.size > 0}
        failure={repairs.failure}
        refused={repairs.refused}
        settle={(one) => {
          repairs.settle(one)
          setEdition((now) => now + 1)
        }}
        save={saveAll}
      />
      <RepairNote repaired={repairs.repaired} saving={saving.size} />
      <FileNotes notes={upload.notes} />
      <ProblemsPanelProvider
        upload={id}
        may={upload.may.repair.allowed}
        saving={saving}
        drafts={drafts}
        correct={repairs.correct}
        editLine={setWhole}
        pasteBlock={pasteBlock}
      >
        <Grid
          label="Problems"
          columns={columns}
          pages={pages}
          rowHeight={66}
          measured
          empty={<NoProblems lines={upload.valid_count ?? 0} />}
          toneOf={(line) => (line.kind === 'fixed' ? 'is-tall is-fixed' : 'is-tall')}
        />
      </ProblemsPanelProvider>
      {edit && (
        <EditDialog
          open={edit}
          upload={upload}
          columns={gridColumns}
          filter={filter}
          pasteFilter={NO_FILTER}
          drafts={drafts}
          close={() => setEdit(undefined)}
        />
      )}
      {whole && (
        <LineDialog
          row={whole}
          columns={upload.columns}
          close={() => setWhole(undefined)}
          save={(values) => {
            setWhole(undefined)
            const cells = Object.entries(values).map(([column, to]) => ({
              column,
              from: whole.raw_payload[column] ?? '',
              to: to ?? '',
            }))
            repairs.correct({ line: whole.row_number, cells })
          }}
        />
      )}
    </div>
  )
}

const ANY: Only = { rule: undefined, column: undefined }
const NO_FILTER = {}
/** Each is read by itself. */
const MAX_READ_AGAIN = 20

/** The filter "invalid lines only" hides warnings, also those of an invalid line; those by rule and column hide all others. */
function showsLine(line: ProblemLine, errorsOnly: boolean, { rule, column }: Only): boolean {
  if (line.kind === 'fixed') return true
  if (errorsOnly && line.kind === 'warning') return false
  const { problem } = line
  return (rule === undefined || problem.rule === rule) && (column === undefined || problem.column === column)
}

interface Only {
  readonly rule: string | undefined
  readonly column: string | undefined
}

/** Rows get their height when they are drawn, and the page moves with them: for so long the cell is kept in sight. */
const SETTLING_FRAMES = 20

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}

/** Scrolls to the first cell that can be corrected and puts the focus there, each time that it is asked for. */
function useFirstCell(panel: { readonly current: HTMLElement | null }, asked: number, ready: boolean): void {
  const led = useRef(0)
  useEffect(() => {
    if (asked === led.current || !ready) return
    led.current = asked
    panel.current?.querySelector('.grid')?.scrollTo({ top: 0, left: 0 })
    let frames = SETTLING_FRAMES
    const lead = () => {
      const cell = panel.current?.querySelector<HTMLElement>(
        '.grid-row .editable input[aria-invalid="true"], .grid-row button:not(:disabled)',
      )
      if (cell && document.activeElement !== cell) {
        cell.focus({ preventScroll: true })
        if (cell instanceof HTMLInputElement) cell.select()
      }
      if (cell && !isInSight(cell)) cell.scrollIntoView({ block: 'center' })
      if (--frames > 0) frame = requestAnimationFrame(lead)
    }
    let frame = requestAnimationFrame(lead)
    return () => cancelAnimationFrame(frame)
  }, [asked, ready, panel])
}

function NoProblems({ lines }: { lines: number }) {
  return (
    <>
      <b>No invalid lines.</b>
      <p>{lines === 1 ? 'The line' : `All ${count(lines)} lines`} passed every rule of the dataset.</p>
    </>
  )
}
