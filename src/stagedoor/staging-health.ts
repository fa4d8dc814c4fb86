/** The health of the staging zone as far as other rooms know of it: what stores of vectors really hold. */
import type { Pool } from '../db/connection.ts'
import { stagingInStores } from '../search/audit.ts'
import { type EquipmentConfig, openEquipment } from '../search/equipment.ts'
import type { StagingHealth } from '../staging/lifecycle.ts'

/** `health` with one more check: every collection is scrolled for staging ids. `pool` acts as a service and only reads. */
export async function withStoreHealth(
  pool: Pool,
  config: EquipmentConfig,
  health: StagingHealth,
): Promise<StagingHealth> {
  const equipment = openEquipment(pool, config)
  try {
    const { ok, detail } = await stagingInStores({ pool, equipment })
    const check = { name: 'vector stores', ok, detail }
    return { ...health, ok: health.ok && ok, checks: [...health.checks, check] }
  } finally {
    await equipment.close()
  }
}
