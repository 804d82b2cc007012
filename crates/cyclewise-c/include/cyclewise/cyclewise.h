/*
 * cyclewise: Linux's hot-path primitives for userspace. This is everything that needs the library to be linked:
 * `pkg-config --cflags --libs cyclewise`. <cyclewise/atomic.h> is header only.
 */
#ifndef CYCLEWISE_CYCLEWISE_H
#define CYCLEWISE_CYCLEWISE_H

#include "called.h"

#endif
