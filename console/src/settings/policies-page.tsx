import { useState } from 'react'
import type { PolicyScope, ReviewPolicy } from '../api/changes.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { GroupsCard } from './groups-card.tsx'
import { PolicyForm } from './policy-form.tsx'
import { rulesText, scopeText } from './policy-text.ts'
import { SettingsFrame } from './settings-frame.tsx'

type Asked = { readonly what: 'edit' | 'remove'; readonly policy: ReviewPolicy | undefined }

/** How many approvals a change needs, of whom, and when it needs more. */
export default function PoliciesPage() {
  const { api } = useSession()
  const { id: workspace, rights } = useWorkspace()
  const may = rights.includes('administer')
  const [asked, ask] = useState<Asked>()
  const list = useLiveQuery(['settings', 'policies', workspace], (own) => own.changes.policies(workspace), {
    enabled: workspace !== '',
  })
  const policies = list.data?.policies ?? []
  const close = () => ask(undefined)
  return (
    <SettingsFrame>
      {asked?.what === 'edit' && (
        <PolicyForm
          workspace={workspace}
          policy={asked.policy}
          policies={policies}
          refresh={list.refresh}
          close={close}
        />
      )}
      <Card
        id="policies"
        title="Review policies"
        aside={
          may &&
          asked?.what !== 'edit' && (
            <button
              type="button"
              className="button is-small"
              onClick={() => ask({ what: 'edit', policy: undefined })}
            >
              Add a policy
            </button>
          )
        }
      >
        <FailureNote failure={list.failure} />
        {list.data && policies.length === 0 && (
          <EmptyState
            title="No policy yet: one approval of a second person is enough."
            command="npm run -s stagedoor -- policy set --help"
          >
            A policy says how many approvals a change needs, of which groups, and when it needs more: many
            rows, deletions, named columns, large amounts, outside working hours.
          </EmptyState>
        )}
        <ul className="policy-list">
          {policies.map((policy) => (
            <li key={policy.policy_id}>
              <div>
                <b>{scopeText(policy)}</b>
                <ul>
                  {rulesText(policy.rules).map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                  ))}
                </ul>
                {policy.warnings.map((warning) => (
                  <p key={warning} className="note is-held">
                    {warning}
                  </p>
                ))}
                <span className="tiny">
                  revision {policy.revision}, set <Ago at={policy.set_at} /> by <Person id={policy.set_by} />
                </span>
              </div>
              {may && asked?.what !== 'edit' && (
                <div className="policy-actions">
                  <button
                    type="button"
                    className="button is-small"
                    onClick={() => ask({ what: 'edit', policy })}
                  >
                    Edit<span className="unseen"> the policy {scopeText(policy)}</span>
                  </button>
                  <button
                    type="button"
                    className="button is-small"
                    onClick={() => ask({ what: 'remove', policy })}
                  >
                    Remove<span className="unseen"> the policy {scopeText(policy)}</span>
                  </button>
                </div>
              )}
            </li>
          ))}
        </ul>
        <div className="card-foot">
          <p className="tiny">
            The most specific policy applies: of a dataset and kind, then of a dataset, of a kind, of the
            workspace. {!may && 'Administrators of the workspace change them.'}
          </p>
        </div>
      </Card>
      <GroupsCard workspace={workspace} may={may} />
      {asked?.what === 'remove' && asked.policy && (
        <ActionDialog
          title="Remove this policy"
          verb="Remove"
          reason="optional"
          close={close}
          act={async (reason) => {
            await api.changes.removePolicy(workspace, scopeOf(asked.policy!), {
              reason,
              revision: asked.policy!.revision,
            })
            await list.refresh()
          }}
        >
          <p>
            For changes {scopeText(asked.policy).toLowerCase()} the next less specific policy applies, or one
            approval of a second person where there is none. Open changes are measured by that from now on.
          </p>
        </ActionDialog>
      )}
    </SettingsFrame>
  )
}

function scopeOf({ dataset, kind }: ReviewPolicy): PolicyScope {
  return { dataset: dataset ?? undefined, kind: kind ?? undefined }
}
