//! HTTP by hand, so that it can be wrong; and enough of it for WebDriver.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

/// Longest wait for anything: generous, for machines that are busy with something else.
pub const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

pub fn connect(port: u16) -> Result<TcpStream> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The head of what comes next, without the empty line.
pub fn head(stream: &mut impl Read) -> Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head[..head.len() - 4]).into_owned())
}

/// Sends that and reads one answer with a length.
pub fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> Result<Reply> {
    stream.write_all(request)?;
    let head = head(stream)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| Error::other(head.clone()))?;
    let mut reply = Reply { status, head, body: String::new() };
    let length = reply.header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    reply.body = String::from_utf8_lossy(&body).into_owned();
    Ok(reply)
}

/// GET with these lines in its head.
pub fn get(port: u16, path: &str, lines: &[&str]) -> Reply {
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}Connection: close\r\n\r\n");
    exchange(&mut connect(port).unwrap(), request.as_bytes()).unwrap()
}

/// Server-sent events, all that came so far.
pub struct Events {
    stream: TcpStream,
    pub all: String,
}

impl Events {
    /// `lines` go into the head.
    pub fn ask(port: u16, lines: &str) -> Events {
        let mut stream = connect(port).unwrap();
        let request = format!("GET /events HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let head = head(&mut stream).unwrap();
        assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
        Events { stream, all: String::new() }
    }

    /// Reads on until this came.
    pub fn until(&mut self, what: &str) {
        let (start, mut part) = (Instant::now(), vec![0; 65_536]);
        while !self.all.contains(what) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            let length = self.stream.read(&mut part).unwrap();
            assert!(length > 0, "the events ended before {what}");
            self.all.push_str(&String::from_utf8_lossy(&part[..length]));
        }
    }
}
