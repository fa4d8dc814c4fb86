import { useEffect } from 'react'
import type { UploadDetail } from '../api/upload-types.ts'
import { Lost } from '../frame/page-head.tsx'
import { useSystem } from '../live/system.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, counted, shortHash } from '../parts/figures.ts'
import { Person } from '../parts/person.tsx'
import { DecisionCard } from './decision/decision-card.tsx'
import { ReadingCard } from './reading-card.tsx'
import { stateOf } from './state.ts'
import { Steps } from './steps.tsx'
import { Tabs } from './tabs.tsx'
import { useDataset } from './use-dataset.ts'
import { type LiveUpload, useUpload } from './use-upload.ts'
import './upload.css'

export function UploadPage({ params }: { params: Readonly<Record<string, string>> }) {
  const live = useUpload(params.id ?? '')
  const { upload, failure } = live
  useEffect(() => {
    if (upload) document.title = `${upload.file_name} · Stagedoor`
  }, [upload])

  if (upload !== undefined) return <Loaded live={live} upload={upload} />
  return (
    <>
      <h1>Upload</h1>
      {failure === undefined && <p className="muted">Reading…</p>}
      <FailureNote failure={failure} />
    </>
  )
}

function Loaded({ live, upload }: { live: LiveUpload; upload: UploadDetail }) {
  const dataset = useDataset(upload)
  const readable = upload.line_count !== null && upload.status !== 'reading'
  return (
    <>
      <Head upload={upload} />
      <Steps upload={upload} progress={live.progress} />
      <div className="upload-columns">
        <section className="card upload-work" aria-label="What is in it">
          <FailureNote failure={live.failure} />
          {readable ? (
            <Tabs upload={upload} take={live.take} dataset={dataset} />
          ) : (
            <ReadingCard upload={upload} progress={live.progress} />
          )}
        </section>
        <DecisionCard upload={upload} take={live.take} dataset={dataset} />
      </div>
    </>
  )
}

function Head({ upload }: { upload: UploadDetail }) {
  const { lost, at } = useSystem()
  const state = stateOf(upload)
  return (
    <div className="page-head upload-head">
      <h1>
        {upload.file_name} <Chip tone={state.tone}>{state.word}</Chip>
      </h1>
      <div role="status">{lost && <Lost at={at} />}</div>
      {!lost && <Facts upload={upload} />}
    </div>
  )
}

function Facts({ upload }: { upload: UploadDetail }) {
  return (
    <p>
      {upload.dataset_title} / {upload.platform}
      {upload.client_name !== null && ` · client ${upload.client_name}`}
      {upload.line_count !== null && ` · ${counted(upload.line_count, 'line')}`}
      {upload.line_count === null ? ' · ' : ', '}
      {bytes(Number(upload.byte_len))} · uploaded by <Person id={upload.uploaded_by} />
      {upload.uploaded_via !== null && ` (${upload.uploaded_via})`} <Ago at={upload.created_at} /> ·{' '}
      <code title={upload.file_hash}>sha256 {shortHash(upload.file_hash)} …</code>
    </p>
  )
}
