//! What becomes of a request: it is counted, passes the guard, and goes to the API, to the MCP server or to whatever else has its path.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use querent_hub::Handle;
use tower_service::Service;

use super::{Site, api, guard, is_mcp, mcp};

/// Where requests come in.
#[derive(Clone)]
pub(super) struct Front {
    site: Site,
    /// All the rest: what programs call all the time has no need for the layers that a router puts around everything.
    routes: Router,
}

impl Front {
    pub(super) fn new(site: Site, routes: Router) -> Self {
        Self { site, routes }
    }

    /// Where commands go.
    pub(super) fn hub(&self) -> Handle {
        self.site.hub.clone()
    }

    pub(super) async fn answer(mut self, peer: SocketAddr, request: Request) -> Response {
        // A client that goes away takes its request with it: this is dropped then, too.
        let counted = self.site.metrics.request();
        let response = match guard::guard(&self.site, peer, request).await {
            Ok((who, request)) if api::has(request.uri().path()) => api::answer(&self.site, who, request).await,
            Ok((Some(who), request)) if is_mcp(request.uri().path()) => {
                // What a call of it needs is much, and would be moved about with every other request.
                Box::pin(mcp(&self.site, who, request.map(Body::from))).await
            }
            Ok((who, request)) => {
                let mut request = request.map(Body::from);
                if let Some(who) = who {
                    request.extensions_mut().insert(who);
                }
                self.routes.call(request).await.into_response()
            }
            Err(response) => response,
        };
        counted.replied(response.status());
        self.site.vigil.replied();
        response
    }
}
