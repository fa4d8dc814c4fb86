import type { ComponentType } from 'react'
import { Overview } from './overview/overview.tsx'
import type { Room } from './rooms.ts'

/** A page stands in the rail under its room. A new page is one line in PAGES and a folder of its own. */
export interface Page {
  readonly path: string
  readonly title: string
  /** Absent: above the rooms. */
  readonly room?: Room['id'] | 'system'
  readonly content: ComponentType
}

export const PAGES: readonly Page[] = [{ path: '/', title: 'Overview', content: Overview }]
