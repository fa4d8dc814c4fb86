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
  { path: '/jobs', title: 'Jobs', stage: 'signals', lazy: () => import('./jobs/jobs-page.tsx') },
  { path: '/jobs/:id', title: 'Job', lazy: () => import('./jobs/job-page.tsx') },
  { path: '/dead-letters', title: 'Dead letters', lazy: () => import('./jobs/dead-letters-page.tsx') },
  { path: '/schedules', title: 'Schedules', lazy: () => import('./jobs/schedules-page.tsx') },

  // Work: executions, playbooks

  // Projections: search

  // System: health, settings, docs
  { path: '/health', title: 'Health', stage: 'system', lazy: () => import('./health/health-page.tsx') },
  {
    path: '/settings',
    title: 'Settings',
    stage: 'system',
    lazy: () => import('./settings/datasets-page.tsx'),
  },
  { path: '/settings/datasets', title: 'Datasets', lazy: () => import('./settings/datasets-page.tsx') },
  { path: '/settings/webhooks', title: 'Webhooks', lazy: () => import('./settings/webhooks-page.tsx') },
  { path: '/settings/limits', title: 'Limits', lazy: () => import('./settings/limits-page.tsx') },
]
