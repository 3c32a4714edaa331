fn main() {
    let name = std::env::args().nth(1).unwrap();
    let seed = std::env::args().nth(2).map_or(1, |s| s.parse().unwrap());
    let (_, run) = scaf_sim::paper::PAPERS.iter().find(|p| p.0 == name).unwrap();
    let paper = run(seed).unwrap();
    for row in paper.rows {
        println!(
            "{:12} {:24} {:20} {:9.2} {:9.2}",
            row.configuration,
            row.process,
            row.what,
            row.ours,
            row.paper.unwrap_or(f64::NAN)
        );
    }
}
