import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { UnitContext, UnitDetail, UnitEdge, UnitHistory } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { Detail } from '../parts/detail.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { bytes, counted, shortHash } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { Person } from '../parts/person.tsx'
import { useNarrow } from '../parts/use-narrow.ts'
import { useParameters } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { DiffView } from './diff-view.tsx'
import { UnitActions } from './unit-actions.tsx'
import { lackText, searchStateOf, statusWord } from './unit-text.ts'
import { Path, StatusChip } from './units-page.tsx'
import './units.css'

const EdgeGraph = lazy(() => import('./edge-graph.tsx'))

/** One unit: its text, its versions and their differences, edges, history, and where it comes from. */
export function UnitPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? ''
  const queries = useQueryClient()
  const { data: unit, failure } = useLiveQuery(['units', id], (api) => api.units.find(id))
  const { data: context } = useLiveQuery(['units', id, 'context'], (api) => api.units.context(id))
  const { data: history } = useLiveQuery(['units', id, 'history'], (api) => api.units.history(id))
  const changed = () => queries.invalidateQueries({ queryKey: ['units'] })
  useEffect(() => {
    if (unit) document.title = `${unit.title} · Stagedoor`
  }, [unit])
  if (unit === undefined || unit.unit_id !== id)
    return (
      <Detail title="Unit" back={['Units', '/units']}>
        {failure ? <FailureNote failure={failure} /> : <p className="muted">Loading…</p>}
      </Detail>
    )
  const edges = unit.edges_in + unit.edges_out
  return (
    <Detail
      title={unit.title}
      back={['Units', '/units']}
      chips={
        <>
          <StatusChip unit={unit} />
          <Chip tone={searchStateOf(unit).tone}>{searchStateOf(unit).word}</Chip>
        </>
      }
      aside={<Aside unit={unit} context={context} changed={changed} />}
      tabs={[
        { id: 'text', title: 'Text', content: <TextTab unit={unit} /> },
        {
          id: 'versions',
          title: 'Versions',
          count: unit.version_no,
          content: <VersionsTab unit={unit} history={history} />,
        },
        { id: 'edges', title: 'Edges', count: edges, content: <EdgesTab unit={unit} changed={changed} /> },
        { id: 'history', title: 'History', content: <HistoryTab unit={unit} history={history} /> },
        { id: 'origin', title: 'Where it comes from', content: <OriginTab unit={unit} context={context} /> },
      ]}
    >
      {context && context.path.length > 0 && <Path path={context.path} />}
      <Findings unit={unit} />
    </Detail>
  )
}

function Findings({ unit }: { unit: UnitDetail }) {
  const codes = [...new Set((unit.findings ?? []).map(({ code }) => String(code)))]
  if (codes.length === 0) return null
  return (
    <p className="note is-held">
      <b>The checker found something:</b> {codes.join(', ').replaceAll('_', ' ')}.{' '}
      {unit.drift === 'drifted' && 'Its document says something else since it was cut.'}
    </p>
  )
}

function Aside({
  unit,
  context,
  changed,
}: {
  unit: UnitDetail
  context: UnitContext | undefined
  changed(): Promise<unknown>
}) {
  return (
    <>
      <section className="card" aria-labelledby="life-title">
        <header className="card-head">
          <h2 id="life-title">What you can do</h2>
        </header>
        {context ? (
          <UnitActions unit={unit} context={context} changed={changed} />
        ) : (
          <p className="empty">Loading…</p>
        )}
      </section>
      <section className="card" aria-label="Facts">
        <Facts
          facts={[
            ['Address', <code key="a">{unit.canonical_address}</code>],
            ['Kind', unit.unit_kind],
            ['Version', `${unit.version_no}, ${bytes(unit.body_bytes)}, ${unit.language}`],
            [
              'Edited',
              <span key="e">
                <Ago at={unit.version.edited_at} /> by <Person id={unit.version.edited_by} />
              </span>,
            ],
            ['Topics', unit.topics.length > 0 ? unit.topics.join(', ') : 'none'],
            ['Approval', unit.apr_ref ?? undefined],
            ['Supersedes', context?.supersedes && <UnitLink unit={context.supersedes} />],
            ['Superseded by', context?.superseded_by && <UnitLink unit={context.superseded_by} />],
            ['Next draft', context?.successor && <UnitLink unit={context.successor} />],
            ['Units in it', context && context.units_in > 0 ? context.units_in : undefined],
            ['Still lacks', unit.missing.length > 0 ? unit.missing.map(lackText).join(', ') : undefined],
            [
              'Hash',
              <code key="h" title={unit.content_hash}>
                {shortHash(unit.content_hash, 3)}
              </code>,
            ],
          ].map(([name, value]) => [String(name), value === null ? undefined : value] as const)}
        />
      </section>
    </>
  )
}

function UnitLink({ unit }: { unit: { readonly unit_id: string; readonly title: string } }) {
  return (
    <a className="link" href={`/units/${unit.unit_id}`}>
      {unit.title}
    </a>
  )
}

function TextTab({ unit }: { unit: UnitDetail }) {
  const [asSource, setAsSource] = useState(false)
  return (
    <section className="card" aria-label="Text">
      <header className="card-head">
        <h2>Version {unit.version.version_no}</h2>
        <button
          type="button"
          className="button is-small"
          aria-pressed={asSource}
          onClick={() => setAsSource(!asSource)}
        >
          {asSource ? 'Show it formatted' : 'Show the source'}
        </button>
      </header>
      <div className="unit-body">
        {asSource ? (
          <pre className="unit-source">{unit.version.body}</pre>
        ) : (
          <Markdown text={unit.version.body} />
        )}
      </div>
      {Object.keys(unit.content_profile).length > 0 && (
        <div className="card-foot">
          <JsonTree label="Profile" value={unit.content_profile} />
        </div>
      )}
    </section>
  )
}

function VersionsTab({ unit, history }: { unit: UnitDetail; history: UnitHistory | undefined }) {
  const [parameters, set] = useParameters()
  const to = versionOf(parameters.get('to'), unit.version_no) ?? unit.version_no
  const from = versionOf(parameters.get('from'), unit.version_no) ?? Math.max(1, to - 1)
  const { data: diff, failure } = useLiveQuery(
    ['units', unit.unit_id, 'diff', from, to, unit.version_no],
    (api) => api.units.diff(unit.unit_id, from, to),
  )
  const versions = history?.versions ?? []
  const options = versions.map(({ version_no }) => [String(version_no), `Version ${version_no}`] as const)
  if (unit.version_no === 1)
    return (
      <section className="card" aria-label="Versions">
        <EmptyState title="There is one version.">
          <p>
            Every edit makes a new version and keeps those before it. Then the difference between any two is
            shown here.
          </p>
        </EmptyState>
      </section>
    )
  return (
    <div className="stack">
      <section className="card" aria-label="Difference">
        <header className="card-head diff-head">
          <div className="diff-choices">
            <Choice
              label="From"
              value={String(from)}
              options={options}
              choose={(value) => set({ from: value })}
            />
            <Choice label="To" value={String(to)} options={options} choose={(value) => set({ to: value })} />
          </div>
        </header>
        <FailureNote failure={failure} />
        {diff && diff.from_title !== diff.to_title && (
          <p className="note">
            Title: <del>{diff.from_title}</del> → <ins>{diff.to_title}</ins>
          </p>
        )}
        {diff === undefined && failure === undefined && <p className="empty">Loading…</p>}
        {diff && diff.diff === '' && (
          <p className="empty">
            Versions {from} and {to} have the same text.
          </p>
        )}
        {diff && diff.diff !== '' && <DiffView diff={diff.diff} />}
      </section>
      <section className="card" aria-label="Versions">
        <table className="list-table">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Written</th>
              <th scope="col" className="is-wide-only">
                Size
              </th>
              <th scope="col">Why</th>
              <th scope="col">
                <span className="unseen">Difference</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map((version) => (
              <tr key={version.version_no}>
                <td>{version.version_no}</td>
                <td>
                  <Ago at={version.edited_at} /> by <Person id={version.edited_by} />
                </td>
                <td className="is-wide-only is-nowrap">{bytes(version.body_bytes)}</td>
                <td>{version.note}</td>
                <td>
                  {version.version_no > 1 && (
                    <button
                      type="button"
                      className="button is-small"
                      onClick={() =>
                        set({ from: String(version.version_no - 1), to: String(version.version_no) })
                      }
                    >
                      What it changed<span className="unseen">: version {version.version_no}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  )
}

function versionOf(text: string | null, max: number): number | undefined {
  const number = Number(text)
  return Number.isInteger(number) && number >= 1 && number <= max ? number : undefined
}

function EdgesTab({ unit, changed }: { unit: UnitDetail; changed(): Promise<unknown> }) {
  const { api } = useSession()
  const { data: edges, failure } = useLiveQuery(['units', unit.unit_id, 'edges'], (live) =>
    live.units.edges(unit.unit_id),
  )
  const narrow = useNarrow(760)
  const [adding, setAdding] = useState(false)
  const [deleting, setDeleting] = useState<UnitEdge>()
  const all = edges ? [...edges.out, ...edges.in] : []
  return (
    <section className="card" aria-label="Edges">
      <header className="card-head">
        <h2>Edges</h2>
        <button type="button" className="button is-small" onClick={() => setAdding(true)}>
          Add an edge…
        </button>
      </header>
      <FailureNote failure={failure} />
      {edges === undefined && failure === undefined && <p className="empty">Loading…</p>}
      {edges && all.length === 0 && (
        <EmptyState
          title="No edge yet."
          command={`stagedoor unit edge add ${unit.canonical_address} explains handbook/leave`}
        >
          <p>An edge says how this unit belongs to another one, such as explains, cites or replaces.</p>
        </EmptyState>
      )}
      {edges && all.length > 0 && (
        <>
          {/* On a narrow screen its letters would be too small to read; the list says the same. */}
          {!narrow && (
            <Suspense fallback={<p className="empty">Loading the graph…</p>}>
              <EdgeGraph id={unit.unit_id} title={unit.title} edges={edges} />
            </Suspense>
          )}
          <ul className="edge-list" aria-label="Edges as a list">
            {all.map((edge) => (
              <EdgeLine key={edge.edge_id} edge={edge} unit={unit.unit_id} remove={() => setDeleting(edge)} />
            ))}
          </ul>
          {edges.next !== null && (
            <p className="tiny part-note">
              {counted(unit.edges_in + unit.edges_out, 'edge')}; the first 200 are shown.
            </p>
          )}
        </>
      )}
      {adding && <AddEdgeDialog unit={unit} changed={changed} close={() => setAdding(false)} />}
      {deleting && (
        <ActionDialog
          title="Delete the edge"
          verb="Delete"
          close={() => setDeleting(undefined)}
          act={async () => {
            await api.units.deleteEdge(deleting.edge_id)
            await changed()
          }}
        >
          <p>
            The edge “{deleting.edge_type}” from {deleting.from_address} to{' '}
            {deleting.to_address ?? deleting.target_ref} goes. Both units stay as they are.
          </p>
        </ActionDialog>
      )}
    </section>
  )
}

function EdgeLine({ edge, unit, remove }: { edge: UnitEdge; unit: string; remove(): void }) {
  const isOut = edge.from_unit_id === unit
  const other = isOut ? edge.to_unit_id : edge.from_unit_id
  const name = isOut ? (edge.to_address ?? edge.target_ref) : edge.from_address
  return (
    <li>
      <span className="edge-type">{isOut ? `${edge.edge_type} →` : `← ${edge.edge_type}`}</span>
      <span className="edge-target">
        {other === null ? (
          name
        ) : (
          <a className="link" href={`/units/${other}`}>
            {name}
          </a>
        )}
      </span>
      {edge.edge_status === 'unverified' && <Chip tone="held">what it names is not there</Chip>}
      <button type="button" className="button is-small" onClick={remove}>
        Delete<span className="unseen"> the edge to {name}</span>
      </button>
    </li>
  )
}

function AddEdgeDialog({
  unit,
  changed,
  close,
}: {
  unit: UnitDetail
  changed(): Promise<unknown>
  close(): void
}) {
  const { api } = useSession()
  const [type, setType] = useState('explains')
  const [target, setTarget] = useState('')
  return (
    <ActionDialog
      title={`Add an edge from ${unit.title}`}
      verb="Add the edge"
      close={close}
      act={async () => {
        await api.units.addEdge(unit.unit_id, { edge_type: type.trim(), target: target.trim() })
        await changed()
      }}
    >
      <p>It changes no text. What it names may come later: the checker looks again.</p>
      <label className="choice">
        <span>Type</span>
        <input
          required
          maxLength={31}
          pattern="[a-z][a-z0-9_]*"
          value={type}
          title="Small letters, digits and _"
          onChange={(event) => setType(event.target.value)}
        />
      </label>
      <label className="choice">
        <span>To: address or id of a unit, or any other reference</span>
        <input
          required
          maxLength={2000}
          placeholder="handbook/leave"
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
      </label>
    </ActionDialog>
  )
}

function HistoryTab({ unit, history }: { unit: UnitDetail; history: UnitHistory | undefined }) {
  if (history === undefined) return <p className="muted">Loading…</p>
  const lines = [
    ...history.versions.map((version) => ({
      at: version.edited_at,
      by: version.edited_by,
      key: version.unit_version_id,
      text: version.version_no === 1 ? 'wrote version 1' : `wrote version ${version.version_no}`,
      why: version.note,
    })),
    ...history.lifecycle.map((change) => ({
      at: change.changed_at,
      by: change.changed_by,
      key: change.log_id,
      text:
        change.from_status === change.to_status
          ? 'changed its kind'
          : `${statusWord(change.from_status)} → ${statusWord(change.to_status)}`,
      why: [change.apr_ref, change.reason].filter(Boolean).join(': ') || null,
    })),
  ].sort((left, right) => right.at.localeCompare(left.at))
  return (
    <section className="card" aria-label={`History of ${unit.title}`}>
      <ol className="unit-history">
        {lines.map((line) => (
          <li key={line.key}>
            <span className="history-when">
              <Ago at={line.at} />
            </span>
            <span>
              <Person id={line.by} /> · {line.text}
              {line.why && <span className="muted"> · {line.why}</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function OriginTab({ unit, context }: { unit: UnitDetail; context: UnitContext | undefined }) {
  if (context === undefined) return <p className="muted">Loading…</p>
  return (
    <section className="card" aria-label="Where it comes from">
      <Facts
        facts={[
          ['Source', unit.source_ref],
          [
            'Created',
            <span key="c">
              <Ago at={unit.created_at} /> by <Person id={unit.owner_actor} />
            </span>,
          ],
        ]}
      />
      {context.origin.length === 0 && (
        <EmptyState title="It was written by itself.">
          <p>
            It is no piece of a document. Units that are cut from one show the document and the approved cut
            here.
          </p>
        </EmptyState>
      )}
      {context.origin.map((origin) => (
        <div key={origin.document_id} className="origin">
          <ol className="origin-steps" aria-label="From the document to the unit">
            <li>
              <span className="tiny">Document</span>
              <a className="link" href={`/documents/${origin.document_id}`}>
                {origin.title}
              </a>
              <code>{origin.source_ref}</code>
            </li>
            <li>
              <span className="tiny">Approved cut</span>
              {origin.staging_record_id === null ? (
                <span>a record that you may not see, or that is deleted</span>
              ) : (
                <a className="link" href={`/marks/${origin.staging_record_id}`}>
                  the marking beside its text
                </a>
              )}
              {origin.cut_at && <Ago at={origin.cut_at} />}
            </li>
            <li>
              <span className="tiny">Piece</span>
              <code>{origin.piece_address}</code>
              <span>
                {origin.dropped_at !== null
                  ? 'The newest cut no longer has it.'
                  : origin.is_same
                    ? 'The unit says what the document says.'
                    : 'The unit was edited since, or the document changed.'}
              </span>
            </li>
            <li>
              <span className="tiny">Unit</span>
              <span>{unit.canonical_address}</span>
              <span>version {unit.version_no}</span>
            </li>
          </ol>
        </div>
      ))}
    </section>
  )
}
