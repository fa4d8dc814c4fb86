import { type FormEvent, useState } from 'react'
import type { MissedQuestions, Synonyms } from '../api/types.ts'
import { useLiveQuery } from '../live/live.tsx'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { Card } from '../parts/card.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureNote } from '../parts/failure-note.tsx'
import { count } from '../parts/format.ts'
import { type Column, ListTable } from '../parts/list.tsx'
import { useAction } from '../parts/use-action.ts'
import { useSession } from '../session/session.tsx'
import { useWorkspace } from '../session/use-workspace.tsx'
import { SettingsFrame } from './settings-frame.tsx'

/** Synonyms that questions are also asked with, and questions that found nothing. */
export default function SearchSettingsPage() {
  const { id: workspace, rights } = useWorkspace()
  const mayChange = rights.includes('administer')
  return (
    <SettingsFrame>
      <SynonymsCard workspace={workspace} mayChange={mayChange} />
      {mayChange && <MissedCard workspace={workspace} />}
    </SettingsFrame>
  )
}

interface CardProps {
  readonly workspace: string | undefined
}

function SynonymsCard({ workspace, mayChange }: CardProps & { readonly mayChange: boolean }) {
  const { api } = useSession()
  const [deleting, remove] = useState<Synonyms>()
  const list = useLiveQuery(['search', 'synonyms', workspace], (api) => api.search.synonyms(workspace))
  const synonyms = list.data?.synonyms ?? []
  const columns: Column<Synonyms>[] = [
    { title: 'Questions with', cell: ({ word }) => <b>{word}</b> },
    { title: 'also ask for', cell: (one) => one.synonyms.join(', ') },
    { title: 'By', wideOnly: true, cell: ({ created_by }) => created_by },
  ]
  if (mayChange)
    columns.push({
      title: 'Change',
      tight: true,
      cell: (one) => (
        <button type="button" className="button is-small" onClick={() => remove(one)}>
          Delete…<span className="unseen"> synonyms of {one.word}</span>
        </button>
      ),
    })
  return (
    <Card id="synonyms" title="Synonyms">
      <FailureNote failure={list.failure} />
      {list.data && synonyms.length === 0 && (
        <EmptyState
          title="No synonyms yet."
          command='npm run -s stagedoor -- search synonym add pto "annual leave" --both'
        >
          A question that has a word can also ask for others. Texts are not changed by it.
        </EmptyState>
      )}
      {synonyms.length > 0 && (
        <ListTable label="Synonyms" columns={columns} rows={synonyms} keyOf={({ word }) => word} />
      )}
      {mayChange && <SynonymForm workspace={workspace} done={list.refresh} />}
      {deleting && (
        <ActionDialog
          title={`Delete the synonyms of ${deleting.word}?`}
          verb="Delete"
          act={async () => {
            await api.search.deleteSynonyms(workspace, deleting.word)
            await list.refresh()
          }}
          close={() => remove(undefined)}
        >
          Questions with {deleting.word} will no longer ask for {deleting.synonyms.join(', ')}.
        </ActionDialog>
      )}
    </Card>
  )
}

function SynonymForm({ workspace, done }: CardProps & { done(): Promise<unknown> }) {
  const { api } = useSession()
  const [word, setWord] = useState('')
  const [others, setOthers] = useState('')
  const [both, setBoth] = useState(true)
  const { busy, failure, run } = useAction(() => {
    setWord('')
    setOthers('')
  })
  const synonyms = others
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  function submit(event: FormEvent) {
    event.preventDefault()
    void run('Adding…', async () => {
      await api.search.addSynonyms(workspace, { word: word.trim(), synonyms, both })
      await done()
    })
  }
  return (
    <form className="card-foot synonym-form" onSubmit={submit}>
      <label className="choice">
        <span>Word</span>
        <input required maxLength={100} value={word} onChange={({ target }) => setWord(target.value)} />
      </label>
      <label className="choice">
        <span>Also ask for (divided by commas)</span>
        <input required maxLength={1000} value={others} onChange={({ target }) => setOthers(target.value)} />
      </label>
      <label>
        <input type="checkbox" checked={both} onChange={({ target }) => setBoth(target.checked)} /> and the
        other way round
      </label>
      <button
        type="submit"
        className="button"
        disabled={busy !== undefined || word.trim() === '' || synonyms.length === 0}
      >
        {busy ?? 'Add'}
      </button>
      <FailureNote failure={failure} />
    </form>
  )
}

function MissedCard({ workspace }: CardProps) {
  const { api } = useSession()
  const [changing, change] = useState(false)
  const { data, failure, refresh } = useLiveQuery(['search', 'missed', workspace], (api) =>
    api.search.missed(workspace),
  )
  if (data === undefined) return <FailureNote failure={failure} />
  const { log, questions } = data
  return (
    <Card
      id="missed"
      title="Questions without hits"
      aside={
        <button type="button" className="button is-small" onClick={() => change(true)}>
          {log.on ? 'Stop logging…' : 'Log them…'}
        </button>
      }
    >
      {!log.on && <p className="card-foot tiny">Not logged in this workspace.</p>}
      {log.on && questions.length === 0 && <p className="card-foot tiny">Every question found something.</p>}
      {questions.length > 0 && (
        <ListTable
          label="Questions without hits"
          columns={MISSED}
          rows={questions}
          keyOf={(one) => one.question}
        />
      )}
      {changing && (
        <ActionDialog
          title={log.on ? 'Stop logging, and delete the log?' : 'Log questions that find nothing?'}
          verb={log.on ? 'Stop and delete' : 'Log them'}
          act={async () => {
            await api.search.setMissedLog(workspace, !log.on)
            await refresh()
          }}
          close={() => change(false)}
        >
          {log.on
            ? `${count(log.questions)} logged questions are deleted.`
            : `Questions are kept as they were typed, for ${log.days} days after they were asked last; administrators read them. Nobody is named.`}
        </ActionDialog>
      )}
    </Card>
  )
}

const MISSED: Column<MissedQuestions['questions'][number]>[] = [
  { title: 'Question', cell: ({ question }) => question },
  { title: 'Times', tight: true, cell: ({ times }) => count(times) },
  { title: 'Last', tight: true, cell: ({ last_at }) => <Ago at={last_at} /> },
]
