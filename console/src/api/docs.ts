import { query } from './query.ts'
import type { Request } from './request.ts'
import type { components } from './types.generated.ts'

export type DocsEntry = components['schemas']['DocsPage']
export type DocsText = components['schemas']['DocsPageText']
export type DocsHit = components['schemas']['DocsHit']

/** The documentation that comes with the server's version. */
export interface DocsApi {
  list(): Promise<{ pages: DocsEntry[] }>
  page(name: string): Promise<DocsText>
  search(text: string, limit: number): Promise<{ hits: DocsHit[] }>
}

export function createDocsApi(request: Request): DocsApi {
  return {
    list: () => request('/docs-pages'),
    page: (name) => request(`/docs-pages/${encodeURIComponent(name)}`),
    search: (q, limit) => request(`/docs-search?${query({ q, limit })}`),
  }
}
