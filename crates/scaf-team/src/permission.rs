//! What overrules code analysis and permits smaller teams: number on the report page, and sentence for
//! people. By OpenMP (5.2, section 10.1.1), with `dyn-var` true a team may be smaller than requested, even by
//! a `num_threads` clause.

/// Who permits resizing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Permission {
    /// `scaf run --malleable`.
    Run = 1,
    /// `OMP_DYNAMIC`.
    Environment = 2,
    /// `omp_set_dynamic`.
    Program = 3,
    /// `scaf check`, which tries it. Sizes that the program fixes are kept.
    Check = 4,
}

impl Permission {
    const ALL: [Permission; 4] =
        [Permission::Run, Permission::Environment, Permission::Program, Permission::Check];

    /// The one of that number, if there is one.
    pub fn from_number(number: u32) -> Option<Permission> {
        Permission::ALL.into_iter().find(|permission| *permission as u32 == number)
    }

    /// Whether requested sizes are upper limits.
    #[inline(always)]
    pub fn is_word(self) -> bool {
        self != Permission::Check
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Permission::Run => "its user permits smaller teams (scaf run --malleable)",
            Permission::Environment => "its user permits smaller teams (OMP_DYNAMIC)",
            Permission::Program => "it permits smaller teams itself (omp_set_dynamic)",
            Permission::Check => "scaf check tries it out",
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_permissions() {
        for permission in Permission::ALL {
            assert_eq!(Permission::from_number(permission as u32), Some(permission));
            assert!(!permission.text().is_empty());
        }
        assert_eq!((Permission::from_number(0), Permission::from_number(5)), (None, None));
    }
}
