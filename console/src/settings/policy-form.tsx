import { type FormEvent, useRef, useState } from 'react'
import type { PolicyPreview, PolicyScope, ReviewPolicy } from '../api/changes.ts'
import { ApiProblem } from '../api/failure.ts'
import { CHANGE_KINDS } from '../changes/change-status.ts'
import { useLiveQuery } from '../live/live.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/choice.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { Person } from '../parts/person.tsx'
import { RefusalNote } from '../parts/refusal-note.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { draftOf, moved, newRule, type PolicyDraft, problemsOf, rulesOf } from './policy-draft.ts'
import { PreviewTable } from './policy-preview.tsx'
import { NamesChoice, RuleFields } from './policy-rule.tsx'
import { rulesText, scopeText } from './policy-text.ts'

interface Props {
  readonly workspace: string
  /** Undefined: a new one. */
  readonly policy: ReviewPolicy | undefined
  /** All policies as they are now. */
  readonly policies: readonly ReviewPolicy[]
  /** Reads the policies again. */
  refresh(): Promise<unknown>
  close(): void
}

/** Every rule of a policy, what it would have meant for the last changes, and the revision that it replaces. */
export function PolicyForm({ workspace, policy, policies, refresh, close }: Props) {
  const { api } = useSession()
  const [dataset, setDataset] = useState(policy?.dataset ?? '')
  const [kind, setKind] = useState<string>(policy?.kind ?? '')
  const [draft, setDraft] = useState(() => draftOf(policy?.rules))
  const [revision, setRevision] = useState(policy?.revision ?? 0)
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const [preview, setPreview] = useState<PolicyPreview>()
  const summary = useRef<HTMLDivElement>(null)
  const datasets = useLiveQuery(['settings', 'datasets', workspace], (own) => own.system.datasets(workspace))
  const groups = useLiveQuery(['settings', 'groups', workspace], (own) => own.changes.groups(workspace))
  const columns = useColumns(workspace, dataset)
  const saving = useAction<unknown>(close)
  const previewing = useAction<PolicyPreview>(setPreview)

  const problems = problemsOf(draft, dataset, kind)
  const shown = isTried ? problems : []
  const scope: PolicyScope = {
    ...(dataset && { dataset }),
    ...(kind && { kind: kind as NonNullable<ReviewPolicy['kind']> }),
  }
  const stored = policies.find((one) => (one.dataset ?? '') === dataset && (one.kind ?? '') === kind)
  const isConflict = saving.failure instanceof ApiProblem && saving.failure.code === 'review_policy_changed'
  const groupNames = (groups.data?.groups ?? []).map(({ group_name }) => group_name)

  const change = (next: Partial<PolicyDraft>) => {
    setDraft({ ...draft, ...next })
    // It was made for other rules.
    setPreview(undefined)
  }
  const setScope = (set: (value: string) => void) => (value: string) => {
    set(value)
    setPreview(undefined)
  }
  /** True where it can be done; else the problems are shown. */
  function isValid(): boolean {
    setTried(true)
    if (problems.length === 0) return true
    requestAnimationFrame(() => summary.current?.focus())
    return false
  }
  function save(event: FormEvent) {
    event.preventDefault()
    if (!isValid()) return
    void saving.run('Saving', async () => {
      try {
        await api.changes.setPolicy(workspace, scope, rulesOf(draft), { reason, revision })
      } finally {
        // Of a conflict the page shows what the policy says now.
        await refresh()
      }
    })
  }
  const look = () => {
    if (isValid())
      void previewing.run('Comparing', () => api.changes.previewPolicy(workspace, scope, rulesOf(draft)))
  }

  return (
    <Card
      id="policy-form"
      title={policy ? `Edit the policy: ${scopeText(policy).toLowerCase()}` : 'Add a policy'}
      aside={policy && <span className="tiny">based on revision {revision}</span>}
    >
      <form className="policy-form" onSubmit={save} noValidate>
        <FailureNote failure={datasets.failure ?? groups.failure} />
        <div className="policy-row">
          <Choice
            label="Dataset"
            value={dataset}
            disabled={policy !== undefined}
            options={[
              ['', 'all'],
              ...(datasets.data?.datasets ?? []).map((one) => [one.dataset, one.title] as const),
            ]}
            choose={setScope(setDataset)}
          />
          <Choice
            label="Kind of change"
            value={kind}
            disabled={policy !== undefined}
            options={[['', 'all'], ...Object.entries(CHANGE_KINDS)]}
            choose={setScope(setKind)}
          />
        </div>
        <fieldset>
          <legend>Every change needs</legend>
          <div className="policy-row">
            <label className="choice">
              <span>Approvals</span>
              <input
                type="number"
                min={0}
                max={20}
                value={draft.approvals}
                onChange={(event) => change({ approvals: event.target.value })}
              />
            </label>
            <NamesChoice
              label="One approval of each of these groups"
              none="There is no group yet; the card Groups below adds one."
              offered={groupNames}
              value={draft.groups}
              set={(names) => change({ groups: names })}
            />
            <NamesChoice
              label="Only approvals of these roles count (none chosen: of everybody who may review)"
              offered={['reviewer', 'admin']}
              value={draft.roles}
              set={(roles) => change({ roles })}
            />
          </div>
          <Problems texts={shown.filter(({ rule }) => rule === undefined).map(({ text }) => text)} />
        </fieldset>
        {draft.rules.map((rule, index) => (
          <RuleFields
            key={rule.id}
            rule={rule}
            number={index + 1}
            count={draft.rules.length}
            columns={columns}
            groups={groupNames}
            problems={shown.filter((one) => one.rule === rule.id).map(({ text }) => text)}
            change={(next) => change({ rules: draft.rules.map((one) => (one.id === rule.id ? next : one)) })}
            move={(by) => change({ rules: moved(draft.rules, index, by) })}
            remove={() => change({ rules: draft.rules.filter((one) => one.id !== rule.id) })}
          />
        ))}
        <div>
          <button
            type="button"
            className="button is-small"
            onClick={() => change({ rules: [...draft.rules, newRule()] })}
          >
            Add a rule
          </button>{' '}
          <span className="tiny">
            A rule asks for more where its conditions hold. All rules that apply count together; their order
            is that of the reasons that reviewers read.
          </span>
        </div>
        <label className="settings-check">
          <input
            type="checkbox"
            checked={draft.keepsApprovals}
            onChange={(event) => change({ keepsApprovals: event.target.checked })}
          />{' '}
          A plan that is made again and writes the same keeps its approvals
        </label>
        <label className="settings-check">
          <input
            type="checkbox"
            checked={draft.trustsBackEnd}
            onChange={(event) => change({ trustsBackEnd: event.target.checked })}
          />{' '}
          Approvals that back-end code gives for members count as theirs
        </label>

        {shown.length > 0 && (
          <div className="note is-bad" role="alert" tabIndex={-1} ref={summary}>
            <b>
              Not yet: {shown.length === 1 ? 'one thing is' : `${shown.length} things are`} to be corrected.
            </b>
            <ul>
              {shown.map(({ rule, text }) => (
                <li key={`${rule} ${text}`}>
                  {rule !== undefined && `Rule ${draft.rules.findIndex(({ id }) => id === rule) + 1}: `}
                  {text}
                </li>
              ))}
            </ul>
          </div>
        )}
        {problems.length === 0 && (
          <div className="note policy-said" role="status">
            {rulesText(rulesOf(draft)).map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        )}
        <div>
          <button type="button" className="button" disabled={previewing.busy !== undefined} onClick={look}>
            Preview on the last 20 changes
          </button>
        </div>
        <RefusalNote failure={previewing.failure} />
        {preview && <PreviewTable preview={preview} />}

        <label className="choice">
          <span>Reason (optional)</span>
          <textarea
            rows={2}
            maxLength={2000}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        {isConflict ? (
          <Conflict
            stored={stored}
            takeTheirs={() => {
              setDraft(draftOf(stored?.rules))
              setRevision(stored?.revision ?? 0)
              setPreview(undefined)
              saving.clear()
            }}
            keepMine={() => {
              setRevision(stored?.revision ?? 0)
              saving.clear()
            }}
          />
        ) : (
          <RefusalNote failure={saving.failure} />
        )}
        <p className="tiny">
          Changes that were approved and lack an approval under this policy wait for it again.
        </p>
        <div className="change-buttons">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-next" disabled={saving.busy !== undefined || isConflict}>
            {policy ? 'Save the policy' : 'Add the policy'}
          </button>
        </div>
      </form>
    </Card>
  )
}

function Problems({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text} className="is-wrong tiny">
      {text}
    </p>
  ))
}

interface ConflictProps {
  /** Undefined: it was removed. */
  readonly stored: ReviewPolicy | undefined
  takeTheirs(): void
  keepMine(): void
}

/** Somebody else has saved meanwhile: what it says now, and which of both goes on. Nothing was overwritten. */
function Conflict({ stored, takeTheirs, keepMine }: ConflictProps) {
  return (
    <div className="note is-bad" role="alert">
      {stored === undefined ? (
        <b>Somebody removed this policy meanwhile. Nothing was saved.</b>
      ) : (
        <>
          <b>
            <Person id={stored.set_by} /> saved revision {stored.revision} of this policy meanwhile. Nothing
            was overwritten.
          </b>
          <p>It says now:</p>
          <ul>
            {rulesText(stored.rules).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
      <div className="change-buttons">
        {stored && (
          <button type="button" className="button is-small" onClick={takeTheirs}>
            Start again from revision {stored.revision}
          </button>
        )}
        <button type="button" className="button is-small" onClick={keepMine}>
          {stored ? `Keep mine, to replace revision ${stored.revision}` : 'Keep mine, to add it again'}
        </button>
      </div>
    </div>
  )
}

/** The columns that uploads of a dataset write; of all datasets none can be offered. */
function useColumns(workspace: string, dataset: string): readonly string[] {
  const { data } = useLiveQuery(
    ['settings', 'dataset', workspace, dataset],
    (api) => api.system.dataset(dataset, workspace),
    { enabled: dataset !== '' },
  )
  const definition = data?.definition as { rows?: { columns?: object }[] } | undefined
  if (dataset === '') return []
  return [...new Set((definition?.rows ?? []).flatMap(({ columns = {} }) => Object.keys(columns)))]
}
