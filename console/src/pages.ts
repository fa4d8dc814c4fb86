import type { ReactNode } from 'react'
import { redirectTo } from './frame/redirect.tsx'
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

  // What concerns the signed-in person; the top bar leads to it.
  { path: '/inbox', title: 'For you', lazy: () => import('./inbox/inbox-page.tsx') },

  // Held: changes, uploads, records
  { path: '/changes', title: 'Changes', stage: 'held', lazy: () => import('./changes/changes-page.tsx') },
  { path: '/changes/:number', title: 'Change', lazy: () => import('./changes/change-page.tsx') },
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
    path: '/records',
    title: 'Records',
    stage: 'held',
    lazy: () => import('./records/records-page.tsx').then((m) => m.RecordsPage),
  },
  {
    path: '/records/:id',
    title: 'Record',
    lazy: () => import('./records/record-page.tsx').then((m) => m.RecordPage),
  },
  { path: '/review', title: 'Changes', lazy: async () => redirectTo(() => '/changes') },
  { path: '/review/:id', title: 'Record', lazy: async () => redirectTo(({ id }) => `/records/${id}`) },

  // Production: promotions, units
  {
    path: '/promotions',
    title: 'Promotions',
    stage: 'production',
    lazy: () => import('./promotions/promotions-page.tsx'),
  },
  { path: '/rows', title: 'Where a row comes from', lazy: () => import('./promotions/rows-page.tsx') },
  {
    path: '/units',
    title: 'Units',
    stage: 'production',
    lazy: () => import('./units/units-page.tsx').then((m) => m.UnitsPage),
  },
  {
    path: '/units/:id',
    title: 'Unit',
    lazy: () => import('./units/unit-page.tsx').then((m) => m.UnitPage),
  },
  {
    path: '/documents/:id',
    title: 'Document',
    lazy: () => import('./units/document-page.tsx').then((m) => m.DocumentPage),
  },
  {
    path: '/marks/:id',
    title: 'Cut of a document',
    lazy: () => import('./units/marking-page.tsx').then((m) => m.MarkingPage),
  },

  // Signals: events, consumers, jobs
  {
    path: '/events',
    title: 'Events',
    stage: 'signals',
    lazy: () => import('./events/events-page.tsx').then((m) => m.EventsPage),
  },
  {
    path: '/events/:id',
    title: 'Event',
    lazy: () => import('./events/event-page.tsx').then((m) => m.EventPage),
  },
  {
    path: '/consumers',
    title: 'Consumers',
    stage: 'signals',
    lazy: () => import('./consumers/consumers-page.tsx').then((m) => m.ConsumersPage),
  },
  {
    path: '/consumers/:id',
    title: 'Consumer',
    lazy: () => import('./consumers/consumer-page.tsx').then((m) => m.ConsumerPage),
  },
  {
    path: '/routes',
    title: 'Routes',
    lazy: () => import('./consumers/consumers-page.tsx').then((m) => m.RoutesPage),
  },
  {
    path: '/routes/:code',
    title: 'Route',
    lazy: () => import('./consumers/route-page.tsx').then((m) => m.RoutePage),
  },
  { path: '/jobs', title: 'Jobs', stage: 'signals', lazy: () => import('./jobs/jobs-page.tsx') },
  { path: '/jobs/:id', title: 'Job', lazy: () => import('./jobs/job-page.tsx') },
  { path: '/dead-letters', title: 'Dead letters', lazy: () => import('./jobs/dead-letters-page.tsx') },
  { path: '/schedules', title: 'Schedules', lazy: () => import('./jobs/schedules-page.tsx') },

  // Work: executions, playbooks
  {
    path: '/executions',
    title: 'Executions',
    stage: 'work',
    lazy: () => import('./executions/executions-page.tsx'),
  },
  { path: '/executions/:id', title: 'Execution', lazy: () => import('./executions/execution-page.tsx') },
  {
    path: '/playbooks',
    title: 'Playbooks',
    stage: 'work',
    lazy: () => import('./playbooks/playbooks-page.tsx'),
  },
  { path: '/playbooks/:name', title: 'Playbook', lazy: () => import('./playbooks/playbook-page.tsx') },

  // Projections: search
  {
    path: '/search',
    title: 'Search',
    stage: 'projections',
    lazy: () => import('./search/search-page.tsx').then((m) => m.SearchPage),
  },

  // System: health, settings, docs
  { path: '/health', title: 'Health', stage: 'system', lazy: () => import('./health/health-page.tsx') },
  {
    path: '/settings',
    title: 'Settings',
    stage: 'system',
    lazy: () => import('./settings/datasets-page.tsx'),
  },
  {
    path: '/settings/members',
    title: 'Members',
    lazy: () => import('./settings/members-page.tsx').then((m) => m.MembersPage),
  },
  {
    path: '/settings/tokens',
    title: 'Tokens',
    lazy: () => import('./settings/tokens-page.tsx').then((m) => m.TokensPage),
  },
  {
    path: '/settings/sessions',
    title: 'Your sign-ins',
    lazy: () => import('./settings/sessions-page.tsx').then((m) => m.SessionsPage),
  },
  { path: '/settings/datasets', title: 'Datasets', lazy: () => import('./settings/datasets-page.tsx') },
  { path: '/settings/policies', title: 'Policies', lazy: () => import('./settings/policies-page.tsx') },
  { path: '/settings/webhooks', title: 'Webhooks', lazy: () => import('./settings/webhooks-page.tsx') },
  {
    path: '/settings/search',
    title: 'Search settings',
    lazy: () => import('./settings/search-settings-page.tsx'),
  },
  { path: '/settings/limits', title: 'Limits', lazy: () => import('./settings/limits-page.tsx') },
  {
    path: '/docs',
    title: 'Docs',
    stage: 'system',
    lazy: () => import('./docs/docs-page.tsx').then((m) => m.DocsPage),
  },
  { path: '/docs/:page', title: 'Docs', lazy: () => import('./docs/docs-page.tsx').then((m) => m.DocsPage) },
]
