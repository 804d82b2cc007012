//! Calls what the labelled crates do by atomics.
use std::sync::Arc;
use std::thread;
fn main() {
    let (tx, rx) = kanal::bounded::<Vec<u64>>(4);
    let t = thread::spawn(move || { let mut s = 0; while let Ok(v) = rx.recv() { s += v.len(); } s });
    for i in 0..100 { tx.send(vec![i]).unwrap(); }
    println!("{:?}", tx.try_send(vec![1])); drop(tx);
    println!("{}", t.join().unwrap());
    let (tx, rx) = thingbuf::mpsc::blocking::channel::<Vec<u64>>(8);
    let t = thread::spawn(move || { let mut s = 0; while let Some(v) = rx.recv() { s += v.len(); } s });
    for i in 0..100 { tx.send(vec![i]).unwrap(); }
    drop(tx); println!("{}", t.join().unwrap());
    struct Add(u64);
    impl left_right::Absorb<Add> for u64 {
        fn absorb_first(&mut self, o: &mut Add, _: &Self) { *self += o.0; }
        fn sync_with(&mut self, f: &Self) { *self = *f }
    }
    let (mut w, r) = left_right::new::<u64, Add>();
    w.append(Add(3)); w.publish();
    let r2 = r.clone();
    println!("{:?}", thread::spawn(move || r2.enter().map(|g| *g)).join().unwrap());
    drop(r);
    let x = haphazard::AtomicPtr::from(Box::new(7u64));
    let mut h = haphazard::HazardPointer::new();
    println!("{:?}", x.safe_load(&mut h)); h.reset_protection();
    if let Some(old) = x.swap(Box::new(9)) { unsafe { old.retire(); } }
    haphazard::Domain::global().eager_reclaim();
    let (mut p, mut c) = rtrb::RingBuffer::<u64>::new(16);
    let t = thread::spawn(move || { let mut n = 0; while n < 100 { if p.push(n).is_ok() { n += 1 } } });
    let mut n = 0; while n < 100 { if c.pop().is_ok() { n += 1 } } t.join().unwrap();
    let a = Arc::new(atomic_refcell::AtomicRefCell::new(vec![1u64]));
    { let b = a.borrow(); println!("{}", b.len()); } a.borrow_mut().push(2); println!("{:?} {:?}", a.try_borrow().is_ok(), a.try_borrow_mut().is_ok());
    let (tx, rx) = oneshot::channel::<String>();
    let t = thread::spawn(move || rx.recv()); tx.send("x".into()).unwrap(); println!("{:?}", t.join().unwrap());
    let (tx, rx) = oneshot::channel::<String>(); drop(tx); println!("{:?}", rx.try_recv());
    let (mut i, mut o) = triple_buffer::triple_buffer(&0u64);
    let t = thread::spawn(move || for n in 0..50 { i.write(n) }); println!("{}", o.read()); t.join().unwrap(); println!("{}", o.read());
}
