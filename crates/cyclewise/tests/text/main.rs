//! Changes of the text of a process: static keys and alternatives.

#[cfg(target_arch = "x86_64")]
mod alternatives;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_arch = "x86_64")]
mod key_allocator;
#[cfg(target_arch = "x86_64")]
mod key_fork;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod key_fork_begun;
#[cfg(target_arch = "x86_64")]
mod key_fork_inside;
#[cfg(target_arch = "x86_64")]
mod key_pages;
#[cfg(target_arch = "x86_64")]
mod key_refusals;
#[cfg(target_arch = "x86_64")]
mod key_safe;
#[cfg(target_arch = "x86_64")]
mod key_stress;
#[cfg(target_arch = "x86_64")]
mod key_text;
#[cfg(target_arch = "x86_64")]
mod key_torn;
#[cfg(target_arch = "x86_64")]
mod many;
#[cfg(target_arch = "x86_64")]
mod paged;
#[cfg(target_arch = "x86_64")]
mod uprobes;

fn main() {
    common::harness::need_membarrier();
    common::harness::need_filters();
    #[cfg(not(target_arch = "x86_64"))]
    common::harness::skip("no text is changed on this architecture");
    #[cfg(target_arch = "x86_64")]
    common::harness::run(
        &[
            alternatives::CHECKS,
            key_allocator::CHECKS,
            key_fork::CHECKS,
            #[cfg(target_env = "gnu")]
            key_fork_begun::CHECKS,
            key_fork_inside::CHECKS,
            key_pages::CHECKS,
            key_refusals::CHECKS,
            key_safe::CHECKS,
            key_stress::CHECKS,
            key_text::CHECKS,
            key_torn::CHECKS,
            uprobes::CHECKS,
        ]
        .concat(),
    );
}
