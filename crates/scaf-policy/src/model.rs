//! SCAF's speedup model S(p) = 1 + C ln p, through the latest measured point (section 3.3, equation 2). With
//! it the sum of speedups is largest where contexts are divided in proportion to C (equation 9). A team that
//! is kept counts with the contexts that are of use to it ([`steps::counts_as`]).

use crate::{Program, steps};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogModel {
    /// Growth of the speedup for each factor e in contexts; positive and finite.
    pub c: f64,
}

impl LogModel {
    /// The smallest C that a fit gives, since a program that is slower in parallel has a negative C. Against
    /// perfect scaling on 24 contexts (C = 7.2), 0.01 is a share of 0.03 contexts.
    pub const MIN_C: f64 = 0.01;

    /// Fits the model to efficiency `e` (clamped to 0 to 1) at DoP `p`; `None` for p < 2 or a non-finite `e`.
    pub fn fit(e: f64, p: u32) -> Option<LogModel> {
        if p < 2 || !e.is_finite() {
            return None;
        }
        Some(LogModel::through(e.clamp(0.0, 1.0) * f64::from(p), f64::from(p)))
    }

    /// Fits the model to what `program` was seen to do; `None` where that says nothing.
    pub fn of(program: &Program) -> Option<LogModel> {
        let (p, e) = (program.dop, program.efficiency?);
        if program.fixed_team == 0 || p < 2 || !e.is_finite() {
            return LogModel::fit(e, p);
        }
        let contexts = steps::counts_as(program.fixed_team, p);
        let speedup = (e.clamp(0.0, 1.0) * f64::from(p)).min(contexts);
        (contexts > 1.0).then(|| LogModel::through(speedup, contexts))
    }

    /// Through a speedup on so many contexts, more than 1.
    fn through(speedup: f64, contexts: f64) -> LogModel {
        LogModel { c: ((speedup - 1.0) / contexts.ln()).max(Self::MIN_C) }
    }

    /// The model's speedup on `p` contexts: 1 at `p` = 1 (and 0), never above `p`.
    pub fn speedup(&self, p: u32) -> f64 {
        self.on(f64::from(p.max(1)))
    }

    /// The same for `program`, whose team may be one that is kept.
    pub fn speedup_of(&self, program: &Program, p: u32) -> f64 {
        self.on(steps::counts_as(program.fixed_team, p))
    }

    fn on(&self, contexts: f64) -> f64 {
        (1.0 + self.c * contexts.ln()).clamp(1.0, contexts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_goes_through_the_point_it_was_fitted_to() {
        let model = LogModel::fit(0.5, 12).unwrap();
        assert!((model.speedup(12) - 6.0).abs() < 1e-12);
        assert_eq!(model.speedup(1), 1.0);
        assert_eq!(model.speedup(0), 1.0);
    }

    #[test]
    fn the_paper_s_example_gives_the_paper_s_numbers() {
        // SCAF, section 3.3: foo at 2/3 on 12 threads, baz at 3/8 on 4.
        let foo = LogModel::fit(2.0 / 3.0, 12).unwrap();
        let baz = LogModel::fit(3.0 / 8.0, 4).unwrap();
        assert!((16.0 * foo.c / (foo.c + baz.c) - 14.18).abs() < 0.01);
        assert!((foo.speedup(14) - 8.43).abs() < 0.01);
    }

    #[test]
    fn a_team_that_is_kept_counts_with_the_contexts_that_are_of_use_to_it() {
        let sixteen = |dop, speedup| Program {
            fixed_team: 16,
            dop,
            efficiency: Some(speedup / f64::from(dop)),
            ..Program::new(crate::ProgramId(1), 16)
        };
        let of = |dop, speedup| LogModel::of(&sixteen(dop, speedup)).unwrap();
        assert_eq!(of(5, 3.0), of(4, 3.0));
        assert!((of(4, 3.0).c - LogModel::fit(0.75, 4).unwrap().c).abs() < 1e-12);
        assert!((of(11, 5.0).speedup_of(&sixteen(11, 5.0), 15) - 5.0).abs() < 1e-12);
        assert_eq!(LogModel::of(&Program { fixed_team: 1, ..sixteen(5, 1.0) }), None);
        assert_eq!(LogModel::of(&Program { efficiency: Some(f64::NAN), ..sixteen(5, 1.0) }), None);
    }

    #[test]
    fn one_context_and_numbers_that_are_none_say_nothing() {
        assert_eq!(LogModel::fit(1.0, 1), None);
        assert_eq!(LogModel::fit(0.5, 0), None);
        assert_eq!(LogModel::fit(f64::NAN, 8), None);
        assert_eq!(LogModel::fit(f64::INFINITY, 8), None);
    }

    #[test]
    fn programs_that_lose_by_parallelism_keep_a_small_positive_c() {
        for e in [-3.0, 0.0, 0.05, 0.125] {
            assert_eq!(LogModel::fit(e, 8).unwrap().c, LogModel::MIN_C);
        }
    }
}
