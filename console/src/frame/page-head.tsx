import { useLive } from '../live/live.tsx'
import { usePulse } from '../live/pulse.tsx'
import { useSystem } from '../live/system.tsx'
import { Ago } from '../parts/ago.tsx'

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** Every page begins with what it is and how fresh it is. */
export function PageHead({ title }: { title: string }) {
  const { lost, at } = useSystem()
  const { connected } = useLive()
  return (
    <div className="page-head">
      <h1>{title}</h1>
      {/* Says aloud only that the connection went or came back, not every second that passes. */}
      <div role="status">{lost && <Lost at={at} />}</div>
      {!lost && (
        <p>
          {connected ? 'Live' : 'Updates every 5 s'}
          {!connected && at !== undefined && (
            <>
              {' '}
              · <Ago at={at} />
            </>
          )}
        </p>
      )}
    </div>
  )
}

export function Lost({ at }: { at: number | undefined }) {
  const { beatNow } = usePulse()
  return (
    <p className="lost">
      <b>The server does not answer.</b>{' '}
      {at === undefined ? 'Nothing could be loaded yet.' : `This page is from ${clock.format(at)}.`} The
      console retries every 5 s.{' '}
      <button type="button" className="button is-small" onClick={beatNow}>
        Retry now
      </button>
    </p>
  )
}
