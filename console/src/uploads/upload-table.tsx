import type { Upload } from '../api/upload-types.ts'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { bytes, count, counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { sourceText } from '../upload/labels.ts'
import { OutdatedChip } from '../upload/outdated-chip.tsx'
import { invalidText, sinceOf, stateOf } from '../upload/state.ts'
import { useClientNames } from './use-client-names.ts'

export function UploadTable({ uploads }: { uploads: readonly Upload[] }) {
  const clients = useClientNames(uploads)
  return (
    <table className="upload-table">
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col">Status</th>
          <th scope="col">Client</th>
          <th scope="col" className="is-figures">
            Lines
          </th>
          <th scope="col" className="is-figures">
            Problems
          </th>
          <th scope="col">Since</th>
          <th scope="col">By</th>
        </tr>
      </thead>
      <tbody>
        {uploads.map((upload) => (
          <Row key={upload.upload_id} upload={upload} client={clients[upload.client_id]} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ upload, client }: { upload: Upload; client: string | undefined }) {
  const state = stateOf(upload)
  const lines = upload.line_count ?? upload.progress?.lines
  return (
    <tr>
      <td className="upload-file">
        <a href={`/uploads/${upload.upload_id}`}>
          <b>{upload.file_name}</b>
        </a>
        <span className="tiny">
          {sourceText(upload.dataset, upload.platform)} · {bytes(Number(upload.byte_len))}
        </span>
      </td>
      <td>
        <Chip tone={state.tone}>{state.word}</Chip> <OutdatedChip outdated={upload.outdated} />
      </td>
      <td>{client ?? <span className="muted">–</span>}</td>
      <td className="is-figures">
        {lines === undefined || lines === null ? '–' : count(lines)}
        <span className="cell-label"> lines</span>
      </td>
      <td className="is-figures">
        <span className="cell-label">problems: </span>
        <Problems upload={upload} />
      </td>
      <td className="is-nowrap">
        <Ago at={sinceOf(upload)} />
      </td>
      <td>
        <Person id={upload.uploaded_by} />
      </td>
    </tr>
  )
}

function Problems({ upload }: { upload: Upload }) {
  const { invalid_count: wrong, warning_count: doubtful } = upload
  if (wrong === null) return '–'
  const { text, open } = invalidText(upload)
  const disagree = (upload.own_totals?.disagree ?? 0) > 0
  if (wrong === 0 && !doubtful && !disagree) return <span className="muted">none</span>
  return (
    <>
      {wrong > 0 && (open ? <b className="is-wrong">{text}</b> : text)}
      {wrong > 0 && Boolean(doubtful) && <br />}
      {Boolean(doubtful) && <span className="tiny">{counted(doubtful ?? 0, 'warning')}</span>}
      {wrong > 0 && !doubtful && disagree && <br />}
      {disagree && (
        <span
          className="tiny"
          title="The file’s own totals disagree with its lines; its checks say by how much."
        >
          totals disagree
        </span>
      )}
    </>
  )
}
