/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cyclewise: Linux's hot-path primitives for userspace. Everything that needs the library to be linked:
 *
 *     cc program.c $(pkg-config --cflags --libs cyclewise)
 *
 * <cyclewise/atomic.h>, <cyclewise/key.h> and <cyclewise/seq.h> are header only. */
#ifndef CYCLEWISE_CYCLEWISE_H
#define CYCLEWISE_CYCLEWISE_H

#include "called.h"
#include "clock.h"
#include "fence.h"
#include "lock.h"
#include "mask.h"
#include "seq.h"

#endif
