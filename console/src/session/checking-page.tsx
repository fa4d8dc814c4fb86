import { Brand } from '../parts/brand.tsx'
import './sign-in.css'

/** Seen for the blink in which a token is checked, or for as long as the server does not answer. */
export function CheckingPage({ unanswered }: { unanswered: boolean }) {
  return (
    <main className="door">
      <Brand />
      <h1>Signing in</h1>
      <p role="status">
        {unanswered
          ? 'The server does not answer. Is it running? Your token is kept, and tried again every 5 s.'
          : 'Checking your token…'}
      </p>
    </main>
  )
}
