//! Small real runs in all four forms, and each failure that must be noticed.

use super::plan::Fault;
use super::*;
use crate::error::Status;

const FORMS: [(Carrier, ChannelKind); 4] = [
    (Carrier::Processes, ChannelKind::SocketPair),
    (Carrier::Threads, ChannelKind::SocketPair),
    (Carrier::Processes, ChannelKind::Pipe),
    (Carrier::Threads, ChannelKind::Pipe),
];

#[test]
fn every_message_is_delivered_once_in_all_four_forms() {
    for (carrier, channel) in FORMS {
        let plan = Plan::new(carrier, channel, 2, 3).unwrap();
        let outcome = run(&plan).unwrap();
        assert_eq!(outcome.received, 2 * 20 * 20 * 3, "{}", plan.name());
        assert!(!outcome.elapsed.is_zero());
    }
}

fn broken(carrier: Carrier, channel: ChannelKind, loops: u32, fault: Fault) -> Error {
    let mut plan = Plan::new(carrier, channel, 2, loops).unwrap();
    plan.fault = Some(fault);
    run(&plan).unwrap_err()
}

/// The twin of the test above: 200 loops of 20 senders are more than any channel holds, so the others would wait for ever.
#[test]
fn a_receiver_that_stops_early_is_noticed_and_leaves_nobody_waiting() {
    for (carrier, channel) in FORMS {
        let error = broken(carrier, channel, 200, Fault::ReceiverStops(5));
        let task = match carrier {
            Carrier::Processes => "a task failed (",
            Carrier::Threads => "a task ended before it had done its share",
        };
        assert!(error.message.contains(task), "{}", error.message);
    }
}

/// Few messages fit the channel, so no task fails: only the count reveals the loss.
#[test]
fn lost_messages_are_counted_even_where_nobody_fails() {
    for (carrier, channel) in FORMS {
        let error = broken(carrier, channel, 1, Fault::ReceiverStops(20 - 1));
        let expected = match carrier {
            Carrier::Processes => "only 799 of 800 messages were received",
            Carrier::Threads => "a task ended before it had done its share",
        };
        let epipe = "a task failed ("; // a process that ended before its last message came
        let message = &error.message;
        assert!(message.contains(expected) || message.contains(epipe), "{message}");
    }
}

#[test]
fn a_sender_that_stops_early_is_noticed() {
    for (carrier, channel) in FORMS {
        let error = broken(carrier, channel, 3, Fault::SenderStops);
        assert!(error.message.contains("ended before"), "{}", error.message);
    }
}

/// Without Invariant 3 of `processes`, a few rounds of this make both runs wait for their limit of over a minute.
#[test]
fn two_runs_at_once_do_not_hold_each_others_channels() {
    for _ in 0..3 {
        std::thread::scope(|s| {
            for fault in [Fault::ReceiverStops(5), Fault::SenderStops] {
                s.spawn(move || {
                    let error = broken(Carrier::Processes, ChannelKind::SocketPair, 50, fault);
                    assert!(!error.message.contains("not done after"), "{}", error.message);
                });
            }
        });
    }
}

#[test]
fn a_run_that_hangs_is_stopped_at_its_limit() {
    std::thread::scope(|s| {
        for (carrier, channel) in FORMS {
            s.spawn(move || {
                let error = broken(carrier, channel, 200, Fault::ReceiverSleeps);
                assert!(error.message.contains("not done after 1 s"), "{}", error.message);
            });
        }
    });
}

#[test]
fn counts_out_of_range_are_wrong_use() {
    for (groups, loops) in [(0, 1), (1, 0), (10_001, 1), (1, 10_000_001)] {
        let options = Options {
            groups: Some(groups),
            loops: Some(loops),
            ..Options::default()
        };
        assert_eq!(setup(&options).err().unwrap().status, Status::Usage);
    }
}

#[test]
fn pipes_are_compared_where_they_are_asked_for() {
    let options = Options {
        mode: Mode::Quick,
        pipe: true,
        loops: Some(1),
        ..Options::default()
    };
    let mut setup = setup(&options).unwrap();
    let names: Vec<String> = setup.samplers.iter().map(|s| s.name().to_string()).collect();
    let pairs: Vec<String> = setup
        .compare
        .iter()
        .map(|&(a, b)| format!("{} against {}", names[a], names[b]))
        .collect();
    insta::assert_snapshot!(pairs.join("\n"), @r"
    threads-socketpair against processes-socketpair
    threads-pipe against processes-pipe
    processes-pipe against processes-socketpair
    threads-pipe against threads-socketpair
    ");
    for subject in &mut setup.samplers {
        assert!(subject.sample().unwrap().value > 0.0);
    }
}

#[test]
fn the_default_is_rt_tests_own_and_full_is_the_mails() {
    for (mode, groups) in [(Mode::Quick, 1), (Mode::Normal, 10), (Mode::Full, 50)] {
        let options = Options {
            mode,
            ..Options::default()
        };
        let plans = plans(&options).unwrap();
        assert_eq!(plans.len(), 2);
        assert_eq!((plans[0].groups(), plans[0].loops()), (groups, 100));
    }
}
