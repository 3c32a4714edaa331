//! Link settings of the client library.

fn main() {
    // Every symbol must resolve, which proves that no panic is left in the optimised library (see `lib.rs`).
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    // The libc crate names libc only while nobody else in the build has asked it for std.
    println!("cargo::rustc-cdylib-link-arg=-lc");
    // Bind at load, so that no hook runs the dynamic linker's lazy resolver in the middle of a region.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,now");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libscaf.so");
    println!("cargo::rerun-if-changed=build.rs");
}
