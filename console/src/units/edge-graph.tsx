import dagre from '@dagrejs/dagre'
import {
  Background,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import type { UnitEdge, UnitEdges } from '../api/types.ts'
import { go } from '../route.ts'
import '@xyflow/react/dist/base.css'

interface UnitNodeData extends Record<string, unknown> {
  readonly label: string
  readonly href: string | undefined
  readonly isHere: boolean
  readonly isMissing: boolean
}

const WIDTH = 220
const HEIGHT = 44
/** A small graph: beyond this the list below tells more than lines that cross. */
const MAX_NODES = 40

/** The unit with what it points to and what points to it, laid out from left to right. Loaded when somebody opens the edges. */
export default function EdgeGraph({ id, title, edges }: { id: string; title: string; edges: UnitEdges }) {
  const { nodes, lines } = layOut(id, title, [...edges.in, ...edges.out])
  return (
    <div className="edge-graph" aria-hidden="true">
      <ReactFlow
        nodes={nodes}
        edges={lines}
        nodeTypes={NODE_TYPES}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        preventScrolling={false}
        zoomOnScroll={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, { data }) => data.href && go(data.href)}
      >
        <Background />
      </ReactFlow>
    </div>
  )
}

function layOut(id: string, title: string, edges: readonly UnitEdge[]) {
  const known = new Map<string, UnitNodeData>([
    [id, { label: title, href: undefined, isHere: true, isMissing: false }],
  ])
  const lines: Edge[] = []
  const add = (key: string, data: UnitNodeData) => {
    if (!known.has(key) && known.size < MAX_NODES) known.set(key, data)
    return known.has(key)
  }
  // A unit that points here and is pointed to stands on both sides: no two lines lie on each other.
  for (const edge of edges) {
    const isOut = edge.from_unit_id === id
    const other = isOut ? edge.to_unit_id : edge.from_unit_id
    const key = `${isOut ? 'to' : 'from'} ${other ?? edge.target_ref}`
    const isDrawn = add(key, {
      label: isOut ? (edge.to_address ?? edge.target_ref) : edge.from_address,
      href: other === null ? undefined : `/units/${other}`,
      isHere: false,
      isMissing: isOut && edge.edge_status === 'unverified',
    })
    if (isDrawn)
      lines.push({
        id: edge.edge_id,
        source: isOut ? id : key,
        target: isOut ? key : id,
        label: edge.edge_type,
        markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--ink-3)' },
      })
  }
  const graph = new dagre.graphlib.Graph({ multigraph: true })
    .setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 110 })
    .setDefaultEdgeLabel(() => ({}))
  for (const node of known.keys()) graph.setNode(node, { width: WIDTH, height: HEIGHT })
  for (const line of lines) graph.setEdge(line.source, line.target, {}, line.id)
  dagre.layout(graph)
  const nodes: Node<UnitNodeData>[] = [...known].map(([node, data]) => {
    const { x, y } = graph.node(node)
    return {
      id: node,
      type: 'unit',
      data,
      position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 },
      width: WIDTH,
      height: HEIGHT,
    }
  })
  return { nodes, lines }
}

function UnitNode({ data }: NodeProps<Node<UnitNodeData>>) {
  const { label, isHere, isMissing } = data
  const state = isHere ? ' is-here' : isMissing ? ' is-missing' : ''
  return (
    <div className={`edge-node${state}`} title={label}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span>{label}</span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

const NODE_TYPES = { unit: UnitNode }
