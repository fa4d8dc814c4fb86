import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { type Api, createApi } from '../api/client.ts'
import { ApiProblem, asFailure, type Failure, NoAnswer } from '../api/failure.ts'
import type { Me } from '../api/types.ts'
import { learnNames } from '../people.ts'
import { CheckingPage } from './checking-page.tsx'
import { exchange } from './exchange.ts'
import { SignInPage } from './sign-in-page.tsx'
import { forgetToken, mayUseLink, storedToken, storeToken, takeCodeFromAddress } from './token.ts'

const RETRY_MS = 5_000

export interface Session {
  readonly api: Api
  readonly me: Me
  /** With a failure: the server no longer takes the token, and the sign-in page says why. */
  signOut(reason?: Failure): void
}

type State =
  | { readonly name: 'signed_out'; readonly reason?: Failure }
  | { readonly name: 'checking'; readonly token: string; readonly unanswered: boolean }
  | { readonly name: 'signed_in'; readonly api: Api; readonly me: Me }

const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('useSession is used outside of SessionGate')
  return session
}

/** Shows the console to someone with a token that the server takes, and the sign-in page to everyone else. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(firstState)

  const signOut = useCallback((reason?: Failure) => {
    forgetToken()
    setState(reason === undefined ? { name: 'signed_out' } : { name: 'signed_out', reason })
  }, [])

  useLinks(async (code) => {
    if (!mayUseLink()) return
    const outcome = await exchange(code).catch(asFailure)
    if (typeof outcome !== 'string') return signOut(outcome)
    setState({ name: 'checking', token: outcome, unanswered: false })
  })
  useCheck(state, setState, signOut)

  const session = useMemo(
    () => (state.name === 'signed_in' ? { api: state.api, me: state.me, signOut } : undefined),
    [state, signOut],
  )
  if (state.name === 'signed_out') {
    return <SignInPage reason={state.reason} signIn={async (token) => setState(await signedIn(token))} />
  }
  if (session === undefined)
    return <CheckingPage unanswered={state.name === 'checking' && state.unanswered} />
  return <SessionContext value={session}>{children}</SessionContext>
}

async function signedIn(token: string): Promise<State> {
  const api = createApi(token)
  const me = await api.me()
  storeToken(token)
  learnNames({ [me.actor]: me.name })
  return { name: 'signed_in', api, me }
}

function firstState(): State {
  const token = storedToken()
  return token === undefined ? { name: 'signed_out' } : { name: 'checking', token, unanswered: false }
}

/** Opening a sign-in link in a tab that shows the console already changes the fragment only. */
function useLinks(found: (code: string) => void): void {
  useEffect(() => {
    const look = () => {
      const code = takeCodeFromAddress()
      if (code !== undefined) found(code)
    }
    look()
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  })
}

/** A stored or linked token is tried until the server answers; only an answer can make it a bad one. */
function useCheck(state: State, setState: (state: State) => void, signOut: (reason: Failure) => void): void {
  const token = state.name === 'checking' ? state.token : undefined
  useEffect(() => {
    if (token === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let wanted = true
    const check = async () => {
      const outcome = await signedIn(token).catch(asFailure)
      if (!wanted) return
      if (outcome instanceof NoAnswer) {
        setState({ name: 'checking', token, unanswered: true })
        timer = setTimeout(check, RETRY_MS)
      } else if (outcome instanceof ApiProblem) signOut(outcome)
      else setState(outcome)
    }
    check()
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [token, setState, signOut])
}
