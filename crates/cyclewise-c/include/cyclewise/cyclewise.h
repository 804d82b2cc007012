/* cyclewise: Linux's hot-path primitives for userspace. What a C program calls. */
#ifndef CYCLEWISE_CYCLEWISE_H
#define CYCLEWISE_CYCLEWISE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was loaded: "0.1.0". The string is static. */
const char *cw_version(void);

#ifdef __cplusplus
}
#endif

#endif
