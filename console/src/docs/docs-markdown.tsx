import { type MouseEvent, type ReactNode, useMemo, useState } from 'react'
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import type { DocsText } from '../api/docs.ts'
import { go } from '../route.ts'
import '../parts/markdown.css'

const IMAGES = '/api/v1/docs-images/'

/** A page of the documentation: its links lead to pages of the console, its headings have addresses, its code can be copied. */
export function DocsMarkdown({ page }: { page: DocsText }) {
  const components = useMemo(() => componentsOf(page), [page])
  return (
    <div className="markdown docs-markdown">
      <ReactMarkdown remarkPlugins={[remarkGfm]} skipHtml components={components}>
        {page.markdown}
      </ReactMarkdown>
    </div>
  )
}

function componentsOf({ path, headings }: DocsText): Components {
  const byLine = new Map(headings.map((heading) => [heading.line, heading]))
  const heading = (Tag: 'h2' | 'h3' | 'h4') =>
    function AddressedHeading({ node, children }: { children?: ReactNode } & ExtraProps) {
      const found = byLine.get(node?.position?.start.line ?? 0)
      if (found === undefined) return <Tag>{children}</Tag>
      return (
        <Tag id={found.anchor}>
          {children}
          <a className="docs-anchor" href={`#${found.anchor}`} aria-label={`Address of ${found.title}`}>
            #
          </a>
        </Tag>
      )
    }
  return {
    // The title stands above the columns.
    h1: () => null,
    h2: heading('h2'),
    h3: heading('h3'),
    h4: heading('h4'),
    a: ({ href = '', children }) => <DocsLink address={resolveLink(path, href)}>{children}</DocsLink>,
    img: ({ src, alt }) => (
      <img src={`${IMAGES}${String(src).split('/').at(-1)}`} alt={alt ?? ''} loading="lazy" />
    ),
    pre: CodeBlock,
    table: ({ children }) => (
      // It scrolls sideways where it is wider than the window, also by the keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
      <div className="docs-table" tabIndex={0}>
        <table>{children}</table>
      </div>
    ),
  }
}

/** Within the console, in the page, elsewhere; or a file that is only in the repository. */
type Resolved = { readonly kind: 'page' | 'anchor' | 'outside' | 'file'; readonly to: string }

/** `path` is that of the page, from the root of the repository. */
function resolveLink(path: string, href: string): Resolved {
  if (/^[a-z]+:/i.test(href)) return { kind: 'outside', to: href }
  if (href.startsWith('#')) return { kind: 'anchor', to: href }
  const target = new URL(href, `https://docs/${path}`)
  const file = target.pathname.slice(1)
  const name = /^docs\/(?:guides|reference)\/([\w-]+)\.md$/.exec(file)?.[1]
  if (name !== undefined) return { kind: 'page', to: `/docs/${name}${target.hash}` }
  if (file === 'docs/README.md') return { kind: 'page', to: '/docs' }
  const image = /^docs\/images\/([\w-]+\.png)$/.exec(file)?.[1]
  if (image !== undefined) return { kind: 'outside', to: IMAGES + image }
  return { kind: 'file', to: file }
}

function DocsLink({ address: { kind, to }, children }: { address: Resolved; children?: ReactNode }) {
  if (kind === 'file') return <span title={`In the repository: ${to}`}>{children}</span>
  if (kind === 'outside')
    return (
      <a href={to} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
    )
  return (
    <a href={to} onClick={kind === 'page' ? (event) => followInDocs(event, to) : undefined}>
      {children}
    </a>
  )
}

/** Without a reload, also to a heading. Links that open another tab stay what they are. */
export function followInDocs(event: MouseEvent, address: string): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  go(address)
}

function CodeBlock({ node, children }: { children?: ReactNode } & ExtraProps) {
  const [copied, setCopied] = useState(false)
  // Absent where the console is not served over https or from localhost.
  const clipboard: Clipboard | undefined = navigator.clipboard
  async function copy() {
    try {
      await clipboard?.writeText(textOf(node))
      setCopied(true)
    } catch {
      // Refused by the person or the browser: the text stands there to be selected.
    }
  }
  return (
    <div className="docs-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable */}
      <pre tabIndex={0}>{children}</pre>
      {clipboard && (
        <button type="button" className="button is-small" onClick={copy} onBlur={() => setCopied(false)}>
          {copied ? 'Copied' : 'Copy'}
          <span className="unseen"> this code</span>
        </button>
      )}
    </div>
  )
}

interface Tree {
  readonly type: string
  readonly value?: string
  readonly children?: readonly unknown[]
}

function textOf(node: unknown): string {
  const { type, value, children = [] } = (node ?? { type: '' }) as Tree
  return type === 'text' ? (value ?? '') : children.map(textOf).join('').replace(/\n$/, '')
}
