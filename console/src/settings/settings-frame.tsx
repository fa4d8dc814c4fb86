import type { ReactNode } from 'react'
import { PageHead } from '../frame/page-head.tsx'
import { PAGES } from '../pages.ts'
import { RoomLinks } from '../parts/room-links.tsx'
import { usePath } from '../route.ts'
import { WorkspaceChoice } from '../session/use-workspace.tsx'
import './settings.css'

/** The tabs, in this order. One whose page is not in PAGES is not shown. */
const TABS = [
  ['/settings/members', 'Members'],
  ['/settings/tokens', 'Tokens'],
  ['/settings/datasets', 'Datasets'],
  ['/settings/policies', 'Policies'],
  ['/settings/webhooks', 'Webhooks'],
  ['/settings/search', 'Search'],
  ['/settings/limits', 'Limits'],
  ['/settings/sessions', 'Your sign-ins'],
] as const

/** Around every page of the settings: its tabs and the workspace that it is about. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const path = usePath()
  const tabs = TABS.filter(([href]) => PAGES.some((page) => page.path === href))
  return (
    <>
      <PageHead title="Settings" />
      <RoomLinks
        label="Settings"
        links={tabs}
        // /settings itself shows the datasets.
        current={path === '/settings' ? '/settings/datasets' : path}
      />
      <div className="stack">
        <WorkspaceChoice />
        {children}
      </div>
    </>
  )
}
