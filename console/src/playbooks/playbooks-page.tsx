import { useState } from 'react'
import type { Playbook, PlaybookRuns } from '../api/types.ts'
import { executionStatus } from '../executions/execution-status.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { count } from '../parts/format.ts'
import { type Column, PagedList } from '../parts/list.tsx'
import { RegisterDialog } from './register-dialog.tsx'
import './playbooks.css'

const PAGE = 100

interface Listed extends Playbook {
  readonly runs: PlaybookRuns | undefined
}

export default function PlaybooksPage() {
  const [registering, setRegistering] = useState(false)
  const pages = useLivePages<Playbook>(['playbooks', 'list'], async (api, after) => {
    const { playbooks, next } = await api.playbooks.list({ limit: PAGE, after })
    return { rows: playbooks, next }
  })
  const { data: runs } = useLiveQuery(['executions', 'by-playbook'], (api) => api.executions.byPlaybook())
  const runsOf = new Map(runs?.playbooks.map((one) => [one.playbook, one]))
  const rows = pages.rows.map((playbook) => ({ ...playbook, runs: runsOf.get(playbook.name) }))
  return (
    <>
      <PageHead title="Playbooks" />
      <div className="list-filters">
        <button type="button" className="button filters-end" onClick={() => setRegistering(true)}>
          Check or register a playbook…
        </button>
      </div>
      <PagedList<Listed>
        label="Playbooks"
        columns={COLUMNS}
        pages={{ ...pages, rows }}
        keyOf={({ name }) => name}
        empty={
          <EmptyState
            title="There is no playbook that you may see."
            command="npm run -s stagedoor -- playbook register playbook.yaml --open-to-members"
          >
            A playbook is a text with steps: SQL, HTTP, handlers of your own, loops and waits. Members see
            those that are registered as open to them.
          </EmptyState>
        }
      />
      {registering && <RegisterDialog close={() => setRegistering(false)} />}
    </>
  )
}

const COLUMNS: readonly Column<Listed>[] = [
  {
    title: 'Playbook',
    cell: (playbook) => (
      <>
        <a href={`/playbooks/${playbook.name}`}>
          <b>{playbook.name}</b>
        </a>
        {playbook.description !== null && (
          <span className="playbook-about muted">{playbook.description}</span>
        )}
        <div className="is-narrow-only">
          <StartableChip playbook={playbook} />
        </div>
      </>
    ),
  },
  {
    title: 'Can be started',
    tight: true,
    wideOnly: true,
    cell: (playbook) => <StartableChip playbook={playbook} />,
  },
  { title: 'Version', figures: true, tight: true, wideOnly: true, cell: ({ version }) => version },
  {
    title: 'Last run',
    cell: ({ runs }) => {
      if (runs === undefined) return <span className="tiny">none lately</span>
      const { tone, text } = executionStatus({ status: runs.last_status })
      return (
        <>
          <Chip tone={tone}>{text}</Chip>{' '}
          <a href={`/executions/${runs.last_execution_id}`}>
            <Ago at={runs.last_at} />
          </a>
        </>
      )
    },
  },
  {
    title: 'Runs',
    wideOnly: true,
    cell: ({ name, runs }) =>
      runs && (
        <a href={`/executions?playbook=${name}`}>
          {[
            count(runs.executions),
            runs.running > 0 && `${count(runs.running)} running`,
            runs.failed > 0 && `${count(runs.failed)} failed`,
          ]
            .filter(Boolean)
            .join(', ')}
        </a>
      ),
  },
]

export function StartableChip({ playbook }: { playbook: Pick<Playbook, 'disabled_at' | 'open_to_members'> }) {
  if (playbook.disabled_at !== null) return <Chip tone="held">disabled</Chip>
  return playbook.open_to_members ? (
    <Chip tone="ok">by members</Chip>
  ) : (
    <Chip tone="stale">by the back end</Chip>
  )
}
