//! Lines about which machine of a fleet this is: its node, boot, microcode, firmware, limits and job.

use super::line::{absent, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::identity::{BOOT_ID, HOSTNAME, REVIDR};
use crate::record::Identity;

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    let id = &i.identity;
    vec![
        ("node", node(i)),
        ("boot", boot(id)),
        ("microcode", microcode(i)),
        ("firmware", firmware(id)),
        ("instance-type", instance_type(id)),
        ("cgroup", cgroup(id)),
        ("job", job(id)),
    ]
}

/// Evidence from the identity, whose names are hashed under `--anonymous`, and not from the file.
fn found(source: &str, text: &str) -> String {
    format!("{source}: {text}")
}

fn node(i: &Inputs) -> Answer {
    let source = match i.variables.slurm_node() {
        Some(_) => "environment variable SLURMD_NODENAME",
        None => HOSTNAME,
    };
    match &i.identity.node {
        Some(node) => ok(node, found(source, node)),
        None => unknown(
            "no name of its own",
            format!("{source}: absent, or a name that many machines have"),
        )
        .so("its records are told from others by their files' names"),
    }
}

fn boot(id: &Identity) -> Answer {
    match &id.boot_id {
        Some(boot) => ok(boot, found(BOOT_ID, boot)),
        None => unknown("cannot be read", format!("{BOOT_ID}: no id")),
    }
}

fn microcode(i: &Inputs) -> Answer {
    let source = if i.is_x86() { "/proc/cpuinfo microcode" } else { REVIDR };
    match &i.identity.microcode {
        Some(revision) => ok(revision, found(source, revision)),
        None => unknown("cannot be read", format!("{source}: none")),
    }
}

fn firmware(id: &Identity) -> Answer {
    const DMI: &str = "/sys/class/dmi/id";
    if id.dmi.is_empty() {
        return unknown("cannot be read", format!("{DMI}: no names"))
            .so("records do not say which product the machine is");
    }
    let all: Vec<String> = id.dmi.iter().map(|(name, text)| format!("{name} {text:?}")).collect();
    let value = id.product().unwrap_or_else(|| "no product name".to_owned());
    ok(value, found(DMI, &all.join(", ")))
}

fn instance_type(id: &Identity) -> Answer {
    match &id.instance_type {
        Some(kind) => ok(kind, "/sys/class/dmi/id/product_name, of EC2"),
        None if id.dmi.is_empty() => unknown("cannot be determined", "/sys/class/dmi/id: no names"),
        None => absent(
            "the firmware names none",
            "/sys/class/dmi/id: only EC2's product_name is a type; no metadata server is asked",
        ),
    }
}

fn cgroup(id: &Identity) -> Answer {
    let Some(limits) = &id.cgroup else {
        return unknown(
            "cannot be determined",
            "/proc/self/cgroup, /proc/self/mountinfo: no control group of ours is mounted",
        );
    };
    let evidence = "cpu.max, memory.max, pids.max of this group and those above it; of version 1, cpu.cfs_quota_us and memory.limit_in_bytes";
    let line = ok(limits.to_string(), evidence);
    match limits.cpus {
        // The quota stops threads in the middle of what is timed.
        Some(cpus) => Answer {
            status: Status::Limited,
            ..line
        }
        .so(format!(
            "more than {cpus} busy threads are stopped for a part of each period; such samples are outliers"
        )),
        None => line,
    }
}

fn job(id: &Identity) -> Answer {
    let Some(job) = &id.job else {
        return absent(
            "none",
            "the environment has no job id of Slurm, PBS, LSF or Grid Engine",
        );
    };
    ok(
        job.to_string(),
        format!("environment variables that {} sets", job.engine),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Cgroup, Job};

    #[test]
    fn a_node_of_slurm_on_ec2() {
        let mut i = Inputs::nothing("x86_64");
        i.identity = Identity {
            node: Some("n3".to_owned()),
            microcode: Some("0xa0011d1".to_owned()),
            dmi: [("sys_vendor", "Amazon EC2"), ("product_name", "m6a.large")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into(),
            instance_type: Some("m6a.large".to_owned()),
            cgroup: Some(Cgroup {
                cpus: Some(1.5),
                memory_bytes: Some(2 << 30),
                pids: None,
            }),
            job: Some(Job {
                engine: "slurm".to_owned(),
                id: "41".to_owned(),
                task: Some(16),
                restarts: 2,
            }),
            ..Identity::default()
        };
        let lines = lines(&i).into_iter();
        let values: Vec<(&str, Status, String)> = lines.map(|(name, a)| (name, a.status, a.value)).collect();
        let expected = [
            ("node", Status::Ok, "n3"),
            ("boot", Status::Unknown, "cannot be read"),
            ("microcode", Status::Ok, "0xa0011d1"),
            ("firmware", Status::Ok, "Amazon EC2 m6a.large"),
            ("instance-type", Status::Ok, "m6a.large"),
            ("cgroup", Status::Limited, "1.5 CPUs, 2 GiB of memory"),
            ("job", Status::Ok, "slurm 41, task 16, restarted 2 times"),
        ];
        assert_eq!(
            values,
            expected.map(|(name, status, value)| (name, status, value.to_owned()))
        );
    }

    #[test]
    fn a_machine_that_says_nothing() {
        for (name, line) in lines(&Inputs::nothing("aarch64")) {
            let expected = match name {
                "job" => Status::Absent,
                _ => Status::Unknown,
            };
            assert_eq!(line.status, expected, "{line:?}");
        }
        let mut i = Inputs::nothing("x86_64");
        i.identity.dmi = [("sys_vendor".to_owned(), "Google".to_owned())].into();
        assert_eq!(instance_type(&i.identity).status, Status::Absent);
    }
}
