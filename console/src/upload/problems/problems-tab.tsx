import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { RepairedUpload, StagedRow, UploadDetail } from '../../api/upload-types.ts'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { Chip } from '../../parts/chip.tsx'
import { count, counted } from '../../parts/format.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import type { Paste } from '../rows/block.ts'
import { PasteDialog, type PasteStart } from '../rows/paste-dialog.tsx'
import { ReplaceDialog } from '../rows/replace-dialog.tsx'
import { invalidText } from '../state.ts'
import { useDraftCount, useDrafts } from './drafts.ts'
import { FileNotes } from './file-notes.tsx'
import { LineDialog } from './line-dialog.tsx'
import { problemColumns } from './problem-columns.tsx'
import { type ProblemLine, problemLines } from './problem-lines.ts'
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
  const [whole, setWhole] = useState<StagedRow>()
  const [replacing, setReplacing] = useState(false)
  const [pasting, setPasting] = useState<{ text: string; start: PasteStart }>()
  // Grows when lines changed that nobody edited here: then they are read again.
  const [edition, setEdition] = useState(0)
  const [failure, setFailure] = useState<Failure>()
  const { upload_id: id, reading } = upload
  const leaf = reading?.layout.leaf
  // biome-ignore lint/correctness/useExhaustiveDependencies: another edition is read from its beginning
  const read = useCallback(
    async (after: string | undefined) => {
      const which = errorsOnly ? { status: 'invalid' } : { problems: true }
      const page = await api.uploads.rows(id, { row_type: leaf, ...which, limit: PAGE, after })
      const shown = page.rows.flatMap(problemLines).filter((line) => showsLine(line, errorsOnly))
      return { rows: shown, next: page.next }
    },
    [api, id, leaf, errorsOnly, edition],
  )
  const pages = usePages<ProblemLine>(read)
  const drafts = useDrafts(id)
  const unsaved = useDraftCount(id)
  const forget = (corrections: readonly Correction[]) => {
    for (const { row, values } of corrections)
      for (const column of Object.keys(values)) drafts.keep(row, column, undefined)
  }
  const repairs = useRepairs(upload, pages, take, forget, (line) => showsLine(line, errorsOnly))
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
      setPasting({
        text,
        start: { line: row.row_number, column: gridColumns.findIndex(({ name }) => name === column) },
      }),
    [gridColumns],
  )

  function saveAll() {
    const corrections = drafts
      .all()
      .map(({ row, column, text }) => ({ row, values: { [column]: text === '' ? null : text } }))
    return repairs.correct(...byLine(corrections))
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

  function replaced(after: RepairedUpload) {
    setReplacing(false)
    setFailure(undefined)
    repairs.note(after, after.repair.lines)
    take(after)
    setEdition((now) => now + 1)
  }

  function pasted(after: RepairedUpload, { changed }: Paste) {
    setPasting(undefined)
    for (const { row, column } of drafts.all())
      if (changed.some((cell) => cell.line === row.row_number && cell.column === column))
        drafts.keep(row, column, undefined)
    replaced(after)
  }

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
    <div ref={panel}>
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
        {unsaved > 0 && upload.may.repair.allowed && (
          <button
            type="button"
            className="button is-small is-next"
            disabled={saving.size > 0}
            onClick={saveAll}
          >
            Save {counted(unsaved, 'repair')}
          </button>
        )}
        {upload.may.repair.allowed && (
          <button type="button" className="button is-small" onClick={() => setReplacing(true)}>
            Replace in a column…
          </button>
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
      <RefusalNote failure={failure ?? repairs.failure} />
      <RepairNote repaired={repairs.repaired} saving={saving.size} />
      <FileNotes notes={upload.notes} />
      <ProblemsPanelProvider
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
      {replacing && (
        <ReplaceDialog
          upload={id}
          columns={upload.columns}
          close={() => setReplacing(false)}
          done={replaced}
        />
      )}
      {pasting && (
        <PasteDialog
          upload={upload}
          columns={gridColumns}
          text={pasting.text}
          start={pasting.start}
          done={pasted}
          close={() => setPasting(undefined)}
        />
      )}
      {whole && (
        <LineDialog
          row={whole}
          columns={upload.columns}
          close={() => setWhole(undefined)}
          save={(values) => {
            setWhole(undefined)
            repairs.correct({ row: whole, values })
          }}
        />
      )}
    </div>
  )
}

/** The filter "invalid lines only" hides warnings, also those of an invalid line. */
function showsLine(line: ProblemLine, errorsOnly: boolean): boolean {
  return !errorsOnly || line.kind !== 'warning'
}

/** One correction for each line, whatever the number of its cells. */
function byLine(corrections: readonly Correction[]): Correction[] {
  const lines = new Map<number, Correction>()
  for (const { row, values } of corrections) {
    const before = lines.get(row.row_number)
    lines.set(row.row_number, { row, values: { ...before?.values, ...values } })
  }
  return [...lines.values()]
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
