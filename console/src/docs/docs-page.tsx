import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { DocsEntry, DocsHit, DocsText } from '../api/docs.ts'
import { asFailure } from '../api/failure.ts'
import { useSearchKey } from '../frame/search-key.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { useParameter } from '../route.ts'
import { useSession } from '../session/session.tsx'
import { DocsMarkdown, followInDocs } from './docs-markdown.tsx'
import './docs.css'

const MAX_HITS = 20
const API_REFERENCE = '/api/v1/docs'

/** /docs: the contents; /docs/:page: one page. Both have the search; while it has a text, hits stand in the place of the page. */
export function DocsPage({ params }: { params: Readonly<Record<string, string>> }) {
  const name = params.page
  const [question = '', ask] = useParameter('q')
  const contents = useDocs(['docs', 'list'], (api) => api.docs.list())
  const page = useDocs(['docs', 'page', name], (api) => api.docs.page(name!), name !== undefined)
  const asked = question.trim()
  const title =
    name === undefined || asked !== '' ? 'Docs' : (page.data?.title ?? titleOf(contents.data?.pages, name))
  return (
    <div className="docs">
      <div className="docs-head">
        <h1>{title}</h1>
        <SearchField text={question} change={ask} />
      </div>
      <FailureNote failure={contents.failure ?? page.failure} />
      <div className={name === undefined ? 'docs-columns is-contents' : 'docs-columns'}>
        {name !== undefined && contents.data && <Contents pages={contents.data.pages} current={name} />}
        {asked !== '' ? (
          <Hits question={asked} close={() => ask(undefined)} />
        ) : name === undefined ? (
          contents.data && <Groups pages={contents.data.pages} />
        ) : (
          page.data && <Article page={page.data} />
        )}
        {asked === '' && page.data && <Outline page={page.data} />}
      </div>
    </div>
  )
}

/** The documentation of a running server does not change: it is read once. */
function useDocs<T>(
  key: readonly ['docs', ...unknown[]],
  read: (api: ReturnType<typeof useSession>['api']) => Promise<T>,
  enabled = true,
) {
  const { api } = useSession()
  const found = useQuery({
    queryKey: key,
    queryFn: () => read(api),
    staleTime: Number.POSITIVE_INFINITY,
    // What was there stays until the next is read: hits while somebody types, the page before.
    placeholderData: keepPreviousData,
    enabled,
  })
  return {
    data: enabled ? found.data : undefined,
    failure: found.error === null ? undefined : asFailure(found.error),
    loading: found.isPending,
  }
}

function titleOf(pages: readonly DocsEntry[] | undefined, name: string): string {
  return pages?.find(({ page }) => page === name)?.title ?? 'Docs'
}

function SearchField({ text, change }: { text: string; change(text: string | undefined): void }) {
  const field = useSearchKey()
  return (
    <label className="find docs-find">
      <span className="unseen">Search the docs</span>
      <input
        ref={field}
        type="search"
        placeholder="Search the docs"
        value={text}
        maxLength={1000}
        onChange={(event) => change(event.target.value === '' ? undefined : event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && change(undefined)}
      />
      <span className="key" aria-hidden="true">
        /
      </span>
    </label>
  )
}

function grouped(pages: readonly DocsEntry[]): Map<string, DocsEntry[]> {
  const groups = new Map<string, DocsEntry[]>()
  for (const page of pages) groups.set(page.group, [...(groups.get(page.group) ?? []), page])
  return groups
}

/** The whole of /docs: every page with what it is about. */
function Groups({ pages }: { pages: readonly DocsEntry[] }) {
  return (
    <div className="docs-groups">
      {[...grouped(pages)].map(([group, entries]) => (
        <section key={group} className="card" aria-label={group}>
          <header className="card-head">
            <h2>{group}</h2>
          </header>
          <ul>
            {entries.map(({ page, title, about }) => (
              <li key={page}>
                <a href={`/docs/${page}`}>{title}</a>
                {about !== '' && <span className="tiny">{about}</span>}
              </li>
            ))}
            {group === 'Reference' && (
              <li>
                <a href={API_REFERENCE}>HTTP API</a>
                <span className="tiny">every path, parameter and shape of this server</span>
              </li>
            )}
          </ul>
        </section>
      ))}
    </div>
  )
}

function Contents({ pages, current }: { pages: readonly DocsEntry[]; current: string }) {
  const list = [...grouped(pages)].map(([group, entries]) => (
    <div key={group}>
      <span className="rail-title">{group}</span>
      <ul>
        {entries.map(({ page, title }) => (
          <li key={page}>
            <a href={`/docs/${page}`} aria-current={page === current ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </div>
  ))
  return (
    <nav className="docs-contents" aria-label="Contents of the docs">
      <details className="docs-menu">
        <summary>All pages</summary>
        {list}
      </details>
      <div className="docs-list">{list}</div>
    </nav>
  )
}

function Article({ page }: { page: DocsText }) {
  // The heading that the address names is there only now. The page that was read may still be the one before.
  useEffect(() => {
    const anchor = decodeURIComponent(location.hash.slice(1))
    if (page.headings.some((heading) => heading.anchor === anchor))
      document.getElementById(anchor)?.scrollIntoView()
  }, [page])
  return (
    <article className="docs-article">
      <DocsMarkdown page={page} />
    </article>
  )
}

function Outline({ page }: { page: DocsText }) {
  const headings = page.headings.filter(({ level }) => level === 2)
  if (headings.length < 3 || headings.length > 40) return null
  return (
    <nav className="docs-outline" aria-label="On this page">
      <span className="rail-title">On this page</span>
      <ul>
        {headings.map(({ anchor, title }) => (
          <li key={anchor}>
            <a href={`#${anchor}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Hits({ question, close }: { question: string; close(): void }) {
  const { data, failure, loading } = useDocs(['docs', 'search', question], (api) =>
    api.docs.search(question, MAX_HITS),
  )
  if (failure) return <FailureNote failure={failure} />
  if (loading) return <p className="empty">Searching…</p>
  const hits = data?.hits ?? []
  return (
    <section className="docs-hits" aria-label="Hits">
      <p className="tiny" role="status">
        {hits.length === 0
          ? 'No hits'
          : hits.length === MAX_HITS
            ? `The best ${MAX_HITS} hits`
            : `${hits.length} hits`}{' '}
        in the docs ·{' '}
        <button type="button" className="link" onClick={close}>
          close
        </button>
      </p>
      {hits.length === 0 ? (
        <EmptyState title="Nothing in the docs has these words.">
          Use fewer or other words, or the beginning of a word with a star, such as <code>undo*</code>. Data
          of your workspace is found under Search.
        </EmptyState>
      ) : (
        <ol>
          {hits.map((hit) => (
            <Hit key={`${hit.page}#${hit.anchor}`} hit={hit} />
          ))}
        </ol>
      )}
    </section>
  )
}

function Hit({ hit }: { hit: DocsHit }) {
  const address = `/docs/${hit.page}${hit.anchor === '' ? '' : `#${hit.anchor}`}`
  return (
    <li>
      <a href={address} onClick={(event) => followInDocs(event, address)}>
        {hit.heading}
      </a>
      {hit.heading !== hit.title && <span className="tiny"> in {hit.title}</span>}
      <p className="muted">
        <Marked text={hit.snippet} ranges={hit.highlights} />
      </p>
    </li>
  )
}

/** Ranges count characters, not halves of them. */
function Marked({ text, ranges }: { text: string; ranges: readonly (readonly number[])[] }) {
  const characters = [...text]
  const between = (from: number, to?: number) => characters.slice(from, to).join('')
  return (
    <>
      {ranges.map(([from = 0, to = 0], index) => (
        <span key={from}>
          {between(ranges[index - 1]?.[1] ?? 0, from)}
          <mark>{between(from, to)}</mark>
        </span>
      ))}
      {between(ranges.at(-1)?.[1] ?? 0)}
    </>
  )
}
