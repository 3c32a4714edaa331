//! Prints the facts about each file or process on the command line, and how long each answer took.

use std::path::Path;
use std::time::Instant;

fn main() {
    for name in std::env::args().skip(1) {
        let begin = Instant::now();
        let answer = match name.parse::<u32>() {
            Ok(pid) => {
                scaf_inspect::process(pid, Path::new("/proc"), &mut scaf_inspect::ModuleCache::default())
                    .map(|facts| format!("{facts:#?}"))
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
