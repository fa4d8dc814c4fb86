import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './plot.css'

export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** A colour of tokens.css; running is blue, in order green, wrong red, held amber, stale grey. */
  readonly tone: 'ok' | 'held' | 'bad' | 'work' | 'stale' | 'accent'
  readonly kind?: 'line' | 'bars'
}

interface Props {
  /** What is shown, with the numbers that matter: for those who cannot see the picture, and below it for all. */
  readonly summary: string
  /** Seconds since 1970 where `time` is set, else plain numbers. */
  readonly x: readonly number[]
  readonly time?: boolean
  readonly series: readonly Series[]
  readonly height?: number
  format?(value: number): string
}

/** Numbers over time, or a distribution. Drawn again when the colours of the system change. */
export function Plot({ summary, x, time = true, series, height = 160, format }: Props) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const draw = () =>
      new uPlot(
        optionsOf(element, { time, series, height, ...(format && { format }) }),
        [x as number[], ...series.map(({ values }) => values as (number | null)[])],
        element,
      )
    let plot = draw()
    const redraw = () => {
      plot.destroy()
      plot = draw()
    }
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    sized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      scheme.removeEventListener('change', redraw)
      sized.disconnect()
      plot.destroy()
    }
  }, [x, time, series, height, format])
  return (
    <figure className="plot">
      <div ref={place} aria-hidden="true" />
      <figcaption className="tiny">
        {series.length > 1 && (
          <span className="plot-legend" aria-hidden="true">
            {series.map(({ name, tone }) => (
              <span key={name} className={`plot-name is-${tone}`}>
                {name}
              </span>
            ))}
          </span>
        )}
        {summary}
      </figcaption>
    </figure>
  )
}

/** The places of values without a neighbour. */
function isolated(plot: uPlot, index: number): number[] {
  const values: readonly (number | null | undefined)[] = Array.from(plot.data[index]!)
  const isGap = (at: number) => values[at] === null || values[at] === undefined
  return values.flatMap((_, at) => (!isGap(at) && isGap(at - 1) && isGap(at + 1) ? [at] : []))
}

function optionsOf(
  element: HTMLElement,
  { time, series, height, format }: Pick<Props, 'series' | 'format'> & { time: boolean; height: number },
): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const axis: uPlot.Axis = {
    stroke: colour('ink-3'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  }
  return {
    width: Math.max(120, element.clientWidth),
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time } },
    axes: [
      axis,
      { ...axis, size: 56, ...(format && { values: (_: uPlot, ticks: number[]) => ticks.map(format) }) },
    ],
    series: [
      {},
      ...series.map(({ name, tone, kind }) => ({
        label: name,
        stroke: colour(tone),
        width: 1.6,
        // A value between two gaps is no line: without a point nobody would see it.
        points:
          kind === 'bars' ? { show: false } : { show: false, size: 5, fill: colour(tone), filter: isolated },
        ...(kind === 'bars' && { fill: colour(tone), paths: uPlot.paths.bars!({ size: [0.8, 60] }) }),
      })),
    ],
  }
}
