//! `local`: the job without Slurm, here or by ssh.

use super::*;

#[test]
fn without_slurm_hosts_are_reached_by_ssh_in_the_same_folder() {
    let folder = Folder::new();
    let ssh = r#"shift 2; host=$1; shift; SLURMD_NODENAME=$host exec sh -c "cd / && $*""#;
    let path = commands(&folder, &[("ssh", ssh), ("noted", RECORDS)]);
    let dir = folder.path("it's $HOME");
    plan(
        &folder.name("it's $HOME"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf"],
    );
    let mut local = Command::new("sh");
    local
        .arg(dir.join("local"))
        .args(["h1", "h2"])
        .env("PATH", &path)
        .env("SLURM_JOB_ID", "j");
    local.output().unwrap();
    for host in ["h1", "h2"] {
        let records = names(&dir.join("records"));
        assert!(
            records.iter().any(|name| name.starts_with(&format!("{host}-j-"))),
            "{records:?}"
        );
    }
}

#[test]
fn a_host_that_is_not_reached_is_named_until_it_is_measured() {
    let folder = Folder::new();
    let ssh = r#"shift 2; host=$1; shift
[ "$host" = "$BAD" ] && exit 255
SLURM_JOB_ID=1 SLURMD_NODENAME=node-$host exec sh -c "$*""#;
    let path = commands(&folder, &[("ssh", ssh)]);
    plan(
        &folder.name("job"),
        &["--nodes", "2"],
        &["run", "null-syscall", "--quick"],
    );
    let local = |hosts: &[&str], bad: &str| {
        let mut local = Command::new("sh");
        local
            .arg(folder.path("job/local"))
            .args(hosts)
            .env("PATH", &path)
            .env("BAD", bad);
        local.output().unwrap()
    };
    let output = local(&["good", "bad"], "bad");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_says!(said, "missing: bad: it was to be measured", "sh local bad\n");
    assert_lacks!(said, "missing: node-good");
    // Its own name is known once it is reached.
    let output = local(&["bad"], "none");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(folder.read("job/nodes/local-bad"), "node-bad\n");
}

#[test]
fn an_end_of_local_ends_what_it_started() {
    let folder = Folder::new();
    let ssh = r#"shift 3; exec sh -c "$*""#;
    let noted = r#"case $1 in run) echo "$$" >>"$CALLS"; exec sleep 300 ;; esac"#;
    let path = commands(&folder, &[("ssh", ssh), ("noted", noted)]);
    plan(
        &folder.name("job"),
        &["--nodes", "2", "--program", "noted"],
        &["run", "popf"],
    );
    for hosts in [&["h1", "h2"][..], &[]] {
        let calls = folder.with("calls", "");
        let mut local = Command::new("sh");
        local
            .arg(folder.path("job/local"))
            .args(hosts)
            .env("PATH", &path)
            .env("CALLS", &calls);
        let mut local = local.spawn().unwrap();
        let started = hosts.len().max(1);
        while folder.read("calls").lines().count() < started {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = Command::new("kill").args(["-TERM", &local.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(local.wait().unwrap().code(), Some(130));
        for process in folder.read("calls").lines() {
            assert!(!Path::new("/proc").join(process).exists(), "{process} is still there");
        }
    }
}

#[test]
fn a_task_that_a_signal_ends_does_not_end_the_others() {
    let folder = Folder::new();
    let noted = r#"case $* in *"--shard 1/"*) kill -9 "$$" ;; esac; echo "$*" >>"$CALLS""#;
    let path = commands(&folder, &[("noted", noted)]);
    plan(
        &folder.name("job"),
        &["--shards", "4", "--program", "noted"],
        &words(SWEEP_OF_2240),
    );
    let calls = folder.name("calls");
    let mut local = Command::new("sh");
    local
        .arg(folder.path("job/local"))
        .arg("1")
        .env("PATH", &path)
        .env("CALLS", &calls);
    local.output().unwrap();
    let said = folder.read("calls");
    assert_eq!(said.lines().filter(|l| l.contains("--shard ")).count(), 3, "{said}");
    assert!(said.ends_with("fleet join .\n"), "{said}");
}
