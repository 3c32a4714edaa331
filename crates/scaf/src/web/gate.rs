//! Who is let in. Pure: of a request's head.
//!
//! On TCP, any user of this machine can connect, and so can any page in a browser on it. So a request must
//! have the token, which only who started us was told: in the address at first, then as a cookie, or as
//! Prometheus sends it. And its `Host` must be a name of this machine, lest a page elsewhere gives its own
//! name our address. A UNIX socket's permissions do both.

use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, COOKIE, HOST, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

/// What a request must have.
#[derive(Clone, Debug)]
pub enum Gate {
    /// Nothing: who could connect is let in.
    Open,
    /// A token; the cookie that it is kept in has this name.
    Token {
        /// The token.
        token: String,
        /// Cookies are the same for all ports of a machine: the name tells them apart.
        cookie: String,
    },
}

/// How somebody is let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// At once.
    In,
    /// By the address with the token. He gets this cookie, and is sent to the address without.
    WithCookie(String),
}

/// Why somebody isn't let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    Method,
    Body,
    Host,
    Token,
}

impl Refusal {
    /// Its number in HTTP.
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

impl Gate {
    /// Whether the request is let in.
    /// # Errors
    /// Why it isn't.
    pub fn check(&self, request: &Parts) -> Result<Pass, Refusal> {
        if request.method != Method::GET && request.method != Method::HEAD {
            return Err(Refusal::Method);
        }
        let length = request.headers.get(CONTENT_LENGTH).map(hyper::header::HeaderValue::as_bytes);
        if request.headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|it| it != b"0") {
            return Err(Refusal::Body);
        }
        let Gate::Token { token, cookie } = self else { return Ok(Pass::In) };
        if !asks_this_machine(request) {
            return Err(Refusal::Host);
        }
        if bearer(&request.headers).is_some_and(|it| same(it, token))
            || cookies(&request.headers, cookie).any(|it| same(it, token))
        {
            return Ok(Pass::In);
        }
        let parameters = request.uri.query().unwrap_or_default().split('&');
        let given = parameters.filter_map(|it| it.strip_prefix("token=")).any(|it| same(it, token));
        if given && request.uri.path() == "/" {
            return Ok(Pass::WithCookie(format!("{cookie}={token}; HttpOnly; SameSite=Strict; Path=/")));
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

fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value)
}

/// Compares in a time that doesn't tell where two tokens differ.
fn same(given: &str, token: &str) -> bool {
    let differ = |(a, b): (u8, u8)| a ^ b;
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).map(differ).fold(0, |all, it| all | it) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn gate() -> Gate {
        Gate::Token { token: "abcd".into(), cookie: "scaf-7223".into() }
    }

    fn asked(uri: &str, headers: &[(&str, &str)]) -> Result<Pass, Refusal> {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        gate().check(&request.body(()).unwrap().into_parts().0)
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:7223");

    #[test]
    fn the_token_opens_as_link_cookie_and_header() {
        let cookie = "scaf-7223=abcd; HttpOnly; SameSite=Strict; Path=/".to_owned();
        assert_eq!(asked("/?token=abcd", &[HERE]), Ok(Pass::WithCookie(cookie)));
        assert_eq!(asked("/x", &[HERE, ("cookie", "a=b; scaf-7223=abcd")]), Ok(Pass::In));
        assert_eq!(asked("/x", &[HERE, ("authorization", "Bearer abcd")]), Ok(Pass::In));
    }

    #[test]
    fn without_it_nothing_does() {
        for headers in [
            &[HERE][..],
            &[HERE, ("cookie", "scaf-7223=abcx")],
            &[HERE, ("cookie", "scaf-7224=abcd")],
            &[HERE, ("cookie", "scaf-7223")],
            &[HERE, ("authorization", "Basic abcd")],
            &[HERE, ("authorization", "Bearer abcde")],
            &[HERE, ("authorization", "Bearer ")],
        ] {
            assert_eq!(asked("/metrics", headers), Err(Refusal::Token), "{headers:?}");
        }
        assert_eq!(asked("/?token=abc", &[HERE]), Err(Refusal::Token));
        assert_eq!(asked("/?token=", &[HERE]), Err(Refusal::Token));
        assert_eq!(asked("/metrics?token=abcd", &[HERE]), Err(Refusal::Token));
    }

    #[test]
    fn only_this_machines_names_are_answered() {
        let token = ("authorization", "bearer abcd");
        for host in ["127.0.0.1", "localhost:8000", "[::1]:7223"] {
            assert_eq!(asked("/", &[token, ("host", host)]), Ok(Pass::In), "{host}");
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
        assert_eq!(Gate::Open.check(&parts), Err(Refusal::Method));
        parts.method = Method::HEAD;
        assert_eq!(Gate::Open.check(&parts), Ok(Pass::In));
        parts.headers.insert(CONTENT_LENGTH, "7".parse().unwrap());
        assert_eq!(Gate::Open.check(&parts), Err(Refusal::Body));
    }
}
