import { useState } from 'react'
import type { JobKind } from '../api/jobs.ts'
import { KindName } from '../jobs/job-text.tsx'
import { KindLimits, limitsText } from '../jobs/kind-limits.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { Card } from '../parts/card.tsx'
import { Command } from '../parts/command.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, count } from '../parts/format.ts'
import { type Column, ListTable } from '../parts/list.tsx'
import { mayEverywhere } from '../session/rights.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { SettingsFrame } from './settings-frame.tsx'

export default function LimitsPage() {
  const { me } = useSession()
  const { id: workspace, name } = useWorkspace()
  const limits = useLiveQuery(['settings', 'limits', workspace], (api) => api.system.limits(workspace))
  const kinds = useLiveQuery(['jobs', 'kinds'], (api) => api.queue.kinds())
  const [asked, ask] = useState<JobKind>()
  const { data } = limits
  return (
    <SettingsFrame>
      <Card
        id="upload-limits"
        title="Uploads"
        aside={
          data && (
            <span className="tiny">
              {data.uploads.workspace_id === null
                ? 'as in every workspace without limits of its own'
                : 'of this workspace'}
            </span>
          )
        }
      >
        <FailureNote failure={limits.failure} />
        {data && (
          <Facts
            facts={[
              ['Largest file', bytes(Number(data.uploads.max_bytes))],
              ['Lines', count(data.uploads.max_lines)],
              ['Read at once', count(data.uploads.max_at_once)],
            ]}
          />
        )}
        <div className="card-foot">
          <p className="tiny">An administrator of the database changes them on the command line.</p>
          <Command text={`npm run -s stagedoor -- upload limits --workspace "${name}" --lines 200000`} />
        </div>
      </Card>
      <Card id="api-limits" title="API">
        {data && (
          <Facts
            facts={[
              [
                'Requests a minute',
                data.api.requests_a_minute === 0 ? 'no limit' : count(data.api.requests_a_minute),
              ],
              ['Largest JSON body', bytes(data.api.body_bytes)],
              ['Largest staged part', bytes(data.api.blob_bytes)],
            ]}
          />
        )}
        <p className="card-foot tiny">
          Settings of the process: STAGEDOOR_RATE_LIMIT, STAGEDOOR_BODY_LIMIT and STAGEDOOR_BLOB_LIMIT.
        </p>
      </Card>
      <Card
        id="kind-limits"
        title="Kinds of jobs"
        aside={<span className="tiny">shared by all workspaces</span>}
      >
        <FailureNote failure={kinds.failure} />
        <ListTable
          label="Limits of kinds of jobs"
          columns={columnsOf(mayEverywhere(me, 'administer'), ask)}
          rows={kinds.data?.kinds ?? []}
          keyOf={({ job_kind }) => job_kind}
        />
      </Card>
      {asked && <KindLimits kind={asked} close={() => ask(undefined)} done={kinds.refresh} />}
    </SettingsFrame>
  )
}

function columnsOf(may: boolean, ask: (kind: JobKind) => void): Column<JobKind>[] {
  return [
    {
      title: 'Kind',
      cell: ({ job_kind, description }) => (
        <>
          <KindName kind={job_kind} />
          <div className="tiny">{description}</div>
        </>
      ),
    },
    { title: 'Limits', cell: (kind) => limitsText(kind) || <span className="tiny">none</span> },
    { title: 'Attempts', figures: true, wideOnly: true, cell: ({ max_attempts }) => max_attempts },
    {
      title: 'Change',
      tight: true,
      cell: (kind) => (
        <button
          type="button"
          className="button is-small"
          disabled={!may}
          title={may ? undefined : 'For administrators of every workspace'}
          onClick={() => ask(kind)}
        >
          Change<span className="unseen"> the limits of {kind.job_kind}</span>
        </button>
      ),
    },
  ]
}
