const HEIGHT = 24
const STEP = 5

/** How a rate went, oldest first: a bar for each step. Its numbers stand beside it, so that it is not read aloud. */
export function Sparkline({ series }: { series: readonly number[] }) {
  const most = Math.max(...series, 1)
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${series.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {series.map((value, index) => {
        // Something is never drawn as nothing.
        const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a step of time has no other name
            key={index}
            className={value === 0 ? 'is-none' : undefined}
            x={index * STEP}
            y={HEIGHT - height}
            width={STEP - 1.5}
            height={height}
          />
        )
      })}
    </svg>
  )
}
