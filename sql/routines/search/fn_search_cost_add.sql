-- Adds what a paid embedder cost to its day (UTC). Counted when it has answered, whatever became of the answer.
create or replace function iu_core.fn_search_cost_add(p_embedder text, p_model text, p_requests bigint, p_tokens bigint)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_embedder is null or p_model is null or p_requests is null or p_requests < 0 or p_tokens is null or p_tokens < 0 then
    raise exception using errcode = 'SD001', message = 'What an embedder cost is its name, its model, and requests and tokens from 0';
  end if;
  insert into iu_core.search_cost as c (day, embedder, model, requests, tokens)
  values ((clock_timestamp() at time zone 'UTC')::date, p_embedder, p_model, p_requests, p_tokens)
  on conflict (day, embedder, model)
  do update set requests = c.requests + excluded.requests, tokens = c.tokens + excluded.tokens;
end $$;

grant execute on function iu_core.fn_search_cost_add(text, text, bigint, bigint) to vector_worker, dot_executor, service_role;
