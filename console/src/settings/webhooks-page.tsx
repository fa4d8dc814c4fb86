import { useState } from 'react'
import type { WebhookTarget } from '../api/system.ts'
import type { Job } from '../api/types.ts'
import { JobChip } from '../jobs/job-text.tsx'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { type Column, ListTable } from '../parts/list.tsx'
import { Person } from '../parts/person.tsx'
import { RowButtons } from '../parts/row-buttons.tsx'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const PURPOSES = [
  ['review', 'when something needs a review'],
  ['alert', 'when an alert rule fires'],
  ['event', 'of events that a consumer dispatches'],
] as const

type Asked =
  | { readonly what: 'edit'; readonly target: WebhookTarget | undefined }
  | { readonly what: 'switch' | 'delete' | 'test'; readonly target: WebhookTarget }

export default function WebhooksPage() {
  const { id: workspace, rights } = useWorkspace()
  const may = rights.includes('administer')
  const [asked, ask] = useState<Asked>()
  const [job, setJob] = useState<string>()
  const [secret, setSecret] = useState<string>()
  const list = useLiveQuery(['settings', 'webhooks', workspace], (api) => api.system.webhooks(workspace), {
    enabled: may,
  })
  const targets = list.data?.targets ?? []
  const close = () => ask(undefined)
  return (
    <SettingsFrame>
      <Card
        id="webhooks"
        title="Webhooks"
        aside={
          may && (
            <button
              type="button"
              className="button is-small"
              onClick={() => ask({ what: 'edit', target: undefined })}
            >
              Add a webhook
            </button>
          )
        }
      >
        <FailureNote failure={list.failure} />
        {!may && (
          <p className="empty">
            Administrators of this workspace see and change its webhooks: an address may hold a token.
          </p>
        )}
        {secret !== undefined && (
          <div className="note">
            <b>With this secret the receiver checks the signature. It is shown once:</b>{' '}
            <code className="secret-once">{secret}</code>{' '}
            <button type="button" className="button is-small" onClick={() => setSecret(undefined)}>
              I have kept it
            </button>
          </div>
        )}
        {job !== undefined && <TestOutcome job={job} />}
        {list.data && targets.length === 0 && (
          <EmptyState title="No webhook yet.">
            A webhook tells a chat or another system that something needs a review. It is signed, and
            delivered again if the receiver is away. The server sends only to hosts that
            STAGEDOOR_WEBHOOK_HOSTS names.
          </EmptyState>
        )}
        {targets.length > 0 && (
          <ListTable
            label="Webhooks"
            columns={columnsOf(ask)}
            rows={targets}
            keyOf={({ target_code }) => target_code}
          />
        )}
      </Card>
      {asked?.what === 'edit' && (
        <EditDialog target={asked.target} close={close} done={list.refresh} showSecret={setSecret} />
      )}
      {asked !== undefined && asked.what !== 'edit' && (
        <SmallDialog
          what={asked.what}
          target={asked.target}
          close={close}
          done={list.refresh}
          tested={setJob}
        />
      )}
    </SettingsFrame>
  )
}

function columnsOf(ask: (asked: Asked) => void): Column<WebhookTarget>[] {
  return [
    {
      title: 'Webhook',
      cell: ({ target_code, url, description }) => (
        <>
          <b>{target_code}</b> <span className="tiny">{description}</span>
          <div className="tiny">{url}</div>
        </>
      ),
    },
    {
      title: 'Told',
      wideOnly: true,
      cell: ({ purpose }) => PURPOSES.find(([id]) => id === purpose)?.[1] ?? purpose,
    },
    {
      title: 'State',
      tight: true,
      cell: ({ enabled, disabled_reason }) => (
        <>
          <Chip tone={enabled ? 'ok' : 'held'}>{enabled ? 'on' : 'off'}</Chip>
          {disabled_reason && <div className="tiny">{disabled_reason}</div>}
        </>
      ),
    },
    {
      title: 'Changed',
      wideOnly: true,
      cell: ({ changed_at, registered_by }) => (
        <span className="tiny">
          <Ago at={changed_at} /> by <Person id={registered_by} />
        </span>
      ),
    },
    {
      title: 'Change',
      figures: true,
      cell: (target) => (
        <RowButtons
          of={target.target_code}
          buttons={[
            ['Test', 'test'],
            [target.enabled ? 'Disable' : 'Enable', 'switch'],
            ['Edit', 'edit'],
            ['Delete', 'delete'],
          ]}
          ask={(what) => ask({ what, target })}
        />
      ),
    },
  ]
}

/** What became of the delivery, as it becomes it. */
function TestOutcome({ job }: { job: string }) {
  const found = useLiveQuery(['jobs', 'job', job], (api) => api.queue.find(job))
  if (found.data === undefined) return <FailureNote failure={found.failure} />
  return (
    <div className="note" role="status">
      The test delivery <a href={`/jobs/${job}`}>is a job</a>: <JobChip status={found.data.status} />{' '}
      {outcomeOf(found.data)}
    </div>
  )
}

/** A delivery to a target that is off completes, and sends nothing. */
function outcomeOf({ status, result, last_error }: Job): string {
  if (status !== 'completed') return last_error ?? 'A worker delivers it in a moment.'
  const skipped = (result as { skipped?: unknown } | null)?.skipped
  return typeof skipped === 'string' ? `Nothing was sent: ${skipped}.` : 'The receiver took it.'
}

interface DialogProps {
  close(): void
  done(): Promise<unknown>
}

function SmallDialog({
  what,
  target,
  close,
  done,
  tested,
}: DialogProps & { what: 'switch' | 'delete' | 'test'; target: WebhookTarget; tested(job: string): void }) {
  const { api } = useSession()
  const { target_code: name, enabled } = target
  const [title, verb, text, act] = {
    test: [
      `Test ${name}`,
      'Send one webhook',
      'One webhook of the type test is delivered to its address. It carries nothing of your data.',
      async () => tested((await api.system.testWebhook(name)).job_id),
    ],
    switch: [
      `${enabled ? 'Disable' : 'Enable'} ${name}`,
      enabled ? 'Disable' : 'Enable',
      enabled
        ? 'Nothing more is sent to it until somebody enables it. What waits for delivery is skipped, and not sent later.'
        : 'It is told of what happens from now on.',
      () => api.system.setWebhook(name, { enabled: !enabled }),
    ],
    delete: [
      `Delete ${name}`,
      'Delete the webhook',
      'The address and its secret are deleted. What was not delivered yet becomes a dead letter.',
      () => api.system.deleteWebhook(name),
    ],
  }[what] as [string, string, string, () => Promise<unknown>]
  return (
    <ActionDialog
      title={title}
      verb={verb}
      close={close}
      act={async () => {
        await act()
        await done()
      }}
    >
      <p>{text}</p>
    </ActionDialog>
  )
}

function EditDialog({
  target,
  close,
  done,
  showSecret,
}: DialogProps & { target: WebhookTarget | undefined; showSecret(secret: string): void }) {
  const { api } = useSession()
  const { id: workspace } = useWorkspace()
  const [name, setName] = useState(target?.target_code ?? '')
  const [url, setUrl] = useState(target?.url ?? '')
  const [purpose, setPurpose] = useState<WebhookTarget['purpose']>(target?.purpose ?? 'review')
  const [description, setDescription] = useState(target?.description ?? '')
  return (
    <ActionDialog
      title={target ? `Edit ${name}` : 'Add a webhook'}
      verb={target ? 'Save' : 'Add the webhook'}
      close={close}
      act={async () => {
        const secret = target ? undefined : newSecret()
        await api.system.setWebhook(name, {
          purpose,
          description,
          ...(url !== target?.url && { url }),
          ...(secret !== undefined && { secret, workspace_id: workspace }),
        })
        if (secret !== undefined) showSecret(secret)
        await done()
      }}
    >
      <div className="line-cells">
        <label className="choice">
          <span>Name</span>
          <input
            required
            pattern="[a-z][a-z0-9_.\-]{0,62}"
            readOnly={target !== undefined}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <small className="tiny">lowercase letters, digits and _.-</small>
        </label>
        <label className="choice">
          <span>Address</span>
          <input
            type="url"
            required
            maxLength={2000}
            placeholder="https://chat.example.com/hooks/1"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        <Choice
          label="Told"
          value={purpose}
          options={PURPOSES}
          choose={(value) => setPurpose(value as WebhookTarget['purpose'])}
        />
        <label className="choice">
          <span>Description</span>
          <input
            maxLength={1000}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </label>
      </div>
      <p>
        {target
          ? 'Deliveries that wait go to the new address. The secret stays.'
          : 'A secret is made for it and shown once. It is told of what happens in this workspace from now on.'}
      </p>
    </ActionDialog>
  )
}

/** As `stagedoor webhook set` makes one: 32 random bytes. */
function newSecret(): string {
  const random = crypto.getRandomValues(new Uint8Array(32))
  return `whsec_${btoa(String.fromCharCode(...random))}`
}
