/** What a document says of itself between `---` lines at its beginning. It is no piece. */
import { parse } from 'yaml'

export interface FrontMatter {
  readonly title?: string
  readonly language?: string
  readonly topics: readonly string[]
}

/** What cannot be read says nothing: the text is marked all the same. */
export function readFrontMatter(block: string): FrontMatter {
  const given = parsed(block)
  const topics = Array.isArray(given.topics) ? given.topics : [given.topics]
  return {
    ...(isText(given.title) && { title: given.title.trim() }),
    ...(isText(given.language ?? given.lang) && { language: String(given.language ?? given.lang).trim() }),
    topics: [...new Set(topics.filter(isText).map((topic) => topic.trim()))],
  }
}

function parsed(block: string): Record<string, unknown> {
  try {
    const value: unknown = parse(block.replace(/^---[^\n]*\n|\n?---\s*$/g, ''), { logLevel: 'silent' })
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
