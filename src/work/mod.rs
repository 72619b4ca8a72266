//! Cards: fields, validation, mutations, claims.
