import { useState } from 'react'
import type { GraphNode, LoopItem } from '../api/types.ts'
import { useLivePages } from '../live/live.tsx'
import { Ago } from '../parts/ago.tsx'
import { Chip } from '../parts/chip.tsx'
import { Choice } from '../parts/choice.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { count, duration } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { type Column, PagedList } from '../parts/list.tsx'
import { useParameters } from '../route.ts'
import { itemStatus } from './execution-status.ts'

const PAGE = 50
const STATUSES: readonly (readonly [string, string])[] = [
  ['all', 'all'],
  ['failed', 'failed'],
  ['open', 'open'],
  ['done', 'done'],
]

type LoopNode = GraphNode & { readonly loop: NonNullable<GraphNode['loop']> }

/** Items of one loop, in pages: failed ones first where there are any. */
export function ItemsTab({ id, loops }: { id: string; loops: readonly LoopNode[] }) {
  const [parameters, set] = useParameters()
  const node =
    loops.find(({ loop }) => loop.loop_id === parameters.get('loop')) ??
    loops.find(({ loop }) => loop.failed > 0) ??
    loops[0]
  if (node === undefined) return <EmptyState title="This execution has no loop." />
  const { loop } = node
  const status = parameters.get('item') ?? (loop.failed > 0 ? 'failed' : 'all')
  return (
    <div className="stack">
      <div className="list-filters">
        {loops.length > 1 && (
          <Choice
            label="Loop"
            value={loop.loop_id}
            options={loops.map((one): [string, string] => [one.loop.loop_id, one.step])}
            choose={(chosen) => set({ loop: chosen, item: undefined })}
          />
        )}
        <Choice label="Items" value={status} options={STATUSES} choose={(chosen) => set({ item: chosen })} />
        <p className="filters-text">
          <b>{node.step}</b>: {count(loop.done)} of {count(loop.total)} done, {count(loop.failed)} failed
        </p>
      </div>
      <Items key={`${loop.loop_id} ${status}`} id={id} loop={loop.loop_id} status={status} />
    </div>
  )
}

function Items({ id, loop, status }: { id: string; loop: string; status: string }) {
  const [shown, setShown] = useState<LoopItem>()
  const pages = useLivePages<LoopItem>(['executions', id, 'items', loop, status], async (api, after) => {
    const asked = { limit: PAGE, after, ...(status !== 'all' && { status }) }
    const { items, next } = await api.executions.items(id, loop, asked)
    return { rows: items, next: next === null ? null : String(next) }
  })
  const columns: readonly Column<LoopItem>[] = [
    {
      title: 'Item',
      tight: true,
      cell: (item) => (
        <button type="button" className="link" onClick={() => setShown(item)}>
          <code>{item.index}</code>
          <span className="unseen"> of the loop: details</span>
        </button>
      ),
    },
    {
      title: 'Status',
      tight: true,
      cell: (item) => {
        const { tone, text } = itemStatus(item)
        return <Chip tone={tone}>{text}</Chip>
      },
    },
    {
      title: 'What',
      cell: (item) => (
        <>
          <code>{briefly(item)}</code>
          {item.error !== null && <span className="execution-error is-wrong">{item.error}</span>}
        </>
      ),
    },
    { title: 'Attempts', figures: true, wideOnly: true, cell: ({ attempts }) => attempts },
    { title: 'Process', wideOnly: true, cell: ({ worker }) => worker },
    { title: 'Took', figures: true, wideOnly: true, cell: ({ ms }) => (ms === null ? '' : duration(ms)) },
  ]
  return (
    <>
      <PagedList
        label="Items"
        columns={columns}
        pages={pages}
        keyOf={({ index }) => String(index)}
        empty={<EmptyState title={status === 'all' ? 'No item was issued yet.' : `No item is ${status}.`} />}
      />
      {shown && <ItemDialog id={id} item={shown} close={() => setShown(undefined)} />}
    </>
  )
}

function briefly({ key, item }: LoopItem): string {
  const text = key ?? (item === null || item === undefined ? '' : JSON.stringify(item))
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

function ItemDialog({ id, item, close }: { id: string; item: LoopItem; close(): void }) {
  const { tone, text } = itemStatus(item)
  return (
    <Dialog title={`Item ${item.index} of ${item.step}`} close={close}>
      <Facts
        facts={[
          [
            'Status',
            <Chip key="status" tone={tone}>
              {text}
            </Chip>,
          ],
          [
            'Error',
            item.error === null ? undefined : (
              <span key="error" className="is-wrong">
                {item.error}
              </span>
            ),
          ],
          ['Attempts', item.attempts],
          ['Process', item.worker ?? undefined],
          ['Took', item.ms === null ? undefined : duration(item.ms)],
          ['Issued', <Ago key="issued" at={item.issued_at} />],
          ['Ended', item.ended_at === null ? undefined : <Ago key="ended" at={item.ended_at} />],
          [
            'Execution',
            item.child_execution_id === null ? undefined : (
              <a key="child" className="link" href={`/executions/${item.child_execution_id}`}>
                {item.child_execution_id}
              </a>
            ),
          ],
        ]}
      />
      <h3>Item</h3>
      <JsonTree label="Item" value={item.item ?? item.key} />
      {item.result !== null && item.error === null && (
        <>
          <h3>Result</h3>
          <JsonTree
            label="Result of the item"
            value={'value' in item.result ? item.result.value : item.result}
          />
        </>
      )}
      <div className="dialog-foot">
        <a
          className="button"
          href={`/executions/${id}?tab=history&in=${item.step}&items=yes&from=${Math.max(0, item.seq - 3)}`}
          onClick={close}
        >
          Show in the history
        </a>
        <button type="button" className="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
