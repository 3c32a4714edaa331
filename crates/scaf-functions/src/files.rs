//! Libraries by their files' names, without folders. A name alone proves nothing: what else a library must
//! have to be taken for one of these, whoever asks has to look at (its exported functions).

/// How the names of OpenMP runtimes' files begin: GCC's, LLVM's, Intel's.
const RUNTIMES: [&[u8]; 3] = [b"libgomp", b"libomp", b"libiomp5"];

/// Whether a file is called as an OpenMP runtime is: `libgomp.so.1`, `libomp.so.5`, `libiomp5.so`, and with a
/// wheel's or a distribution's number `libgomp-a34b3233.so.1.0.0` and `libomp-14.so`.
#[must_use]
pub fn is_openmp_runtime(file: &[u8]) -> bool {
    RUNTIMES.iter().any(|name| is_library(file, name))
}

/// Whether a file is called as GCC's runtime.
#[must_use]
pub fn is_libgomp(file: &[u8]) -> bool {
    is_library(file, b"libgomp")
}

fn is_library(file: &[u8], name: &[u8]) -> bool {
    let Some(rest) = file.strip_prefix(name) else { return false };
    let rest = match rest.strip_prefix(b"-") {
        Some(numbered) => {
            let digits = numbered.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            match numbered.split_at_checked(digits) {
                Some((_, rest)) if digits != 0 => rest,
                _ => return false,
            }
        }
        None => rest,
    };
    rest.strip_prefix(b".so").is_some_and(|version| version.is_empty() || version.starts_with(b"."))
}

/// Parts of the names of BLAS libraries' files.
const BLAS: [&[u8]; 3] = [b"blas", b"mkl_", b"blis"];

/// Whether a file may be a BLAS library by its name.
#[must_use]
pub fn may_be_blas(file: &[u8]) -> bool {
    file.starts_with(b"lib") && BLAS.iter().any(|part| file.windows(part.len()).any(|window| window == *part))
}

/// Whether a library of that name may start threads that work together: an OpenMP runtime, oneTBB or BLAS.
#[must_use]
pub fn makes_teams(file: &[u8]) -> bool {
    is_openmp_runtime(file) || file.starts_with(b"libtbb") || may_be_blas(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_known_by_their_whole_names() {
        for file in [
            "libgomp.so",
            "libgomp.so.1",
            "libgomp-a34b3233.so.1.0.0",
            "libomp.so.5",
            "libomp-14.so",
            "libiomp5.so",
            "libiomp5-0a1b2c3d.so",
        ] {
            assert!(is_openmp_runtime(file.as_bytes()), "{file}");
        }
        for file in [
            "libgomp_helpers.so",
            "libgomp-helpers.so",
            "libgomp-plugin-nvptx.so.1",
            "libgomp.something",
            "libgomp2.so",
            "libompl.so",
            "libompt_tool.so",
            "libiomp5md.so",
            "libomptarget.so.14",
            "mylibgomp.so",
            "",
        ] {
            assert!(!is_openmp_runtime(file.as_bytes()), "{file}");
        }
        assert!(is_libgomp(b"libgomp.so.1") && !is_libgomp(b"libomp.so"));
    }

    #[test]
    fn folders_and_programs_are_no_blas() {
        for file in
            ["libopenblas.so.0", "libscipy_openblas64_-32a4b2a6.so", "libblis-mt.so.4", "libmkl_rt.so.2"]
        {
            assert!(may_be_blas(file.as_bytes()) && makes_teams(file.as_bytes()), "{file}");
        }
        for file in ["publish", "blastn", "ncbi-blast", "libm.so.6", "lib"] {
            assert!(!may_be_blas(file.as_bytes()), "{file}");
        }
    }
}
