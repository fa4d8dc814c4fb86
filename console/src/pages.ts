import type { ComponentType } from 'react'
import { Overview } from './overview/overview.tsx'
import { RecordPage } from './review/record-page.tsx'
import { ReviewPage } from './review/review-page.tsx'
import { matchPath } from './route.ts'
import { MembersPage } from './settings/members-page.tsx'
import { SessionsPage } from './settings/sessions-page.tsx'
import { TokensPage } from './settings/tokens-page.tsx'
import type { Stage } from './stages.ts'
import { UploadPage } from './upload/upload-page.tsx'
import { UploadsPage } from './uploads/uploads-page.tsx'

/** The navigation lists a page under its stage. A new page is one line in PAGES and a folder of its own. */
export interface Page {
  /** Parts that begin with a colon are given to the content by their name; such a page is not in the rail. */
  readonly path: string
  readonly title: string
  /** Absent: above the stages. */
  readonly stage?: Stage['id'] | 'system'
  readonly content: ComponentType<{ params: Readonly<Record<string, string>> }>
}

export const PAGES: readonly Page[] = [
  { path: '/', title: 'Overview', content: Overview },
  { path: '/uploads', title: 'Uploads', stage: 'staging', content: UploadsPage },
  { path: '/uploads/:id', title: 'Upload', stage: 'staging', content: UploadPage },
  { path: '/review', title: 'Review', stage: 'staging', content: ReviewPage },
  { path: '/review/:id', title: 'Review', stage: 'staging', content: RecordPage },
  { path: '/settings/members', title: 'Members', stage: 'system', content: MembersPage },
  { path: '/settings/tokens', title: 'Tokens', stage: 'system', content: TokensPage },
  { path: '/settings/sessions', title: 'Your sign-ins', stage: 'system', content: SessionsPage },
]

export function pageAt(path: string): { page: Page; params: Record<string, string> } | undefined {
  for (const page of PAGES) {
    const params = matchPath(page.path, path)
    if (params !== undefined) return { page, params }
  }
  return undefined
}
