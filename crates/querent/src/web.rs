//! The pages: the inbox and what stands around it, rendered here and made lively by one small script. They decide nothing; what
//! they show are the views that every surface has. Whatever an agent wrote is text.

mod assets;
mod assumptions;
mod board;
mod card;
mod digest;
mod inbox;
mod link;
mod log;
mod login;
mod question;
mod rich;
mod waits;

use askama::Template;
use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use querent_core::{Code, Event, Party, Refusal, Role};

use crate::http::{Bearer, Csrf, Site, Who, on_thread};

pub(crate) use login::{page as login_page, passage};

/// Nothing but our own files, and no frames: what an agent wrote could do nothing even if it came through as markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The routes of the pages.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/", get(inbox::page))
        .route("/inbox/cards", get(inbox::parts))
        .route("/q/{id}", get(question::page))
        .route("/q/{id}/parts", get(question::parts))
        .route("/q/{id}/card", get(question::card))
        .route("/q/{id}/answer", post(question::answer))
        .route("/q/{id}/withdraw", post(question::withdraw))
        .route("/board", get(board::page))
        .route("/board/parts", get(board::parts))
        .route("/waits", get(waits::page))
        .route("/waits/parts", get(waits::parts))
        .route("/assumptions", get(assumptions::page))
        .route("/assumptions/parts", get(assumptions::parts))
        .route("/assumptions/{id}/review", post(assumptions::review))
        .route("/digest", get(digest::page))
        .route("/log", get(log::page))
        .route("/login", get(login::enter).post(login::with_token))
        .route("/logout", post(login::leave))
        .route("/a/{link}", get(link::ask).post(link::answer))
        .route("/assets/{name}", get(assets::asset))
        .fallback(missing)
}

/// What every page says around its content.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) name: &'static str,
    pub(crate) project: String,
    pub(crate) who: String,
    pub(crate) csrf: Option<String>,
    pub(crate) version: &'static str,
    pub(crate) nav: Vec<NavLink>,
    /// The types of all events: the script listens for each.
    pub(crate) kinds: String,
}

/// A way to another page.
pub(crate) struct NavLink {
    href: &'static str,
    label: &'static str,
    current: bool,
    count: Option<usize>,
}

const PAGES: [(&str, &str, &str); 6] = [
    ("inbox", "/", "Inbox"),
    ("board", "/board", "Board"),
    ("waits", "/waits", "Waits"),
    ("assumptions", "/assumptions", "Assumptions"),
    ("digest", "/digest", "Digest"),
    ("log", "/log", "Events"),
];

/// Who looks at a page, and through which site.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) site: Site,
    pub(crate) who: Option<Who>,
    pub(crate) csrf: Option<String>,
    /// Whether the script of the page asks, and wants a part of it only.
    pub(crate) wants_part: bool,
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Self::Rejection> {
        let csrf = parts.extensions.get::<Csrf>().map(|csrf| csrf.0.to_string());
        let who = parts.extensions.get::<Who>().cloned();
        let wants_part = parts.headers.contains_key("x-querent-part");
        Ok(Self { site: site.clone(), who, csrf, wants_part })
    }
}

impl Visitor {
    /// Whether it may answer and judge.
    pub(crate) fn can_answer(&self) -> bool {
        match &self.who {
            Some(Who::Local) => true,
            Some(Who::Bearer(bearer)) => bearer.role == Role::Human,
            None => false,
        }
    }

    /// In whose name it speaks.
    pub(crate) fn party(&self) -> Result<Party, Refusal> {
        let nobody = || Refusal::new(Code::Unauthorized, "nobody knows who you are", "log in first");
        self.who.as_ref().ok_or_else(nobody)?.speaks(None)
    }

    /// What stands around the content of a page.
    pub(crate) fn frame(&self, name: &'static str, title: &str, waiting: Option<usize>) -> Page {
        let is_in = self.who.is_some();
        let nav = PAGES.iter().filter(|_| is_in).map(|(page, href, label)| NavLink {
            href,
            label,
            current: *page == name,
            count: waiting.filter(|count| *page == "inbox" && *count > 0),
        });
        let rules = self.site.hub.rules();
        let project = rules.map_or_else(|_| "Querent".to_owned(), |rules| rules.config.project.name.clone());
        let who = match &self.who {
            None => String::new(),
            Some(Who::Local) => "at this machine".to_owned(),
            Some(Who::Bearer(Bearer { role: Role::Observer, name })) => {
                format!("{} (only reads)", name.as_deref().unwrap_or("observer"))
            }
            Some(Who::Bearer(Bearer { name, .. })) => name.clone().unwrap_or_else(|| "human".to_owned()),
        };
        let (title, version) = (title.to_owned(), assets::version());
        Page {
            title,
            name,
            project: crate::text::clean_line(&project),
            who,
            csrf: self.csrf.clone(),
            version,
            nav: nav.collect(),
            kinds: Event::TYPES.join(" "),
        }
    }

    /// Renders what a query of the hub found, on a thread where it may block.
    pub(crate) async fn show<T: Template + Send + 'static>(
        self,
        make: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Response {
        let visitor = self.clone();
        match on_thread(move || make(&visitor)).await {
            Ok(template) => render(StatusCode::OK, &template),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// A refusal as a page.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Response {
        let status = crate::http::status(refusal.code);
        let headline = match status {
            StatusCode::NOT_FOUND => "There is no such page",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "You may not do that",
            _ => "That did not work",
        };
        let page = Refused {
            page: self.frame("refusal", headline, None),
            headline,
            message: crate::text::clean_line(&refusal.message),
            hint: crate::text::clean_line(&refusal.hint),
        };
        render(status, &page)
    }
}

/// A page that says why not, and what to do.
#[derive(Template)]
#[template(path = "refusal.html")]
struct Refused {
    page: Page,
    headline: &'static str,
    message: String,
    hint: String,
}

/// The page for somebody whom the guard turned away.
pub(crate) fn refusal_page(site: &Site, refusal: &Refusal) -> Response {
    Visitor { site: site.clone(), who: None, csrf: None, wants_part: false }.refuse(refusal)
}

async fn missing(visitor: Visitor) -> Response {
    let mut response =
        visitor.refuse(&Refusal::new(Code::ItemNotFound, "nothing is at this address", "begin at the inbox"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// A page with the headers that every page has.
pub(crate) fn render(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, headers(), Html(text)).into_response(),
        // The templates are checked when the program is built; writing to memory does not fail.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn headers() -> HeaderMap {
    let fixed = |text: &'static str| HeaderValue::from_static(text);
    HeaderMap::from_iter([
        (CONTENT_SECURITY_POLICY, fixed(POLICY)),
        (CACHE_CONTROL, fixed("no-store")),
        (REFERRER_POLICY, fixed("same-origin")),
        (X_CONTENT_TYPE_OPTIONS, fixed("nosniff")),
        (HeaderName::from_static("cross-origin-opener-policy"), fixed("same-origin")),
    ])
}

/// A field of a form, or of a query.
pub(crate) fn form_field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// All fields of this name.
pub(crate) fn form_fields(form: &[u8], name: &str) -> Vec<String> {
    form_urlencoded::parse(form).filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
}
