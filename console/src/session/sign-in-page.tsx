import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { SignInWays, SignInWith } from '../api/access.ts'
import { asFailure, type Failure, NoAnswer } from '../api/failure.ts'
import { Brand } from '../parts/brand.tsx'
import { Command } from '../parts/command.tsx'
import { Prose } from '../parts/prose.tsx'
import { codeIn, tokenIn } from './address.ts'
import './sign-in.css'

export interface Trouble {
  readonly what: string
  readonly remedy: string
}

const NOT_A_TOKEN: Trouble = {
  what: 'That is not a token.',
  remedy: 'A token has three parts, joined by dots. You can also paste a whole sign-in link.',
}

interface Props {
  readonly reason: Failure | undefined
  readonly ways: SignInWays
  signIn(credential: SignInWith): Promise<void>
}

export function SignInPage({ reason, ways, signIn }: Props) {
  useEffect(() => {
    document.title = 'Sign in · Stagedoor'
  }, [])
  return (
    <main className="door">
      <Brand />
      <h1>Sign in</h1>
      <p className="muted">Every action is recorded under your name.</p>
      {ways.oidc && (
        <p>
          <a
            className="button is-next door-provider"
            href={`/api/v1/sign-in/oidc?return_to=${encodeURIComponent(location.pathname + location.search)}`}
          >
            Sign in with {ways.oidc.name}
          </a>
        </p>
      )}
      <TokenForm reason={reason} signIn={signIn} second={ways.oidc !== null} />
      <section className="door-help" aria-labelledby="no-token">
        {ways.oidc === null && (
          <>
            <h2 id="no-token">No token yet?</h2>
            <p>
              <code>npm start</code> prints a sign-in link: open it. Or run this in the Stagedoor folder:
            </p>
            <Command text="npm run -s stagedoor -- token --as operator" />
          </>
        )}
        {ways.oidc && <h2 id="no-token">With a token</h2>}
        <p className="tiny">
          A token of your identity provider works, too. It is exchanged for a session of this browser and not
          kept. An invitation link also signs you in.
        </p>
        <p className="tiny">
          <a className="link" href="/api/v1/docs">
            API reference
          </a>
        </p>
      </section>
    </main>
  )
}

interface TokenFormProps {
  readonly reason?: Failure | undefined
  /** True: there is a better way to sign in above it. */
  readonly second?: boolean
  signIn(credential: SignInWith): Promise<void>
}

export function TokenForm({ reason, second = false, signIn }: TokenFormProps) {
  const [trouble, setTrouble] = useState(reason && explain(reason))
  const [checking, setChecking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const ids = { field: useId(), trouble: useId() }

  // Why a link is refused comes when the page is shown already.
  useEffect(() => {
    if (reason) setTrouble(explain(reason))
  }, [reason])

  async function submit(event: FormEvent) {
    event.preventDefault()
    const pasted = field.current?.value ?? ''
    const code = codeIn(pasted)
    const token = tokenIn(pasted)
    if (code === undefined && token === undefined) return refuse(NOT_A_TOKEN)
    setChecking(true)
    try {
      await signIn(code === undefined ? { token: token! } : { code })
    } catch (thrown) {
      refuse(explain(asFailure(thrown)))
    } finally {
      setChecking(false)
    }
  }

  function refuse(why: Trouble) {
    setTrouble(why)
    field.current?.select()
  }

  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={ids.field}>Your token</label>
      <div className="door-row">
        <input
          id={ids.field}
          ref={field}
          type="password"
          className="mono"
          autoComplete="off"
          spellCheck={false}
          placeholder="paste a token or a sign-in link"
          aria-invalid={trouble !== undefined}
          aria-describedby={trouble && ids.trouble}
        />
        <button type="submit" className={second ? 'button' : 'button is-next'} disabled={checking}>
          {checking ? 'Checking…' : 'Sign in'}
        </button>
      </div>
      <div id={ids.trouble} className="door-trouble" role="alert">
        {trouble && (
          <>
            <b>{trouble.what}</b> <Prose text={trouble.remedy} />
          </>
        )}
      </div>
    </form>
  )
}

export function explain(failure: Failure): Trouble {
  if (failure instanceof NoAnswer) {
    return {
      what: failure.message,
      remedy: 'Start it with `npm start`, then try again. Nothing was checked.',
    }
  }
  return { what: sentence(failure.message), remedy: sentence(failure.hint) }
}

function sentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`
}
