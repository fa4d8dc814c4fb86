import { useEffect, useState } from 'react'
import { ApiProblem, type Failure } from '../api/failure.ts'
import type { UploadDetail } from '../api/upload-types.ts'
import { ChangeHead } from '../changes/change-head.tsx'
import { CHANGE_STATES } from '../changes/change-status.ts'
import { ReviewersCard } from '../changes/reviewers-card.tsx'
import { RiskCard } from '../changes/risk-card.tsx'
import { useChange } from '../changes/use-change.ts'
import { Lost } from '../frame/page-head.tsx'
import { useSystem } from '../live/system.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, counted, shortHash } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { useParameter } from '../route.ts'
import { ChecksCard } from './checks-card.tsx'
import { DecisionCard } from './decision/decision-card.tsx'
import { HowRead } from './how-read.tsx'
import { sourceText } from './labels.ts'
import { PromotionFailed } from './promotion-failed.tsx'
import { ReadingCard } from './reading-card.tsx'
import { StaleCard } from './stale-card.tsx'
import { type State, stateOf } from './state.ts'
import { Steps } from './steps.tsx'
import { Tabs } from './tabs.tsx'
import { useDataset } from './use-dataset.ts'
import { useStale } from './use-stale.ts'
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
      <div className="page-head">
        <h1>{isMissing(failure) ? 'There is no such upload' : 'Upload'}</h1>
      </div>
      {failure === undefined ? <p className="muted">Loading…</p> : <NotLoaded failure={failure} />}
    </>
  )
}

function isMissing(failure: Failure | undefined): boolean {
  return failure instanceof ApiProblem && (failure.status === 404 || failure.status === 400)
}

function NotLoaded({ failure }: { failure: Failure }) {
  return (
    <section className="card" aria-label="What went wrong">
      {!isMissing(failure) && <FailureNote failure={failure} />}
      <div className="empty">
        {isMissing(failure) && (
          <p>It was deleted, it is in a workspace that you are not in, or the address is incomplete.</p>
        )}
        <p>
          <a className="link" href="/uploads">
            Go to all uploads
          </a>
        </p>
      </div>
    </section>
  )
}

function Loaded({ live, upload }: { live: LiveUpload; upload: UploadDetail }) {
  const { dataset, loaded } = useDataset(upload)
  const stale = useStale(upload)
  const [toFirst, setToFirst] = useState(0)
  const [toSave, setToSave] = useState(false)
  const [, setTab] = useParameter('tab')
  const readable = upload.line_count !== null && upload.status !== 'reading'
  const change = useChange(upload.workspace_id, upload.change)
  const isSentBack = change.data?.status === 'changes_requested'
  const state: State =
    stale.plan !== undefined
      ? { tone: 'stale', word: 'plan is outdated' }
      : isSentBack
        ? CHANGE_STATES.changes_requested
        : stateOf(upload)
  const again = () => void change.refresh()
  return (
    <>
      <Head upload={upload} state={state} />
      <Steps upload={upload} progress={live.progress} stale={stale.plan !== undefined} />
      <div className="upload-columns">
        <div className="stack">
          {change.data && <ChangeHead change={change.data} changed={again} />}
          <PromotionFailed upload={upload} />
          {readable && <HowRead upload={upload.upload_id} />}
          {stale.plan && <StaleCard plan={stale.plan} />}
          <section className="card upload-work" aria-label="What is in it">
            <FailureNote failure={live.failure} />
            {readable ? (
              <Tabs
                upload={upload}
                change={change.data}
                changed={again}
                take={live.take}
                dataset={dataset}
                stale={stale.plan}
                toFirst={toFirst}
                toSave={toSave}
                saved={() => setToSave(false)}
              />
            ) : (
              <ReadingCard upload={upload} progress={live.progress} />
            )}
          </section>
        </div>
        <div className="stack">
          <DecisionCard
            upload={upload}
            take={live.take}
            dataset={dataset}
            loaded={loaded && stale.known}
            stale={stale}
            isSentBack={isSentBack}
            correct={() => {
              setTab('problems')
              setToFirst(toFirst + 1)
            }}
            saving={toSave}
            save={() => {
              setTab('problems')
              setToSave(true)
            }}
          />
          {change.data && upload.approval_required && <ReviewersCard change={change.data} changed={again} />}
          {readable && <ChecksCard upload={upload} />}
          {upload.status === 'planned' && upload.plan_digest !== null && (
            <RiskCard upload={upload.upload_id} digest={upload.plan_digest} />
          )}
        </div>
      </div>
    </>
  )
}

function Head({ upload, state }: { upload: UploadDetail; state: State }) {
  const { lost, at } = useSystem()
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
      {sourceText(upload.dataset_title, upload.platform)}
      {upload.client_name !== null && ` · client ${upload.client_name}`}
      {upload.line_count !== null && ` · ${counted(upload.line_count, 'line')}`}
      {upload.line_count === null ? ' · ' : ', '}
      {bytes(Number(upload.byte_len))} · uploaded by <Person id={upload.uploaded_by} />
      {upload.uploaded_via !== null && ` (${upload.uploaded_via})`} <Ago at={upload.created_at} /> ·{' '}
      <code title={upload.file_hash}>sha256 {shortHash(upload.file_hash)} …</code>
    </p>
  )
}
