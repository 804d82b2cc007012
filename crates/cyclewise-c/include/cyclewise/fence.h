/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A pair of fences of which one costs nothing: cw_fence_light on the path that runs often, cw_fence_heavy on the one that seldom runs.
 *
 * A light and a heavy one order each other as two atomic_thread_fence(memory_order_seq_cst) do; two light ones order nothing. Where the
 * kernel or a sandbox refuses membarrier(2), both are whole fences. The process chooses once, before its first one.
 *
 *     often:  store(&reading, 1); cw_fence_light(); if (!load(&closed)) ...
 *     seldom: store(&closed, 1);  if (!cw_fence_heavy(NULL)) while (load(&reading)) ...
 *
 * A light fence is a load of the choice and a branch.
 *
 * References: membarrier(2); P1202, "Asymmetric fences". */
#ifndef CYCLEWISE_FENCE_H
#define CYCLEWISE_FENCE_H

#include "called.h"
#include "site.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)

/* Weak, so that all files of a link unit share one. 1: light fences are the compiler's. 2: they are whole. 0: not known yet. */
extern unsigned char cw_fence_kind_;
__attribute__((__weak__, __visibility__("hidden"))) unsigned char cw_fence_kind_;

__attribute__((__cold__, __unused__)) static inline void cw_fence_light_slow_(void)
{
    const int is_free = cw_fence_is_asymmetric();
    __atomic_store_n(&cw_fence_kind_, CW_CAST_(unsigned char, is_free ? 1 : 2), __ATOMIC_RELAXED);
    if (!is_free)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Pairs with cw_fence_heavy and cw_fence_heavy_batched. */
static inline void cw_fence_light(void)
{
    if (__builtin_expect(__atomic_load_n(&cw_fence_kind_, __ATOMIC_RELAXED) == 1, 1))
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else
        cw_fence_light_slow_();
}

#endif

#ifdef __cplusplus
}
#endif

#endif
