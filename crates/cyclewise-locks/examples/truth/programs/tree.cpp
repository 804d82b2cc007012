// A search tree whose versions share nodes by std::shared_ptr: an insertion copies the path to the key, and counts up the other child of each
// node on it. The version before is dropped, which counts them down again.
//
// A thread runs first and ends. From then on the C library says that the process has threads, and libstdc++ counts by LOCK.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

struct Node;
using Tree = std::shared_ptr<const Node>;

struct Node {
    Tree left, right;
    std::uint32_t key;
    std::uint64_t value;
};

static Tree put(const Tree &tree, std::uint32_t key, std::uint64_t value) {
    if (!tree)
        return std::make_shared<const Node>(Node{nullptr, nullptr, key, value});
    if (key < tree->key)
        return std::make_shared<const Node>(Node{put(tree->left, key, value), tree->right, tree->key, tree->value});
    if (key > tree->key)
        return std::make_shared<const Node>(Node{tree->left, put(tree->right, key, value), tree->key, tree->value});
    return std::make_shared<const Node>(Node{tree->left, tree->right, key, value});
}

static std::uint64_t sum(const Tree &tree) {
    return tree ? tree->key * tree->value + sum(tree->left) + sum(tree->right) : 0;
}

int main(int argc, char **argv) {
    const long steps = argc > 1 ? std::atol(argv[1]) : 2500000;
    std::thread([] {}).join();
    Tree tree;
    std::uint32_t random = 1;
    for (long step = 0; step < steps; step++) {
        random = random * 1664525u + 1013904223u;
        tree = put(tree, random >> 20, static_cast<std::uint64_t>(step));
    }
    std::printf("%ld steps, sum %llu\n", steps, static_cast<unsigned long long>(sum(tree)));
}
