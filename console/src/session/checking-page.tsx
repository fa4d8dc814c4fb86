import { Brand } from '../parts/brand.tsx'
import './sign-in.css'

/** Shown while a token is checked, or while the server does not answer. */
export function CheckingPage({ unanswered }: { unanswered: boolean }) {
  return (
    <main className="door">
      <Brand />
      <h1>Signing in</h1>
      <p role="status">
        {unanswered
          ? 'The server does not answer. Is it running? Your token is kept; the console retries every 5 s.'
          : 'Checking your token…'}
      </p>
    </main>
  )
}
