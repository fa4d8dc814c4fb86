import { useCallback, useMemo, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import { Grid } from '../../grid/grid.tsx'
import { usePages } from '../../grid/use-pages.ts'
import { Chip } from '../../parts/chip.tsx'
import { count, counted } from '../../parts/figures.ts'
import { RefusalNote } from '../../parts/refusal-note.tsx'
import { useNarrow } from '../../parts/use-narrow.ts'
import { useSession } from '../../session/session.tsx'
import { wrongSaid } from '../state.ts'
import { FileNotes } from './file-notes.tsx'
import { LineDialog } from './line-dialog.tsx'
import { problemColumns } from './problem-columns.tsx'
import { ProblemDeskProvider } from './problem-desk.tsx'
import { type ProblemLine, problemLines } from './problem-lines.ts'
import { RepairNote } from './repair-note.tsx'
import { useRepairs } from './use-repairs.ts'

const PAGE = 200

interface Props {
  readonly upload: UploadDetail
  take(upload: UploadDetail): void
}

export function ProblemsTab({ upload, take }: Props) {
  const { api } = useSession()
  const [errorsOnly, setErrorsOnly] = useState((upload.invalid_count ?? 0) > 0)
  const [whole, setWhole] = useState<StagedRow>()
  const [failure, setFailure] = useState<Failure>()
  const { upload_id: id, reading } = upload
  const leaf = reading?.layout.leaf
  const read = useCallback(
    async (after: string | undefined) => {
      const which = errorsOnly ? { status: 'invalid' } : { problems: true }
      const page = await api.uploads.rows(id, { row_type: leaf, ...which, limit: PAGE, after })
      return { rows: page.rows.flatMap(problemLines), next: page.next }
    },
    [api, id, leaf, errorsOnly],
  )
  const pages = usePages<ProblemLine>(read)
  const repairs = useRepairs(upload, pages, take)
  const { saving } = repairs
  const narrow = useNarrow(1400)
  const phone = useNarrow(560)
  const room = phone ? 'phone' : narrow ? 'narrow' : 'wide'
  const columns = useMemo(() => problemColumns(room), [room])

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
  const { text, open } = wrongSaid(upload)
  return (
    <>
      <div className="filters">
        <Chip tone={wrong === 0 ? 'ok' : open ? 'bad' : 'stale'}>
          {wrong === 0 ? 'no wrong line' : open ? counted(wrong, 'wrong line') : text}
        </Chip>
        {doubtful > 0 && <Chip tone="held">{counted(doubtful, 'warning')}</Chip>}
        {wrong > 0 && doubtful > 0 && (
          <select
            aria-label="Which problems"
            value={errorsOnly ? 'errors' : 'all'}
            onChange={(event) => setErrorsOnly(event.target.value === 'errors')}
          >
            <option value="errors">wrong lines only</option>
            <option value="all">warnings, too</option>
          </select>
        )}
        {!upload.may.repair.allowed && upload.may.repair.why && (
          <span className="tiny">{upload.may.repair.why}</span>
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
      <ProblemDeskProvider
        may={upload.may.repair.allowed}
        saving={saving}
        correct={repairs.correct}
        editLine={setWhole}
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
      </ProblemDeskProvider>
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
    </>
  )
}

function NoProblems({ lines }: { lines: number }) {
  return (
    <>
      <b>No line is wrong.</b>
      <p>All {count(lines)} lines passed every rule of the dataset.</p>
    </>
  )
}
