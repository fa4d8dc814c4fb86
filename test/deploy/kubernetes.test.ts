/**
 * The objects of Kubernetes: valid by the schemas of Kubernetes, without unknown fields, and each name that one refers to exists. Where kubectl
 * is on this machine the overlays are rendered by it.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { VERSION } from '../../src/kernel/version.ts'
import { parseProblem } from '../docs/commands.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { DEPLOY, deployFiles, parseYaml, ROOT, readDeploy, SETTINGS } from './files.ts'

interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests check
  readonly spec?: any
}

const SECRET_NAME = /"(?:secretRef|secretKeyRef)":\{[^}]*"name":"([^"]+)"|"secretName":"([^"]+)"/g
const folder = temporaryHome('kubernetes')
const HAS_KUBECTL = canRun('kubectl', ['version', '--client'])
const manifests = deployFiles('kubernetes', '.yaml').filter(
  (path) => !['kustomization.yaml', 'with-nats.yaml'].includes(basename(path)),
)
const objects = manifests.flatMap((path) =>
  parseYaml<KubernetesObject>(readDeploy(path)).map((object) => ({ path, object })),
)
const known = objects.filter(({ object }) => object.kind !== 'ScaledObject')
const workloads = known
  .filter(({ object }) => ['Deployment', 'Job'].includes(object.kind))
  .map(({ object }) => [object.metadata.name, object.spec.template.spec, object] as const)

describe('each manifest', () => {
  it.each(known.map(({ path, object }) => [`${object.kind} ${object.metadata.name}`, path, object] as const))(
    '%s is valid',
    async (_name, _path, object) => {
      expect(await validationError(object)).toBeUndefined()
    },
  )

  it('has no field that Kubernetes does not know', () => {
    expect(typeProblems(known.map(({ object }) => object))).toBe('')
  })

  it('would be refused with a wrong value or an unknown field', async () => {
    const [, , object] = workloads.find(([name]) => name === 'stagedoor-server')!
    const wrong = structuredClone(object)
    wrong.spec.replicas = 'two'
    expect(await validationError(wrong)).toContain('replicas')
    const unknown = structuredClone(object)
    unknown.spec.template.spec.containers[0].readinesProbe = {}
    expect(typeProblems([unknown])).toContain('readinesProbe')
  })
})

describe('each workload', () => {
  it.each(workloads)('%s runs without rights, with limits, and stops in time', (_name, pod, { kind }) => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.enableServiceLinks, 'variables of services are taken for settings').toBe(false)
    for (const container of pod.containers) {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.resources.requests).toMatchObject({
        cpu: expect.any(String),
        memory: expect.any(String),
      })
      expect(container.resources.limits.memory).toEqual(expect.any(String))
      const volumes = (pod.volumes ?? []).map(({ name }: { name: string }) => name)
      expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(volumes.sort())
      if (kind === 'Deployment') expect(container.livenessProbe).toBeDefined()
    }
  })

  it.each(workloads.filter(([, pod]) => pod.containers[0].image.startsWith('stagedoor:')))(
    '%s runs a command that exists, with settings that exist, in this version',
    async (_name, pod, { kind }) => {
      const [container] = pod.containers
      expect(container.image).toBe(`stagedoor:${VERSION}`)
      expect(parseProblem(await createProgram(), container.args)).toBeUndefined()
      const names = (container.env ?? []).map(({ name }: { name: string }) => name)
      expect(
        names.filter((name: string) => !SETTINGS.has(name) && !name.startsWith('NATS_PASSWORD_')),
      ).toEqual([])
      // The server drains for 10 s, then requests have 20 s and handlers 30 s.
      if (kind === 'Deployment') expect(pod.terminationGracePeriodSeconds).toBe(90)
    },
  )

  it('the server is asked whether it is ready at /api/ready, and whether it is alive at /api/health', () => {
    const [, pod] = workloads.find(([name]) => name === 'stagedoor-server')!
    const [container] = pod.containers
    expect(container.readinessProbe.httpGet.path).toBe('/api/ready')
    expect(container.livenessProbe.httpGet.path).toBe('/api/health')
  })

  it('a remote worker has no address and no secret of the database', () => {
    const [, pod] = workloads.find(([name]) => name === 'stagedoor-remote-worker')!
    expect(JSON.stringify(pod)).not.toMatch(/DATABASE|stagedoor-administrator|"name":"stagedoor"/)
    expect(pod.containers[0].envFrom).toBeUndefined()
  })
})

describe('the scaled object of KEDA', () => {
  /** The fields of keda.sh/v1alpha1 that it uses. */
  const FIELDS = {
    spec: [
      'scaleTargetRef',
      'pollingInterval',
      'cooldownPeriod',
      'minReplicaCount',
      'maxReplicaCount',
      'fallback',
      'advanced',
      'triggers',
    ],
    fallback: ['failureThreshold', 'replicas'],
    prometheus: ['serverAddress', 'query', 'threshold', 'activationThreshold', 'authModes', 'namespace'],
  }
  const scaled = objects.find(({ object }) => object.kind === 'ScaledObject')!.object

  it('has known fields and scales a deployment that exists', () => {
    expect(scaled.apiVersion).toBe('keda.sh/v1alpha1')
    const { spec } = scaled
    expect(Object.keys(spec).filter((field) => !FIELDS.spec.includes(field))).toEqual([])
    expect(Object.keys(spec.fallback).filter((field) => !FIELDS.fallback.includes(field))).toEqual([])
    expect(workloads.map(([name]) => name)).toContain(spec.scaleTargetRef.name)
    for (const { type, metadata } of spec.triggers) {
      expect(type).toBe('prometheus')
      expect(Object.keys(metadata).filter((field) => !FIELDS.prometheus.includes(field))).toEqual([])
      expect(Number(metadata.threshold)).toBeGreaterThan(0)
    }
    const [, pod] = workloads.find(([name]) => name === spec.scaleTargetRef.name)!
    expect(spec.cooldownPeriod).toBeGreaterThan(pod.terminationGracePeriodSeconds)
  })
})

describe('kustomize', () => {
  it('names files that exist, and every manifest is named', () => {
    const named = new Set<string>()
    for (const path of deployFiles('kubernetes', 'kustomization.yaml')) {
      const [kustomization] = parseYaml<Record<string, unknown[]>>(readDeploy(path))
      const { resources = [], components = [], patches = [], configMapGenerator = [] } = kustomization!
      const files = [
        ...resources,
        ...components,
        ...(patches as { path?: string }[]).flatMap((patch) => patch.path ?? []),
        ...(configMapGenerator as { files?: string[] }[]).flatMap(({ files: of = [] }) => of),
      ] as string[]
      for (const file of files) {
        const target = join(DEPLOY, dirname(path), file)
        expect(existsSync(target), `${path}: ${file}`).toBe(true)
        named.add(relative(DEPLOY, target))
      }
    }
    expect(manifests.filter((path) => !named.has(path))).toEqual([])
  })

  /** Kustomize takes no absolute paths. */
  const from = (path: string) => relative(folder, join(DEPLOY, 'kubernetes', path))
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: stagedoor
resources: [${from('overlays/nats')}]
components: [${['s3', 'keda', 'ingress-nginx'].map((name) => from(`components/${name}`)).join(', ')}]
images: [{ name: stagedoor, newName: registry.example.com/stagedoor }]
`,
  )

  it.skipIf(!HAS_KUBECTL).each([
    ['postgres-only', join(DEPLOY, 'kubernetes/overlays/postgres-only')],
    ['nats', join(DEPLOY, 'kubernetes/overlays/nats')],
    ['nats with all components', folder],
  ])('renders %s: valid objects whose names exist', async (name, overlay) => {
    const rendered = render(overlay)
    for (const object of rendered.filter(({ kind }) => kind !== 'ScaledObject'))
      expect(await validationError(object), `${object.kind} ${object.metadata.name}`).toBeUndefined()
    expect(typeProblems(rendered.filter(({ kind }) => kind !== 'ScaledObject'))).toBe('')
    const names = new Set(rendered.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    const labels = rendered
      .filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
      .map(({ spec }) => spec.template.metadata.labels as Record<string, string>)
    for (const { kind, spec } of rendered) {
      const pod = spec?.template?.spec
      for (const volume of pod?.volumes ?? []) {
        if (volume.configMap) expect(names).toContain(`ConfigMap ${volume.configMap.name}`)
        if (volume.persistentVolumeClaim)
          expect(names).toContain(`PersistentVolumeClaim ${volume.persistentVolumeClaim.claimName}`)
      }
      const selector = kind === 'Service' ? spec.selector : spec?.selector?.matchLabels
      if (selector)
        expect(
          labels.some((of) => Object.entries(selector).every(([label, value]) => of[label] === value)),
          JSON.stringify(selector),
        ).toBe(true)
    }
    // The certificate of the ingress is for whoever has one.
    const secrets = [...JSON.stringify(rendered).matchAll(SECRET_NAME)].map(([, one, other]) => one ?? other!)
    const guide = readDeploy('../docs/guides/deployment.md')
    const untold = secrets.filter((secret) => !guide.includes(`secret generic ${secret} `))
    expect(new Set(untold.filter((secret) => secret !== 'stagedoor-tls'))).toEqual(new Set())
    const settings = rendered.find(({ metadata }) => metadata.name.startsWith('stagedoor-settings'))
    const { data } = settings as unknown as { data: Record<string, string> }
    expect(Object.keys(data).filter((setting) => !SETTINGS.has(setting))).toEqual([])
    const hasVolume = [...names].some((one) => one.startsWith('PersistentVolumeClaim'))
    expect(hasVolume).toBe(!name.includes('components'))
    expect(data.STAGEDOOR_STORE).toMatch(hasVolume ? /^pvc:/ : /^s3:/)
  })
})

function render(overlay: string): KubernetesObject[] {
  const text = execFileSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' })
  return parseYaml<KubernetesObject>(text)
}

const moduleOf = ({ apiVersion, kind }: KubernetesObject) => `kubernetes-models/${apiVersion}/${kind}`

async function validationError(object: KubernetesObject): Promise<string | undefined> {
  const { [object.kind]: Model } = (await import(moduleOf(object))) as Record<
    string,
    new (
      data: object,
    ) => { validate(): void }
  >
  try {
    new Model!(object).validate()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The schemas let unknown fields pass; the types of TypeScript do not. */
function typeProblems(all: readonly KubernetesObject[]): string {
  const project = mkdtempSync(join(folder, 'types-'))
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
  const lines = all.map(
    (object, at) => `import type { I${object.kind} as T${at} } from '${moduleOf(object)}'
export const object${at}: T${at} = ${JSON.stringify(object)}`,
  )
  writeFileSync(join(project, 'objects.ts'), lines.join('\n'))
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'esnext',
        moduleResolution: 'bundler',
        target: 'es2023',
        types: [],
      },
      files: ['objects.ts'],
    }),
  )
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8', stdio: 'pipe' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

function canRun(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
