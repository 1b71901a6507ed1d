//! The logical storage window of each recurrent binding, and the report that shows it.
