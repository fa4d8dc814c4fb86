import type { OwnSession } from '../api/access.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import './settings.css'

const WAYS: Record<string, string> = {
  link: 'a sign-in link',
  token: 'a token',
  oidc: 'the identity provider',
  invitation: 'an invitation',
}

/** Where one is signed in, and the way out of all of it. */
export function SessionsPage() {
  const { api, signOutEverywhere } = useSession()
  const list = useLiveQuery(['settings', 'sessions'], (own) => own.access.sessions())
  const end = useAction<unknown>(() => void list.refresh())
  const endAll = useAction<unknown>(() => {})
  return (
    <SettingsFrame>
      <Card
        id="sessions"
        title="Where you are signed in"
        aside={
          <button
            type="button"
            className="button is-small"
            disabled={endAll.busy !== undefined}
            onClick={() => endAll.run('Signing out…', signOutEverywhere)}
          >
            Sign out everywhere
          </button>
        }
      >
        <FailureNote failure={list.failure ?? end.failure ?? endAll.failure} />
        {list.data === undefined && list.failure === undefined && <p className="empty">Loading…</p>}
        {list.data && (
          <div className="settings-scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Browser</th>
                  <th scope="col">Signed in</th>
                  <th scope="col">Last use</th>
                  <th scope="col">
                    <span className="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.data.sessions.map((session) => (
                  <SessionRow
                    key={session.session_id}
                    session={session}
                    busy={end.busy !== undefined}
                    end={() => end.run('Signing out…', () => api.access.endSession(session.session_id))}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <p className="card-foot tiny">
          A browser that you do not know: sign out everywhere and tell an administrator.
        </p>
      </Card>
    </SettingsFrame>
  )
}

function SessionRow({ session, busy, end }: { session: OwnSession; busy: boolean; end(): void }) {
  return (
    <tr>
      <td className="settings-agent">
        <span title={session.user_agent}>{browserName(session.user_agent)}</span>
        {session.current && <b> (this one)</b>}
      </td>
      <td data-label="signed in">
        <Ago at={session.created_at} /> with {WAYS[session.provider] ?? session.provider}
      </td>
      <td data-label="last use">
        <Ago at={session.last_seen_at} />
      </td>
      <td className="is-figures">
        {!session.current && (
          <button type="button" className="button is-small" disabled={busy} onClick={end}>
            Sign out<span className="unseen"> that browser</span>
          </button>
        )}
      </td>
    </tr>
  )
}

/** What a browser says of itself is long, and most of it is about other browsers. The whole text is in the title. */
function browserName(agent: string): string {
  const first = (names: Record<string, string>) =>
    Object.entries(names).find(([word]) => agent.includes(word))?.[1]
  const browser = first({
    'Edg/': 'Edge',
    'OPR/': 'Opera',
    'Firefox/': 'Firefox',
    'Chrome/': 'Chrome',
    'Safari/': 'Safari',
  })
  const system = first({
    Android: 'Android',
    iPhone: 'iPhone',
    iPad: 'iPad',
    Windows: 'Windows',
    'Mac OS': 'macOS',
    Linux: 'Linux',
  })
  if (browser === undefined) return agent === '' ? 'unknown' : agent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
