import { Frame } from './frame/frame.tsx'
import { PulseProvider } from './live/pulse.tsx'
import { SystemProvider } from './live/system.tsx'
import { MissingPage } from './missing-page.tsx'
import { PAGES } from './pages.ts'
import { SessionGate } from './session/session.tsx'

export function App() {
  const page = PAGES.find((candidate) => candidate.path === location.pathname)
  const Content = page?.content ?? MissingPage
  return (
    <SessionGate>
      <PulseProvider>
        <SystemProvider>
          <Frame title={page?.title ?? 'No such page'}>
            <Content />
          </Frame>
        </SystemProvider>
      </PulseProvider>
    </SessionGate>
  )
}
