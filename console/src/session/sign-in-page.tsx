import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { asFailure, type Failure, NoAnswer } from '../api/failure.ts'
import { Brand } from '../parts/brand.tsx'
import { Command } from '../parts/command.tsx'
import { Prose } from '../parts/prose.tsx'
import { exchange } from './exchange.ts'
import { codeIn, tokenIn } from './token.ts'
import './sign-in.css'

interface Trouble {
  readonly what: string
  readonly remedy: string
}

const NOT_A_TOKEN: Trouble = {
  what: 'That is not a token.',
  remedy: 'A token has three parts, joined by dots. You can also paste a whole sign-in link.',
}

interface Props {
  readonly reason: Failure | undefined
  signIn(token: string): Promise<void>
}

export function SignInPage({ reason, signIn }: Props) {
  const [trouble, setTrouble] = useState(reason && explain(reason))
  const [checking, setChecking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const ids = { field: useId(), trouble: useId() }

  useEffect(() => {
    document.title = 'Sign in · Stagedoor'
  }, [])
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
      await signIn(token ?? (await exchange(code!)))
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
    <main className="door">
      <Brand />
      <h1>Sign in</h1>
      <p className="muted">Every action is recorded under your name.</p>
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
          <button type="submit" className="button is-next" disabled={checking}>
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
      <section className="door-help" aria-labelledby="no-token">
        <h2 id="no-token">No token yet?</h2>
        <p>
          <code>npm start</code> prints a sign-in link: open it. Or run this in the Stagedoor folder:
        </p>
        <Command text="npm run -s stagedoor -- token --as operator" />
        <p className="tiny">
          If your identity provider signs the tokens, paste your access token. It stays in this tab and is
          deleted when you close it.
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

function explain(failure: Failure): Trouble {
  if (failure instanceof NoAnswer) {
    return {
      what: failure.message,
      remedy: 'Start it with `npm start`, then try again. Your token was not checked.',
    }
  }
  return { what: sentence(failure.message), remedy: sentence(failure.hint) }
}

function sentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`
}
