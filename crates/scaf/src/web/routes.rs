//! The answer to a request.

use super::access::{Access, Pass};
use super::metrics::Format;
use super::poller::Poller;
use super::strangers::Stranger;
use super::{assets, events, what_if};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{Semaphore, mpsc};

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// What is known of the daemon.
    pub live: Arc<Poller>,
    /// What is answered to whom.
    pub access: Access,
    /// Only one question at a time that takes the daemon's time or ours.
    pub turn: Semaphore,
}

/// A body: a text, or events as they come.
#[derive(Debug)]
pub enum Content {
    /// All of it; `None` once it is sent.
    Text(Option<Bytes>),
    /// One event after the other.
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Content::Text(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Content::Events(events) => events.poll_recv(context).map(|it| it.map(|it| Ok(Frame::data(it)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Text(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Content::Text(text) => {
                hyper::body::SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
            Content::Events(_) => hyper::body::SizeHint::default(),
        }
    }
}

/// Only what we serve is loaded or run; no page may frame ours, guess types or learn the address.
const SAFETY: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Content> {
    let mut response = Response::new(Content::Text(Some(text.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

const PLAIN: &str = "text/plain; charset=utf-8";

/// Answers a request, by which who had yet to show the token may have done so.
pub async fn answer(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    stranger: Option<&Stranger>,
) -> Response<Content> {
    let (request, _body) = request.into_parts();
    let checked = shared.access.check(&request);
    if checked.is_ok()
        && let Some(stranger) = stranger
    {
        stranger.leave();
    }
    let mut response = match checked {
        Ok(Pass::Path(path)) => route(shared, &path, &request).await,
        Ok(Pass::Redirect(path)) => {
            let mut response = text(StatusCode::SEE_OTHER, PLAIN, "");
            if let Ok(path) = HeaderValue::from_str(&path) {
                response.headers_mut().insert(header::LOCATION, path);
            }
            response
        }
        Err(refusal) => {
            let mut response = text(refusal.status(), PLAIN, refusal.text());
            // Without the token, a client can't hold a connection open.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            if refusal.status() == StatusCode::UNAUTHORIZED {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            if refusal.status() == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            response
        }
    };
    for (name, value) in SAFETY {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn route(shared: &Arc<Shared>, path: &str, request: &Parts) -> Response<Content> {
    match path {
        "/events" => events(shared, request),
        "/metrics" => {
            let accept = request.headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
            let format = Format::accepted(accept.unwrap_or_default());
            blocking(shared, format.content_type(), move |live| {
                live.metrics(format).map_err(|error| format!("{error:#}\n"))
            })
            .await
        }
        "/what-if" => {
            let at = request.uri.query().unwrap_or_default().strip_prefix("decision=");
            let at = at.and_then(|at| at.parse().ok());
            blocking(shared, "application/json", move |live| what_if::asked(live, at)).await
        }
        path => match assets::find(path) {
            Some((kind, content)) => text(StatusCode::OK, kind, content),
            None => text(StatusCode::NOT_FOUND, PLAIN, "There is nothing at this address.\n"),
        },
    }
}

/// What takes a while is done by another thread, for one at a time.
async fn blocking(
    shared: &Arc<Shared>,
    kind: &'static str,
    work: impl FnOnce(&Poller) -> Result<String, String> + Send + 'static,
) -> Response<Content> {
    let failed = |why: String| text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, why);
    let Ok(_turn) = shared.turn.acquire().await else { return failed(String::new()) };
    let live = Arc::clone(&shared.live);
    match tokio::task::spawn_blocking(move || work(&live)).await {
        Ok(Ok(said)) => text(StatusCode::OK, kind, said),
        Ok(Err(why)) => failed(why),
        Err(error) => failed(error.to_string()),
    }
}

fn events(shared: &Arc<Shared>, request: &Parts) -> Response<Content> {
    let Some(viewer) = shared.live.watch(events::MOST_VIEWERS) else {
        return text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "Too many pages are open already.\n");
    };
    let mut response = text(StatusCode::OK, "text/event-stream", "");
    if request.method == Method::GET {
        let last = request.headers.get("last-event-id").and_then(|it| it.to_str().ok());
        let from = events::place(last.unwrap_or_default());
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(events::send(Arc::clone(&shared.live), viewer, from, sender));
        *response.body_mut() = Content::Events(receiver);
    }
    response
}
