import type { ReactNode } from 'react'
import type { Stage } from './stages.ts'

/** Gets the named parts of its path. */
export type PageContent = (props: { readonly params: Readonly<Record<string, string>> }) => ReactNode

/** A new page is one line in PAGES and a folder of its own. Its code is loaded when somebody opens it. */
export interface Page {
  /** Parts that begin with a colon are given to the content by their name; such a page is not in the rail. */
  readonly path: string
  readonly title: string
  /** Under which heading the rail lists it, in the order of PAGES. Absent: not in the rail (the overview stands above the stages). */
  readonly stage?: Stage['id'] | 'system'
  /** The module's default export, or the component itself. */
  readonly lazy: () => Promise<PageContent | { readonly default: PageContent }>
}

/** In the order of the data: held, production, signals, work, projections, system. */
export const PAGES: readonly Page[] = [
  { path: '/', title: 'Overview', lazy: () => import('./overview/overview.tsx').then((m) => m.Overview) },

  // Held: changes, uploads, records
  {
    path: '/uploads',
    title: 'Uploads',
    stage: 'held',
    lazy: () => import('./uploads/uploads-page.tsx').then((m) => m.UploadsPage),
  },
  {
    path: '/uploads/:id',
    title: 'Upload',
    lazy: () => import('./upload/upload-page.tsx').then((m) => m.UploadPage),
  },
  {
    path: '/review',
    title: 'Review',
    stage: 'held',
    lazy: () => import('./review/review-page.tsx').then((m) => m.ReviewPage),
  },
  {
    path: '/review/:id',
    title: 'Review',
    lazy: () => import('./review/record-page.tsx').then((m) => m.RecordPage),
  },

  // Production: promotions, units

  // Signals: events, consumers, jobs

  // Work: executions, playbooks

  // Projections: search

  // System: health, settings, docs
  {
    path: '/docs',
    title: 'Docs',
    stage: 'system',
    lazy: () => import('./docs/docs-page.tsx').then((m) => m.DocsPage),
  },
  { path: '/docs/:page', title: 'Docs', lazy: () => import('./docs/docs-page.tsx').then((m) => m.DocsPage) },
]
