import {
  focusManager,
  keepPreviousData,
  QueryClient,
  QueryClientProvider,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import type { Api } from '../api/client.ts'
import { ApiProblem, asFailure, type Failure, NoAnswer } from '../api/failure.ts'
import { useSession } from '../session/session.tsx'
import type { Polled } from './use-polled.ts'

/** A room of the console; the first element of every query key. The server names the rooms that changed by these names. */
export type Room =
  /** Shows something of every room, so that every change is one of it. */
  | 'overview'
  | 'changes'
  | 'inbox'
  | 'uploads'
  | 'records'
  | 'promotions'
  | 'units'
  | 'events'
  | 'consumers'
  | 'jobs'
  | 'executions'
  | 'playbooks'
  | 'search'
  | 'health'
  | 'settings'
  | 'docs'

type RoomKey = readonly [Room, ...unknown[]]

/** Between two tries to connect, and between two reads while nothing tells what changed. */
const RETRY_MS = 5_000
/** While it is told: for what no message tells, or what changed before the first one. */
const CHECK_MS = 60_000
/** What changes all the time is read again this often at most. */
const MIN_PAUSE_MS = 2_000

interface Live {
  /** Whether the server tells what changes; while it does not, queries read every five seconds. */
  readonly connected: boolean
  /** Called with every change; returns the way to stop. */
  onChange(listener: () => void): () => void
}

const LiveContext = createContext<Live | undefined>(undefined)

export function useLive(): Live {
  const live = useContext(LiveContext)
  if (live === undefined) throw new Error('useLive is used outside of LiveProvider')
  return live
}

/** Holds one stream of the server while somebody looks; what it names as changed is read again. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const { api } = useSession()
  const [connected, setConnected] = useState(false)
  // A cache for each session: nobody sees what was read for somebody else.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the session is what asks for another cache
  const queries = useMemo(createQueries, [api])
  const listeners = useMemo(() => new Set<() => void>(), [])
  const live = useMemo(
    () => ({
      connected,
      onChange(listener: () => void) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    }),
    [connected, listeners],
  )
  useEffect(
    () =>
      follow(api, setConnected, (rooms) => {
        for (const listener of listeners) listener()
        queries.invalidateQueries(
          rooms && {
            predicate: ({ queryKey }) => queryKey[0] === 'overview' || rooms.has(String(queryKey[0])),
          },
        )
      }),
    [api, queries, listeners],
  )
  return (
    <LiveContext value={live}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </LiveContext>
  )
}

function createQueries(): QueryClient {
  // Nothing is read at an interval while nobody looks.
  focusManager.setEventListener((handleFocus) => {
    const look = () => handleFocus(!document.hidden)
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  })
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: RETRY_MS,
        retry: false,
        networkMode: 'always',
        // The stream says when to read, also after the tab was hidden.
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        // What is not a failure of the API is a bug, and the page boundary shows it.
        throwOnError: (error) => !(error instanceof ApiProblem || error instanceof NoAnswer),
      },
    },
  })
}

/** Undefined stands for every room: after a break nobody knows what was missed. */
type Changed = ReadonlySet<string> | undefined

/** Connects, and connects again, while the page is visible. Returns the way to stop. */
function follow(
  api: Api,
  setConnected: (connected: boolean) => void,
  changed: (rooms: Changed) => void,
): () => void {
  let stream: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isFirst = true
  let lastEventId: string | undefined
  const told = throttled(changed)

  async function connect(): Promise<void> {
    clearTimeout(timer)
    stream?.abort()
    if (document.hidden) return
    const own = new AbortController()
    stream = own
    let retryMs = RETRY_MS
    const listener = {
      lastEventId,
      begun(resumed: boolean) {
        setConnected(true)
        if (!isFirst && !resumed) told.add(undefined)
        isFirst = false
      },
      changed: (rooms: readonly string[]) => told.add(new Set(rooms)),
      seen(id: string) {
        lastEventId = id
      },
      retryIn(ms: number) {
        retryMs = ms
      },
    }
    // A refusal and a lost connection are shown by what is read; here they only mean to try again.
    await api.live(listener, own.signal).catch(() => {})
    if (stream !== own) return
    setConnected(false)
    timer = setTimeout(connect, retryMs)
  }

  const look = () => {
    if (!document.hidden) {
      told.add(undefined)
      return void connect()
    }
    clearTimeout(timer)
    stream?.abort()
    stream = undefined
    setConnected(false)
  }
  void connect()
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    clearTimeout(timer)
    told.stop()
    stream?.abort()
    stream = undefined
  }
}

/** The first change at once, those that follow it together after a pause. */
function throttled(changed: (rooms: Changed) => void) {
  let waiting: Set<string> | 'all' | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    if (waiting === undefined) return
    const rooms = waiting === 'all' ? undefined : waiting
    waiting = undefined
    timer = setTimeout(flush, MIN_PAUSE_MS)
    changed(rooms)
  }
  return {
    add(rooms: Changed): void {
      if (rooms === undefined || waiting === 'all') waiting = 'all'
      else waiting = new Set([...(waiting ?? []), ...rooms])
      if (timer === undefined) flush()
    },
    stop: () => clearTimeout(timer),
  }
}

export interface LiveQuery<T> extends Polled<T> {
  /** True before the first answer. */
  readonly loading: boolean
  /** Reads again now, for what somebody just did here. */
  refresh(): Promise<unknown>
}

interface LiveOptions {
  readonly enabled?: boolean
  /** It never changes: it is read once. */
  readonly once?: boolean
}

/** Reads, keeps the answer for other pages, and reads again when the server says that the key's room changed. */
export function useLiveQuery<T>(
  key: RoomKey,
  read: (api: Api) => Promise<T>,
  { once = false, ...options }: LiveOptions = {},
): LiveQuery<T> {
  const { api } = useSession()
  const { connected } = useLive()
  const query = useQuery({
    queryKey: key,
    queryFn: () => read(api),
    ...(once
      ? { staleTime: 'static' as const }
      : { placeholderData: keepPreviousData, refetchInterval: pauseOf(connected) }),
    ...options,
  })
  const failure = useFailure(query.error)
  return {
    ...(query.data !== undefined && { data: query.data, at: query.dataUpdatedAt }),
    ...(failure && { failure }),
    loading: query.isPending,
    refresh: query.refetch,
  }
}

export interface LivePages<Row> {
  readonly rows: readonly Row[]
  readonly loading: boolean
  readonly failure?: Failure
  /** Undefined: all rows are here. */
  readonly more?: () => void
  readonly loadingMore: boolean
}

/** The same for a list in pages: `read` gets what the page before called `next`. */
export function useLivePages<Row>(
  key: RoomKey,
  read: (api: Api, after: string | undefined) => Promise<{ rows: readonly Row[]; next: string | null }>,
): LivePages<Row> {
  const { api } = useSession()
  const { connected } = useLive()
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(api, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: pauseOf(connected),
  })
  const failure = useFailure(query.error)
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
  return {
    rows,
    loading: query.isPending,
    loadingMore: query.isFetchingNextPage,
    ...(failure && { failure }),
    ...(query.hasNextPage && { more: () => void query.fetchNextPage() }),
  }
}

function pauseOf(connected: boolean): number {
  return connected ? CHECK_MS : RETRY_MS
}

/** A token that is no longer good leads to the sign-in page. */
function useFailure(error: unknown): Failure | undefined {
  const { signOut } = useSession()
  const failure = error === null || error === undefined ? undefined : asFailure(error)
  const isOver = failure instanceof ApiProblem && failure.status === 401
  useEffect(() => {
    if (isOver) signOut(failure)
  }, [isOver, failure, signOut])
  return failure
}
