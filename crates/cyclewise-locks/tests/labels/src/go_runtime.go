// What Go's runtime and standard library lock for: channels, mutexes, a pool, a map, a wait group and plain atomics.
package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

type counted struct {
	references atomic.Int32
	name       string
}

//go:noinline
func (c *counted) retain() { c.references.Add(1) }

//go:noinline
func (c *counted) release() {
	if c.references.Add(-1) == 0 {
		c.name = ""
	}
}

//go:noinline
func (c *counted) retainUnlessZero() bool {
	for {
		n := c.references.Load()
		if n == 0 {
			return false
		}
		if c.references.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

var (
	hits   atomic.Uint64
	gauge  atomic.Int64
	lastID atomic.Uint32
	stop   atomic.Bool
	state  atomic.Uint32
	spin   atomic.Int32
	peak   atomic.Uint64
	head   atomic.Pointer[item]
	config atomic.Value
	mutex  sync.Mutex
	table  sync.RWMutex
	once   sync.Once
	pool   = sync.Pool{New: func() any { return new(item) }}
	shared sync.Map
	total  int
)

type item struct {
	next  *item
	value int
}

//go:noinline
func countHit() { hits.Add(1) }

//go:noinline
func gaugeDown() { gauge.Add(-1) }

//go:noinline
func nextID() uint32 { return lastID.Add(1) }

//go:noinline
func askToStop() { stop.Store(true) }

//go:noinline
func stopOnce() bool { return !stop.Swap(true) }

//go:noinline
func begin() bool { return state.CompareAndSwap(0, 1) }

//go:noinline
func markDirty() { state.Or(4) }

//go:noinline
func wasDirty() bool { return state.And(^uint32(4))&4 != 0 }

//go:noinline
func spinLock() {
	for !spin.CompareAndSwap(0, 1) {
	}
}

//go:noinline
func spinUnlock() { spin.Store(0) }

//go:noinline
func raisePeak(n uint64) {
	for {
		old := peak.Load()
		if old >= n || peak.CompareAndSwap(old, n) {
			return
		}
	}
}

//go:noinline
func push(i *item) {
	for {
		i.next = head.Load()
		if head.CompareAndSwap(i.next, i) {
			return
		}
	}
}

//go:noinline
func takeAll() *item { return head.Swap(nil) }

func worker(c *counted, in <-chan int, out chan<- int, done *sync.WaitGroup) {
	defer done.Done()
	for n := range in {
		mutex.Lock()
		total += n
		mutex.Unlock()
		if mutex.TryLock() {
			total++
			mutex.Unlock()
		}
		table.RLock()
		_ = total
		table.RUnlock()
		if n%10 == 0 {
			table.Lock()
			total++
			table.Unlock()
		}
		c.retain()
		if c.retainUnlessZero() {
			c.release()
		}
		c.release()
		countHit()
		gaugeDown()
		nextID()
		markDirty()
		wasDirty()
		spinLock()
		spinUnlock()
		raisePeak(uint64(n))
		once.Do(func() { config.Store(n) })
		i := pool.Get().(*item)
		push(i)
		shared.LoadOrStore(n, i)
		out <- n
	}
}

func main() {
	c := &counted{name: "c"}
	c.retain()
	in, out := make(chan int), make(chan int, 8)
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(1)
		go worker(c, in, out, &done)
	}
	go func() {
		for i := 0; i < 1000; i++ {
			in <- i
		}
		close(in)
		done.Wait()
		close(out)
	}()
	sum := 0
	for n := range out {
		sum += n
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	for i := takeAll(); i != nil; {
		next := i.next
		pool.Put(i)
		i = next
	}
	fmt.Println(sum, begin(), stopOnce(), config.Load() != nil)
	askToStop()
}
