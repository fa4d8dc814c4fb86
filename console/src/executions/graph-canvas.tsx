import dagre from '@dagrejs/dagre'
import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import '@xyflow/react/dist/base.css'
import { count } from '../parts/format.ts'
import { type StepSaid, stepStatus } from './execution-status.ts'
import { type StepArc, type StepGraph, type StepNode, stepDuration } from './playbook-graph.ts'

const WIDTH = 160
const HEIGHT = 66
const MAX_LABEL = 22
/** Of a letter of a label. */
const LETTER = 6.5
/** Where a graph is too large to be read as a whole, it begins at what matters. */
const READABLE_ZOOM = 0.55
/** A graph that would be drawn smaller from left to right is drawn from top to bottom, if it is not higher than this. */
const COMFORTABLE_ZOOM = 0.8
const MAX_UPRIGHT_HEIGHT = 760

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
  const [flow, setFlow] = useState<ReactFlowInstance<Drawn, Drawable>>()
  const canvas = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState<number>()
  useLayoutEffect(() => setRoom(canvas.current?.clientWidth), [])
  const shape =
    graph.steps.map(({ step }) => step).join() + graph.arcs.map(({ from, to }) => `${from}>${to}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout depends on names and arcs only, not on what runs
  const { places, routes, height } = useMemo(() => layoutFor(graph, room), [shape, room])
  const begin = async (instance: ReactFlowInstance<Drawn, Drawable>) => {
    setFlow(instance)
    await instance.fitView(FIT)
    if (instance.getZoom() >= READABLE_ZOOM) return
    const at = places.get(focusOf(graph, over))!
    await instance.setCenter(at.x + WIDTH * 1.5, at.y + HEIGHT / 2, { zoom: 0.85 })
  }
  const nodes = graph.steps.map<Drawn>((step) => ({
    id: step.step,
    type: 'step',
    position: places.get(step.step)!,
    width: WIDTH,
    height: HEIGHT,
    data: { step, said: running ? stepStatus(step, over) : undefined, chosen: step.step === chosen },
  }))
  const edges = useMemo(
    () => graph.arcs.map((arc, index) => edgeOf(arc, index, running, routes[index]!)),
    [graph, running, routes],
  )
  return (
    <div className="graph">
      <div ref={canvas} className="graph-canvas" aria-hidden="true" style={{ height }}>
        {room !== undefined && (
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            onInit={(instance) => void begin(instance)}
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
        )}
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
        {said === undefined || (tone === 'later' && !step.isBefore)
          ? step.about || said?.text
          : statusText(step, said)}
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

interface Route {
  readonly path: string
  readonly x: number
  readonly y: number
}

type Drawable = Edge<{ route: Route }, 'arc'>

/** Drawn where the layout has room for it, around other steps. */
function ArcLine({ data, label, markerEnd }: EdgeProps<Drawable>) {
  const { path, x, y } = data!.route
  return <BaseEdge path={path} label={label} labelX={x} labelY={y} {...(markerEnd && { markerEnd })} />
}

const EDGE_TYPES = { arc: ArcLine }

function edgeOf({ from, to, when, taken }: StepArc, index: number, running: boolean, route: Route): Drawable {
  const state = !running ? 'plain' : taken ? 'taken' : 'open'
  return {
    id: `${from}>${to}#${index}`,
    type: 'arc',
    source: from,
    target: to,
    data: { route },
    className: `graph-arc is-${state}`,
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--ink-3)' },
    ...(when !== undefined && { label: shortLabel(when) }),
  }
}

function shortLabel(when: string): string {
  return when.length > MAX_LABEL ? `${when.slice(0, MAX_LABEL - 1)}…` : when
}

/** What runs, waits or failed; else where it begins. */
function focusOf({ steps }: StepGraph, over: boolean): string {
  const tones = steps.map((step) => stepStatus(step, over).tone)
  for (const tone of ['work', 'bad', 'held', 'stale']) {
    const index = tones.indexOf(tone as (typeof tones)[number])
    if (index >= 0) return steps[index]!.step
  }
  return (steps.find(({ isStart }) => isStart) ?? steps[0]!).step
}

/** From left to right, as people read; from top to bottom, where that would be too small to read in this width. */
function layoutFor(graph: StepGraph, room = 0): Layout {
  const across = layout(graph, 'LR')
  if (across.width * COMFORTABLE_ZOOM <= room) return across
  const upright = layout(graph, 'TB')
  return upright.height <= MAX_UPRIGHT_HEIGHT && upright.width * COMFORTABLE_ZOOM <= room
    ? upright
    : { ...across, height: Math.min(460, across.height) }
}

interface Layout {
  readonly places: ReadonlyMap<string, { readonly x: number; readonly y: number }>
  readonly routes: readonly Route[]
  readonly width: number
  /** Of the canvas. */
  readonly height: number
}

function layout({ steps, arcs }: StepGraph, rankdir: 'LR' | 'TB'): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir, nodesep: 26, ranksep: 32, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { step } of steps) graph.setNode(step, { width: WIDTH, height: HEIGHT })
  arcs.forEach(({ from, to, when }, index) => {
    const width = when === undefined ? 0 : shortLabel(when).length * LETTER
    graph.setEdge(from, to, { width, height: when === undefined ? 0 : 18, labelpos: 'c' }, String(index))
  })
  dagre.layout(graph)
  return {
    places: new Map(
      steps.map(({ step }) => {
        const { x, y } = graph.node(step)
        return [step, { x: x - WIDTH / 2, y: y - HEIGHT / 2 }]
      }),
    ),
    routes: arcs.map(({ from, to }, index) => routeOf(graph.edge(from, to, String(index)))),
    width: graph.graph().width ?? 0,
    height: Math.max(150, (graph.graph().height ?? 0) + 60),
  }
}

interface Point {
  readonly x: number
  readonly y: number
}

/** A line through the points of the layout, with round corners. */
function routeOf(edge: { points: Point[]; x?: number; y?: number }): Route {
  const [first, ...rest] = edge.points
  const last = rest.at(-1)!
  let path = `M${first!.x},${first!.y}`
  for (const [index, point] of rest.slice(0, -1).entries()) {
    const next = rest[index + 1]!
    const middle = { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    path += `Q${point.x},${point.y} ${middle.x},${middle.y}`
  }
  path += `L${last.x},${last.y}`
  const half = edge.points[Math.floor(edge.points.length / 2)]!
  return { path, x: edge.x ?? half.x, y: edge.y ?? half.y }
}
