/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The type of truth values: C's _Bool, and bool in C++.
 *
 * No header of these includes <stdbool.h>, whose macros would change a program that has names bool, true or false of its own. */
#ifndef CW_BOOL_H
#define CW_BOOL_H

#if defined(__cplusplus)
typedef bool cw_bool;
#else
typedef _Bool cw_bool;
#endif

#endif /* CW_BOOL_H */
