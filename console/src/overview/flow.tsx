import { Fragment, type ReactNode } from 'react'
import type { Overview, RoomFigures } from '../api/types.ts'
import { DISPATCH, gateLabel, STAGING_EXCLUDED, STAGING_WRITES } from '../gates.ts'
import { Ago } from '../parts/ago.tsx'
import { Chip, type Tone } from '../parts/chip.tsx'
import { count, counted } from '../parts/format.ts'
import { Sparkline } from '../parts/sparkline.tsx'
import { STAGES, type Stage } from '../stages.ts'
import { ROOM_TEXTS, troubleText } from './rooms.ts'

/** How data gets into each stage: through a gate that can be closed, or directly. */
const PASSAGES: Record<Stage['id'], { readonly gate: string } | { readonly about: string }> = {
  held: { gate: STAGING_WRITES },
  production: { about: 'a person approves' },
  signals: { about: 'same transaction' },
  work: { gate: DISPATCH },
  projections: { gate: STAGING_EXCLUDED },
}

/** The way of the data: each stage with its rooms, each room with what waits and runs, its rate, what is oldest, and its trouble. */
export function Flow({ overview }: { overview: Overview | undefined }) {
  return (
    <ol className="flow" aria-label="Stages and gates in the order in which data passes">
      {STAGES.map((stage) => {
        const passage = PASSAGES[stage.id]
        const rooms = ROOM_TEXTS.filter((room) => room.stage === stage.id)
        return (
          <Fragment key={stage.id}>
            <li className="passage">
              {'gate' in passage ? (
                <GateLink
                  name={passage.gate}
                  open={overview?.gates.find(({ gate }) => gate === passage.gate)?.open}
                />
              ) : (
                <StepArrow about={passage.about} />
              )}
            </li>
            <li className="card stage">
              <div className="stage-head">
                <h2 title={stage.purpose}>{stage.name}</h2>
                <StageChip overview={overview} rooms={rooms.map(({ room }) => room)} />
              </div>
              {rooms.map((text) => (
                <Room
                  key={text.room}
                  text={text}
                  figures={overview?.rooms.find(({ room }) => room === text.room)}
                  loading={overview === undefined}
                />
              ))}
            </li>
          </Fragment>
        )
      })}
    </ol>
  )
}

/** Trouble first, then what is at work, then what waits. */
function StageChip({ overview, rooms }: { overview: Overview | undefined; rooms: readonly string[] }) {
  if (overview === undefined) return <Chip tone="stale">loading…</Chip>
  const own = overview.rooms.filter(({ room }) => rooms.includes(room))
  const sum = (of: (figures: RoomFigures) => number) => own.reduce((all, one) => all + of(one), 0)
  const wrong = sum(({ trouble }) => trouble.filter((one) => troubleText(one).tone === 'bad').length)
  const running = sum(({ room, running: now }) => (room === 'consumers' ? 0 : now))
  const waiting = sum(({ waiting: now }) => now)
  const [tone, word]: [Tone, string] =
    wrong > 0
      ? ['bad', counted(wrong, 'problem')]
      : running > 0
        ? ['work', `${count(running)} running`]
        : waiting > 0
          ? ['held', `${count(waiting)} waiting`]
          : ['ok', 'in order']
  return <Chip tone={tone}>{word}</Chip>
}

function Room({
  text,
  figures,
  loading,
}: {
  text: (typeof ROOM_TEXTS)[number]
  figures: RoomFigures | undefined
  loading: boolean
}) {
  const title = (
    <h3>
      <a href={text.href}>{text.title}</a>
    </h3>
  )
  if (figures === undefined) {
    return (
      <section className="room" aria-label={text.title}>
        {title}
        <p className="room-none">{loading ? '\u00a0' : 'Your role does not see this room.'}</p>
      </section>
    )
  }
  const { rate, oldest, trouble, more } = figures
  // The first one is told even where it is none; the others only where there are some.
  const numbers = (['waiting', 'running', 'count'] as const)
    .flatMap((name) => (text[name] === undefined ? [] : [{ ...text[name], value: figures[name] }]))
    .filter(({ value }, index) => index === 0 || value > 0)
  const isEmpty =
    numbers.every(({ value }) => value === 0) && (rate?.count ?? 0) === 0 && trouble.length === 0
  return (
    <section className="room" aria-label={text.title}>
      {title}
      {isEmpty && <p className="room-none">{text.empty}</p>}
      {!isEmpty && (
        <>
          {numbers.length > 0 && (
            <p className="room-numbers">
              {numbers.map(({ word, href, value }, index) => (
                <a key={word} href={href} className={index === 0 ? 'is-first' : undefined}>
                  <b>
                    {count(value)}
                    {more && value > 0 && '+'}
                  </b>{' '}
                  {word}
                </a>
              ))}
            </p>
          )}
          {rate && text.rate && (
            <p className="room-rate">
              <span>
                <b>{count(rate.count)}</b> {text.rate} in {rate.window_s === 3600 ? '1 h' : '24 h'}
              </span>
              <Sparkline series={rate.series} />
            </p>
          )}
          {oldest && text.oldest && (
            <p className="room-oldest">
              {text.oldest.word} <Ago at={oldest.at} />
              <a href={text.oldest.href(oldest.id)} title={oldest.name}>
                {oldest.name}
              </a>
            </p>
          )}
          {trouble.length > 0 && (
            <ul className="room-trouble">
              {trouble.map((one) => {
                const { tone, text: words, href } = troubleText(one)
                return (
                  <li key={one.what}>
                    <a href={href}>
                      <Chip tone={tone}>{words}</Chip>
                    </a>
                  </li>
                )
              })}
            </ul>
          )}
        </>
      )}
    </section>
  )
}

function GateLink({ name, open }: { name: string; open: boolean | undefined }) {
  const tone = open === undefined ? 'stale' : open ? 'ok' : 'held'
  return (
    <a href="/health#gates" className={`gate is-${tone}`}>
      <GateMark open={open} />
      <span className="gate-text">
        <span className="unseen">Gate: </span>
        {gateLabel(name)} <b>{open === undefined ? 'loading…' : open ? 'open' : 'closed'}</b>
      </span>
    </a>
  )
}

function StepArrow({ about }: { about: ReactNode }) {
  return (
    <span className="gate">
      <svg viewBox="0 0 26 26" aria-hidden="true">
        <path className="arrow" d="M6 13h13M14 8l5 5-5 5" />
      </svg>
      <span className="gate-text">
        <span>{about}</span>
      </span>
    </span>
  )
}

/** Open is a tick, closed a lowered bar, unknown an empty square. */
function GateMark({ open }: { open: boolean | undefined }) {
  return (
    <svg viewBox="0 0 26 26" aria-hidden="true">
      {open === undefined && <rect className="shape" x="3" y="3" width="20" height="20" rx="3" />}
      {open !== undefined && <circle className="shape" cx="13" cy="13" r="12" />}
      {open === true && <path className="sign" d="M8 13.5l3.4 3.4L18.5 9" />}
      {open === false && <path className="sign" d="M7 13h12" />}
    </svg>
  )
}
