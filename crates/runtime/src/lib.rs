//! Configuration, telemetry, health, pools and shutdown of a Waybill process.
