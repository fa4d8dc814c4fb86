-- Renews the lease of an engine and says which shards it holds. One that drives also takes shards that nobody holds, up to
-- its fair share of all, and is told of those above it (surplus): it gives them back when it has come to rest there.
--
-- The lease is the engine's: a shard is free when its owner is not a living engine. Its own leased_until is for people.
-- An engine whose lease had passed goes on with what nobody took meanwhile; once it was reaped it is refused.
-- last_event_id: the newest of the shard that is projected, a floor for ids; each execution's own last event is in its log.
create or replace function noetl.fn_engine_heartbeat(p_engine uuid)
returns table (shard_id smallint, epoch bigint, last_event_id bigint, surplus boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  e noetl.engine;
  v_share integer;
  v_held integer;
  v_free smallint[];
begin
  update noetl.engine g set leased_until = clock_timestamp() + g.lease, heartbeat_at = clock_timestamp()
   where g.engine_id = p_engine returning * into e;
  if not found then
    perform noetl.fn_engine_lost(p_engine);
  end if;
  if not e.drives then
    return;
  end if;
  select ceil(16.0 / count(*)) into v_share from noetl.engine g
   -- Whoever missed a beat may be dead: counted, it would keep the living from taking what other dead ones left.
   where g.drives and (g.leased_until > clock_timestamp() and g.heartbeat_at > clock_timestamp() - g.lease / 2 or g.engine_id = p_engine);
  select count(*) into v_held from noetl.execution_shard s where s.owner = p_engine;
  if v_held < v_share then
    -- Those that somebody writes under right now are left: their lock would hold up our own lease.
    v_free := array(
      select s.shard_id from noetl.execution_shard s
       where s.owner is distinct from p_engine
         and not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp())
       order by s.shard_id limit v_share - v_held for update skip locked);
    -- Asked again, now that they are ours alone: their owner may have come after the snapshot of the statement before.
    update noetl.execution_shard s set owner = p_engine, epoch = s.epoch + 1, leased_until = e.leased_until
     where s.shard_id = any (v_free)
       and not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp());
  end if;
  update noetl.execution_shard s set leased_until = e.leased_until
   where s.shard_id = any (array(select h.shard_id from noetl.execution_shard h
                                  where h.owner = p_engine and h.leased_until < e.leased_until for update skip locked));
  return query
    select s.shard_id, s.epoch, p.last_projected_event_id, row_number() over (order by s.shard_id) > v_share
      from noetl.execution_shard s join noetl.projection_checkpoint p on p.shard_id = s.shard_id
     where s.owner = p_engine order by s.shard_id;
end $$;

grant execute on function noetl.fn_engine_heartbeat(uuid) to dot_executor;
