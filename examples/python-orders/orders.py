"""Takes orders on the command line. An order and the event that tells of it commit in one transaction, or neither does.

Before it runs: `waybill outbox install --schema shop_outbox --database-url … --writer shop --relay waybill_relay`.

    DATABASE_URL=postgres://shop@db/shop ORDERS_TOPIC=shop.orders python orders.py Ada 1250
"""

import json
import os
import sys
import uuid

import psycopg

INSERT = "INSERT INTO shop.orders (order_id, customer, cents) VALUES (%s, %s, %s)"
APPEND = "SELECT shop_outbox.outbox_append(%s, %s, %s, %s::text[], %s::bytea[], %s)"


def place(connection: psycopg.Connection, topic: str, customer: str, cents: int) -> str:
    """Places an order and answers its id. Any exception rolls back the order and its event."""
    order_id = str(uuid.uuid4())
    payload = json.dumps({"order_id": order_id, "customer": customer, "cents": cents})
    headers = {
        "ce_specversion": "1.0",
        "ce_id": order_id,
        "ce_source": "/shop/orders",
        "ce_type": "shop.order.placed",
        "content-type": "application/json",
    }
    with connection.transaction():
        # The new row is locked until the commit. Whoever changes an order later locks it first, with
        # SELECT … FOR UPDATE: that is what makes the order of its events the order of its commits.
        connection.execute(INSERT, (order_id, customer, cents))
        values = [value.encode() for value in headers.values()]
        connection.execute(
            APPEND,
            (topic, order_id.encode(), order_id, list(headers), values, payload.encode()),
        )
    # A hint outside of the transaction, so that the relay need not wait for its next look.
    connection.execute("NOTIFY waybill_outbox")
    return order_id


def main() -> None:
    """Places the order that the command line names."""
    customer, cents = sys.argv[1], int(sys.argv[2])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        print(place(connection, os.environ["ORDERS_TOPIC"], customer, cents))


if __name__ == "__main__":
    main()
