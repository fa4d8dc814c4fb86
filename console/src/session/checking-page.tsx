import { Brand } from '../parts/brand.tsx'
import './sign-in.css'

/** Shown while the session is read, or while the server does not answer. */
export function CheckingPage({ unanswered }: { unanswered: boolean }) {
  return (
    <main className="door">
      <Brand />
      <h1>Signing in</h1>
      <p role="status">
        {unanswered
          ? 'The server does not answer. Is it running? You stay signed in; the console retries every 5 s.'
          : 'Checking your session…'}
      </p>
    </main>
  )
}
