//! Link settings of the client library.

fn main() {
    // Every symbol must resolve: libc is all there is. This is also how we know that no panic is left in the
    // optimised library: its handler refers to a symbol that does not exist (see `lib.rs`).
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs");
    // The libc crate names libc only while nobody else in the build has asked it for std.
    println!("cargo::rustc-cdylib-link-arg=-lc");
    // Bind at load, so that no hook runs the dynamic linker's lazy resolver in the middle of a region.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,now");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libscaf.so");
    println!("cargo::rerun-if-changed=build.rs");
}
