//! Parses clients' packets.

use super::client::Stage;
use crate::control::Request;
use scaf_proto::hello::{ATTACH, Hello, Refusal};

pub(super) enum Packet {
    Hello(Box<Hello>),
    Request(Request),
}

#[derive(Debug)]
pub(super) enum Wrong {
    Garbage(String),
    Version(u32),
    Request(String),
}

/// Parses a packet by its sender's stage; `None` stands for one that is too long.
pub(super) fn parse(packet: Option<&[u8]>, stage: &Stage) -> Result<Packet, Wrong> {
    let packet = packet.ok_or_else(|| Wrong::Garbage("a packet that is too long".into()))?;
    if *stage == Stage::Silent && matches!(packet.first(), Some(b'{' | b'"')) {
        return serde_json::from_slice(packet)
            .map(Packet::Request)
            .map_err(|e| Wrong::Request(format!("this request is not understood: {e}")));
    }
    let hello = Hello::parse(packet).map_err(|refusal| match refusal {
        Refusal::Version(version) => Wrong::Version(version),
        Refusal::Garbage => Wrong::Garbage("a packet that is not understood".into()),
        Refusal::Range(field) => Wrong::Garbage(format!("a {field} that is out of its range")),
    })?;
    match (stage, hello.kind) {
        (Stage::Silent, ATTACH) => Ok(Packet::Hello(Box::new(hello))),
        (Stage::Attached, kind) if kind != ATTACH => Ok(Packet::Hello(Box::new(hello))),
        _ => Err(Wrong::Garbage("a packet out of turn".into())),
    }
}
