//! Applies and checks the migrations, one folder a schema.
