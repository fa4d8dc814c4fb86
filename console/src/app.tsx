import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  RouterProvider,
  useMatches,
  useParams,
} from '@tanstack/react-router'
import { Frame } from './frame/frame.tsx'
import { PageBoundary } from './frame/page-boundary.tsx'
import { LiveProvider } from './live/live.tsx'
import { PendingWorkProvider } from './live/pending-work.tsx'
import { PulseProvider } from './live/pulse.tsx'
import { SystemProvider } from './live/system.tsx'
import { MissingPage } from './missing-page.tsx'
import { PAGES, type Page, type PageContent } from './pages.ts'
import { browserHistory, useLinks } from './route.ts'
import { SessionGate } from './session/session.tsx'
import { isId } from './upload/plan/values.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    title?: string
  }
}

const root = createRootRoute({ component: Shell, notFoundComponent: MissingPage })

const router = createRouter({
  routeTree: root.addChildren(
    PAGES.map((page) =>
      createRoute({
        getParentRoute: () => root,
        // The router writes :id as $id.
        path: page.path.replace(/:(\w+)/g, '$$$1'),
        component: routed(page),
        staticData: { title: page.title },
      }),
    ),
  ),
  history: browserHistory,
  // Parameters are texts; the router's own reading would make numbers and objects of some.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString()
    return text === '' ? '' : `?${text}`
  },
  defaultPendingComponent: () => <p className="empty">Loading…</p>,
})

/** Pages of what is known by a uuid alone. */
const BY_UUID = ['events', 'jobs', 'marks', 'records', 'uploads'].map((room) => `/${room}/:id`)

const isPage = (path: string) => router.getMatchedRoutes(path)[2] !== undefined

export function App() {
  return <RouterProvider router={router} />
}

/** Around every page: the session, what is live, the navigation. */
function Shell() {
  useLinks(isPage)
  const title = useMatches({ select: (matches) => matches.at(-1)?.staticData.title })
  return (
    <SessionGate>
      <LiveProvider>
        <PulseProvider>
          <SystemProvider>
            <PendingWorkProvider>
              <Frame title={title ?? 'No such page'}>
                <Outlet />
              </Frame>
            </PendingWorkProvider>
          </SystemProvider>
        </PulseProvider>
      </LiveProvider>
    </SessionGate>
  )
}

/** The page before stays until the code of this one is loaded; another id is another page, with a state of its own. */
function routed({ path, lazy }: Page) {
  const Content = lazyRouteComponent(async (): Promise<{ default: PageContent }> => {
    const loaded = await lazy()
    return 'default' in loaded ? loaded : { default: loaded }
  })
  const RoutedPage = () => {
    const params = useParams({ strict: false }) as Readonly<Record<string, string>>
    // The server would say which format it wants, which tells nobody that the address is wrong.
    if (BY_UUID.includes(path) && !isId(params.id)) return <MissingPage />
    return (
      <PageBoundary key={Object.values(params).join('/')}>
        <Content params={params} />
      </PageBoundary>
    )
  }
  return Object.assign(RoutedPage, { preload: async () => Content.preload?.() })
}
