import { type FormEvent, useEffect, useRef, useState } from 'react'
import { asFailure, type Failure } from '../api/failure.ts'
import type { SentUpload } from '../api/send-file.ts'
import { STAGING_WRITES } from '../gates.ts'
import { Choice } from '../parts/choice.tsx'
import { bytes } from '../parts/format.ts'
import { Meter } from '../parts/meter.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { go } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { rememberChoices } from './choices.ts'
import { DatasetQuestion, NoDatasets } from './dataset-question.tsx'
import { AS_FOUND, FileOptions, type ReadChoices, readFields } from './file-options.tsx'
import { type ChosenMapping, chosenTwice, mappingToSend } from './mapping.ts'
import { MatchColumns } from './match-columns.tsx'
import { useChoices } from './use-choices.ts'
import { useMappingPreview } from './use-mapping-preview.ts'

interface Props {
  readonly file: File | undefined
  take(file: File | undefined): void
  /** True: the gate for uploads is closed, and the server would refuse the file. */
  readonly closed: boolean
}

/** One file, whose it is, and what to do with lines that are wrong. */
export function UploadForm({ file: given, take, closed }: Props) {
  // There is nothing to ask about an empty file.
  const isEmpty = given?.size === 0
  const file = isEmpty ? undefined : given
  const { api, me } = useSession()
  const workspaces = me.workspaces.filter(({ rights }) => rights.includes('stage'))
  const [read, setRead] = useState<ReadChoices>(AS_FOUND)
  const offered = useChoices(file, read)
  const { datasets, clients, chosen, choose, evidence } = offered
  const [sent, setSent] = useState<number>()
  const [failure, setFailure] = useState<Failure>()
  const [known, setKnown] = useState<SentUpload>()
  const [repeated, setRepeated] = useState('')
  const step = useMappingPreview(file, chosen, read)
  const [changing, setChanging] = useState(false)
  const [remember, setRemember] = useState(true)
  const [rememberOptions, setRememberOptions] = useState(true)
  const { preview, answers } = step
  const matching = preview !== undefined && (changing || !preview.complete)
  const mapping = preview && mappingToSend(preview, step.values, answers)
  const isTwice = preview !== undefined && chosenTwice(preview, answers).length > 0
  const mayRemember = workspaces.some(
    ({ id, rights }) => id === chosen.workspace && rights.includes('operate'),
  )
  const picker = useRef<HTMLInputElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const sending = useRef<{ stop(): void }>(undefined)
  const dataset = datasets?.find((one) => one.dataset === chosen.dataset)
  const needsClient = dataset?.has_clients === true && chosen.client === ''

  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is asked about again
  useEffect(() => {
    setFailure(undefined)
    setKnown(undefined)
    setChanging(false)
    setRemember(true)
    setRememberOptions(true)
    setRead(AS_FOUND)
  }, [file])

  // The button cannot be pressed before the columns are known.
  useEffect(() => {
    if (step.state === 'failed' || (step.state === 'ready' && !matching)) button.current?.focus()
  }, [step.state, matching])

  async function upload(event: FormEvent) {
    event.preventDefault()
    if (file === undefined) return picker.current?.click()
    setFailure(undefined)
    setSent(0)
    rememberChoices(chosen)
    // What nobody has looked at goes with this file only.
    if (mapping && matching && remember && mayRemember && hasEntries(mapping)) {
      try {
        const { workspace: workspace_id, dataset, platform } = chosen
        await api.uploads.rememberMapping(dataset, { workspace_id, platform, ...mapping })
      } catch (thrown) {
        setFailure(asFailure(thrown))
        return setSent(undefined)
      }
    }
    const transfer = api.uploads.send({
      file,
      fields: {
        workspace_id: chosen.workspace,
        dataset: chosen.dataset,
        platform: chosen.platform,
        ...(chosen.client !== '' && { client_id: chosen.client }),
        on_invalid: chosen.onInvalid,
        ...(repeated !== '' && { repeated_keys: repeated }),
        ...readFields(read, 'all'),
        ...(rememberOptions && hasReadOptions(read) && { remember_options: 'true' }),
        ...(mapping && hasEntries(mapping) && mappingFields(mapping)),
        ...(answers.without.length > 0 && { without: answers.without.join(',') }),
      },
      sent: setSent,
    })
    sending.current = transfer
    try {
      const answer = await transfer.done
      if (answer.created) go(`/uploads/${answer.upload.upload_id}`)
      else setKnown(answer)
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
    setSent(undefined)
  }

  /** The file is looked at again without them. */
  async function forgetOptions() {
    const { workspace, dataset, platform } = chosen
    const shape = preview?.file.recalled?.shape
    if (shape === undefined) return
    try {
      await api.uploads.forgetReadOptions(dataset, { workspace_id: workspace, platform, read_options: shape })
      step.readAgain()
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
  }

  const uploadButton = (
    <button
      ref={button}
      type="submit"
      className={file === undefined ? 'button' : 'button is-next'}
      disabled={
        closed ||
        sent !== undefined ||
        file === undefined ||
        chosen.dataset === '' ||
        evidence.state === 'reading' ||
        needsClient ||
        step.state === 'reading' ||
        isTwice
      }
    >
      Upload
    </button>
  )

  if (datasets?.length === 0 && workspaces.length === 1) return <NoDatasets />
  return (
    <form className="upload-form" onSubmit={upload} aria-label="Upload a file">
      <input
        ref={picker}
        type="file"
        className="unseen"
        tabIndex={-1}
        aria-label="The file to upload"
        onChange={(event) => take(event.target.files?.[0])}
      />
      {isEmpty && (
        <p className="note is-bad" role="alert">
          <b>{given.name} is empty.</b> Export it again, or choose another file.
        </p>
      )}
      <div className="drop-zone">
        {file === undefined ? (
          <p>
            <b>Drop a file anywhere on this page,</b> or
            <button type="button" className="button is-small is-next" onClick={() => picker.current?.click()}>
              Choose a file…
            </button>
            <span className="tiny">
              CSV, TSV, XLSX, JSON, JSON lines or Parquet. Nothing changes before a person approves it.
            </span>
          </p>
        ) : (
          <p>
            <b>{file.name}</b> <span className="muted">{bytes(file.size)}</span>{' '}
            <button
              type="button"
              className="button is-small"
              disabled={sent !== undefined}
              onClick={() => picker.current?.click()}
            >
              Another file…
            </button>
          </p>
        )}
      </div>
      <div className="choices">
        {workspaces.length > 1 && (
          <Choice
            label="Workspace"
            value={chosen.workspace}
            options={workspaces.map(({ id, name }) => [id, name ?? id])}
            choose={(workspace) => choose({ workspace })}
          />
        )}
        <Choice
          label="Dataset"
          value={chosen.dataset}
          options={[
            ...(chosen.dataset === ''
              ? [['', file === undefined ? 'as the file’s columns show' : 'choose…'] as const]
              : []),
            ...(datasets ?? []).map((one) => [one.dataset, one.title] as const),
          ]}
          choose={(name) => choose({ dataset: name })}
        />
        {(datasets === undefined || (dataset && dataset.platforms.length !== 1)) && (
          <Choice
            label="Platform"
            value={chosen.platform}
            options={(dataset?.platforms ?? []).map(({ platform, title }) => [platform, title])}
            choose={(platform) => choose({ platform })}
          />
        )}
        {(datasets === undefined || dataset?.has_clients) && (
          <Choice
            label="Client"
            value={chosen.client}
            options={[
              ...(chosen.client === ''
                ? [['', clients?.length === 0 ? 'none yet' : 'choose…'] as const]
                : []),
              ...(clients ?? []).map(({ id, name }) => [id, name] as const),
            ]}
            choose={(client) => choose({ client })}
          />
        )}
        <Choice
          label="Invalid lines"
          value={chosen.onInvalid}
          options={[
            ['refuse', 'Reject the whole file'],
            ['skip', 'Skip invalid lines'],
          ]}
          choose={(onInvalid) => choose({ onInvalid: onInvalid === 'skip' ? 'skip' : 'refuse' })}
        />
        <Choice
          label="Repeated keys"
          value={repeated}
          options={[
            ['', 'as the dataset says'],
            ['refuse', 'reject them'],
            ['sum', 'add them up'],
            ['last', 'use the last'],
            ['first', 'use the first'],
          ]}
          choose={setRepeated}
        />
        {!matching && uploadButton}
      </div>
      {file !== undefined && datasets !== undefined && (
        <DatasetQuestion
          fileName={file.name}
          datasets={datasets}
          evidence={evidence}
          chosen={chosen.dataset}
          isSaid={offered.isSaid}
          disabled={sent !== undefined}
          choose={(name) => choose({ dataset: name })}
        />
      )}
      {file !== undefined && (
        <FileOptions
          preview={preview}
          failure={step.failure ?? evidence.failure}
          choices={read}
          choose={setRead}
          isBeginning={step.isBeginning}
          remember={rememberOptions}
          setRemember={setRememberOptions}
          forget={preview?.file.recalled ? forgetOptions : undefined}
          disabled={sent !== undefined}
        />
      )}
      <MatchColumns
        step={step}
        open={matching}
        setOpen={setChanging}
        remember={remember}
        setRemember={setRemember}
        mayRemember={mayRemember}
        disabled={sent !== undefined}
      >
        {uploadButton}
      </MatchColumns>
      {sent !== undefined && file !== undefined && (
        <div className="sending">
          <Meter label="Sent" done={sent} total={file.size} />
          <span role="status">
            {sent < file.size
              ? `${bytes(sent)} of ${bytes(file.size)} sent`
              : `${bytes(file.size)} sent, waiting for the server`}
          </span>
          <button type="button" className="button is-small" onClick={() => sending.current?.stop()}>
            Cancel
          </button>
        </div>
      )}
      {file !== undefined && needsClient && clients !== undefined && (
        <p className="tiny form-note">
          {clients.length === 0
            ? 'This workspace has no clients yet. An administrator can add one.'
            : 'Choose whose data this is.'}
        </p>
      )}
      {closed && (
        <p className="note is-held" role="status">
          <b>Uploads are paused: their gate is closed.</b> An administrator opens it with{' '}
          <code>stagedoor gate open {STAGING_WRITES}</code>.
        </p>
      )}
      <RefusalNote
        failure={
          failure ?? offered.failure ?? step.failure ?? (chosen.dataset === '' ? evidence.failure : undefined)
        }
      />
      {known && (
        <p className="note is-held" role="status">
          <b>This file was already uploaded.</b> Nothing was uploaded again.{' '}
          <a className="link" href={`/uploads/${known.upload.upload_id}`}>
            Open {known.upload.file_name}
          </a>
        </p>
      )}
    </form>
  )
}

function hasReadOptions({ columns: _, sheet: __, ...read }: ReadChoices): boolean {
  return Object.values(read).some(Boolean)
}

function hasEntries({ headers, field_values }: ChosenMapping): boolean {
  return Object.keys(headers).length + Object.keys(field_values).length > 0
}

function mappingFields({ headers, field_values }: ChosenMapping): Record<string, string> {
  return { headers: JSON.stringify(headers), field_values: JSON.stringify(field_values) }
}
