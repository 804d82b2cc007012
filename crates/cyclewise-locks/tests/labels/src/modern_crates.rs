//! Calls what the labelled crates do by atomics.
use std::sync::Arc;
fn main() {
    let map: papaya::HashMap<u64, u64> = papaya::HashMap::new();
    let slab = Arc::new(sharded_slab::Slab::<u64>::new());
    let dash = Arc::new(dashmap::DashMap::<u64, u64>::new());
    let tree = Arc::new(scc::TreeIndex::<u64, u64>::new());
    let table = Arc::new(scc::HashMap::<u64, u64>::new());
    let (to, from) = flume::bounded::<u64>(8);
    let (give, take) = async_channel::bounded::<u64>(8);
    let map = &map;
    std::thread::scope(|s| {
        for t in 0..4u64 {
            let (slab, dash, tree, table, to, give) =
                (slab.clone(), dash.clone(), tree.clone(), table.clone(), to.clone(), give.clone());
            s.spawn(move || {
                for i in 0..1000u64 {
                    let map = map.pin();
                    map.insert(i, t);
                    map.update(i, |v| v + 1);
                    map.remove(&(i / 2));
                    let key = slab.insert(i).unwrap();
                    let _ = slab.get(key).map(|v| *v);
                    slab.remove(key);
                    dash.insert(i, t);
                    *dash.entry(i).or_insert(0) += 1;
                    dash.remove(&(i / 2));
                    let _ = tree.insert(i * 4 + t, i);
                    tree.remove(&(i * 2));
                    let _ = table.insert(i, t);
                    table.update(&i, |_, v| *v += 1);
                    table.remove(&(i / 2));
                    to.send(i).unwrap();
                    give.send_blocking(i).unwrap();
                }
            });
        }
        drop((to, give));
        s.spawn(move || while from.recv().is_ok() {});
        s.spawn(move || while take.recv_blocking().is_ok() {});
    });
    println!("{} {} {} {}", map.len(), dash.len(), tree.len(), table.len());
}
