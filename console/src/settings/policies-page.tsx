import { useState } from 'react'
import type { PolicyScope, ReviewPolicy, ReviewRules } from '../api/changes.ts'
import { CHANGE_KINDS } from '../changes/change-status.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/choice.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { counted } from '../parts/format.ts'
import { Person } from '../parts/person.tsx'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { GroupsCard } from './groups-card.tsx'
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
      <Card
        id="policies"
        title="Review policies"
        aside={
          may && (
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
                  set <Ago at={policy.set_at} /> by <Person id={policy.set_by} />
                </span>
              </div>
              {may && (
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
      {asked?.what === 'edit' && (
        <PolicyDialog workspace={workspace} policy={asked.policy} close={close} saved={list.refresh} />
      )}
      {asked?.what === 'remove' && asked.policy && (
        <ActionDialog
          title="Remove this policy"
          verb="Remove"
          reason="optional"
          close={close}
          act={async (reason) => {
            await api.changes.removePolicy(workspace, scopeOf(asked.policy!), reason)
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

interface DialogProps {
  readonly workspace: string
  readonly policy: ReviewPolicy | undefined
  saved(): Promise<unknown>
  close(): void
}

type Raise = NonNullable<ReviewRules['raise']>[number]

/** The form of a policy. One rule raises the number of approvals; what a policy has besides it is kept as it is. */
function PolicyDialog({ workspace, policy, saved, close }: DialogProps) {
  const { api } = useSession()
  const datasets = useLiveQuery(['settings', 'datasets', workspace], (own) => own.system.datasets(workspace))
  const [dataset, setDataset] = useState(policy?.dataset ?? '')
  const [kind, setKind] = useState<string>(policy?.kind ?? '')
  const [base, setBase] = useState(policy?.rules.base ?? { approvals: 1 })
  const [first, ...others] = policy?.rules.raise ?? []
  const [raise, setRaise] = useState<Raise>(first ?? { when: {} })
  const columns = useColumns(workspace, dataset)
  const when = raise.when
  const set = (change: { [Name in keyof Raise['when']]: Raise['when'][Name] | undefined }) =>
    setRaise({
      ...raise,
      when: Object.fromEntries(
        Object.entries({ ...when, ...change }).filter(([, value]) => value !== undefined),
      ) as Raise['when'],
    })
  const isRaised = Object.keys(when).length > 0
  const rules: ReviewRules = {
    ...policy?.rules,
    base,
    raise: [...(isRaised ? [raise] : []), ...others],
  }
  return (
    <ActionDialog
      title={policy ? 'Edit the policy' : 'Add a policy'}
      verb="Save"
      reason="optional"
      close={close}
      act={async (reason) => {
        const scope = {
          ...(dataset && { dataset }),
          ...(kind && { kind: kind as NonNullable<ReviewPolicy['kind']> }),
        }
        await api.changes.setPolicy(workspace, scope, rules, reason)
        await saved()
      }}
    >
      <div className="policy-form">
        <Choice
          label="Dataset"
          value={dataset}
          disabled={policy !== undefined}
          options={[
            ['', 'all'],
            ...(datasets.data?.datasets ?? []).map((one) => [one.dataset, one.title] as const),
          ]}
          choose={setDataset}
        />
        <Choice
          label="Kind of change"
          value={kind}
          disabled={policy !== undefined}
          options={[['', 'all'], ...Object.entries(CHANGE_KINDS)]}
          choose={setKind}
        />
        <Figure
          label="Approvals"
          value={base.approvals}
          set={(approvals) => setBase({ ...base, approvals: approvals ?? 0 })}
        />
        <Names
          label="One of each group"
          value={base.groups}
          set={(groups) => setBase({ ...base, groups: groups ?? [] })}
        />
        <Names
          label="Only these roles count"
          value={base.roles}
          set={(roles) => setBase({ ...base, roles: roles ?? [] })}
        />
        <h3>More where all of these hold</h3>
        <Figure label="Rows over" value={when.rows_over} set={(rows_over) => set({ rows_over })} />
        <Figure
          label="Share changed over, in %"
          value={when.share_changed_over === undefined ? undefined : when.share_changed_over * 100}
          set={(share) => set({ share_changed_over: share === undefined ? undefined : share / 100 })}
        />
        <Figure
          label="Deletes over"
          value={when.deletes_over}
          set={(deletes_over) => set({ deletes_over })}
        />
        <Names
          label="One of these columns changes"
          value={when.columns}
          offered={columns}
          set={(names) => set({ columns: names })}
        />
        <label className="settings-check">
          <input
            type="checkbox"
            checked={when.first_upload_of_source ?? false}
            onChange={(event) => set({ first_upload_of_source: event.target.checked || undefined })}
          />{' '}
          First upload of a source
        </label>
        <label className="settings-check">
          <input
            type="checkbox"
            checked={when.outside_hours !== undefined}
            onChange={(event) =>
              set({
                outside_hours: event.target.checked
                  ? {
                      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
                      from: '08:00',
                      to: '18:00',
                    }
                  : undefined,
              })
            }
          />{' '}
          Outside 08:00 to 18:00, Monday to Friday
        </label>
        <Names
          label="Sum of differences of this column"
          value={when.amount_over && [when.amount_over.column]}
          offered={columns}
          set={(names) =>
            set({
              amount_over: names?.[0] ? { column: names[0], limit: when.amount_over?.limit ?? 0 } : undefined,
            })
          }
        />
        {when.amount_over && (
          <Figure
            label="is over"
            value={when.amount_over.limit}
            set={(limit) => set({ amount_over: { column: when.amount_over!.column, limit: limit ?? 0 } })}
          />
        )}
        {isRaised && (
          <>
            <Figure
              label="Then approvals"
              value={raise.approvals}
              set={(approvals) => setRaise(without({ ...raise, approvals }))}
            />
            <Names
              label="Then one of each group"
              value={raise.groups}
              set={(groups) => setRaise(without({ ...raise, groups }))}
            />
          </>
        )}
        <div className="note policy-said" role="status">
          {rulesText(rules).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
        {others.length > 0 && (
          <p className="tiny">{counted(others.length, 'further rule')} of this policy stays as it is.</p>
        )}
        <p>What was approved, and under this policy is not, waits for approval again.</p>
      </div>
    </ActionDialog>
  )
}

function without(raise: { [Key in keyof Raise]: Raise[Key] | undefined }): Raise {
  return Object.fromEntries(Object.entries(raise).filter(([, value]) => value !== undefined)) as Raise
}

/** The columns that a dataset fills; of all datasets none can be offered. */
function useColumns(workspace: string, dataset: string): readonly string[] {
  const { data } = useLiveQuery(
    ['settings', 'dataset', workspace, dataset],
    (api) => api.system.dataset(dataset, workspace),
    { enabled: dataset !== '' },
  )
  const declared = data?.definition as { fields?: object } | undefined
  return dataset === '' ? [] : Object.keys(declared?.fields ?? {})
}

function Figure({
  label,
  value,
  set,
}: {
  label: string
  value: number | undefined
  set(value: number | undefined): void
}) {
  return (
    <label className="choice">
      <span>{label}</span>
      <input
        type="number"
        min={0}
        step="any"
        value={value ?? ''}
        onChange={(event) => set(event.target.value === '' ? undefined : Number(event.target.value))}
      />
    </label>
  )
}

function Names({
  label,
  value,
  offered = [],
  set,
}: {
  label: string
  value: readonly string[] | undefined
  offered?: readonly string[]
  set(value: string[] | undefined): void
}) {
  const [text, setText] = useState((value ?? []).join(', '))
  const put = (next: string) => {
    setText(next)
    const names = next.split(',').map((name) => name.trim())
    const some = names.filter((name) => name !== '')
    set(some.length === 0 ? undefined : some)
  }
  return (
    <label className="choice">
      <span>{label}</span>
      <input value={text} placeholder="names, with commas" onChange={(event) => put(event.target.value)} />
      {offered.length > 0 && <span className="tiny">Columns: {offered.join(', ')}</span>}
    </label>
  )
}
