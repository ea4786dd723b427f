//! CloudEvents envelopes and Avro codecs of the facts and commands that Waybill publishes.
