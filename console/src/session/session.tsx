import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { SignInWays, SignInWith } from '../api/access.ts'
import { type Api, createApi } from '../api/client.ts'
import { ApiProblem, asFailure, type Failure, NoAnswer } from '../api/failure.ts'
import { SESSION_CHANGED, setCsrf } from '../api/request.ts'
import type { Me } from '../api/types.ts'
import { learnNames } from '../people.ts'
import { takeSecretsFromAddress } from './address.ts'
import { CheckingPage } from './checking-page.tsx'
import { InvitationPage } from './invitation-page.tsx'
import { SignInPage } from './sign-in-page.tsx'

const RETRY_MS = 5_000
/** One sign-in is for all tabs, and so is a sign-out. */
const TABS = 'stagedoor.session'

export interface Session {
  readonly api: Api
  readonly me: Me
  /** With a failure: the session has ended, and the sign-in page says why. Without one it ends now. */
  signOut(reason?: Failure): void
  /** Ends all sessions of this person. */
  signOutEverywhere(): Promise<void>
}

type State =
  | { readonly name: 'checking'; readonly unanswered: boolean }
  | { readonly name: 'signed_out'; readonly reason?: Failure | undefined; readonly ways: SignInWays }
  | { readonly name: 'signed_in'; readonly id: string; readonly me: Me; readonly ways: SignInWays }

const CHECKING: State = { name: 'checking', unanswered: false }
const SessionContext = createContext<Session | undefined>(undefined)
/** The cookie says who it is, so one client serves everybody who signs in here. */
const api = createApi()

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('useSession is used outside of SessionGate')
  return session
}

/** Shows the console to whoever is signed in in this browser, and the sign-in page to everyone else. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(CHECKING)
  const [invitation, setInvitation] = useState<string>()
  const tabs = useTabs(() => setState(CHECKING), state)
  useCheck(state, setState)

  const signIn = useCallback(
    async (credential: SignInWith) => {
      await api.access.signIn(credential)
      setState(await readSession())
      tabs.tell()
    },
    [tabs],
  )
  const signOut = useCallback(
    async (reason?: Failure) => {
      // If it has ended already there is nothing to end; what counts is that this page forgets it.
      if (reason === undefined) await api.access.signOut().catch(asFailure)
      setState(await readSession(reason).catch(() => CHECKING))
      tabs.tell()
    },
    [tabs],
  )
  const signOutEverywhere = useCallback(async () => {
    await api.access.signOutEverywhere()
    setState(await readSession().catch(() => CHECKING))
    tabs.tell()
  }, [tabs])
  useLinks(state, async ({ code, invitation: invited }) => {
    if (invited !== undefined) return setInvitation(invited)
    // A link never acts on the session of somebody who is signed in here, unless they say so.
    if (
      code === undefined ||
      (state.name === 'signed_in' &&
        !confirm('You are already signed in. Sign out and use this link instead?'))
    )
      return
    await signIn({ code }).catch(async (thrown) => setState(await readSession(asFailure(thrown))))
  })

  const me = state.name === 'signed_in' ? state.me : undefined
  const session = useMemo(
    () => (me ? { api, me, signOut, signOutEverywhere } : undefined),
    [me, signOut, signOutEverywhere],
  )
  if (state.name === 'checking') return <CheckingPage unanswered={state.unanswered} />
  if (invitation !== undefined)
    return (
      <InvitationPage
        code={invitation}
        access={api.access}
        ways={state.ways}
        me={me}
        signIn={signIn}
        signOut={signOut}
        joined={() => {
          setInvitation(undefined)
          setState(CHECKING)
        }}
        close={() => setInvitation(undefined)}
      />
    )
  if (session === undefined)
    return (
      <SignInPage
        reason={state.name === 'signed_out' ? state.reason : undefined}
        ways={state.ways}
        signIn={signIn}
      />
    )
  return <SessionContext value={session}>{children}</SessionContext>
}

async function readSession(reason?: Failure): Promise<State> {
  const { session, sign_in: ways } = await api.access.session()
  setCsrf(session?.csrf)
  if (session === null) return { name: 'signed_out', ways, reason }
  const me = await api.me()
  learnNames({ [me.actor]: me.name })
  return { name: 'signed_in', id: session.session_id, me, ways }
}

/** Asked until the server answers; only an answer says that nobody is signed in. */
function useCheck(state: State, setState: (state: State) => void): void {
  const isChecking = state.name === 'checking'
  useEffect(() => {
    if (!isChecking) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let wanted = true
    const check = async () => {
      const outcome = await readSession().catch(asFailure)
      if (!wanted) return
      if (outcome instanceof NoAnswer || outcome instanceof ApiProblem) {
        setState({ name: 'checking', unanswered: true })
        timer = setTimeout(check, RETRY_MS)
      } else setState(outcome)
    }
    check()
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [isChecking, setState])
}

/** Other tabs share the cookie: when one signs in or out, the others look again, and nobody sees a page of somebody else. */
function useTabs(check: () => void, state: State): { tell(): void } {
  const channel = useRef<BroadcastChannel>(undefined)
  const latest = useRef({ check, state })
  latest.current = { check, state }
  useEffect(() => {
    const opened = new BroadcastChannel(TABS)
    channel.current = opened
    const look = async () => {
      const { state: before, check: again } = latest.current
      const now = await readSession().catch(() => undefined)
      const id = (one: State | undefined) => (one?.name === 'signed_in' ? one.id : undefined)
      if (now !== undefined && id(now) !== id(before)) again()
    }
    opened.addEventListener('message', look)
    addEventListener(SESSION_CHANGED, look)
    return () => {
      opened.close()
      removeEventListener(SESSION_CHANGED, look)
    }
  }, [])
  return useMemo(() => ({ tell: () => channel.current?.postMessage('changed') }), [])
}

/** Opening a link in a tab that shows the console already changes the fragment only. Before the session is known nothing is taken. */
function useLinks(state: State, found: (secrets: ReturnType<typeof takeSecretsFromAddress>) => void): void {
  const latest = useRef(found)
  latest.current = found
  const isKnown = state.name !== 'checking'
  useEffect(() => {
    if (!isKnown) return
    const look = () => {
      const secrets = takeSecretsFromAddress()
      if (secrets.code !== undefined || secrets.invitation !== undefined) latest.current(secrets)
    }
    look()
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [isKnown])
}
