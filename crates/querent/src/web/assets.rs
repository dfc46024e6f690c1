//! The files of the pages. They are part of the binary: there is no build step and nothing comes from elsewhere.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use querent_core::Fingerprint;

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/querent.js");
const ICON: &str = include_str!("assets/icon.svg");

/// What changes whenever one of them does, so that browsers may keep them.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| Fingerprint::of(format!("{STYLE}{SCRIPT}{ICON}").as_bytes()).to_string());
    &VERSION
}

pub(super) async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "querent.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let headers =
        [(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=31536000, immutable"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, text).into_response()
}
