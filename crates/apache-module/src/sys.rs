//! The raw bindings, made by `build.rs` from the installed headers.
#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unreachable_pub,
    unused_qualifications,
    unnecessary_transmutes,
    clippy::all,
    reason = "the names and the form are C's"
)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
