//! Link settings of the client library.

fn main() {
    // Every symbol must resolve, which proves that no panic is left in the optimised library (see `lib.rs`).
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    // The libc crate names libc only while nobody else in the build has asked it for std.
    println!("cargo::rustc-cdylib-link-arg=-lc");
    // Bind at load, so that no hook runs the dynamic linker's lazy resolver in the middle of a region.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,now");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libscaf.so");
    // Threads and dladdr are in libraries of their own before glibc 2.34 (sys/glibc.rs). zig, which links for
    // an older glibc, names them anyway.
    if !std::env::var("RUSTC_LINKER").is_ok_and(|linker| linker.contains("zig")) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2");
    }
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo::rerun-if-changed=build.rs");
}
