//! Which requests are answered. Pure: of a request's head.
//!
//! On TCP, any user of this machine can connect, and so can any page in a browser on it. So a request must
//! have the token, which only the user who started us knows: as Prometheus sends it, or once in the address.
//! The browser is then sent to a path with another random name. That isn't a cookie, because browsers send
//! cookies to every port of 127.0.0.1, so to other users' servers on it. The `Host` must be a name
//! of this machine, lest a page elsewhere gives its own name our address. A UNIX socket needs neither: its
//! permissions say who may connect.

use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

/// What a request must have.
#[derive(Clone, Debug)]
pub enum Access {
    /// Nothing: whoever can connect is answered.
    Open,
    /// A token, or the path below which a browser that had it finds the page.
    Token {
        /// The token.
        token: String,
        /// The path's name, another one each time.
        page: String,
    },
}

/// How a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// That path.
    Path(String),
    /// Where the page is: that path.
    Redirect(String),
}

/// Why a request isn't answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    Method,
    Body,
    Host,
    Token,
}

impl Refusal {
    /// Its status in HTTP.
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Body => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// What to do about it.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Method => "Only GET and HEAD are answered.\n",
            Refusal::Body => "A request must have no body.\n",
            Refusal::Host => "Ask for 127.0.0.1 or localhost.\n",
            Refusal::Token => {
                "Open the address that `scaf web` printed when it was started: it has the token. Programs \
                 send the header `Authorization: Bearer TOKEN`.\n"
            }
        }
    }
}

impl Access {
    /// What is to be answered to the request.
    /// # Errors
    /// Why it isn't answered.
    pub fn check(&self, request: &Parts) -> Result<Pass, Refusal> {
        if request.method != Method::GET && request.method != Method::HEAD {
            return Err(Refusal::Method);
        }
        let length = request.headers.get(CONTENT_LENGTH).map(hyper::header::HeaderValue::as_bytes);
        if request.headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|it| it != b"0") {
            return Err(Refusal::Body);
        }
        let path = request.uri.path();
        let Access::Token { token, page } = self else { return Ok(Pass::Path(path.to_owned())) };
        if !asks_this_machine(request) {
            return Err(Refusal::Host);
        }
        if bearer(&request.headers).is_some_and(|it| same(it, token)) {
            return Ok(Pass::Path(path.to_owned()));
        }
        if let Some((first, rest)) = path.strip_prefix('/').and_then(|path| path.split_once('/'))
            && same(first, page)
        {
            return Ok(Pass::Path(format!("/{rest}")));
        }
        let parameters = request.uri.query().unwrap_or_default().split('&');
        let given = parameters.filter_map(|it| it.strip_prefix("token=")).any(|it| same(it, token));
        if given && path == "/" {
            return Ok(Pass::Redirect(format!("/{page}/")));
        }
        Err(Refusal::Token)
    }
}

fn asks_this_machine(request: &Parts) -> bool {
    let mut hosts = request.headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let named = |host: &str| matches!(host, "127.0.0.1" | "localhost" | "[::1]");
    let header = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    header.is_some_and(|it| !it.as_str().contains('@') && named(it.host()))
        && request.uri.host().is_none_or(named)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Compares in constant time, which doesn't reveal where two tokens differ.
fn same(given: &str, token: &str) -> bool {
    let differ = |(a, b): (u8, u8)| a ^ b;
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).map(differ).fold(0, |all, it| all | it) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn asked(uri: &str, headers: &[(&str, &str)]) -> Result<Pass, Refusal> {
        let access = Access::Token { token: "abcd".into(), page: "secret".into() };
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        access.check(&request.body(()).unwrap().into_parts().0)
    }

    fn path(path: &str) -> Result<Pass, Refusal> {
        Ok(Pass::Path(path.into()))
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:7223");

    #[test]
    fn the_token_opens_as_link_and_header_and_then_the_secret_path_does() {
        assert_eq!(asked("/?token=abcd", &[HERE]), Ok(Pass::Redirect("/secret/".into())));
        assert_eq!(asked("/x", &[HERE, ("authorization", "Bearer abcd")]), path("/x"));
        assert_eq!(asked("/secret/", &[HERE]), path("/"));
        assert_eq!(asked("/secret/x?y", &[HERE]), path("/x"));
    }

    #[test]
    fn without_it_nothing_does() {
        for headers in [
            &[HERE][..],
            // Browsers send cookies to other ports as well, so to other users' servers.
            &[HERE, ("cookie", "scaf-7223=abcd")],
            &[HERE, ("cookie", "scaf-7223=secret")],
            &[HERE, ("authorization", "Basic abcd")],
            &[HERE, ("authorization", "Bearer abcde")],
            &[HERE, ("authorization", "Bearer secret")],
            &[HERE, ("authorization", "Bearer ")],
        ] {
            assert_eq!(asked("/metrics", headers), Err(Refusal::Token), "{headers:?}");
        }
        for uri in [
            "/?token=abc",
            "/?token=",
            "/?token=secret",
            "/metrics?token=abcd",
            "/secret",
            "/secre/",
            "/abcd/",
            "//",
            "/secretx/metrics",
            "/x/secret/",
        ] {
            assert_eq!(asked(uri, &[HERE]), Err(Refusal::Token), "{uri}");
        }
    }

    #[test]
    fn only_this_machines_names_are_answered() {
        let token = ("authorization", "bearer abcd");
        for host in ["127.0.0.1", "localhost:8000", "[::1]:7223"] {
            assert_eq!(asked("/", &[token, ("host", host)]), path("/"), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example:7223", "", "x@127.0.0.1", "127.0.0.1@evil.example"]
        {
            assert_eq!(asked("/", &[token, ("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(asked("/", &[token]), Err(Refusal::Host));
        assert_eq!(asked("/", &[token, HERE, HERE]), Err(Refusal::Host));
        assert_eq!(asked("http://evil.example/", &[token, HERE]), Err(Refusal::Host));
    }

    #[test]
    fn nothing_is_changed_or_uploaded() {
        let (mut parts, ()) = Request::post("/").body(()).unwrap().into_parts();
        assert_eq!(Access::Open.check(&parts), Err(Refusal::Method));
        parts.method = Method::HEAD;
        assert_eq!(Access::Open.check(&parts), path("/"));
        parts.headers.insert(CONTENT_LENGTH, "7".parse().unwrap());
        assert_eq!(Access::Open.check(&parts), Err(Refusal::Body));
    }
}
