CREATE SCHEMA IF NOT EXISTS shop;
CREATE TABLE shop.{table} (
    tenant_id text NOT NULL,
    line_id bigint NOT NULL,
    customer_id integer NOT NULL,
    customer text NOT NULL,
    amount numeric(12, 2) NOT NULL,
    ratio double precision NOT NULL,
    paid boolean NOT NULL,
    created_at timestamptz NOT NULL,
    due_on date NOT NULL,
    reference uuid NOT NULL,
    note text
);
GRANT USAGE ON SCHEMA shop TO waybill_worker, waybill_api;
GRANT SELECT ON shop.{table} TO waybill_worker, waybill_api;
