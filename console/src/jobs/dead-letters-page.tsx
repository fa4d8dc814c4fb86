import { useEffect, useState } from 'react'
import type { DeadLetterGroup, ReplaySelection } from '../api/jobs.ts'
import type { Job } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { type Column, Filters, ListTable, PagedList, useFilters } from '../parts/list.tsx'
import { shortId } from '../people.ts'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { JobLinks } from './job-links.tsx'
import { kindName } from './kind-name.ts'
import './jobs.css'

const PAGE = 50

interface Replay {
  readonly title: string
  readonly selection: ReplaySelection
}

/** Groups by kind and error, the items of a chosen group, and the replay of a group, of chosen items or of all. */
export default function DeadLettersPage() {
  const workspace = useWorkspace()
  const workspace_id = workspace.id || undefined
  const { kind } = useFilters(['kind'])
  const [group, choose] = useParameter('group')
  const [replay, ask] = useState<Replay>()
  const groups = useLiveQuery(['jobs', 'dead-groups', workspace_id, kind], (api) =>
    api.queue.groups({ kind, workspace_id }),
  )
  const kinds = useLiveQuery(['jobs', 'kinds'], (api) => api.queue.kinds())
  const found = groups.data?.groups ?? []
  const chosen = found.find(({ group_id }) => group_id === group)
  const may = workspace.rights.includes('operate') || workspace_id === undefined
  return (
    <>
      <PageHead title="Dead letters" />
      <JobLinks />
      <Filters
        filters={[
          {
            name: 'kind',
            label: 'Kind',
            options: (kinds.data?.kinds ?? []).map(({ job_kind }) => [job_kind, job_kind] as const),
          },
        ]}
      >
        <WorkspaceChoice />
      </Filters>
      <div className="stack">
        <FailureNote failure={groups.failure} />
        <section className="card" aria-labelledby="groups-title">
          <header className="card-head">
            <h2 id="groups-title">Errors</h2>
            {found.length > 0 && (
              <button
                type="button"
                className="button is-small"
                disabled={!may}
                onClick={() =>
                  ask({
                    title: kind ? `Replay all dead letters of ${kind}` : 'Replay all dead letters',
                    // What fails from now on is not meant.
                    selection: { workspace_id, kind, failed_before: new Date().toISOString() },
                  })
                }
              >
                Replay all {count(groups.data?.total ?? 0)}
              </button>
            )}
          </header>
          {found.length > 0 && (
            <ListTable
              label="Errors of dead letters"
              columns={groupColumns({ group, choose, may, ask, workspace_id })}
              rows={found}
              keyOf={({ group_id }) => group_id}
            />
          )}
          {groups.data && found.length === 0 && (
            <EmptyState title={kind ? `No dead letter of ${kind}.` : 'No dead letters.'}>
              A job that failed in all its attempts stands here, until somebody removes the cause and replays
              it.
            </EmptyState>
          )}
          {groups.data?.cut && (
            <p className="empty">There are more than 50,000 dead letters. The newest of them are grouped.</p>
          )}
        </section>
        {chosen && (
          <Items key={chosen.group_id} group={chosen} ask={ask} may={may} workspace_id={workspace_id} />
        )}
      </div>
      {replay && <ReplayDialog {...replay} close={() => ask(undefined)} done={groups.refresh} />}
    </>
  )
}

function groupColumns({
  group,
  choose,
  may,
  ask,
  workspace_id,
}: {
  group: string | undefined
  choose(group: string | undefined): void
  may: boolean
  ask(replay: Replay): void
  workspace_id: string | undefined
}): Column<DeadLetterGroup>[] {
  return [
    {
      title: 'Error',
      cell: ({ error, job_kind, replayed }) => (
        <>
          <b>{kindName(job_kind)}</b>
          <div>{error}</div>
          {replayed > 0 && <div className="tiny">{counted(replayed, 'job')} failed again after a replay</div>}
        </>
      ),
    },
    { title: 'Jobs', figures: true, cell: (one) => count(one.count) },
    {
      title: 'Last',
      tight: true,
      wideOnly: true,
      cell: ({ last_failed_at }) => <Ago at={last_failed_at} />,
    },
    {
      title: 'Do',
      figures: true,
      cell: ({ group_id, job_kind, error }) => (
        <span className="row-buttons">
          <button
            type="button"
            className="button is-small"
            aria-expanded={group === group_id}
            onClick={() => choose(group === group_id ? undefined : group_id)}
          >
            {group === group_id ? 'Hide jobs' : 'Show jobs'}
            <span className="unseen">
              {' '}
              of {job_kind}: {error}
            </span>
          </button>
          <button
            type="button"
            className="button is-small"
            disabled={!may}
            onClick={() =>
              ask({ title: `Replay ${job_kind}: ${error}`, selection: { workspace_id, group: group_id } })
            }
          >
            Replay group
            <span className="unseen">
              {' '}
              {job_kind}: {error}
            </span>
          </button>
        </span>
      ),
    },
  ]
}

function Items({
  group,
  ask,
  may,
  workspace_id,
}: {
  group: DeadLetterGroup
  ask(replay: Replay): void
  may: boolean
  workspace_id: string | undefined
}) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const pages = useLivePages<Job>(['jobs', 'dead', workspace_id, group.group_id], async (api, after) => {
    const { jobs: rows, next } = await api.queue.deadLetters({
      limit: PAGE,
      after,
      workspace_id,
      group: group.group_id,
    })
    return { rows, next }
  })
  // What was replayed meanwhile is no longer chosen.
  const selected = pages.rows.filter(({ job_id }) => ticked.has(job_id)).map(({ job_id }) => job_id)
  const tick = (id: string) => {
    const next = new Set(ticked)
    if (!next.delete(id)) next.add(id)
    setTicked(next)
  }
  const columns: Column<Job>[] = [
    {
      title: 'Chosen',
      tight: true,
      cell: ({ job_id }) => (
        <input
          type="checkbox"
          aria-label={`Choose job ${shortId(job_id)}`}
          checked={ticked.has(job_id)}
          onChange={() => tick(job_id)}
        />
      ),
    },
    {
      title: 'Job',
      tight: true,
      cell: ({ job_id }) => (
        <a href={`/jobs/${job_id}`} className="mono" title={job_id}>
          {shortId(job_id)}
        </a>
      ),
    },
    { title: 'Error', cell: ({ last_error }) => last_error?.split('\n')[0] },
    { title: 'Attempts', figures: true, wideOnly: true, cell: ({ attempts }) => attempts },
    {
      title: 'Failed',
      tight: true,
      wideOnly: true,
      cell: ({ finished_at }) => finished_at && <Ago at={finished_at} />,
    },
  ]
  return (
    <>
      <div className="card selection">
        <b>
          {group.job_kind}: {group.error}
        </b>
        <span className="tiny">{counted(selected.length, 'job')} chosen</span>
        <button
          type="button"
          className="button is-small"
          disabled={!may || selected.length === 0}
          onClick={() =>
            ask({
              title: `Replay ${counted(selected.length, 'chosen job')}`,
              selection: { workspace_id, jobs: selected },
            })
          }
        >
          Replay chosen
        </button>
      </div>
      <PagedList
        label={`Jobs of ${group.job_kind}`}
        pages={pages}
        columns={columns}
        keyOf={({ job_id }) => job_id}
        empty={<EmptyState title="None of this group is left." />}
      />
    </>
  )
}

/** Says how many before, and replays exactly what the selection names. */
function ReplayDialog({
  title,
  selection,
  close,
  done,
}: Replay & { close(): void; done(): Promise<unknown> }) {
  const { api } = useSession()
  const [total, setTotal] = useState<number>()
  useEffect(() => {
    let wanted = true
    api.queue.replayable(selection).then(
      ({ jobs }) => wanted && setTotal(jobs.length),
      // The dialog says why when the button is pressed.
      () => wanted && setTotal(undefined),
    )
    return () => {
      wanted = false
    }
  }, [api, selection])
  return (
    <ActionDialog
      title={title}
      verb={total === undefined ? 'Replay' : `Replay ${counted(total, 'job')}`}
      close={close}
      act={async () => {
        await api.queue.replay(selection)
        await done()
      }}
    >
      <p>
        {total === undefined ? 'Counting…' : `${counted(total, 'job goes', 'jobs go')} back into the queue`}
        {total !== undefined &&
          ', under the same ids and with all attempts. Remove the cause first: what fails again comes back here.'}
      </p>
    </ActionDialog>
  )
}
