//! Matrices that become machines, and texts that do not.

use super::*;

/// A matrix as the tool writes it.
fn csv(cpus: u32, ns: impl Fn(u32, u32) -> f64) -> String {
    let cell = |a: u32, b: u32| if b < a { ns(a, b).to_string() } else { String::new() };
    let row = |a: u32| (0..cpus).map(|b| cell(a, b)).collect::<Vec<_>>().join(",") + "\n";
    (0..cpus).map(row).collect()
}

/// Two sockets of two clusters of two cores of two threads; CPU n + 8 is the sibling of CPU n.
fn times(a: u32, b: u32) -> f64 {
    let (a, b) = (a % 8, b % 8);
    // In the second socket the same distance takes longer: the line's memory is in the first.
    let more = f64::from(a / 4) * 5.0;
    if a == b {
        8.0
    } else if a / 2 == b / 2 {
        25.0 + more
    } else if a / 4 == b / 4 {
        80.0 + more
    } else {
        200.0
    }
}

fn asked() -> Asked {
    Asked {
        ghz: 3.0,
        smt: None,
        sockets: 1,
        family: None,
        pause: None,
        anchor: None,
    }
}

fn made(text: &str, asked: &Asked) -> Result<Made> {
    machine(Path::new("a/Intel Example.csv"), text, asked)
}

fn said(text: &str, asked: &Asked) -> String {
    let error = made(text, asked).unwrap_err().to_string();
    assert!(
        error.starts_with("a/Intel Example.csv: ") && !error.contains('\n'),
        "{error}"
    );
    error
}

#[test]
fn a_matrix_gives_the_topology_and_each_distance() {
    let family = Some("amd-chiplet".to_owned());
    let two = Asked {
        sockets: 2,
        family: family.clone(),
        ..asked()
    };
    let machine = made(&csv(16, times), &two).unwrap().machine;
    let Topology {
        sockets,
        clusters_per_socket,
        cores_per_cluster,
        threads_per_core,
    } = machine.topology;
    assert_eq!(
        [sockets, clusters_per_socket, cores_per_cluster, threads_per_core],
        [2, 2, 2, 2]
    );
    let l = machine.latency;
    assert_eq!(
        [l.sibling_ns, l.cluster_ns, l.socket_ns, l.remote_ns],
        [8.0, 25.0, 80.0, 200.0].map(Some)
    );
    assert!(machine.name == "Intel Example" && machine.topology_only);
    // Neighbours as siblings are found as well, and a matrix without threads has none.
    let adjacent = |a: u32, b: u32| if a / 2 == b / 2 { 7.0 } else { 20.0 };
    assert_eq!(
        made(&csv(8, adjacent), &asked())
            .unwrap()
            .machine
            .topology
            .threads_per_core,
        2
    );
    let even = made(&csv(6, |_, _| 40.0), &asked()).unwrap().machine;
    assert_eq!((even.topology.cpus(), even.topology.threads_per_core), (6, 1));
    // A core complex that is short of two cores.
    let short = |a: u32, b: u32| if (a < 4) == (b < 4) { 25.0 } else { 90.0 };
    let uneven = made(
        &csv(6, short),
        &Asked {
            family,
            smt: Some(1),
            ..asked()
        },
    )
    .unwrap()
    .machine;
    assert_eq!(uneven.topology, Topology::new(1, 1, 6, 1));
    assert!(
        uneven.about.contains("clusters are of unequal size"),
        "{}",
        uneven.about
    );
}

#[test]
fn cores_of_several_kinds_are_refused() {
    // Two cores of two threads, and four of one.
    let hybrid = |a: u32, b: u32| if a < 4 && a / 2 == b / 2 { 5.0 } else { 40.0 };
    let asked = |smt| Asked {
        family: Some("amd-chiplet".to_owned()),
        smt,
        ..asked()
    };
    let why = made(&csv(8, hybrid), &asked(None)).unwrap_err().to_string();
    assert!(
        why.contains("2 pairs of CPUs are threads of a core, but 4 CPUs are of no such pair"),
        "{why}"
    );
    let cores = made(&csv(8, hybrid), &asked(Some(1))).unwrap().machine.topology;
    assert_eq!(cores.threads_per_core, 1);
}

#[test]
fn a_slow_pair_does_not_hide_the_sockets() {
    // Each CPU of the second half is so slow to one of its own that groups join one by one.
    let blurred = |a: u32, b: u32| match (a / 4 == b / 4, a.min(b)) {
        (true, 0) => 40.0,
        (true, first) => 40.0 * 1.4_f64.powi(first.cast_signed()),
        (false, _) => 600.0 * 1.4_f64.powi((a % 4).cast_signed()),
    };
    let machine = made(&csv(8, blurred), &Asked { sockets: 2, ..asked() })
        .unwrap()
        .machine;
    assert_eq!(machine.topology.sockets, 2);
}

#[test]
fn the_anchor_comes_out_as_given() {
    let anchor = |ns: f64| Asked {
        anchor: Some(Anchor {
            workload: Workload::FetchAdd,
            threads: 4,
            ns,
        }),
        ..asked()
    };
    let text = csv(4, |_, _| 40.0);
    let Made { machine, agrees } = made(&text, &anchor(22.0)).unwrap();
    assert!(agrees && !machine.topology_only);
    let seen = crate::simulate(&machine, &crate::Job::new(Workload::FetchAdd, 4))
        .unwrap()
        .ns_per_op;
    assert!((seen / 22.0 - 1.0).abs() < 0.06, "{seen}");
    // The twin: the matrix alone gives another time.
    let plain = made(&text, &asked()).unwrap().machine;
    let seen = crate::simulate(&plain, &crate::Job::new(Workload::FetchAdd, 4))
        .unwrap()
        .ns_per_op;
    assert!((seen / 22.0 - 1.0).abs() > 0.06, "{seen}");
    // Its predictions have the band of its family, as published machines have.
    assert!(crate::band::band(&machine, Workload::FetchAdd, exam::Reach::Socket).is_some());
    let far = made(&text, &anchor(12.0)).unwrap();
    assert!(!far.agrees && far.check(Workload::FetchAdd).is_ok());
    assert!(
        far.check(Workload::LockMcs)
            .unwrap_err()
            .to_string()
            .contains("a hand-over of a lock")
    );
    assert!(said(&text, &anchor(5000.0)).contains("no transfers from"));
}

#[test]
fn what_is_no_matrix_is_one_line() {
    for (text, says) in [
        ("", "has fewer than two CPUs"),
        ("core,a,b\n,1,2\n", "line 1, cell 1 is not a number"),
        (",,\n1,,\n", "is not square: line 1 has 3 cells, but there are 2 lines"),
        (",\n-3,\n", "line 2, cell 1 is -3"),
        (",\n0,\n", "line 2, cell 1 is 0"),
        (",\n,\n", "line 2, cell 1 is empty"),
        (",\ninf,\n", "line 2, cell 1 is inf"),
    ] {
        let error = said(text, &asked());
        assert!(error.contains(says), "{error}");
    }
    let text = csv(6, |_, _| 40.0);
    let anchor = |workload, threads| Asked {
        anchor: Some(Anchor {
            workload,
            threads,
            ns: 30.0,
        }),
        ..asked()
    };
    for (asked, says) in [
        (
            Asked {
                smt: Some(4),
                ..asked()
            },
            "--smt 4: 6 CPUs are not several cores of 4 threads",
        ),
        (
            Asked {
                smt: Some(2),
                ..asked()
            },
            "--smt 2: neither neighbours nor CPUs that are 3 apart",
        ),
        (
            Asked { sockets: 2, ..asked() },
            "--sockets 2: the matrix does not fall into 2 groups",
        ),
        (anchor(Workload::FetchAdd, 7), "7 threads do not fit on 6 CPUs"),
        (
            anchor(Workload::LockMcs, 2),
            "only additions give the time of a transfer",
        ),
        (
            Asked {
                family: Some("arm-lse".to_owned()),
                ..asked()
            },
            "no laws were learned",
        ),
    ] {
        let error = said(&text, &asked);
        assert!(error.contains(says), "{error}");
    }
    let unnamed = machine(Path::new("m.csv"), &text, &asked()).unwrap_err().to_string();
    assert!(
        unnamed.contains("give --family with one of amd-chiplet, apple, "),
        "{unnamed}"
    );
}
