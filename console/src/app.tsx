import { Frame } from './frame/frame.tsx'
import { PageBoundary } from './frame/page-boundary.tsx'
import { PendingWorkProvider } from './live/pending-work.tsx'
import { PulseProvider } from './live/pulse.tsx'
import { SystemProvider } from './live/system.tsx'
import { MissingPage } from './missing-page.tsx'
import { pageAt } from './pages.ts'
import { useLinks, usePath } from './route.ts'
import { SessionGate } from './session/session.tsx'

const isPage = (path: string) => pageAt(path) !== undefined

export function App() {
  const path = usePath()
  useLinks(isPage)
  const found = pageAt(path)
  const Content = found?.page.content ?? MissingPage
  return (
    <SessionGate>
      <PulseProvider>
        <SystemProvider>
          <PendingWorkProvider>
            <Frame title={found?.page.title ?? 'No such page'}>
              <PageBoundary key={path}>
                <Content params={found?.params ?? {}} />
              </PageBoundary>
            </Frame>
          </PendingWorkProvider>
        </SystemProvider>
      </PulseProvider>
    </SessionGate>
  )
}
