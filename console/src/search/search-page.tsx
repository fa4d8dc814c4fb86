import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { SearchQuestion } from '../api/search.ts'
import type { SearchAnswer, SearchHit } from '../api/types.ts'
import { PageHead } from '../frame/page-head.tsx'
import { useSearchKey } from '../frame/search-key.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Chip } from '../parts/chip.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count, counted } from '../parts/format.ts'
import { type Filter, Filters, useFilters } from '../parts/list.tsx'
import { Prose } from '../parts/prose.tsx'
import { useParameters } from '../route.ts'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { statusWord } from '../units/unit-text.ts'
import { highlighted } from './highlight.ts'
import { FRESHNESS, Freshness, IndexCard } from './index-status.tsx'
import { TablesCard } from './tables-card.tsx'
import './search.css'

const FILTERS = ['kind', 'status', 'topic', 'language', 'source'] as const
/** Further hits are one button away, up to what the API gives. */
const FIRST_HITS = 20
const MAX_HITS = 100
/** Long enough that a word is one question, short enough that nobody waits. */
const TYPING_MS = 250

/** Find units and documents by words and by meaning; every hit says how fresh it is and why it is there. */
export function SearchPage() {
  const [parameters, set] = useParameters()
  const { id: workspace_id } = useWorkspace()
  const filters = useFilters(FILTERS)
  const asked = parameters.get('q') ?? ''
  const limit = Math.min(MAX_HITS, Number(parameters.get('limit')) || FIRST_HITS)
  const question: SearchQuestion = { q: asked, workspace_id, limit, ...filters }
  const { data, at, failure, loading } = useLiveQuery(
    ['search', 'hits', question],
    async (api) => ({ asked, answer: await api.search.ask(question) }),
    { enabled: asked !== '' },
  )
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    document.title = asked === '' ? 'Search · Stagedoor' : `${asked} · Search · Stagedoor`
  }, [asked])
  const answer = asked === '' ? undefined : data?.answer
  return (
    <>
      <PageHead title="Search" />
      <div className="search-page">
        <div className="stack">
          <Question
            asked={asked}
            ask={(q) => set({ q: q === '' ? undefined : q, limit: undefined })}
            down={() => focusHit(list.current, 0)}
          />
          <SearchFilters />
          <FailureNote failure={failure} />
          {asked === '' && <HowToSearch ask={(q) => set({ q })} />}
          {asked !== '' && loading && <p className="muted">Searching…</p>}
          {answer && (
            <>
              <Freshness answer={answer} at={at} />
              {answer.warnings.map((warning) => (
                <p key={warning} className="note is-held">
                  <Prose text={warning} />
                </p>
              ))}
              {answer.hits.length > 0 ? (
                <Hits list={list} answer={answer} />
              ) : (
                <NoHits
                  asked={asked}
                  answer={answer}
                  filters={filters}
                  ask={(q) => set({ q })}
                  clear={() => set(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
                />
              )}
              {answer.hits.length === limit && limit < MAX_HITS && (
                <div>
                  <button type="button" className="button" onClick={() => set({ limit: String(MAX_HITS) })}>
                    Show up to {MAX_HITS} hits
                  </button>
                </div>
              )}
            </>
          )}
        </div>
        <aside className="stack" aria-label="State of the index">
          <IndexCard />
          <TablesCard />
        </aside>
      </div>
    </>
  )
}

interface QuestionProps {
  readonly asked: string
  ask(text: string): void
  /** To the first hit. */
  down(): void
}

/** Asks while somebody types; / leads here, the arrow down to the hits. */
function Question({ asked, ask, down }: QuestionProps) {
  const field = useSearchKey()
  const [draft, setDraft] = useState(asked)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Back and forward in the browser, and a suggestion that was taken.
  useEffect(() => setDraft(asked), [asked])
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => field.current?.focus({ preventScroll: true }), [field])
  const submit = (text: string) => {
    clearTimeout(timer.current)
    if (text.trim() !== asked) ask(text.trim())
  }
  return (
    <search className="search-question">
      <label>
        <span className="unseen">Search in units, documents and tables</span>
        <input
          ref={field}
          type="search"
          maxLength={2000}
          autoComplete="off"
          placeholder="A question, words, &quot;a phrase&quot;, begin*"
          value={draft}
          onChange={({ target: { value } }) => {
            setDraft(value)
            clearTimeout(timer.current)
            timer.current = setTimeout(() => submit(value), TYPING_MS)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') submit(draft)
            if (event.key === 'ArrowDown') {
              event.preventDefault()
              down()
            }
          }}
        />
      </label>
      <p className="tiny search-keys">
        <kbd>/</kbd> search · <kbd>↓</kbd> <kbd>↑</kbd> move · <kbd>Enter</kbd> open
      </p>
    </search>
  )
}

function SearchFilters() {
  const { data: kinds } = useLiveQuery(['units', 'kinds'], (api) => api.units.kinds())
  const { data: topics } = useLiveQuery(['units', 'topics'], (api) => api.units.topics())
  const filters: Filter[] = [
    { name: 'kind', label: 'Kind', options: (kinds?.kinds ?? []).map(({ unit_kind: k }) => [k, k]) },
    {
      name: 'status',
      label: 'Lifecycle',
      options: ['draft', 'enacted', 'superseded'].map((status) => [status, statusWord(status)]),
    },
    { name: 'topic', label: 'Topic', options: (topics?.topics ?? []).map(({ topic_label: t }) => [t, t]) },
    { name: 'language', label: 'Language', kind: 'text', placeholder: 'en' },
    {
      name: 'source',
      label: 'In',
      options: [
        ['unit', 'units'],
        ['document', 'old knowledge base'],
        ['row', 'your tables'],
      ],
    },
  ]
  return (
    <Filters filters={filters}>
      <WorkspaceChoice />
    </Filters>
  )
}

function focusHit(list: HTMLOListElement | null, index: number): boolean {
  const links = list?.querySelectorAll<HTMLElement>('.hit-link')
  const link = links?.[index]
  link?.focus()
  link?.scrollIntoView({ block: 'nearest' })
  return link !== undefined
}

function Hits({ list, answer }: { list: React.RefObject<HTMLOListElement | null>; answer: SearchAnswer }) {
  function move(event: KeyboardEvent<HTMLOListElement>) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const links = [...(list.current?.querySelectorAll('.hit-link') ?? [])]
    const here = links.indexOf(document.activeElement as Element)
    if (here < 0) return
    event.preventDefault()
    const next = here + (event.key === 'ArrowDown' ? 1 : -1)
    if (next >= 0) focusHit(list.current, next)
    else document.querySelector<HTMLInputElement>('.search-question input')?.focus()
  }
  return (
    <ol ref={list} className="hits" aria-label="Hits" onKeyDown={move}>
      {answer.hits.map((hit) => (
        <Hit key={hit.unit_id ?? hit.document_id ?? `${hit.table} ${JSON.stringify(hit.key)}`} hit={hit} />
      ))}
    </ol>
  )
}

/** A row of a table has no page here; what it came from has. */
function hrefOf({ unit_id, document_id, lineage }: SearchHit): string | undefined {
  if (unit_id !== undefined) return `/units/${unit_id}`
  if (document_id !== undefined) return `/documents/${document_id}`
  return lineage && `/uploads/${lineage.upload_id}`
}

function Hit({ hit }: { hit: SearchHit }) {
  const { tone, word } = FRESHNESS[hit.freshness]
  const href = hrefOf(hit)
  return (
    <li className="card hit">
      <div className="hit-head">
        {href === undefined ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrows move through all hits
          <b className="hit-link" tabIndex={0}>
            {hit.title}
          </b>
        ) : (
          <a className="hit-link" href={href}>
            {hit.title}
          </a>
        )}
        {hit.lifecycle_status && <span className="tiny">{statusWord(hit.lifecycle_status)}</span>}
        {hit.source === 'document' && <span className="tiny">old knowledge base</span>}
        <Chip tone={tone}>{word}</Chip>
      </div>
      <p className="tiny hit-place">
        {hit.canonical_address ?? hit.source_ref ?? hit.table}
        {hit.key && Object.entries(hit.key).map(([column, value]) => ` · ${column} ${value}`)}
        {hit.columns && Object.entries(hit.columns).map(([column, value]) => ` · ${column}: ${value}`)}
        {hit.lineage && ` · ${hit.lineage.file_name ?? 'upload'}, line ${hit.lineage.line}`}
        {hit.unit_kind && ` · ${hit.unit_kind}`}
        {hit.version_no !== undefined && ` · version ${hit.version_no}`}
        {hit.current_version_no !== undefined &&
          hit.current_version_no !== hit.version_no &&
          ` of ${hit.current_version_no}`}
      </p>
      <p className="hit-snippet">
        {highlighted(hit.snippet, hit.highlights).map(({ text, marked }, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one snippet never change places
          marked ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
        )}
      </p>
      {hit.warnings.map((warning) => (
        <p key={warning} className="tiny hit-warning">
          <Prose text={warning} />
        </p>
      ))}
      <Why hit={hit} />
    </li>
  )
}

const STATE_TEXTS: Record<string, string> = {
  'current+enacted': 'in force and indexed',
  current: 'indexed',
  pending: 'its newest text is on its way',
  stale: 'its newest text has waited too long',
  error: 'its newest text could not be indexed',
  retired: 'retired',
  absent: 'none',
}

function Why({ hit }: { hit: SearchHit }) {
  const { legs, score, explain } = hit
  const share = (value: number) => value.toFixed(4)
  return (
    <details className="hit-why">
      <summary>Why this hit</summary>
      <dl>
        <div>
          <dt>By words</dt>
          <dd>
            {legs.lexical === undefined ? 'not found' : `place ${legs.lexical}`}
            {explain && `, adds ${share(explain.shares.words)}`}
          </dd>
        </div>
        <div>
          <dt>By meaning</dt>
          <dd>
            {legs.dense === undefined ? 'not found' : `place ${legs.dense}`}
            {explain && `, adds ${share(explain.shares.meaning)}`}
          </dd>
        </div>
        <div>
          <dt>Score</dt>
          <dd>{share(score)}: the sum of both. A better place adds more.</dd>
        </div>
        <div>
          <dt>Words found</dt>
          <dd>
            {[
              ...new Set(
                highlighted(hit.snippet, hit.highlights).flatMap((part) => (part.marked ? [part.text] : [])),
              ),
            ].join(', ') || 'none in this passage: it is near in meaning, or its title has them'}
          </dd>
        </div>
        {explain && (
          <div>
            <dt>State</dt>
            <dd>
              unit: {STATE_TEXTS[explain.unit] ?? explain.unit}; document of the old knowledge base:{' '}
              {STATE_TEXTS[explain.document] ?? explain.document}
            </dd>
          </div>
        )}
      </dl>
    </details>
  )
}

interface NoHitsProps {
  readonly asked: string
  readonly answer: SearchAnswer
  readonly filters: Partial<Record<(typeof FILTERS)[number], string>>
  ask(text: string): void
  clear(): void
}

/** Why there is nothing, and what to do about it. */
function NoHits({ asked, answer, filters, ask, clear }: NoHitsProps) {
  const help = answer.no_hits
  const chosen = Object.entries(filters)
  return (
    <section className="card empty no-hits" aria-labelledby="no-hits-title">
      <h2 id="no-hits-title">Nothing was found for “{asked}”</h2>
      {help && (
        <>
          <p>
            {help.texts === 0
              ? 'Nothing is in search yet.'
              : `Searched ${counted(help.texts, 'passage')} ${
                  answer.legs.dense === 'off' ? 'by words' : 'by words and by meaning'
                }.`}
          </p>
          <ul>
            {help.unknown_words.map(({ word, similar }) => (
              <li key={word}>
                No text has the word <b>{word}</b>.
                {similar.length > 0 && (
                  <>
                    {' '}
                    Did you mean{' '}
                    {similar.map((other, index) => (
                      <span key={other}>
                        {index > 0 && ' or '}
                        <button
                          type="button"
                          className="button is-small"
                          onClick={() => ask(replaceWord(asked, word, other))}
                        >
                          {other}
                        </button>
                      </span>
                    ))}
                    ?
                  </>
                )}
              </li>
            ))}
            {chosen.length > 0 && (
              <li>
                {help.without_filters === 0
                  ? 'Without the filters nothing is found, either.'
                  : help.without_filters === null
                    ? 'The question is limited to one source.'
                    : `Without the filters (${chosen.map(([name, value]) => `${name} ${value}`).join(', ')}) there ${
                        help.without_filters === 1
                          ? 'is one hit'
                          : `are ${count(help.without_filters)} hits or more`
                      }.`}{' '}
                <button type="button" className="button is-small" onClick={clear}>
                  Search without filters
                </button>
              </li>
            )}
            {help.waiting > 0 && (
              <li>
                {counted(help.waiting, 'changed text')} wait to be indexed; new words in them are found
                already.
              </li>
            )}
            {filters.status === undefined && (
              <li>
                Superseded units are found only with the filter Lifecycle: superseded. Retired ones never.
              </li>
            )}
            {/["“”„«»]/.test(asked) && <li>Quotes ask for exactly these words in this order.</li>}
          </ul>
        </>
      )}
      {help?.texts === 0 && (
        <p>
          Units and documents are searched. <a href="/units">Write a unit or cut a document</a> to fill it.
        </p>
      )}
    </section>
  )
}

/** In any case; the server says words without case and accents. */
function replaceWord(text: string, word: string, other: string): string {
  const plain = (part: string) =>
    part
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .map((part) => (plain(part) === word ? other : part))
    .join('')
}

const EXAMPLES = [
  ['how many days of leave do we have', 'a question in words'],
  ['"paid leave"', 'exactly these words'],
  ['polic*', 'words that begin so'],
] as const

function HowToSearch({ ask }: { ask(text: string): void }) {
  return (
    <section className="card empty" aria-label="How to search">
      <b>Search in all units and documents of your workspace.</b>
      <p>Staged data that nobody approved is never found. Every hit says whether its text is current.</p>
      <ul className="search-examples">
        {EXAMPLES.map(([text, what]) => (
          <li key={text}>
            <button type="button" className="button is-small" onClick={() => ask(text)}>
              {text}
            </button>{' '}
            {what}
          </li>
        ))}
      </ul>
    </section>
  )
}
