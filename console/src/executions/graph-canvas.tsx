import dagre from '@dagrejs/dagre'
import {
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { useMemo, useState } from 'react'
import '@xyflow/react/dist/base.css'
import { count } from '../parts/format.ts'
import { type StepSaid, stepStatus } from './execution-status.ts'
import { type StepArc, type StepGraph, type StepNode, stepDuration } from './playbook-graph.ts'

const WIDTH = 176
const HEIGHT = 66
const MAX_LABEL = 26

interface Props {
  readonly graph: StepGraph
  /** There is an execution: steps have a status. */
  readonly running: boolean
  readonly over: boolean
  readonly chosen: string | undefined
  choose(step: string): void
}

type Drawn = Node<{ step: StepNode; said: StepSaid | undefined; chosen: boolean }, 'step'>

/**
 * The picture of a playbook. Items of a loop are never nodes: a loop is one box with a count. Hidden from screen readers and without
 * keyboard stops, because the list of steps says the same.
 */
export default function GraphCanvas({ graph, running, over, chosen, choose }: Props) {
  const [flow, setFlow] = useState<ReactFlowInstance<Drawn, Edge>>()
  const shape =
    graph.steps.map(({ step }) => step).join() + graph.arcs.map(({ from, to }) => `${from}>${to}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout depends on names and arcs only, not on what runs
  const places = useMemo(() => layout(graph), [shape])
  const nodes = graph.steps.map<Drawn>((step) => ({
    id: step.step,
    type: 'step',
    position: places.get(step.step)!,
    width: WIDTH,
    height: HEIGHT,
    data: { step, said: running ? stepStatus(step.run, over) : undefined, chosen: step.step === chosen },
  }))
  const edges = useMemo(() => graph.arcs.map((arc, index) => edgeOf(arc, index, running)), [graph, running])
  return (
    <div className="graph">
      <div className="graph-canvas" aria-hidden="true">
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          onInit={setFlow}
          fitView
          fitViewOptions={FIT}
          minZoom={0.05}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          onlyRenderVisibleElements
          preventScrolling={false}
          zoomOnScroll={false}
          panOnScroll={false}
          proOptions={{ hideAttribution: true }}
          onNodeClick={(_, node) => choose(node.id)}
        />
      </div>
      <fieldset className="graph-zoom">
        <legend className="unseen">Zoom of the graph</legend>
        <button type="button" className="button is-small" onClick={() => void flow?.zoomIn()}>
          <span aria-hidden="true">+</span>
          <span className="unseen">Zoom in</span>
        </button>
        <button type="button" className="button is-small" onClick={() => void flow?.zoomOut()}>
          <span aria-hidden="true">−</span>
          <span className="unseen">Zoom out</span>
        </button>
        <button type="button" className="button is-small" onClick={() => void flow?.fitView(FIT)}>
          Fit
        </button>
      </fieldset>
    </div>
  )
}

const FIT = { padding: 0.08, maxZoom: 1 }

function StepBox({ data: { step, said, chosen } }: NodeProps<Drawn>) {
  const { run } = step
  const tone = said?.tone ?? 'plain'
  const loop = run?.loop
  return (
    <div className={`graph-step is-${tone}${chosen ? ' is-chosen' : ''}${step.mode ? ' is-loop' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <b>{step.step}</b>
      <span className="graph-about">
        {said && <i className={`glyph is-${tone}`} />}
        {said === undefined || tone === 'later' ? step.about || said?.text : statusText(step, said)}
      </span>
      {loop && (
        <span className="graph-bar">
          <span
            style={{ width: `${loop.total === 0 ? 100 : ((loop.done + loop.failed) / loop.total) * 100}%` }}
          />
        </span>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

function statusText({ run, about }: StepNode, said: StepSaid): string {
  if (run?.loop) {
    const failed = run.loop.failed > 0 ? `, ${count(run.loop.failed)} failed` : ''
    return `${count(run.loop.done)} of ${count(run.loop.total)}${failed}`
  }
  const took = run && stepDuration(run)
  return [said.text, took, said.tone === 'held' && run?.wait ? about : undefined].filter(Boolean).join(' · ')
}

const NODE_TYPES = { step: StepBox }

function edgeOf({ from, to, when, taken }: StepArc, index: number, running: boolean): Edge {
  const state = !running ? 'plain' : taken ? 'taken' : 'open'
  return {
    id: `${from}>${to}#${index}`,
    source: from,
    target: to,
    className: `graph-arc is-${state}`,
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' },
    ...(when !== undefined && { label: when.length > MAX_LABEL ? `${when.slice(0, MAX_LABEL - 1)}…` : when }),
  }
}

function layout({ steps, arcs }: StepGraph): Map<string, { x: number; y: number }> {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 70, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { step } of steps) graph.setNode(step, { width: WIDTH, height: HEIGHT })
  arcs.forEach(({ from, to, when }, index) => {
    graph.setEdge(from, to, { width: when === undefined ? 0 : 90, height: 18, labelpos: 'c' }, String(index))
  })
  dagre.layout(graph)
  return new Map(
    steps.map(({ step }) => {
      const { x, y } = graph.node(step)
      return [step, { x: x - WIDTH / 2, y: y - HEIGHT / 2 }]
    }),
  )
}
