// A tree of shared nodes, a bounded queue, a table of weak references and a few atomics: what C++ programs lock for.
// The names of the functions say what each atomic operation is for.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct Node {
    int key;
    std::shared_ptr<Node> left, right;
    std::weak_ptr<Node> parent;
};
using Link = std::shared_ptr<Node>;

__attribute__((noinline)) Link insert(const Link &node, int key) {
    if (!node) return std::make_shared<Node>(Node{key, {}, {}, {}});
    Link copy = std::make_shared<Node>(*node);
    if (key < node->key) copy->left = insert(node->left, key);
    else copy->right = insert(node->right, key);
    Link child = key < node->key ? copy->left : copy->right;
    child->parent = copy;
    return copy;
}

__attribute__((noinline)) int depth(Link node) {
    int n = 0;
    while (node) {
        node = node->key & 1 ? node->left : node->right;
        n++;
    }
    return n;
}

__attribute__((noinline)) int parent_key(const Link &node) {
    Link parent = node->parent.lock();
    return parent ? parent->key : -1;
}

struct Counted {
    std::atomic<int> references{1};
    std::atomic<unsigned long> touched{0};
    std::string name;
};

__attribute__((noinline)) Counted *retain(Counted *c) {
    c->references.fetch_add(1, std::memory_order_relaxed);
    return c;
}

__attribute__((noinline)) void release(Counted *c) {
    if (c->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete c;
}

__attribute__((noinline)) void release_with_fence(Counted *c) {
    if (c->references.fetch_sub(1, std::memory_order_release) == 1) {
        std::atomic_thread_fence(std::memory_order_acquire);
        delete c;
    }
}

__attribute__((noinline)) bool retain_unless_zero(Counted *c) {
    int n = c->references.load(std::memory_order_relaxed);
    while (n != 0)
        if (c->references.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
}

__attribute__((noinline)) void touch(Counted *c, unsigned long n) { c->touched += n; }
__attribute__((noinline)) void untouch(Counted *c) { c->touched--; }

struct Item {
    Item *next;
    int value;
};
std::atomic<Item *> stack_head;

__attribute__((noinline)) void push(Item *item) {
    item->next = stack_head.load(std::memory_order_relaxed);
    while (!stack_head.compare_exchange_weak(item->next, item, std::memory_order_release)) {}
}

__attribute__((noinline)) Item *take_all() { return stack_head.exchange(nullptr, std::memory_order_acquire); }

std::atomic<double> sum;
__attribute__((noinline)) void add_to_sum(double x) {
    double old = sum.load();
    while (!sum.compare_exchange_weak(old, old + x)) {}
}

std::atomic<long> largest;
__attribute__((noinline)) void raise_largest(long x) {
    long old = largest.load(std::memory_order_relaxed);
    while (old < x && !largest.compare_exchange_weak(old, x, std::memory_order_relaxed)) {}
}

class SpinLock {
    std::atomic_flag held = ATOMIC_FLAG_INIT;

  public:
    void lock() {
        while (held.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    bool try_lock() { return !held.test_and_set(std::memory_order_acquire); }
    void unlock() { held.clear(std::memory_order_seq_cst); }
};

class TicketLock {
    std::atomic<unsigned> next{0}, serving{0};

  public:
    void lock() {
        unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
        while (serving.load(std::memory_order_acquire) != mine) std::this_thread::yield();
    }
    void unlock() { serving.fetch_add(1, std::memory_order_release); }
};

SpinLock spin;
TicketLock ticket;
long guarded;
__attribute__((noinline)) void add_guarded(long n) {
    std::lock_guard<SpinLock> hold(spin);
    guarded += n;
}
__attribute__((noinline)) bool try_add_guarded(long n) {
    if (!spin.try_lock()) return false;
    guarded += n;
    spin.unlock();
    return true;
}
__attribute__((noinline)) void add_in_order(long n) {
    std::lock_guard<TicketLock> hold(ticket);
    guarded += n;
}

std::atomic<bool> stop;
std::atomic<unsigned> state;
enum : unsigned { READY = 1, CLOSED = 2, DIRTY = 4 };
__attribute__((noinline)) void ask_to_stop() { stop.store(true); }
__attribute__((noinline)) bool stop_once() { return !stop.exchange(true); }
__attribute__((noinline)) void mark_dirty() { state.fetch_or(DIRTY); }
__attribute__((noinline)) void mark_clean() { state.fetch_and(~DIRTY, std::memory_order_release); }
__attribute__((noinline)) bool close_if_ready() {
    unsigned expected = READY;
    return state.compare_exchange_strong(expected, CLOSED);
}
__attribute__((noinline)) bool was_dirty() { return state.fetch_and(~DIRTY) & DIRTY; }

std::atomic<int> wants[2];
__attribute__((noinline)) bool alone(int me) {
    wants[me].store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return wants[1 - me].load(std::memory_order_relaxed) == 0;
}

__attribute__((noinline)) unsigned long next_id() {
    static std::atomic<unsigned long> id{1};
    return id++;
}

std::atomic<int> pending;
std::mutex pending_mutex;
std::condition_variable pending_done;
__attribute__((noinline)) void finish_one() {
    if (--pending == 0) {
        std::lock_guard<std::mutex> hold(pending_mutex);
        pending_done.notify_all();
    }
}

std::shared_ptr<std::vector<int>> current;
__attribute__((noinline)) void publish(std::shared_ptr<std::vector<int>> next) { std::atomic_store(&current, std::move(next)); }
__attribute__((noinline)) std::shared_ptr<std::vector<int>> observe() { return std::atomic_load(&current); }

std::shared_mutex table_mutex;
std::vector<std::weak_ptr<Node>> table;
__attribute__((noinline)) void remember(const Link &node) {
    std::unique_lock<std::shared_mutex> hold(table_mutex);
    table.push_back(node);
}
__attribute__((noinline)) size_t living() {
    std::shared_lock<std::shared_mutex> hold(table_mutex);
    size_t n = 0;
    for (auto &weak : table) n += weak.lock() != nullptr;
    return n;
}

static void worker(Link root, Counted *c) {
    pending++;
    for (int i = 0; i < 1000; i++) {
        add_guarded(depth(root));
        try_add_guarded(1);
        add_in_order(1);
        touch(c, 3);
        if (i % 3 == 0) untouch(c);
        if (retain_unless_zero(c)) release_with_fence(c);
        release(retain(c));
        push(new Item{nullptr, i});
        add_to_sum(i);
        raise_largest(i);
        mark_dirty();
        if (was_dirty()) mark_clean();
    }
    finish_one();
}

int main() {
    Link root;
    for (int i = 0; i < 200; i++) root = insert(root, i * 7919 % 1000), remember(root);
    Counted *c = new Counted;
    {
        auto count = std::async(std::launch::async, living);
        std::thread a(worker, root, c), b(worker, root, c);
        a.join();
        b.join();
        std::printf("%zu\n", count.get());
    }
    publish(std::make_shared<std::vector<int>>(3));
    state = READY;
    for (Item *i = take_all(); i;) { Item *next = i->next; delete i; i = next; }
    ask_to_stop();
    std::printf("%ld %d %d %d %lu %d %zu\n", guarded, parent_key(root->right), alone(0), close_if_ready(), next_id(), stop_once(), observe()->size());
    release(c);
}
