//! `FreeList`: objects that are used again, kept in a list for each CPU.

use cyclewise::percpu::FreeList;

fn main() {
    let buffers = FreeList::<[u8; 64]>::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    // One of this CPU's list; a new one where that is empty.
                    let buffer = buffers.pop().unwrap_or_else(|| buffers.grow([0; 64]));
                    assert_eq!(buffer.len(), 64);
                    buffer.push();
                }
            });
        }
    });
    // Where it is used by many, few were made: as many as were in use at once, on each CPU.
    let made = buffers.drain().expect("every CPU's list can be taken").count();
    assert!((1..4000).contains(&made), "{made}");
    println!("4000 uses of {made} buffers");
}
