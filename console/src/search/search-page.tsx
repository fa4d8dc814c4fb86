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
import { useAction } from '../parts/use-action.ts'
import { useParameters } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace, WorkspaceChoice } from '../session/use-workspace.tsx'
import { statusWord } from '../units/unit-text.ts'
import { highlighted } from './highlight.ts'
import { FRESHNESS, Freshness, IndexCard } from './index-status.tsx'
import { TablesCard } from './tables-card.tsx'
import './search.css'

const FILTERS = ['kind', 'status', 'topic', 'language', 'source', 'table'] as const
/** Further hits are one button away. */
const HITS_A_PAGE = 20
/** Long enough that a word is one question, short enough that nobody waits. */
const TYPING_MS = 250
/** After this pause the question is taken to be complete: it is asked by meaning, too, and counted. */
const SETTLED_MS = 1000

/** Find units and documents by words and by meaning; every hit says how fresh it is and why it is there. */
export function SearchPage() {
  const [parameters, set] = useParameters()
  const { id: workspace_id } = useWorkspace()
  const filters = useFilters(FILTERS)
  const [typing, setTyping] = useState(false)
  const [hasTyped, setHasTyped] = useState(false)
  const asked = parameters.get('q') ?? ''
  const sort = SORTS.find(([value]) => value === parameters.get('sort'))?.[0]
  const question: SearchQuestion = {
    q: asked,
    workspace_id,
    limit: HITS_A_PAGE,
    facets: !typing,
    ...(sort && { sort }),
    ...(parameters.has('exact') && { exact: true }),
    ...(parameters.has('copies') && { collapse: false }),
    ...(typing && { typing }),
    ...filters,
  }
  const { data, at, failure, loading } = useLiveQuery(
    ['search', 'hits', question],
    async (api) => ({ question, answer: await api.search.ask(question) }),
    { enabled: asked !== '' },
  )
  // Of its own: they stay while the question itself is asked by meaning, too.
  const { data: suggested } = useLiveQuery(
    ['search', 'suggestions', workspace_id, asked],
    async (api) => ({
      asked,
      texts: (await api.search.ask({ q: asked, workspace_id, limit: 1, typing: true })).suggestions ?? [],
    }),
    { enabled: hasTyped && asked !== '', once: true },
  )
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    document.title = asked === '' ? 'Search · Stagedoor' : `${asked} · Search · Stagedoor`
  }, [asked])
  const answer = asked === '' ? undefined : data?.answer
  const ask = (q: string, more: Record<string, string | undefined> = {}) =>
    set({ q: q === '' ? undefined : q, exact: undefined, ...more })
  return (
    <>
      <PageHead title="Search" />
      <div className="search-page">
        <div className="stack">
          <Question
            asked={asked}
            suggestions={hasTyped && suggested?.asked === asked ? suggested.texts : []}
            ask={(q, isTyping, isFinal) => {
              setTyping(isTyping)
              setHasTyped(!isFinal)
              if (q !== asked) ask(q)
            }}
            down={() => focusHit(list.current, 0)}
          />
          <SearchFilters />
          <FailureNote failure={failure} />
          {asked === '' && <HowToSearch ask={(q) => ask(q)} />}
          {asked !== '' && loading && <p className="muted">Searching…</p>}
          {data && answer && (
            <>
              <Freshness answer={answer} at={at} />
              <Rewriting answer={answer} exact={() => set({ exact: '1' })} />
              {answer.warnings.map((warning) => (
                <p key={warning} className="note is-held">
                  <Prose text={warning} />
                </p>
              ))}
              <Facets answer={answer} />
              {answer.hits.length > 0 && (
                <HitPages
                  key={JSON.stringify(data.question)}
                  list={list}
                  first={answer}
                  question={data.question}
                />
              )}
              {answer.hits.length === 0 && typing && <p className="muted">Nothing so far.</p>}
              {answer.hits.length === 0 && !typing && (
                <NoHits
                  asked={asked}
                  answer={answer}
                  filters={filters}
                  ask={(q) => ask(q)}
                  clear={() => set(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
                />
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

const SORTS = [
  ['newest', 'newest first'],
  ['title', 'by title'],
  ['address', 'by address'],
] as const

/** What was asked instead of what was typed, and what was added. */
function Rewriting({ answer, exact }: { answer: SearchAnswer; exact(): void }) {
  const { corrected, synonyms = [] } = answer
  if (!corrected && synonyms.length === 0) return null
  return (
    <div className="note" role="status">
      {corrected && (
        <p>
          Showing results for <b>{corrected.text}</b>. Search instead for{' '}
          <button type="button" className="button is-small" onClick={exact}>
            {corrected.instead}
          </button>
        </p>
      )}
      {synonyms.map(({ word, synonyms: others }) => (
        <p key={word} className="tiny">
          Also asked for {others.join(', ')}: synonyms of {word}.
        </p>
      ))}
    </div>
  )
}

const FACET_NAMES: Record<string, string> = {
  source: 'In',
  table: 'Table',
  kind: 'Kind',
  status: 'Lifecycle',
  language: 'Language',
  topic: 'Topic',
}
const MAX_FACET_VALUES = 8

/** How many hits each value of a filter has; one click filters by it. */
function Facets({ answer }: { answer: SearchAnswer }) {
  const [parameters, set] = useParameters()
  // Columns of tables are no filters of this page.
  const facets = (answer.facets ?? []).filter(({ filter }) => filter !== 'column')
  // One value alone divides nothing.
  const shown = [...new Set(facets.map(({ filter }) => filter))].filter(
    (filter) => parameters.has(filter) || facets.filter((one) => one.filter === filter).length > 1,
  )
  if (shown.length === 0) return null
  return (
    <section className="facets" aria-label="Hits by filter">
      {shown.map((filter) => (
        <div key={filter} className="facet">
          <span className="tiny">{FACET_NAMES[filter]}</span>
          {facets
            .filter((one) => one.filter === filter)
            .slice(0, MAX_FACET_VALUES)
            .map(({ value, count: hits }) => {
              const isChosen = parameters.get(filter) === value
              return (
                <button
                  key={value}
                  type="button"
                  className="button is-small"
                  aria-pressed={isChosen}
                  onClick={() => set({ [filter]: isChosen ? undefined : value })}
                >
                  {filter === 'status' ? statusWord(value) : value} {count(hits)}
                </button>
              )
            })}
        </div>
      ))}
    </section>
  )
}

interface HitPagesProps {
  readonly list: React.RefObject<HTMLOListElement | null>
  readonly first: SearchAnswer
  readonly question: SearchQuestion
}

/** The first page, and those that somebody asked for behind it. */
function HitPages({ list, first, question }: HitPagesProps) {
  const { api } = useSession()
  const [more, setMore] = useState<readonly SearchAnswer[]>([])
  const { busy, failure, run } = useAction((page: SearchAnswer) => setMore((pages) => [...pages, page]))
  const last = more.at(-1) ?? first
  const warnings = [...new Set(more.flatMap((page) => page.warnings))].filter(
    (warning) => !first.warnings.includes(warning),
  )
  return (
    <>
      <Hits list={list} hits={[...first.hits, ...more.flatMap(({ hits }) => hits)]} />
      {warnings.map((warning) => (
        <p key={warning} className="note is-held">
          <Prose text={warning} />
        </p>
      ))}
      <FailureNote failure={failure} />
      {/* While somebody types, the next answer would take these pages away. */}
      {!question.typing && last.next !== undefined && (
        <div>
          <button
            type="button"
            className="button"
            disabled={busy !== undefined}
            onClick={() =>
              run('Searching…', () => api.search.ask({ ...question, facets: false, after: last.next! }))
            }
          >
            {busy ?? 'More results'}
          </button>
        </div>
      )}
    </>
  )
}

interface QuestionProps {
  readonly asked: string
  readonly suggestions: readonly string[]
  /** `typing`: the last word may go on. `isFinal`: Enter was pressed, or a suggestion was taken. */
  ask(text: string, typing: boolean, isFinal: boolean): void
  /** To the first hit. */
  down(): void
}

/** Asks while somebody types; / leads here, the arrow down to the hits. */
function Question({ asked, suggestions, ask, down }: QuestionProps) {
  const field = useSearchKey()
  const [draft, setDraft] = useState(asked)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const settled = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Back and forward in the browser, and a suggestion that was taken.
  useEffect(() => setDraft(asked), [asked])
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      clearTimeout(settled.current)
    },
    [],
  )
  useEffect(() => field.current?.focus({ preventScroll: true }), [field])
  const submit = (text: string, typing: boolean, isFinal = false) => {
    clearTimeout(timer.current)
    if (!typing) clearTimeout(settled.current)
    ask(text.trim(), typing && !/\s$/.test(text), isFinal)
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
          placeholder="A question, words, &quot;a phrase&quot;, begin*, -without"
          value={draft}
          onChange={({ target: { value } }) => {
            setDraft(value)
            clearTimeout(timer.current)
            clearTimeout(settled.current)
            timer.current = setTimeout(() => submit(value, true), TYPING_MS)
            settled.current = setTimeout(() => submit(value, false), SETTLED_MS)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') submit(draft, false, true)
            if (event.key === 'ArrowDown') {
              event.preventDefault()
              down()
            }
          }}
        />
      </label>
      {suggestions.length > 0 && (
        <ul className="search-suggestions" aria-label="Suggestions">
          {suggestions.map((text) => (
            <li key={text}>
              <button
                type="button"
                className="button is-small"
                onClick={() => {
                  setDraft(text)
                  submit(text, false, true)
                }}
              >
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
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
    { name: 'sort', label: 'Order', options: SORTS },
    { name: 'copies', label: 'Copies', options: [['1', 'one by one']] },
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

interface HitsProps {
  readonly list: React.RefObject<HTMLOListElement | null>
  readonly hits: readonly SearchHit[]
}

function Hits({ list, hits }: HitsProps) {
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
      {hits.map((hit) => (
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
      <Similar hit={hit} />
      <Around hit={hit} />
      <Why hit={hit} />
    </li>
  )
}

/** Hits that say nearly the same. */
function Similar({ hit }: { hit: SearchHit }) {
  const { similar } = hit
  if (similar === undefined) return null
  const left = similar.count - similar.hits.length
  return (
    <details className="hit-why">
      <summary>+{count(similar.count)} like this</summary>
      <ul className="hit-similar">
        {similar.hits.map(({ source, id, title, address }) => (
          <li key={id}>
            <a href={source === 'unit' ? `/units/${id}` : `/documents/${id}`}>{title}</a>{' '}
            <span className="tiny">{address}</span>
          </li>
        ))}
        {left > 0 && <li className="tiny">and {count(left)} more: Copies, one by one</li>}
      </ul>
    </details>
  )
}

/** Its container, and what stands before and behind it. */
function Around({ hit }: { hit: SearchHit }) {
  const { parent, unit_before, unit_after, text_before, text_after } = hit.context ?? {}
  const units = [
    ['In', parent],
    ['Before it', unit_before],
    ['Behind it', unit_after],
  ] as const
  const texts = [
    ['Text before', text_before],
    ['Text behind', text_after],
  ] as const
  if (![...units, ...texts].some(([, one]) => one !== undefined)) return null
  return (
    <details className="hit-why">
      <summary>What stands around it</summary>
      <dl>
        {units.map(
          ([label, unit]) =>
            unit && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <a href={`/units/${unit.unit_id}`}>{unit.title}</a>{' '}
                  <span className="tiny">{unit.canonical_address}</span>
                </dd>
              </div>
            ),
        )}
        {texts.map(
          ([label, text]) =>
            text !== undefined && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text}</dd>
              </div>
            ),
        )}
      </dl>
    </details>
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
            {explain && explain.words.length > 0 ? (
              <ul className="hit-words">
                {explain.words.map(({ word, fields, share }) => (
                  <li key={word}>
                    <b>{word}</b> in {fields.join(', ')}
                    {share > 0 && `, ${Math.round(100 * share)} % of the score by words`}
                  </li>
                ))}
              </ul>
            ) : (
              'none in this passage: it is near in meaning'
            )}
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
            {help.texts + help.tables === 0
              ? 'Nothing is in search yet.'
              : `Searched ${counted(help.texts, 'passage')}${help.tables > 0 ? ` and ${counted(help.tables, 'table')}` : ''} ${
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
            {help.without_exclusions !== null && help.without_exclusions > 0 && (
              <li>
                Only texts with <b>{help.excluded.join(' or ')}</b> match, which the question excludes.
              </li>
            )}
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
            {help.tables > 0 && <li>New and changed rows of tables are found about two minutes later.</li>}
            {filters.status === undefined && (
              <li>
                Superseded units are found only with the filter Lifecycle: superseded. Retired ones never.
              </li>
            )}
            {/["“”„«»]/.test(asked) && <li>Quotes ask for exactly these words in this order.</li>}
          </ul>
        </>
      )}
      {help && help.texts + help.tables === 0 && (
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
