//! Outlined atomics of AArch64 (`__aarch64_ldadd8_acq_rel`): functions of a compiler's runtime, with one site for all callers.
//!
//! What a site is for is in its callers, which counts do not tell apart. What is left is the name: the operation, and the
//! order of memory, which each purpose needs in its own way. Taking needs acquire, giving back release, the last of a
//! count both.

use super::scene::{Answer, Class};

/// The class by the helper's name; none for other functions.
pub(super) fn by_name(function: &str) -> Answer {
    let rest = function.strip_prefix("__aarch64_")?;
    let at = rest.find(|c: char| c.is_ascii_digit())?;
    let (operation, rest) = rest.split_at(at);
    let order = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let class = match (operation, order) {
        ("ldadd", "_relax" | "_acq") => Class::CountUp,
        ("ldadd", _) => Class::CountDownAndTest,
        ("swp", "_acq") => Class::LockTaken,
        ("swp", "_rel") => Class::LockGivenBack,
        ("cas", "_acq") => Class::LockTaken,
        ("cas", _) => Class::ExchangeLoop,
        ("swp" | "ldset" | "ldclr" | "ldeor", _) => Class::Flag,
        _ => return None,
    };
    Some((
        class,
        format!("an outlined atomic, by its name `{function}`; its callers may differ"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_memory_tells_purposes_apart() {
        let class = |name| by_name(name).map(|(class, _)| class);
        assert_eq!(class("__aarch64_ldadd8_relax"), Some(Class::CountUp));
        assert_eq!(class("__aarch64_ldadd8_acq_rel"), Some(Class::CountDownAndTest));
        assert_eq!(class("__aarch64_ldadd4_rel"), Some(Class::CountDownAndTest));
        assert_eq!(class("__aarch64_cas4_acq"), Some(Class::LockTaken));
        assert_eq!(class("__aarch64_cas16_acq_rel"), Some(Class::ExchangeLoop));
        assert_eq!(class("__aarch64_swp4_rel"), Some(Class::LockGivenBack));
        assert_eq!(class("__aarch64_ldset1_acq_rel"), Some(Class::Flag));
        assert_eq!(class("ldadd8_relax"), None);
        assert_eq!(class("__aarch64_sync_cache_range"), None);
    }
}
