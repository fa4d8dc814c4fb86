import { useState } from 'react'
import type { Playbook, PlaybookDetail } from '../api/types.ts'
import { executionStatus } from '../executions/execution-status.ts'
import { shortRun } from '../executions/executions-page.tsx'
import { type Definition, graphOf } from '../executions/playbook-graph.ts'
import { StartDialog } from '../executions/start-dialog.tsx'
import { StepsCard } from '../executions/steps-card.tsx'
import { useMayOperate } from '../executions/use-may-operate.ts'
import { useLivePages, useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { Detail } from '../parts/detail.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useParameters } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { DiffLines } from './diff-lines.tsx'
import { StartableChip } from './playbooks-page.tsx'
import { ProblemList } from './problem-list.tsx'
import { RegisterDialog } from './register-dialog.tsx'
import './playbooks.css'

export default function PlaybookPage({ params }: { params: Readonly<Record<string, string>> }) {
  const name = params.name!
  const [parameters] = useParameters()
  const asked = Number(parameters.get('version')) || undefined
  const playbook = useLiveQuery(['playbooks', name, 'version', asked], (api) =>
    api.playbooks.find(name, asked),
  )
  const versions = useLivePages<Playbook>(['playbooks', name, 'versions'], async (api, before) => {
    const page = await api.playbooks.versions(name, { limit: 50, before })
    return { rows: page.versions, next: page.next === null ? null : String(page.next) }
  })
  if (playbook.data === undefined)
    return playbook.failure ? <FailureNote failure={playbook.failure} /> : <p className="empty">Loading…</p>
  return <Loaded playbook={playbook.data} versions={versions} refresh={() => void playbook.refresh()} />
}

interface LoadedProps {
  readonly playbook: PlaybookDetail
  readonly versions: ReturnType<typeof useLivePages<Playbook>>
  refresh(): void
}

function Loaded({ playbook, versions, refresh }: LoadedProps) {
  const definition = playbook.playbook as unknown as Definition
  const newest = versions.rows[0]?.version ?? playbook.version
  return (
    <Detail
      title={playbook.name}
      back={['Playbooks', '/playbooks']}
      chips={
        <>
          <StartableChip playbook={playbook} />
          <span className="tiny">
            version {playbook.version}
            {playbook.version !== newest && `, the newest is ${newest}`}
          </span>
        </>
      }
      actions={<Actions playbook={playbook} refresh={refresh} />}
      aside={<Aside playbook={playbook} definition={definition} />}
      tabs={[
        { id: 'graph', title: 'Graph', content: <StepsCard graph={graphOf(definition)} /> },
        { id: 'text', title: 'Text and check', content: <TextTab playbook={playbook} /> },
        {
          id: 'versions',
          title: 'Versions',
          count: versions.more ? `${versions.rows.length}+` : versions.rows.length,
          content: <VersionsTab name={playbook.name} versions={versions} />,
        },
      ]}
    >
      {playbook.description !== null && <p className="muted">{playbook.description}</p>}
    </Detail>
  )
}

function Actions({ playbook, refresh }: { playbook: PlaybookDetail; refresh(): void }) {
  const { api, me } = useSession()
  const [asked, setAsked] = useState<'start' | 'switch' | 'register'>()
  const mayOperate = useMayOperate()
  const isService = me.role === 'service_role'
  const { name, disabled_at, open_to_members } = playbook
  const disabled = disabled_at !== null
  const mayStart = !disabled && mayOperate && (open_to_members || isService)
  const close = () => {
    setAsked(undefined)
    refresh()
  }
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={!isService}
        title={isService ? undefined : 'The back end does this: see the commands beside the graph'}
        onClick={() => setAsked('switch')}
      >
        {disabled ? 'Enable…' : 'Disable…'}
      </button>
      <button type="button" className="button" onClick={() => setAsked('register')}>
        New version…
      </button>
      <button type="button" className="button is-next" disabled={!mayStart} onClick={() => setAsked('start')}>
        Start…
      </button>
      {asked === 'start' && <StartDialog playbook={name} close={close} />}
      {asked === 'register' && (
        <RegisterDialog text={playbook.content} openToMembers={open_to_members} close={close} />
      )}
      {asked === 'switch' && (
        <ActionDialog
          title={disabled ? `Enable ${name}` : `Disable ${name}`}
          verb={disabled ? 'Enable' : 'Disable'}
          act={() => (disabled ? api.playbooks.enable(name) : api.playbooks.disable(name))}
          close={close}
        >
          {disabled
            ? 'Every version can be started again, also by events and schedules.'
            : 'No version is started any more, by nobody, no event and no schedule. Executions that run go on.'}
        </ActionDialog>
      )}
    </>
  )
}

function Aside({ playbook, definition }: { playbook: PlaybookDetail; definition: Definition }) {
  const { me } = useSession()
  const { name, registered_by, created_at, disabled_at } = playbook
  const { data } = useLiveQuery(['executions', 'list-of', name], (api) =>
    api.executions.list({ playbook: name, limit: 6 }),
  )
  const args = Object.entries(definition.args)
  return (
    <>
      <Card id="about" title="About">
        <Facts
          facts={[
            ['Registered', <Ago key="at" at={created_at} />],
            ['By', <Person key="by" id={registered_by} />],
            ['Disabled', disabled_at === null ? undefined : <Ago key="off" at={disabled_at} />],
            ...args.map(([arg, value]) => [arg, <code key={arg}>{JSON.stringify(value)}</code>] as const),
          ]}
        />
        {me.role !== 'service_role' && (
          <p className="tiny card-text">
            The back end registers and switches playbooks:{' '}
            <code>
              stagedoor playbook {disabled_at ? 'enable' : 'disable'} {name}
            </code>
          </p>
        )}
      </Card>
      <Card
        id="runs"
        title="Last runs"
        aside={
          <a className="link tiny" href={`/executions?playbook=${name}`}>
            All
          </a>
        }
      >
        {data?.executions.length === 0 && <p className="empty">It has not run yet.</p>}
        <ul className="lines">
          {data?.executions.map((execution) => {
            const { tone, text } = executionStatus(execution)
            return (
              <li key={execution.execution_id}>
                <Chip tone={tone}>{text}</Chip>{' '}
                <a className="link" href={`/executions/${execution.execution_id}`}>
                  {shortRun(execution.execution_id)}
                </a>{' '}
                <span className="tiny">
                  <Ago at={execution.created_at} />
                </span>
              </li>
            )
          })}
        </ul>
      </Card>
    </>
  )
}

/** Checked against what is registered now: a playbook that it calls may have gone since. */
function TextTab({ playbook }: { playbook: PlaybookDetail }) {
  const { data, failure } = useLiveQuery(['playbooks', playbook.name, 'check', playbook.version], (api) =>
    api.playbooks.check(playbook.content),
  )
  return (
    <Card
      id="text"
      title={`Version ${playbook.version} as it was written`}
      aside={
        data && (
          <Chip tone={data.ok ? (data.problems.length > 0 ? 'held' : 'ok') : 'bad'}>
            {data.ok
              ? data.problems.length > 0
                ? 'valid, with warnings'
                : 'no problems'
              : 'would be refused today'}
          </Chip>
        )
      }
    >
      <FailureNote failure={failure} />
      {data && <ProblemList problems={data.problems} text={playbook.content} />}
      <ol className="source">
        {playbook.content
          .trimEnd()
          .split('\n')
          .map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
            <li key={index}>
              <code>{line === '' ? ' ' : line}</code>
            </li>
          ))}
      </ol>
    </Card>
  )
}

function VersionsTab({
  name,
  versions: { rows, more, loadingMore },
}: Pick<LoadedProps, 'versions'> & { name: string }) {
  const [parameters, set] = useParameters()
  const newest = rows[0]?.version ?? 1
  const to = Number(parameters.get('to')) || newest
  const from = Number(parameters.get('from')) || Math.max(1, to - 1)
  const options = rows.map(({ version }): [string, string] => [String(version), `version ${version}`])
  return (
    <div className="stack">
      <Card id="versions" title="Versions">
        <ul className="lines version-list">
          {rows.map(({ version, created_at, registered_by }) => (
            <li key={version}>
              <a className="link" href={`/playbooks/${name}?version=${version}`}>
                <b>Version {version}</b>
              </a>{' '}
              <span className="tiny">
                <Ago at={created_at} /> · <Person id={registered_by} />
              </span>
            </li>
          ))}
        </ul>
        {more && (
          <div className="card-foot">
            <button type="button" className="button" disabled={loadingMore} onClick={more}>
              Load more
            </button>
          </div>
        )}
      </Card>
      {rows.length < 2 && more === undefined ? (
        <EmptyState title="There is one version.">
          What changed is shown here once there is a second one.
        </EmptyState>
      ) : (
        <Card
          id="diff"
          title="What changed"
          aside={
            <div className="diff-choice">
              <Choice
                label="From"
                value={String(from)}
                options={options}
                choose={(value) => set({ from: value })}
              />
              <Choice
                label="To"
                value={String(to)}
                options={options}
                choose={(value) => set({ to: value })}
              />
            </div>
          }
        >
          <Diff name={name} from={from} to={to} />
        </Card>
      )}
    </div>
  )
}

function Diff({ name, from, to }: { name: string; from: number; to: number }) {
  const { data, failure, loading } = useLiveQuery(['playbooks', name, 'diff', from, to], (api) =>
    api.playbooks.diff(name, from, to),
  )
  return (
    <>
      <FailureNote failure={failure} />
      {loading && <p className="empty">Loading…</p>}
      {data &&
        (data.patch === '' ? (
          <p className="empty">The texts are the same.</p>
        ) : (
          <DiffLines patch={data.patch} />
        ))}
    </>
  )
}
