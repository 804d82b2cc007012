/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The type of truth values: C's _Bool, and bool in C++; and the mark of functions whose result must not be dropped, the kernel's
 * __must_check.
 *
 * No header of these includes <stdbool.h>, whose macros would change a program that has names bool, true or false of its own. */
#ifndef CW_BOOL_H
#define CW_BOOL_H

#if defined(__cplusplus)
typedef bool cw_bool;
#else
typedef _Bool cw_bool;
#endif

#if defined(__GNUC__)
#define CW_MUST_CHECK __attribute__((__warn_unused_result__))
#else
#define CW_MUST_CHECK
#endif

#endif /* CW_BOOL_H */
