//! Plans that are mangled, for their reader.

use crate::mangle::{Owes, hold};
use crate::record::simulation::testing;
use crate::record::{Tool, plan};

/// The same for each build: a seed tries the same files.
fn tool() -> Tool {
    Tool {
        version: "0.1.0".to_owned(),
        commit: Some("0123456789abcdef".to_owned()),
    }
}

#[test]
fn plans() {
    let sweep = testing::sweep(&[1, 2]);
    let work = |work| plan::Plan {
        schema: plan::SCHEMA.to_owned(),
        tool: tool(),
        command: vec!["run".to_owned()],
        work,
    };
    let plans = [
        work(plan::Work::Records { nodes: Some(4) }),
        work(plan::Work::Sweep {
            shards: 3,
            points: sweep.points(),
            sweep: Box::new(sweep),
        }),
    ];
    let texts = plans.map(|plan| serde_json::to_string(&plan).unwrap());
    hold(
        &texts.each_ref().map(|text| text.as_bytes()),
        Owes::default(),
        |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
            plan::from_str("f", text).map_err(|error| error.message)
        },
    );
}
