import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import './markdown.css'

/** Text that people and agents write, shown as Markdown: no HTML of theirs, no pictures of other hosts, links that tell nothing. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={[remarkGfm]} skipHtml components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  )
}

const COMPONENTS: Components = {
  // An address that could run something was taken out.
  a: ({ href, children }) =>
    href ? (
      <a href={href} rel="noopener noreferrer nofollow" target="_blank">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // The server's policy loads no foreign picture; its text and address are shown instead.
  img: ({ src, alt }) => (
    <span className="tiny">
      {alt || 'picture'} ({typeof src === 'string' ? src : ''})
    </span>
  ),
  // Headings of a text stand below those of the page.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
}
