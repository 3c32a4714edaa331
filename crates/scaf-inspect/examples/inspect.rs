//! Prints the facts about each file or process on the command line, and how long each answer took. What was
//! found out about a process's files is known for the next one.

use std::path::Path;
use std::time::Instant;

fn main() {
    let mut cache = scaf_inspect::ModuleCache::default();
    for name in std::env::args().skip(1) {
        let begin = Instant::now();
        let answer = match name.parse::<u32>() {
            Ok(pid) => {
                scaf_inspect::process(pid, Path::new("/proc"), &mut cache).map(|facts| format!("{facts:#?}"))
            }
            Err(_) => scaf_inspect::module(Path::new(&name)).map(|facts| format!("{facts:?}")),
        };
        let took = begin.elapsed().as_millis();
        match answer {
            Ok(facts) => println!("{took} ms {facts}"),
            Err(error) => println!("{took} ms {error}"),
        }
    }
}
