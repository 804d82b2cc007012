/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A tree whose nodes count their references: versions of it share what they have in common.
 *
 *     cc -O2 tree.c $(pkg-config --cflags --libs cyclewise-single) && ./a.out
 *
 * An insertion copies the path from the root and shares the rest, so that older versions stay as they were. Each shared node has
 * one more reference, and a node is freed by whoever puts the last one. While the program has one thread no count has a LOCK prefix. */
#include <cyclewise/atomic.h>
#include <cyclewise/cyclewise.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    cw_refcount_t references;
    int key;
    struct node *left, *right; /* each is a reference */
};

static size_t nodes;

static struct node *get(struct node *node)
{
    if (node)
        cw_refcount_inc(&node->references);
    return node;
}

static void put(struct node *node)
{
    while (node && cw_refcount_dec_and_test(&node->references)) {
        struct node *right = node->right;
        put(node->left);
        free(node);
        nodes--;
        node = right;
    }
}

/* Takes over the references to the children. */
static struct node *new_node(int key, struct node *left, struct node *right)
{
    struct node *node = (struct node *)malloc(sizeof *node); /* the cast is for C++ */
    if (!node) {
        perror("malloc");
        exit(1);
    }
    cw_refcount_set(&node->references, 1);
    node->key = key;
    node->left = left;
    node->right = right;
    nodes++;
    return node;
}

/* A new version with the key; the old one is as it was. */
static struct node *with(struct node *node, int key)
{
    if (!node)
        return new_node(key, NULL, NULL);
    if (key < node->key)
        return new_node(node->key, with(node->left, key), get(node->right));
    if (key > node->key)
        return new_node(node->key, get(node->left), with(node->right, key));
    return get(node);
}

static size_t size_of(const struct node *node)
{
    return node ? 1 + size_of(node->left) + size_of(node->right) : 0;
}

int main(void)
{
    struct cw_refusal why;
    if (cw_enable_single(&why) != 0)
        fprintf(stderr, "LOCK stays: %s\n", why.message);

    enum { VERSIONS = 1000 };
    static struct node *versions[VERSIONS + 1];
    unsigned random = 1;
    for (int n = 0; n < VERSIONS; n++) {
        random = random * 1103515245u + 12345u;
        versions[n + 1] = with(versions[n], (int)(random >> 8));
    }
    printf("%d versions, the last of %zu keys, in %zu nodes\n", VERSIONS, size_of(versions[VERSIONS]), nodes);
    for (int n = 0; n <= VERSIONS; n++)
        put(versions[n]);
    printf("%zu nodes are left\n", nodes);
    return nodes != 0;
}
