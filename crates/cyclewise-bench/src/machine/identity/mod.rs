//! Which machine of a fleet this is: its name, boot, microcode, firmware, limits, and the job that it works for.
//!
//! Nothing is asked over the network: a cloud's metadata server may be slow or absent, and a record is not worth a token of it.
//!
//! # Invariants
//! 1. A text is at most `LONGEST` characters in one line without control characters, whatever a file holds.
//! 2. A name that many machines have (`localhost`) is none.

pub(super) mod cgroup;
mod firmware;
mod job;
#[cfg(feature = "commands")]
mod key;
#[cfg(feature = "commands")]
mod secrets;

pub use job::Variables;
#[cfg(feature = "commands")]
pub use key::Key;
#[cfg(feature = "commands")]
pub use secrets::Secrets;

use super::cpuinfo::CpuInfo;
use crate::record::Identity;
use crate::sys::procfs::Sysfs;

/// The kernel's name of the machine, as `uname -n`.
pub const HOSTNAME: &str = "/proc/sys/kernel/hostname";
/// The id that the kernel draws at each boot.
pub const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// REVIDR_EL1 of the first CPU: on Arm the revision that MIDR_EL1 does not say. Arm CPUs show no revision of microcode.
pub const REVIDR: &str = "/sys/devices/system/cpu/cpu0/regs/identification/revidr_el1";

/// More characters than any of these names has: a file name's 255 bound the node's.
const LONGEST: usize = 255;

/// Names that do not tell one machine from another.
const COMMON_NAMES: [&str; 4] = ["localhost", "localhost.localdomain", "(none)", "linux"];

/// The identity of the machine that these files and environment variables describe.
pub fn identity_of(fs: &Sysfs, cpuinfo: &CpuInfo, variables: &Variables) -> Identity {
    let dmi = firmware::dmi(fs);
    Identity {
        node: node(fs, variables),
        boot_id: boot_id(fs),
        microcode: microcode(fs, cpuinfo),
        instance_type: firmware::instance_type(&dmi),
        dmi,
        cgroup: cgroup::limits(fs),
        job: job::job(variables),
    }
}

/// The node's name. Within a job of Slurm it is Slurm's, which `scontrol` and `sbatch --exclude` take, and which tells apart
/// several nodes on one host; elsewhere it is the kernel's.
fn node(fs: &Sysfs, variables: &Variables) -> Option<String> {
    let kernels = || fs.text(HOSTNAME);
    let name = line(&variables.slurm_node().map(str::to_owned).or_else(kernels)?)?;
    (!is_common(&name)).then_some(name)
}

/// Whether many machines have this name (Invariant 2).
fn is_common(name: &str) -> bool {
    COMMON_NAMES.contains(&name.trim().to_lowercase().as_str())
}

/// The boot id; `None` for what is no UUID.
fn boot_id(fs: &Sysfs) -> Option<String> {
    let id = fs.text(BOOT_ID)?;
    let is_uuid = id.len() == 36 && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    is_uuid.then_some(id)
}

/// The revision of the microcode; on Arm, `REVIDR 0x…`. Under a hypervisor it is what the hypervisor says.
fn microcode(fs: &Sysfs, cpuinfo: &CpuInfo) -> Option<String> {
    let x86 = cpuinfo.get("microcode").and_then(line);
    x86.or_else(|| {
        let revision = u64::from_str_radix(fs.text(REVIDR)?.trim_start_matches("0x"), 16).ok()?;
        Some(format!("REVIDR {revision:#x}"))
    })
}

/// The text in one line (Invariant 1); `None` if nothing is left.
fn line(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    let joined = words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    let cut: String = joined.chars().take(LONGEST).collect();
    (!cut.is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::{AARCH64, Tree, X86};

    fn of(tree: &Tree, cpuinfo: &str, variables: &[(&str, &str)]) -> Identity {
        identity_of(&tree.fs(), &CpuInfo::parse(cpuinfo), &Variables::from(variables))
    }

    #[test]
    fn a_node_has_its_name_boot_and_microcode() {
        let tree = Tree::new();
        tree.write(HOSTNAME, "n17.cluster\n");
        tree.write(BOOT_ID, "6367bd9b-29c5-459a-a8f1-8538c648ab21\n");
        let found = of(&tree, &format!("microcode\t: 0xa0011d1\n{X86}"), &[]);
        assert_eq!(found.node.as_deref(), Some("n17.cluster"));
        assert_eq!(found.boot_id.as_deref(), Some("6367bd9b-29c5-459a-a8f1-8538c648ab21"));
        assert_eq!(found.microcode.as_deref(), Some("0xa0011d1"));
        assert_eq!((found.job, found.cgroup, found.instance_type), (None, None, None));
    }

    #[test]
    fn an_arm_has_a_revision() {
        let tree = Tree::new();
        assert_eq!(of(&tree, AARCH64, &[]).microcode, None);
        tree.write(REVIDR, "0x00000000000001c0\n");
        assert_eq!(of(&tree, AARCH64, &[]).microcode.as_deref(), Some("REVIDR 0x1c0"));
    }

    #[test]
    fn slurms_name_counts_within_its_jobs_only() {
        let tree = Tree::new();
        tree.write(HOSTNAME, "host");
        let inside = [("SLURM_JOB_ID", "5"), ("SLURMD_NODENAME", "n3")];
        assert_eq!(of(&tree, "", &inside).node.as_deref(), Some("n3"));
        assert_eq!(of(&tree, "", &inside[1..]).node.as_deref(), Some("host"));
    }

    #[test]
    fn a_machine_without_files_has_none() {
        assert_eq!(of(&Tree::new(), "", &[]), Identity::default());
        let tree = Tree::new();
        for name in ["localhost", "LOCALHOST\n", "(none)", "", " \n"] {
            tree.write(HOSTNAME, name);
            assert_eq!(of(&tree, "", &[]).node, None, "{name:?}");
        }
    }

    #[test]
    fn hostile_files_give_one_short_line_or_nothing() {
        let tree = Tree::new();
        let hostile = format!("\x1b[31m a\nb\u{85}{}", "x".repeat(3 << 20));
        tree.write(HOSTNAME, &hostile);
        tree.write(BOOT_ID, &hostile);
        tree.write(REVIDR, &hostile);
        tree.write("/sys/class/dmi/id/product_name", &hostile);
        std::fs::write(tree.fs().locate("/sys/class/dmi/id/bios_version"), b"\xff\xfe 1.2\x00").unwrap();
        tree.write("/proc/self/cgroup", &hostile);
        tree.write("/proc/self/mountinfo", &hostile);
        let variables = [("SLURM_JOB_ID", hostile.as_str()), ("SLURM_PROCID", hostile.as_str())];
        let found = of(&tree, &format!("microcode : {hostile}"), &variables);
        assert_eq!((&found.boot_id, &found.cgroup), (&None, &None));
        assert_eq!(found.dmi["bios_version"], "\u{fffd}\u{fffd} 1.2");
        let node = found.node.clone().unwrap();
        assert!(
            node.starts_with("[31m a b xxx") && node.chars().count() == LONGEST,
            "{node:?}"
        );
        let json = serde_json::to_string(&found).unwrap();
        assert!(json.len() < 6 * LONGEST && !json.contains(r"\u00"), "{json}");
    }
}
