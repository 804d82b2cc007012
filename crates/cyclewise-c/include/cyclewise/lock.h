/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Static initializers of the queued spinlock and of the lockref.
 *
 * A lock has an address: a copy of one, by assignment, memcpy or realloc, is another lock, held for ever if the first was held. The compiler
 * does not refuse it, in C++ neither, where a type without copies could not have C's initializers: pass pointers. In C++ put it into a class
 * that deletes its copies.
 *
 *     static cw_spinlock_t lock = CW_SPINLOCK_INIT;
 *     static cw_lockref_t entry = CW_LOCKREF_INIT(1);
 *
 * The spinlock has 8 bytes; its waiters spin, then sleep, in the order of arrival. A lockref is a lock and a count in one word, with the
 * operations of Linux's. Both are for one process and one copy of the library: in memory that processes share, a waiter may sleep for
 * ever. */
#ifndef CYCLEWISE_LOCK_H
#define CYCLEWISE_LOCK_H

#include "called.h"

typedef struct cw_spinlock cw_spinlock_t;
typedef struct cw_lockref cw_lockref_t;

/* A free lock. */
#define CW_SPINLOCK_INIT {0, 0, 0}

/* An object with so many references, at most INT32_MAX - 1; cw_lockref_init takes more. */
#define CW_LOCKREF_INIT(count) {(uint32_t)(count), 0, 64}

#endif
