import { useState } from 'react'
import type { DatasetDetail, DatasetSummary, RememberedMapping } from '../api/system.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { SettingsFrame } from './settings-frame.tsx'

export default function DatasetsPage() {
  const { id: workspace } = useWorkspace()
  const [chosen, choose] = useParameter('dataset')
  const list = useLiveQuery(['settings', 'datasets', workspace], (api) => api.system.datasets(workspace))
  const datasets = list.data?.datasets ?? []
  return (
    <SettingsFrame>
      <Card id="datasets" title="Datasets">
        <FailureNote failure={list.failure} />
        {list.data && datasets.length === 0 && (
          <EmptyState title="No dataset yet." command="npm run -s stagedoor -- init">
            A dataset says what the columns of a file mean and which tables they fill. Declare one for a table
            of yours:
          </EmptyState>
        )}
        {datasets.length > 0 && (
          <ListTable
            label="Datasets"
            columns={columnsOf(chosen, choose)}
            rows={datasets}
            keyOf={({ dataset }) => dataset}
          />
        )}
      </Card>
      {chosen !== undefined && <Dataset key={`${workspace} ${chosen}`} name={chosen} workspace={workspace} />}
    </SettingsFrame>
  )
}

function columnsOf(
  chosen: string | undefined,
  choose: (dataset: string | undefined) => void,
): Column<DatasetSummary>[] {
  return [
    {
      title: 'Dataset',
      cell: ({ dataset, title, version }) => (
        <>
          <b>{title}</b>
          <div className="tiny">
            {dataset} · version {version}
          </div>
        </>
      ),
    },
    {
      title: 'Writes',
      wideOnly: true,
      cell: ({ row_types }) => row_types.map(({ target }) => <div key={target}>{target}</div>),
    },
    {
      title: 'Approval',
      tight: true,
      cell: ({ approval_required }) => (approval_required ? 'a second person' : 'none needed'),
    },
    { title: 'Undo for', tight: true, wideOnly: true, cell: ({ undo_window }) => undo_window },
    {
      title: 'Details',
      tight: true,
      cell: ({ dataset, title }) => (
        <button
          type="button"
          className="button is-small"
          aria-expanded={chosen === dataset}
          onClick={() => choose(chosen === dataset ? undefined : dataset)}
        >
          {chosen === dataset ? 'Hide' : 'Show'}
          <span className="unseen"> {title}</span>
        </button>
      ),
    },
  ]
}

function Dataset({ name, workspace }: { name: string; workspace: string }) {
  const dataset = useLiveQuery(['settings', 'dataset', workspace, name], (api) =>
    api.system.dataset(name, workspace),
  )
  if (dataset.data === undefined) return <FailureNote failure={dataset.failure} />
  return (
    <>
      <Check name={name} workspace={workspace} />
      <Declaration dataset={dataset.data} />
      <Remembered dataset={dataset.data} workspace={workspace} />
    </>
  )
}

/** Whether the tables still fit. */
function Check({ name, workspace }: { name: string; workspace: string }) {
  const { rights } = useWorkspace()
  const mayCheck = rights.includes('operate')
  const check = useLiveQuery(
    ['settings', 'dataset-check', workspace, name],
    (api) => api.system.checkDataset(name, workspace),
    { enabled: mayCheck },
  )
  const problems = check.data?.problems ?? []
  return (
    <Card
      id="dataset-check"
      title="Check"
      aside={
        check.data && (
          <Chip tone={problems.length === 0 ? 'ok' : 'bad'}>
            {problems.length === 0 ? 'its tables fit' : `${problems.length} to repair`}
          </Chip>
        )
      }
    >
      <FailureNote failure={check.failure} />
      {!mayCheck && (
        <p className="empty">People who may operate this workspace see whether the tables fit.</p>
      )}
      {check.data && problems.length === 0 && (
        <p className="empty">
          Every table and column that the declaration names is there and can be written.
        </p>
      )}
      <ul className="remembered">
        {problems.map(({ problem, remedy }) => (
          <li key={problem}>
            <b>{problem}</b>
            {remedy && <code>{remedy}</code>}
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface FieldRow {
  readonly name: string
  readonly title: string
  readonly type: string
  readonly required: boolean
  readonly headers: readonly string[]
}

interface Declared {
  readonly fields?: Record<
    string,
    {
      title?: string
      type?: string
      required?: boolean
      aliases?: Record<string, (string | { header: string })[]>
    }
  >
  readonly rules?: { message?: string; severity?: string }[]
}

function fieldsOf(definition: Declared): FieldRow[] {
  return Object.entries(definition.fields ?? {}).map(([name, { title, type, required, aliases }]) => ({
    name,
    title: title ?? name,
    type: type ?? 'text',
    required: required ?? false,
    headers: [
      ...new Set(
        Object.values(aliases ?? {})
          .flat()
          .map((alias) => (typeof alias === 'string' ? alias : alias.header)),
      ),
    ],
  }))
}

const SHOWN_HEADERS = 6

const FIELD_COLUMNS: readonly Column<FieldRow>[] = [
  {
    title: 'Field',
    tight: true,
    cell: ({ name, title, required }) => (
      <>
        <b>{title}</b> {required && <span className="tiny">required</span>}
        <div className="tiny">{name}</div>
      </>
    ),
  },
  { title: 'Type', tight: true, cell: ({ type }) => type },
  {
    title: 'Headers that mean it',
    wideOnly: true,
    cell: ({ headers }) => (
      <span title={headers.join(', ')}>
        {headers.slice(0, SHOWN_HEADERS).join(', ')}
        {headers.length > SHOWN_HEADERS && (
          <span className="tiny"> and {count(headers.length - SHOWN_HEADERS)} more</span>
        )}
      </span>
    ),
  },
]

function Declaration({ dataset }: { dataset: DatasetDetail }) {
  const definition = dataset.definition as Declared
  const fields = fieldsOf(definition)
  return (
    <Card
      id="declaration"
      title="Declaration"
      aside={<span className="tiny">{count(fields.length)} fields</span>}
    >
      <Facts
        facts={[
          ['Writes', dataset.row_types.map(({ target }) => target).join(', ')],
          ['Sources', dataset.platforms.map(({ title }) => title).join(', ')],
          ['Registered', <Ago key="at" at={dataset.registered_at} />],
          ['By', <Person key="by" id={dataset.registered_by} />],
        ]}
      />
      <ListTable label="Fields" columns={FIELD_COLUMNS} rows={fields} keyOf={({ name }) => name} />
      {(definition.rules ?? []).length > 0 && (
        <ul className="remembered" aria-label="Rules">
          {definition.rules!.map(({ message, severity }) => (
            <li key={message}>
              <Chip tone={severity === 'error' ? 'bad' : 'held'}>{severity ?? 'rule'}</Chip> {message}
            </li>
          ))}
        </ul>
      )}
      <details className="card-foot">
        <summary>As it was declared (JSON)</summary>
        <JsonTree value={dataset.definition} label="Declaration" />
      </details>
    </Card>
  )
}

/** What people said about headers, for the next files of the source. */
function Remembered({ dataset, workspace }: { dataset: DatasetDetail; workspace: string }) {
  const { api, me } = useSession()
  const { rights } = useWorkspace()
  const [platform, setPlatform] = useState(dataset.platforms[0]?.platform ?? '')
  const [asked, ask] = useState<string>()
  const mapping = useLiveQuery(
    ['settings', 'mapping', workspace, dataset.dataset, platform],
    (own) => own.system.mapping(dataset.dataset, workspace, platform),
    { enabled: platform !== '' },
  )
  const headers = Object.entries(mapping.data?.headers ?? {})
  return (
    <Card
      id="remembered"
      title="Remembered headers"
      aside={
        dataset.platforms.length > 1 && (
          <Choice
            label="Source"
            value={platform}
            options={dataset.platforms.map((one) => [one.platform, one.title])}
            choose={setPlatform}
          />
        )
      }
    >
      <FailureNote failure={mapping.failure} />
      {mapping.data && headers.length === 0 && (
        <EmptyState title="Nothing is remembered yet.">
          When somebody says at an upload what a column means, the next files of this source are read the same
          way.
        </EmptyState>
      )}
      <ul className="remembered">
        {headers.map(([header, field]) => (
          <li key={header}>
            <b>{header}</b> → {field === null ? 'not used' : titleOf(mapping.data, field)}
            <span className="tiny">
              said by <Person id={mapping.data?.header_by[header] ?? ''} />
            </span>
            <button
              type="button"
              className="button is-small"
              disabled={!rights.includes('stage')}
              onClick={() => ask(header)}
            >
              Forget<span className="unseen"> {header}</span>
            </button>
          </li>
        ))}
      </ul>
      <ReadOptions
        memories={mapping.data?.read_options ?? []}
        mayForget={(author) => author === me.actor || rights.includes('operate')}
        forget={async ({ shape, author }) => {
          await api.system.forgetReadOptions(dataset.dataset, workspace, platform, shape, author)
          await mapping.refresh()
        }}
      />
      {asked !== undefined && (
        <ActionDialog
          title={`Forget what “${asked}” means`}
          verb="Forget"
          close={() => ask(undefined)}
          act={async () => {
            await api.system.forgetHeader(dataset.dataset, workspace, platform, asked)
            await mapping.refresh()
          }}
        >
          <p>
            The next file of this source is asked about this one header again. Files that were read already
            stay as they are.
          </p>
        </ActionDialog>
      )}
    </Card>
  )
}

type Memory = RememberedMapping['read_options'][number]

/** How people had their files read: encoding, delimiter, header line, decimal sign, order of dates. */
function ReadOptions({
  memories,
  mayForget,
  forget,
}: {
  readonly memories: readonly Memory[]
  mayForget(author: string): boolean
  forget(memory: Memory): Promise<void>
}) {
  const [asked, ask] = useState<Memory>()
  if (memories.length === 0) return null
  return (
    <>
      <h3>How files are read</h3>
      <ul className="remembered">
        {memories.map((memory) => (
          <li key={`${memory.author} ${memory.shape}`}>
            <span>
              {memory.columns.slice(0, 4).join(', ')}
              {memory.columns.length > 4 && ', …'} → <b>{optionsText(memory)}</b>
            </span>
            <span className="tiny">
              for files of <Person id={memory.author} />
              {memory.change !== null && `, from #${memory.change}`}
            </span>
            <button
              type="button"
              className="button is-small"
              disabled={!mayForget(memory.author)}
              onClick={() => ask(memory)}
            >
              Forget<span className="unseen"> {optionsText(memory)}</span>
            </button>
          </li>
        ))}
      </ul>
      {asked !== undefined && (
        <ActionDialog
          title="Forget how these files are read"
          verb="Forget"
          close={() => ask(undefined)}
          act={() => forget(asked)}
        >
          <p>
            The next file with these columns is read as it shows by itself. Files that were read already stay
            as they are.
          </p>
        </ActionDialog>
      )}
    </>
  )
}

function optionsText({ options }: Memory): string {
  return Object.entries(options)
    .map(([option, value]) => `${option.replace('_', ' ')} ${value}`)
    .join(', ')
}

function titleOf(mapping: RememberedMapping | undefined, field: string): string {
  return mapping?.fields.find((one) => one.field === field)?.title ?? field
}
