//! A parallel region: its entry and exit, what its threads share, and how it follows the grant.

mod choose;
pub mod enter;
pub mod entered;
mod float_words;
pub mod frame;
pub mod kind;
pub mod mechanisms;
pub mod serving_runtime;
mod spread;
pub mod task_times;
pub mod thread;
mod useful_time;
