//! Matrices of core-to-core and leaves of CPUID that are mangled, for each of their readers.

use crate::machine::cpuid::{Cpuid, Leaf};
use crate::machine::fake::{Tree, X86};
use crate::machine::{CpuInfo, emulator, fingerprint};
use crate::mangle::{Owes, hold, tried};
use crate::record::Experiment;
use crate::record::core_to_core::{Matrix, levels, spans};

/// Six CPUs of two sockets.
fn matrix() -> String {
    let mut rows = Vec::new();
    for (a, b) in (0..6).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let (distance, ns) = match (a / 2 == b / 2, a / 4 == b / 4) {
            (true, _) => ("sibling", 10.5),
            (_, true) => ("socket", 24.25),
            _ => ("remote", 95.0),
        };
        rows.push(format!(
            r#"{{"name":"{distance}-{a}-{b}","n":1,"rejected":0,"mean":1.0,"sd":0.0,"median":{ns},"min":1.0,"ci95":[1.0,1.0],"code_bytes":null,"samples":[1.0]}}"#
        ));
    }
    format!(
        r#"{{"name":"core-to-core","question":"?","source":"","unit":"ns/op","variants":[{}],"comparisons":[],"notes":[]}}"#,
        rows.join(",")
    )
}

fn experiment(bytes: &[u8]) -> Result<Experiment, String> {
    serde_json::from_slice(bytes).map_err(|e| e.to_string().escape_default().to_string())
}

#[test]
fn matrices_of_cores() {
    for numbers_only in [false, true] {
        let owes = Owes {
            numbers_only,
            ..Owes::default()
        };
        hold(&[matrix().as_bytes()], owes, |bytes| {
            let e = experiment(bytes)?;
            if let Some(matrix) = Matrix::of_experiment(&e) {
                let count = matrix.cpus.len();
                for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                    assert_eq!(matrix.ns(a, b).map(f64::to_bits), matrix.ns(b, a).map(f64::to_bits));
                }
            }
            for span in spans(&e) {
                assert!(span.pairs > 0 && span.min <= span.max);
            }
            if let Some(Ok(found)) = levels::found(&e) {
                assert!(!found.is_empty(), "all CPUs are one level at least");
            }
            Ok(levels::clusters(&e))
        });
    }
}

#[test]
fn twin_a_matrix_that_lacks_pairs_is_found() {
    let fault = tried(&[matrix().as_bytes()], Owes::default(), |bytes| {
        let e = experiment(bytes)?;
        let matrix = Matrix::of_experiment(&e);
        Ok(matrix.map(|matrix| matrix.ns(0, matrix.cpus.len() - 1).unwrap()))
    });
    assert_says!(fault.unwrap_err(), "panics");
}

/// The numbers of leaves that this package reads.
const LEAVES: [u32; 14] = [
    0,
    1,
    7,
    0x15,
    0x4000_0000,
    0x4000_0001,
    0x4000_0010,
    0x4000_0100,
    0x4000_0101,
    0x8000_0001,
    0x8000_0002,
    0x8000_0003,
    0x8000_0004,
    0x8000_0007,
];

/// The leaves as a file: each leaf's number and registers.
fn leaves(bytes: &[u8]) -> Cpuid {
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let words: Vec<u32> = words.collect();
    let leaf = |&[number, eax, ebx, ecx, edx]: &[u32; 5]| (number, Leaf { eax, ebx, ecx, edx });
    Cpuid::from_leaves(words.as_chunks().0.iter().map(leaf))
}

#[test]
fn leaves_of_cpuid() {
    let guest = crate::machine::fake::kvm_guest();
    let good: Vec<u8> = LEAVES
        .iter()
        .flat_map(|&number| {
            let leaf = guest.leaf(number).unwrap_or_default();
            [number, leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]
        })
        .flat_map(u32::to_le_bytes)
        .collect();
    let (tree, info) = (Tree::guest(), CpuInfo::parse(X86));
    hold(&[&good], Owes::default(), move |bytes| {
        let (cpuid, fs) = (leaves(bytes), tree.fs());
        let machine = fingerprint::fingerprint_of(&fs, Some(&cpuid), "x86_64");
        let said = [
            cpuid.brand(),
            Some(fingerprint::cpu_model(Some(&cpuid), &info, &fs)),
            Some(fingerprint::cpu_id(&fs, Some(&cpuid), &info)),
            fingerprint::hypervisor(&fs, Some(&cpuid), &info),
            emulator::evidence(&fs, "x86_64", Some(&cpuid), &info),
        ];
        let rates = (cpuid.tsc_hz_from_crystal(), cpuid.tsc_hz_from_hypervisor());
        let bits = (cpuid.kvm_features(), cpuid.invariant_tsc(), cpuid.is_hybrid());
        let said: Vec<String> = said.into_iter().flatten().collect();
        match said.iter().find(|line| line.contains(char::is_control)) {
            Some(line) => Err(line.clone()),
            None => Ok((said, rates, bits, machine.cpu_model)),
        }
    });
}
