import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { AccessApi, OfferedInvitation, SignInWays, SignInWith } from '../api/access.ts'
import { asFailure } from '../api/failure.ts'
import type { Me } from '../api/types.ts'
import { Brand } from '../parts/brand.tsx'
import { Prose } from '../parts/prose.tsx'
import { explain, TokenForm, type Trouble } from './sign-in-page.tsx'
import './sign-in.css'

interface Props {
  readonly code: string
  readonly access: AccessApi
  readonly ways: SignInWays
  /** Absent: nobody is signed in. */
  readonly me: Me | undefined
  signIn(credential: SignInWith): Promise<void>
  signOut(): void
  joined(): void
  close(): void
}

/** What whoever opens the link of an invitation sees: where they are invited to, and the one thing to do. */
export function InvitationPage(props: Props) {
  const { code, access, close } = props
  const [offer, setOffer] = useState<OfferedInvitation>()
  const [trouble, setTrouble] = useState<Trouble>()
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    document.title = 'Invitation · Stagedoor'
    access.showInvitation(code).then(setOffer, (thrown) => setTrouble(explain(asFailure(thrown))))
  }, [access, code])

  async function attempt(work: () => Promise<unknown>) {
    setBusy(true)
    setTrouble(undefined)
    try {
      await work()
    } catch (thrown) {
      setTrouble(explain(asFailure(thrown)))
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="door">
      <Brand />
      <h1>{offer ? `Join ${offer.workspace}` : 'Invitation'}</h1>
      {offer && (
        <>
          <p>
            You are invited to the workspace <b>{offer.workspace}</b> with the role <b>{offer.role}</b>. The
            invitation is for {offer.invitee} and works once.
          </p>
          <Join {...props} offer={offer} busy={busy} attempt={attempt} />
        </>
      )}
      <div className="door-trouble" role="alert">
        {trouble && (
          <>
            <b>{trouble.what}</b> <Prose text={trouble.remedy} />
          </>
        )}
      </div>
      {(offer === undefined || props.me) && (
        <p>
          <button type="button" className="button" onClick={close}>
            {props.me ? 'Not now' : 'To the sign-in page'}
          </button>
        </p>
      )}
    </main>
  )
}

interface JoinProps extends Props {
  readonly offer: OfferedInvitation
  readonly busy: boolean
  attempt(work: () => Promise<unknown>): Promise<void>
}

function Join({ code, access, ways, me, signIn, signOut, joined, offer, busy, attempt }: JoinProps) {
  if (me)
    return (
      <div className="door-row">
        <button
          type="button"
          className="button is-next"
          disabled={busy}
          onClick={() =>
            attempt(async () => {
              await access.acceptInvitation(code)
              joined()
            })
          }
        >
          Join as {me.name ?? me.actor}
        </button>
        <button type="button" className="button" disabled={busy} onClick={() => signOut()}>
          Sign out first
        </button>
      </div>
    )
  if (ways.oidc)
    return (
      <button
        type="button"
        className="button is-next"
        disabled={busy}
        onClick={() =>
          attempt(async () =>
            location.assign((await access.beginOidc({ return_to: '/', invitation: code })).location),
          )
        }
      >
        Sign in with {ways.oidc.name} and join
      </button>
    )
  if (ways.link_invitations)
    return (
      <NameForm
        invitee={offer.invitee}
        busy={busy}
        join={(name) =>
          attempt(async () => {
            await signIn({ invitation: code, name })
            joined()
          })
        }
      />
    )
  return (
    <>
      <p>Sign in with your token first; then you can join.</p>
      <TokenForm signIn={signIn} />
    </>
  )
}

function NameForm({ invitee, busy, join }: { invitee: string; busy: boolean; join(name: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    join(field.current?.value ?? '')
  }
  return (
    <form onSubmit={submit}>
      <label htmlFor={id}>Your name, as others see it</label>
      <div className="door-row">
        <input id={id} ref={field} defaultValue={invitee} maxLength={255} required autoComplete="name" />
        <button type="submit" className="button is-next" disabled={busy}>
          Join
        </button>
      </div>
    </form>
  )
}
