import type { UploadDetail } from '../api/upload-types.ts'
import { milliseconds } from '../parts/format.ts'
import './statement-card.css'

/** Of a pull request in SQL: the statement stands where a file shows how it was read. */
export function StatementCard({ proposal }: { proposal: NonNullable<UploadDetail['proposal']> }) {
  const { statement, operation, target, took_ms, locked_ms } = proposal
  return (
    <section className="card statement-card" aria-labelledby="statement-title">
      <header className="card-head">
        <h2 id="statement-title">The statement</h2>
        <span className="tiny">
          {operation.toUpperCase()} on <code>{target}</code> · worked out in {milliseconds(took_ms)}, locks
          held for {milliseconds(locked_ms)}
        </span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long statements scroll, with the keyboard as well */}
      <pre className="statement-text" tabIndex={0}>
        {statement}
      </pre>
      <p className="tiny">
        It ran under a login of its own and was rolled back. What is promoted are exactly the rows of the
        plan; if one of them changes before, nothing is.
      </p>
    </section>
  )
}
